"""Labels of an empty answer's buttons, and the query that each of them runs."""

from dataclasses import replace

from engine import RemedyName, SearchRemedy, marked, tr
from gui.search.query import Query

_WORDS: dict[RemedyName, str] = {
    "weak": marked("Show weak matches"),
    "sources": marked("Search all sources"),
    "period": marked("Search any time"),
    "scope": marked("Search all files"),
    "limits": marked("Search everything"),
    "within": marked("Search beyond these results"),
    "age": marked("Search without ageing"),
    "excluded": marked("Why is it excluded?"),
    "add-sessions": marked("Add sessions…"),
    "sync": marked("Update now"),
    "embed": marked("Embed…"),
    "settings": marked("Open the settings…"),
    "folder": marked("Choose folder…"),
}
_LONGEST = 28


def button_words(remedy: SearchRemedy) -> str:
    if remedy.query:
        query = remedy.query if len(remedy.query) <= _LONGEST else f"{remedy.query[: _LONGEST - 1]}…"
        return tr("Search for “{query}”", query=query)
    return tr(_WORDS[remedy.name])


def remedied(question: Query, remedy: SearchRemedy) -> Query | None:
    """The query without the limit that emptied its answer; None if a query can't help."""
    match remedy.name:
        case "weak":
            return replace(question, min_score=0.0)
        case "sources":
            return replace(question, sources=None)
        case "period":
            return replace(question, days=None)
        case "scope":
            return replace(question, scope=None)
        case "limits":
            return replace(question, sources=None, days=None, scope=None, within=None)
        case "within":
            return replace(question, within=None)
        case "age":
            return replace(question, half_life_days=0.0)
        case "demand":
            return replace(question, text=remedy.query)
        case "words":
            return replace(question, text=remedy.query, sources=None, days=None, scope=None, within=None)
        case _:
            return None
