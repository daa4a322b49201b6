"""Describes in one sentence how a query was parsed."""

from datetime import datetime

from engine.base.formatting import all_of, any_of, in_quotes
from engine.base.language import marked, tr
from engine.search.pipeline_stages import UnderstoodQuery
from engine.text import Query
from engine.text.date_parsing import parse_period
from engine.text.operators import DATED
from engine.text.parsed_query import Atom, Clause, Field, Phrase, Word

_DEMANDS = {
    (True, False): marked("matches {operators}"),
    (True, True): marked("doesn't match {operators}"),
    (False, False): marked("has {words}"),
    (False, True): marked("excludes {words}"),
}
"""Texts for a condition, by whether it has only operators, and whether it is negated."""


def describe_query(query: Query) -> str:
    """Describe in sentences how a query was parsed.

    Example: "Searched for drip, valve*. Every result has “left valve”, excludes hose and matches path:daily.".
    """
    words = [_shown(atom) for _, atom in query.searched_atoms()]
    if words:
        sentence = tr("Searched for {words}.", words=", ".join(words))
    else:
        sentence = tr("The query has no words, so the newest files come first.")
    demands = describe_conditions(query)
    return sentence + " " + tr("Every result {demands}.", demands=demands) if demands else sentence


def describe_understood(understood_query: UnderstoodQuery) -> str:
    """Describe in sentences how a query was parsed, or which of its conditions no passage satisfies."""
    query = understood_query.query
    if understood_query.wordless:
        return no_words()
    sentence = describe_query(query)
    if not understood_query.satisfied:
        demanded = any_of(map(describe_condition, understood_query.unmet)) or describe_conditions(query)
        if understood_query.filtered:
            sentence = tr("No passage that passes the filters {demands}.", demands=demanded)
        else:
            sentence = tr("No passage {demands}.", demands=demanded)
    if understood_query.tags_wait:
        sentence += " " + tr("Tags can be searched after the next update has read all notes again.")
    return sentence


def rest_unmatched(query: Query) -> str:
    """Return the sentence for an empty answer to a query whose conditions are met, but not its words."""
    sentence = tr("No passage that {demands} also fits the rest of the query.", demands=describe_conditions(query))
    return query.contradiction or sentence


def describe_conditions(query: Query) -> str:
    """Describe all conditions of a query as the end of a sentence with "Every result"; empty if there are none."""
    *others, last = [*map(describe_condition, query.required)] or [""]
    return all_of((", ".join(others), last)) if others else last


def no_words() -> str:
    """Return the sentence for a query that has only punctuation and symbols."""
    return tr("The query has no letters, digits or emoji. Type a word to search for.")


def describe_condition(clause: Clause) -> str:
    """Describe a condition as the end of a sentence that begins with "Every result", such as "excludes hose"."""
    fields = all(isinstance(atom, Field) for atom in clause.alternatives)
    alternatives = any_of(map(_shown, clause.alternatives))
    return tr(_DEMANDS[fields, clause.negated], words=alternatives, operators=alternatives)


def _shown(atom: Atom) -> str:
    if isinstance(atom, Phrase):
        return in_quotes(atom.text)
    if isinstance(atom, Word) or atom.name not in DATED or (period := parse_period(atom.value)) is None:
        return str(atom)
    start, end = period.days() if atom.name == "on" else (period.start, period.end)
    first = _moment(datetime.fromtimestamp(start))
    if atom.name != "on" and atom.value == first:
        return str(atom)
    if atom.name == "after":
        return tr("{demand} (from {moment})", demand=atom, moment=first)
    if atom.name == "before":
        return tr("{demand} (before {moment})", demand=atom, moment=first)
    last = datetime.fromtimestamp(end - 1).strftime("%Y-%m-%d")  # it ends at midnight, before the next day
    if first == last:
        return str(atom) if atom.value == first else tr("{demand} ({day})", demand=atom, day=first)
    return tr("{demand} ({first} to {last})", demand=atom, first=first, last=last)


def _moment(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%d" if moment.time() == datetime.min.time() else "%Y-%m-%d %H:%M")
