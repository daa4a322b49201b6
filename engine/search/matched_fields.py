"""Finds which fields of a chunk contain the terms of a query: title, headings, file name or text."""

from collections.abc import Sequence

import apsw

from engine.records import MatchField
from engine.search.chunk_filter import many
from engine.search.pipeline_stages import Term
from engine.search.term_counts import register
from engine.store.index_schema import FTS_COLUMNS
from engine.store.snapshot import Snapshot

_FIELD_OF: dict[str, MatchField] = {
    "title": "title",
    "heading": "heading",
    "name": "name",
    "words": "body",
    "stems": "body",
    "aliases": "alias",
}
_REGISTERED = "term_columns"


def matched_fields(
    snapshot: Snapshot, terms: Sequence[Term], ids: Sequence[int]
) -> dict[int, tuple[tuple[MatchField, ...], ...]]:
    """Return, by chunk id, the fields (title, heading, ...) that contain each term, in the order of `terms`.

    Chunks without any term are left out. Reads all matches, like a ranking: for explanations, not for every key press.
    """
    known = [term for term in terms if term.chunks]
    if not known or not ids:
        return {}
    fts = snapshot.tables.fts
    register(snapshot.connection, _REGISTERED, _columns)
    # The unary plus keeps SQLite from running the whole match once for every id.
    rows = snapshot.connection.execute(
        f"""SELECT rowid, {_REGISTERED}({fts}, ?) FROM {fts}
            WHERE {fts} MATCH ? AND +rowid IN (SELECT value FROM carray(?))""",
        (" ".join(term.kinds for term in known), " OR ".join(term.expression for term in known), many(ids)),
    )
    fields = {}
    for rowid, digits in rows:
        columns = dict(zip(known, digits.split(" "), strict=True))
        fields[rowid] = tuple(_fields(columns.get(term, "")) for term in terms)
    return fields


def _fields(columns: str) -> tuple[MatchField, ...]:
    return tuple(dict.fromkeys(_FIELD_OF[FTS_COLUMNS[int(digit)]] for digit in sorted(columns)))


def _columns(api: apsw.FTS5ExtensionApi, /, *arguments: object) -> str:
    """FTS5 function: return for each term the digits of the columns that contain it, with a space between terms.

    The argument has a letter for each phrase, like a term's `kinds`, and a space between terms. A stem is not searched
    in `words`, nor a plain word in `stems`.
    """
    digits, phrase = [], 0
    for kinds in str(arguments[0]).split(" "):
        columns: set[int] = set()
        for kind in kinds:
            strange = FTS_COLUMNS.index("words" if kind in "sSi" else "stems")
            columns.update(column for column in api.phrase_columns(phrase) if column != strange)
            phrase += 1
        digits.append("".join(map(str, sorted(columns))))
    return " ".join(digits)
