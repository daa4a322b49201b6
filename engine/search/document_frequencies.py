"""Counts the chunks that contain a word, and caches the counts while the index is unchanged.

FTS5 counts by reading a word's whole posting list, which takes milliseconds for common words, and typing repeats the
same words with every key.
"""

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import islice, pairwise
from operator import attrgetter

import msgspec

from engine.base import in_batches
from engine.search.term_counts import length_without, with_parts
from engine.store.snapshot import Snapshot

_MAX_WORDS = 4096
_TOGETHER = 100
_MAX_CACHED_PREFIXES = 4
"""Maximum number of cached prefixes, each with up to thousands of words, among which are those of longer prefixes."""
WIDEST_PREFIX = 5_000
"""Maximum number of chunks, summed over its words, of a prefix that is searched with all of them: FTS5 merges the lists
of all words for each statement, and twice for each ranking."""
_MAX_SUBSTITUTES = 24
_MAX_PAGES = 400
"""Maximum number of pages of the keyword index to read for the words of a prefix, or for one word, some 15 ms."""
_CHUNKS_OF_PAGE = 200
"""About how many chunks the lists on a page of the keyword index have, by word."""
LARGE = 200_000
"""Chunks from which the lists of frequent words are so long that a search reads only parts of them."""
FREQUENT = 5_000
"""Chunks with a word from which its looser forms are not searched in a large index."""


class Word(msgspec.Struct, frozen=True, order=True, array_like=True, gc=False):
    """A word of the index with the numbers of chunks that contain it."""

    token: str
    chunks: int
    """Number of chunks that contain the word; if there are none, of chunks in files whose title or name contains it."""
    titled: int
    """Number of chunks that contain the word in a title, alias or heading."""


_CHUNKS = attrgetter("chunks")
_LAST = "\U0010ffff"
"""The highest character: it follows all others in the order of words."""


class PrefixMatches(msgspec.Struct, frozen=True, dict=True, eq=False):
    """The words of the index with one prefix."""

    start: str
    words: Sequence[Word]
    """Words in several chunks or in titles: first by number of titles, then by frequency."""
    rare: str = ""
    """The other words, in ascending order, each after a line end: documentation may have 100,000 addresses."""
    estimate: int = 0
    """About how many chunks contain the words if only the most frequent ones are listed; else 0."""

    @cached_property
    def chunks(self) -> int:
        """Sum of the numbers of chunks that contain the words."""
        return self.estimate or sum((word.chunks for word in self.words), self.rare.count("\n"))

    @cached_property
    def tokens(self) -> list[str]:
        """All words, beginning with the most frequent words and words of titles."""
        return [*(word.token for word in self.words), *self.rare.split("\n")[1:]]

    def narrowed(self, start: str) -> "PrefixMatches":
        """Return the words with a longer prefix."""
        words = [word for word in self.words if word.token.startswith(start)]
        first, last = self.rare.find(f"\n{start}"), self.rare.rfind(f"\n{start}")
        end = self.rare.find("\n", last + 1)
        return PrefixMatches(start, words, self.rare[first : None if end < 0 else end] if first >= 0 else "")

    @cached_property
    def substitutes(self) -> list[Word]:
        """Words to search instead of a prefix that has too many matches.

        These are the prefix itself, the most frequent word, then others, title words first, within a limit of matches.
        The most frequent word is probably the one being typed; a rare one is found one character later.
        """
        rare = self.rare.split("\n", _MAX_SUBSTITUTES + 1)[1 : _MAX_SUBSTITUTES + 1]
        words = [*self.words, *(Word(token, 1, 0) for token in rare)]
        counts = list(map(_CHUNKS, words))
        most = max(counts)
        chosen = {min(word for word, count in zip(words, counts, strict=True) if count == most)}
        chosen.update(islice((word for word in words if word.token == self.start), 1))
        room = WIDEST_PREFIX
        for word in words:
            if len(chosen) == _MAX_SUBSTITUTES:
                break
            if word not in chosen and word.chunks <= room:
                chosen.add(word)
                room -= word.chunks
        return sorted(chosen)


class _CachedCounts:
    """Counts cached for one state of the index."""

    def __init__(self, state: tuple[str, int, int, frozenset[int]]) -> None:
        self.state = state
        self.total: int | None = None
        self.average_length: float | None = None
        self.chunks: dict[str, dict[str, int]] = {}
        """Number of chunks by token and column."""
        self.loose: dict[tuple[str, str], tuple[int, Sequence[str]]] = {}
        self.prefixes: dict[str, PrefixMatches] = {}
        """Words by prefix, least recently added first."""


