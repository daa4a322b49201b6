"""What the buttons of an empty answer say."""

from engine import RemedyName, SearchRemedy

_WORDS: dict[RemedyName, str] = {
    "weak": "Show weak matches",
    "sources": "Search all sources",
    "period": "Search any time",
    "scope": "Search all files",
    "limits": "Search everything",
    "excluded": "Why is it left out?",
    "add-sessions": "Add sessions…",
    "sync": "Sync now",
    "embed": "Embed…",
    "settings": "Open the settings…",
    "folder": "Choose folder…",
}
_LONGEST = 28


def button_words(remedy: SearchRemedy) -> str:
    if remedy.name == "demand":
        query = remedy.query if len(remedy.query) <= _LONGEST else f"{remedy.query[: _LONGEST - 1]}…"
        return f"Search for “{query}”"
    return _WORDS[remedy.name]
