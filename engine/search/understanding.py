"""Says in a sentence how a query was understood."""

from collections.abc import Sequence
from datetime import datetime

from engine.text import Query
from engine.text.dates import parse_period
from engine.text.operators import DATED
from engine.text.queries import Atom, Clause, Field, Phrase, Word

_MOST_REMARKS = 3


def understood(query: Query) -> str:
    """As "Looked for drip, valve*. Every result has “left valve”, lacks hose, is in path:daily."."""
    words = [_shown(atom) for _, atom in query.wanted()]
    demands = [demand(clause) for clause in query.required]
    sentences = (
        f"Looked for {', '.join(words)}." if words else "No words are looked for: what changed last comes first.",
        f"Every result {'; '.join(demands)}." if demands else "",
    )
    return " ".join(sentence for sentence in sentences if sentence)


def demand(clause: Clause) -> str:
    """What a clause demands of a result, as "lacks hose"."""
    fields = all(isinstance(atom, Field) for atom in clause.alternatives)
    shown = " or ".join(map(_shown, clause.alternatives))
    if fields:
        return f"{'is not' if clause.negated else 'is'} in {shown}"
    return f"{'lacks' if clause.negated else 'has'} {shown}"


def remarks_of(query: Query) -> Sequence[str]:
    """The first of what was read as words though it looks like syntax: a pasted text may have many."""
    return query.remarks[:_MOST_REMARKS]


def _shown(atom: Atom) -> str:
    if isinstance(atom, Phrase):
        return f"“{atom.text}”"
    if isinstance(atom, Word) or atom.name not in DATED or (period := parse_period(atom.value)) is None:
        return str(atom)
    start, end = period.days() if atom.name == "on" else period
    first = datetime.fromtimestamp(start)
    if atom.name != "on":
        return f"{atom} ({'from' if atom.name == 'after' else 'up to'} {_moment(first)})"
    return f"{atom} (from {_moment(first)} up to {_moment(datetime.fromtimestamp(end))})"


def _moment(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%d" if moment.time() == datetime.min.time() else "%Y-%m-%d %H:%M")