class Frequencies:
    """Caches, across queries, how many chunks contain each word. Thread-safe: parallel counts give the same result."""

    def __init__(self) -> None:
        self._latest: dict[bool, _CachedCounts] = {}
        """Counts in all files, and counts in the files that shared sessions may know of."""

    def counts(self, snapshot: Snapshot) -> "Counts":
        state = snapshot.identity, snapshot.tables.generation, snapshot.stamp, snapshot.hidden
        limited = bool(snapshot.hidden)
        cached = self._latest.get(limited)
        if cached is None or cached.state != state:
            cached = self._latest[limited] = _CachedCounts(state)
        return Counts(snapshot, cached)


class Counts:
    """Looks up how many chunks in one snapshot of the index contain a word."""

    def __init__(self, snapshot: Snapshot, cached: _CachedCounts) -> None:
        self._snapshot = snapshot
        self._cached = cached

    @property
    def total(self) -> int:
        if self._cached.total is None:  # counting a million chunks reads thousands of pages
            self._cached.total = self._snapshot.chunk_count()
        return self._cached.total

    @property
    def average_length(self) -> float | None:
        """Average length of the chunks in tokens if the snapshot is limited; else None, since FTS5 knows it."""
        snapshot, cached = self._snapshot, self._cached
        if snapshot.hidden and cached.average_length is None:
            hidden = snapshot.chunks_of_files(tuple(snapshot.hidden))
            length = length_without(snapshot.connection, snapshot.tables.fts, hidden)
            cached.average_length = length / max(1, self.total)
        return cached.average_length

    def expect(self, tokens: Iterable[str]) -> None:
        """Look up and cache the counts of several tokens in one query, which takes half the time of single ones."""
        known = self._cached.chunks
        if len(known) > _MAX_WORDS:
            # Most tokens are looser forms that occur nowhere. Looking these up again takes a fifteenth of the time.
            held = {token: counts for token, counts in list(known.items()) if counts}
            self._cached.chunks = known = held if len(held) <= _MAX_WORDS // 2 else {}
        unknown = [token for token in dict.fromkeys(tokens) if token not in known]
        for tokens_together in in_batches(unknown, _TOGETHER):
            self._count(tokens_together)

    def chunks(self, token: str, column: str) -> int:
        """Return the number of chunks that contain `token` in `column`; "name" includes titles."""
        counts = self._cached.chunks.get(token)
        if counts is None:
            counts = self._count((token,))[token]
        count = counts.get(column, 0)
        return max(count, counts.get("title", 0)) if column == "name" else count

    def _count(self, tokens: Sequence[str]) -> dict[str, dict[str, int]]:
        """Read and cache the number of chunks of each token, by column.

        All columns are counted, since FTS5 reads a token's whole posting list for any of them.
        """
        counts: dict[str, dict[str, int]] = {token: {} for token in tokens}
        marks = ",".join("?" * len(tokens))
        query = f"SELECT term, col, doc FROM {self._snapshot.words_where(f'term IN ({marks})')}"
        for token, column, chunks in self._snapshot.connection.execute(query, tuple(tokens)):
            counts[token][column] = chunks
        self._cached.chunks.update(counts)
        return counts

    def loose(self, token: str, column: str) -> int:
        """Return the number of chunks that contain a token in `column`, or in a title or name if none does; with `*` at
        its end, the sum over all tokens with this prefix.
        """
        if token.endswith("*"):
            return self._prefix(token, column)[0]
        return self.chunks(token, column) or self.chunks(token, "name")

    def spelled_out(self, token: str, column: str) -> Sequence[str]:
        """Return the words of a prefix (with `*` at its end) outside of `words`, if it has too many in `words`.

        FTS5 would read the lists of all words, such as every address for a stem that begins like "https". Empty if the
        prefix itself should be searched.
        """
        return self._prefix(token, column)[1]

    def _prefix(self, token: str, column: str) -> tuple[int, Sequence[str]]:
        """Return the sum of the chunk counts of a prefix's words in a column, and the words to search instead."""
        known = self._cached.loose
        found = known.get((token, column))
        if found is None:
            if len(known) >= _MAX_WORDS:
                known.clear()
            start = token[:-1]
            rows = self._snapshot.connection.execute(
                f"""SELECT coalesce(
                        nullif(sum(iif(col = ?, doc, 0)), 0), sum(iif(col IN ('title', 'name'), doc, 0)), 0
                    ), coalesce(sum(iif(col = 'words', doc, 0)), 0),
                    json_group_array(DISTINCT term) FILTER (WHERE col != 'words')
                    FROM {self._snapshot.words_where("term >= ? AND term < ?")}""",
                (column, start, start + _LAST),
            )
            for chunks, in_words, others in rows:
                words = msgspec.json.decode(others, type=list[str]) if in_words > WIDEST_PREFIX else []
                if len(words) > _MAX_SUBSTITUTES:
                    words = self._most_frequent(start) if self.total > LARGE else []
                found = known[token, column] = chunks, words
        return found or (0, ())

    def _most_frequent(self, start: str) -> list[str]:
        """Return the most frequent stems and words of titles with a prefix."""
        rows = self._snapshot.connection.execute(
            f"""SELECT term FROM {self._snapshot.words_where("term >= ? AND term < ? AND col != 'words'")}
                GROUP BY term ORDER BY max(doc) DESC, term LIMIT {_MAX_SUBSTITUTES}""",
            (start, start + _LAST),
        )
        return [term for (term,) in rows]

    def words(self, start: str) -> PrefixMatches:
        """Return the words of the index with the prefix `start`."""
        known = self._cached.prefixes
        found = known.get(start)
        if found is None:
            wider = [begun for begun in list(known.values()) if start.startswith(begun.start) and not begun.estimate]
            if wider:
                found = max(wider, key=lambda begun: len(begun.start)).narrowed(start)
            else:
                found = self._most_frequent_words(start) or PrefixMatches(start, *self._read(start, start + _LAST))
            known[start] = found
            for oldest in list(known)[:-_MAX_CACHED_PREFIXES]:
                known.pop(oldest, None)
        return found

    def _most_frequent_words(self, start: str) -> PrefixMatches | None:
        """Return the most frequent words with a prefix if their lists are long in a large index; None if all can be
        read.

        The first words of the pages of the index show how many pages the words before them take. The lists of the most
        frequent words take several, and each range of words that is read ends with one of these.
        """
        if self.total <= LARGE or self._snapshot.hidden:
            return None
        pages = f"{self._snapshot.tables.fts}_idx"
        first, last = (f"0{word}".encode() for word in (start, start + _LAST))  # FTS5 puts a digit before a word
        parts = dict[int, list[tuple[int, bytes]]]()
        for part, page, word in self._snapshot.connection.execute(
            f"""{with_parts(pages)} SELECT segid, pgno >> 1, max(term, ?1) FROM parts CROSS JOIN {pages} ON segid = part
            AND term >= coalesce((SELECT max(term) FROM {pages} WHERE segid = part AND term <= ?1), ?1)
            AND term <= coalesce((SELECT min(term) FROM {pages} WHERE segid = part AND term >= ?2), ?2)""",
            (first, last),
        ):
            parts.setdefault(part, []).append((page, word))
        total, largest = 0, list[tuple[int, bytes, bytes]]()
        for part in parts.values():
            ranges = [(end - page, word, following) for (page, word), (end, following) in pairwise(part)]
            total += sum(count for count, _, _ in ranges)
            largest = max(largest, ranges, key=lambda ranges: sum(count for count, _, _ in ranges))
        if total <= _MAX_PAGES:
            return None
        ranges = sorted((wide for wide in largest if wide[0] <= _MAX_PAGES), reverse=True)
        most = WIDEST_PREFIX // _CHUNKS_OF_PAGE
        read = ranges[:1] + [wide for wide in ranges[1:] if wide[0] <= most][:_MAX_SUBSTITUTES]
        words = dict.fromkeys(self._read(start, start + " ")[0])
        for _, word, following in read:
            words |= dict.fromkeys(self._read(word[1:], min(following, last)[1:])[0])
        return PrefixMatches(start, sorted(words, key=_by_titles), estimate=total * _CHUNKS_OF_PAGE) if words else None

    def _read(self, first: str | bytes, end: str | bytes) -> tuple[Sequence[Word], str]:
        """Return the words from `first` to before `end`, and the rare ones among them as in `PrefixMatches`."""
        # Making objects of all words would take most of the time.
        query = f"""SELECT json_group_array(json_array(term, chunks, titled)) FILTER (WHERE chunks > 1 OR titled),
                coalesce(group_concat(char(10) || term, '') FILTER (WHERE chunks = 1 AND NOT titled), '')
            FROM (SELECT term, {sql_chunk_count("words")} AS chunks,
                    max(CASE WHEN col IN ('title', 'heading', 'aliases') THEN doc ELSE 0 END) AS titled
                FROM {self._snapshot.words_where("term >= CAST(? AS TEXT) AND term < CAST(? AS TEXT)")}
                GROUP BY term HAVING chunks)"""
        ((words, rare),) = self._snapshot.connection.execute(query, (first, end))
        return sorted(msgspec.json.decode(words, type=list[Word]), key=_by_titles), rare


def _by_titles(word: Word) -> tuple[int, int, str]:
    return -word.titled, -word.chunks, word.token


def sql_chunk_count(column: str) -> str:
    """Return the SQL of the number of chunks with a word in `column`, or in a title or name if the word is in no text.

    To be selected from `Snapshot.words_where`, grouped by word. Sessions and files have names that are in no text.
    """
    return f"coalesce(max(iif(col = '{column}', doc, NULL)), max(iif(col IN ('title', 'name'), doc, NULL)))"
