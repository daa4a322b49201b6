"""Suggest the nearest words of the index for words of a query that occur nowhere.

The index's own list of words is asked, in two ways that need no walk through all of it. Words with one slip among the
first letters are looked up one by one (some 200, 27 µs each where the pages are in memory); those with the same first
letters are read and compared. So one slip is found anywhere, two where the beginning is right: two letters, in the
largest indexes four.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from engine.records import QuerySuggestion
from engine.search.chunk_filter import ChunkFilter
from engine.search.query_conditions import many
from engine.search.stages import Term
from engine.store.snapshot import Snapshot
from engine.text import QueryAnalysis, QueryTerm, spelling
from engine.text.folding import fold

_SHORTEST_HEAD, _LONGEST_HEAD = 2, 4
"""Letters at the beginning that are taken for right where words are read and compared; among the most of them slips are
looked up."""
_MOST_COMPARED = 3_000
"""Words with the same beginning; where there are more, those with a longer one."""
_MOST_WORDS = 3
"""So many words of a question are looked after, and so many suggestions are made."""
_MOST_REMEMBERED = 512
_SHORTEST_CORRECTED, _SHORTEST_TWO_SLIPS = 5, 8
"""Letters of a word that is corrected without asking, and of one that may have two slips."""


class Near(NamedTuple):
    """A word of the index."""

    token: str
    chunks: int
    """How many chunks hold it."""
    slips: int


class Spelling:
    """Outlives the questions: a person who types goes on asking with the same slip. Thread-safe."""

    def __init__(self) -> None:
        self._latest: tuple[tuple[str, int, int], dict[tuple[str, bool], list[Near]]] = ("", 0, 0), {}

    def suggest(
        self,
        snapshot: Snapshot,
        query: str,
        question: QueryAnalysis,
        terms: Sequence[Term],
        among: ChunkFilter,
    ) -> tuple[QuerySuggestion, ...]:
        """At most three other questions, the likeliest first; `terms` are those of the question that were looked for.

        Only words of what is searched are offered, so that none leaves a file that is nobody's to see; and of all that
        passes the filters where nothing satisfies the question, as with a slip in a quotation.
        """
        nowhere = {term.surface for term in terms if not term.chunks}
        unknown = [term for term in question.terms if not term.stop and term.surface in nowhere][:_MOST_WORDS]
        meanings = ((term.surface, list(self._meant(snapshot, term, among))) for term in unknown)
        choices = [(word, meant) for word, meant in meanings if meant]
        if not choices:
            return ()
        first = [(word, *meant[0]) for word, meant in choices]
        ways = [first]
        if len(choices) == 1:
            word, meant = choices[0]
            ways += [[(word, *other)] for other in meant[1:]]
        return tuple(found for way in ways if (found := _suggestion(query, way)).query != query)

    def _meant(self, snapshot: Snapshot, term: QueryTerm, among: ChunkFilter) -> Iterator[tuple[str, int]]:
        """Up to three words that the term may stand for, as they are written, with how many chunks hold each."""
        token, korean = _sought(term)
        if not token:
            return
        found = 0
        for near in self._near(snapshot, token, korean=korean):
            if found == _MOST_WORDS:
                return
            text = _text_with(snapshot, near.token, "stems" if korean else "words", among)
            if text is None or (word := spelling.written(text, near.token)) is None:
                continue
            found += 1
            yield term.surface.replace(token, word) if korean else _in_case_of(term.surface, word), near.chunks

    def _near(self, snapshot: Snapshot, token: str, *, korean: bool) -> list[Near]:
        state = snapshot.identity, snapshot.tables.generation, snapshot.stamp
        latest, known = self._latest
        if latest != state or len(known) >= _MOST_REMEMBERED:
            known = {}
            self._latest = state, known
        found = known.get((token, korean))
        if found is None:
            found = known[token, korean] = _nearest(snapshot, token, korean=korean)
        return found


def is_likely(word: str, meant: str) -> bool:
    """Whether a word is a slip of another one: short words, and words with two slips, are too often others."""
    folded, other = fold(word), fold(meant)
    if not folded.isascii():
        return True
    most = 0 if len(folded) < _SHORTEST_CORRECTED else 1 if len(folded) < _SHORTEST_TWO_SLIPS else 2
    return spelling.slips(folded, other, most) is not None


def _sought(term: QueryTerm) -> tuple[str, bool]:
    """The folded word whose neighbours are looked for, and whether it is Korean; "" for what is no plain word."""
    if not term.stems or " " in term.stems[0]:
        return "", False
    if not isinstance(term.word, str) or len(term.word) < len(term.stems[0]):  # its pairs
        root = term.stems[0]
        return (root, True) if 1 < len(root) <= spelling.LONGEST and spelling.is_plain(root) else ("", False)
    fits = spelling.SHORTEST <= len(term.word) <= spelling.LONGEST and spelling.is_plain(term.word)
    return (term.word, False) if fits else ("", False)


def _nearest(snapshot: Snapshot, token: str, *, korean: bool) -> list[Near]:
    """The words with the fewest slips, the commonest first."""
    if korean:
        letters = spelling.jamo(token)
        candidates = _beginning_so(snapshot, token, 1, "stems")
        compared = [(*near, spelling.slips(letters, spelling.jamo(near[0]), 1)) for near in candidates.items()]
    else:
        most = spelling.most_slips(token)
        candidates = _beginning_so(snapshot, token, _SHORTEST_HEAD, "words")
        candidates |= dict(_looked_up(snapshot, spelling.variants(token, _LONGEST_HEAD)))
        compared = [(*near, spelling.slips(token, near[0], most)) for near in candidates.items()]
    found = [Near(word, chunks, slips) for word, chunks, slips in compared if slips and spelling.is_plain(word)]
    fewest = min((near.slips for near in found), default=0)
    return sorted((near for near in found if near.slips == fewest), key=lambda near: (-near.chunks, near.token))


def _looked_up(snapshot: Snapshot, words: Iterable[str]) -> list[tuple[str, int]]:
    listed = sorted(words)
    query = f"""SELECT term, doc FROM {snapshot.tables.terms}
        WHERE term IN ({",".join("?" * len(listed))}) AND col = 'words'"""
    return list(snapshot.connection.execute(query, listed))


def _beginning_so(snapshot: Snapshot, token: str, head: int, column: str) -> dict[str, int]:
    """The words that share the first `head` letters, or more of them where these are too common."""
    while True:
        start = token[:head]
        rows = snapshot.connection.execute(
            f"""SELECT term, doc FROM {snapshot.tables.terms}
                WHERE term >= ? AND term < ? AND col = ? LIMIT {_MOST_COMPARED}""",
            (start, start + "\U0010ffff", column),
        )
        found = dict(rows)
        if len(found) < _MOST_COMPARED or head >= len(token) - 1:
            return found
        head += 1


def _text_with(snapshot: Snapshot, token: str, column: str, among: ChunkFilter) -> str | None:
    """The text of one of these chunks that holds this word; None where there is none."""
    tables = snapshot.tables
    inside = "" if among.files is None else f"AND c.file_id IN ({','.join(map(str, among.files))})"
    values: tuple[object, ...] = (f'{column} : "{token}"',)
    if among.chunks:
        inside += " AND c.id IN (SELECT value FROM carray(?))"
        values = (*values, many(among.chunks))
    row = snapshot.connection.execute(
        f"""SELECT c.text FROM {tables.fts} f CROSS JOIN {tables.chunks} c ON c.id = f.rowid
            WHERE {tables.fts} MATCH ? {inside} LIMIT 1""",
        values,
    ).fetchone()
    return None if row is None else row[0]


def _in_case_of(surface: str, word: str) -> str:
    if surface.islower():
        return word.lower()
    if surface.isupper():
        return word.upper()
    return word[:1].upper() + word[1:] if surface[:1].isupper() else word


def _suggestion(query: str, way: Sequence[tuple[str, str, int]]) -> QuerySuggestion:
    for word, instead, _ in way:
        place = re.search(rf"(?<!\w){re.escape(word)}(?!\w)", query)
        if place is not None:
            query = query[: place.start()] + instead + query[place.end() :]
    return QuerySuggestion(
        query=query,
        words=tuple((word, instead) for word, instead, _ in way),
        chunks=min(chunks for _, _, chunks in way),
    )
