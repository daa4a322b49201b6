"""The stages of a search and the terms of its query."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from engine.base.formatting import in_quotes
from engine.base.language import tr
from engine.records import SearchStage, StageUnit


@dataclass(frozen=True, eq=False)
class Term:
    """One term of the query in this index: FTS5 phrases, any of which is a match."""

    surface: str
    stemmed: tuple[str, ...]
    """Its stems, one per language, looked for everywhere but in `words`; none for a term without a stem."""
    plain: tuple[str, ...]
    """The word itself, where the index has it, a requested beginning, or a run of pairs, looked for everywhere but in
    `stems`; may be empty."""
    chunks: int
    """How many chunks hold it: the exact form where the index has it, else its weaker forms."""
    matches: int
    """How many chunks `expression` finds, about: fewer where some words represent a beginning."""
    idf: float
    """Of the exact form where the index has it. Fillers weigh less than their rarity."""
    weak_stems: tuple[str, ...] = ()
    """Looser forms among the stems."""
    weak_words: tuple[str, ...] = ()
    """Looser forms among the words, and longer words that begin with the one being typed."""
    weak: float = 1.0
    """Weight of a match by weaker forms alone."""
    loose: int = 0
    """About how many chunks hold a looser form."""

    @property
    def kinds(self) -> str:
        """A letter for each phrase of the expression: s for a stem, p for a plain word, capital for weaker ones."""
        exact = "s" * len(self.stemmed) + "p" * len(self.plain)
        return exact + "S" * len(self.weak_stems) + "P" * len(self.weak_words)

    @property
    def expression(self) -> str:
        """Without columns, which would make the match four times as expensive: a stem in `words` scores nothing."""
        return f"({' OR '.join(self.stemmed + self.plain + self.weak_stems + self.weak_words)})"


@dataclass
class Stages:
    """The stages of one search, in their order; the time between two of them belongs to the second."""

    found: list[SearchStage] = field(default_factory=list)
    _ended: float = field(default_factory=time.perf_counter)

    def add(self, name: str, entered: int, left: int, note: str, unit: StageUnit = "chunks") -> None:
        now = time.perf_counter()
        spent = round((now - self._ended) * 1000, 3)
        self._ended = now
        self.found.append(SearchStage(name=name, entered=entered, left=left, note=note, milliseconds=spent, unit=unit))

    def add_terms(self, terms: Sequence[Term], dropped: Sequence[str]) -> None:
        """Add the stage of the query's analysis."""
        known = [tr("“{word}” in {count:,}", word=term.surface, count=term.chunks) for term in terms if term.chunks]
        unknown = [in_quotes(term.surface) for term in terms if not term.chunks]
        notes = []
        if known:
            notes.append(tr("Chunks with each word: {words}.", words=", ".join(known)))
        if unknown:
            notes.append(tr("Nowhere in the index: {words}.", words=", ".join(unknown)))
        if dropped:
            words = ", ".join(map(in_quotes, dropped))
            notes.append(tr("Left out as too common in any text: {words}.", words=words))
        note = " ".join(notes) or tr("The question has no words.")
        self.add("words", len(terms) + len(dropped), len(known), note, "words")
