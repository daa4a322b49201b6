"""A parsed query: clauses of words, phrases and operators, its terms, and its text in the query language."""

import re
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

import msgspec

from engine.text.operators import DATED, OPERATORS

CLOSING = {'"': '"', "“": "”“", "„": "“”"}
"""Closing quotation mark -> by opening mark."""
TOKEN = re.compile(r"\S+")
NAMED = re.compile(r"([^\W\d_]{2,16}):")
"""The beginning of a possible operator."""


class Word(NamedTuple):
    """Text without spaces, which the analysis may split."""

    text: str
    start: int
    end: int
    """End of `text` in the query; `start` is its beginning."""
    beginning: bool = False
    """Whether longer words with this prefix match too."""

    def __str__(self) -> str:
        return f"{self.text}*" if self.beginning else self.text

    @property
    def opens(self) -> bool:
        """Whether it has an unclosed quotation mark: another one would close it."""
        found = NAMED.match(self.text)
        begin = found.end() if found and found[1].casefold() in OPERATORS else 0
        return self.text.startswith('"', begin) and self.text.count('"') % 2 == 1


class Phrase(NamedTuple):
    """Words that must occur together, in this order and as written."""

    text: str
    start: int
    end: int
    """End of `text` in the query, quotation marks excluded."""

    def __str__(self) -> str:
        return _in_quotes(self.text)


class Field(NamedTuple):
    """An operator with its value."""

    name: str
    value: str

    def __str__(self) -> str:
        return f"{self.name}:{self.value if self.bare else _in_quotes(self.value)}"

    @property
    def bare(self) -> bool:
        """Whether the value needs no quotation marks."""
        return TOKEN.fullmatch(self.value) is not None and self.value[0] not in CLOSING


Atom = Word | Phrase | Field


def _in_quotes(text: str) -> str:
    return _curly(text) if '"' in text else f'"{text}"'


def _curly(text: str) -> str:
    return f"“{text}”"


def _behind_open_mark(atom: Atom) -> str:
    """Write the phrase after an unclosed `"`, in other quotation marks, which it doesn't contain."""
    if isinstance(atom, Phrase):
        return _curly(atom.text)
    return str(atom) if isinstance(atom, Word) or atom.bare else f"{atom.name}:{_curly(atom.value)}"


class Clause(NamedTuple):
    """Alternatives: one must match, or none of them if `negated`."""

    alternatives: tuple[Atom, ...]
    negated: bool = False

    @property
    def required(self) -> bool:
        """Whether it limits the results: plain words only affect the ranking."""
        return self.negated or len(self.alternatives) > 1 or not isinstance(self.alternatives[0], Word)

    def __str__(self) -> str:
        return ("-" if self.negated else "") + " OR ".join(map(str, self.alternatives))


class Query(msgspec.Struct, frozen=True, dict=True, eq=False):
    """An immutable parsed query. `str` returns its text in the query language."""

    text: str
    clauses: tuple[Clause, ...] = ()
    """Clauses in order; repeated fields are grouped with the first one."""
    remarks: tuple[str, ...] = ()
    """One sentence for each part read as words although it resembles syntax; not compared."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Query) and (self.text, self.clauses) == (other.text, other.clauses)

    def __hash__(self) -> int:
        return hash((self.text, self.clauses))

    def __str__(self) -> str:
        written, open_mark = [], False
        for clause in self.clauses:
            atoms = []
            for atom in clause.alternatives:
                atoms.append(_behind_open_mark(atom) if open_mark else str(atom))
                open_mark = open_mark or (isinstance(atom, Word) and atom.opens)
            written.append(("-" if clause.negated else "") + " OR ".join(atoms))
        return " ".join(written) if written else self.text

    @cached_property
    def plain(self) -> bool:
        """Whether it consists of words only."""
        return not any(clause.required or _begins(clause) for clause in self.clauses)

    @property
    def dated(self) -> bool:
        """Whether it contains a date, which may be relative to now."""
        atoms = (atom for clause in self.clauses for atom in clause.alternatives)
        return any(isinstance(atom, Field) and atom.name in DATED for atom in atoms)

    @property
    def required(self) -> tuple[Clause, ...]:
        """Conditions that every result must satisfy."""
        return tuple(clause for clause in self.clauses if clause.required)

    def demands(self, operator: str) -> list[str]:
        """The required values of this operator, each a tuple of alternatives."""
        atoms = (atom for clause in self.required if not clause.negated for atom in clause.alternatives)
        return [atom.value for atom in atoms if isinstance(atom, Field) and atom.name == operator]

    @cached_property
    def asked(self) -> str:
        """The text with everything that is not searched replaced by spaces, so that positions are preserved."""
        if self.plain:
            return self.text
        kept = [" "] * len(self.text)
        for _, atom in self.wanted():
            kept[atom.start : atom.end] = self.text[atom.start : atom.end]
        return "".join(kept)

    @cached_property
    def question(self) -> str:
        """The query in words alone, for a model that knows no operators. May be empty."""
        return self.text if self.plain else " ".join(self.asked.split())

    def wanted(self) -> Iterator[tuple[int, Word | Phrase]]:
        """All searched words and phrases, each with the number of its clause."""
        for number, clause in enumerate(self.clauses):
            if not clause.negated:
                yield from ((number, atom) for atom in clause.alternatives if not isinstance(atom, Field))


def _begins(clause: Clause) -> bool:
    return any(isinstance(atom, Word) and atom.beginning for atom in clause.alternatives)


class QueryTerm(NamedTuple):
    """One word, identifier or stretch of an unspaced script."""

    surface: str
    start: int
    end: int
    """Code points in the query."""
    word: str | tuple[str, ...]
    """Token of the `words` stream, or a tuple of adjacent tokens (the pairs of an unspaced stretch)."""
    stems: tuple[str, ...]
    """Its form in the `stems` stream: alternatives, one per language if they differ. One with spaces is a
    phrase, such as the parts of an identifier. Empty for unspaced scripts and pictographs."""
    stop: bool
    """A function word; never set for all terms of a query."""
    prefix_ok: bool
    """Whether `word` also matches longer tokens: the last word while it is typed, or a single unspaced character, since
    the index contains pairs."""
    phrased: bool = False
    """Whether it is searched only inside a phrase."""
    group: int = 0
    """Number shared by alternative terms; one match suffices. 0 for other terms."""
    loose: tuple[tuple[str, ...], ...] = ()
    """Looser forms: phrases of the `words` stream that are weaker evidence than the term itself.

    A last token with `*` is a prefix.
    """
    loose_stems: tuple[str, ...] = ()
    """Looser forms in the `stems` stream, written as in `stems`."""
    irregular: tuple[str, ...] = ()
    """Stems of the same word's irregular forms: "buy" for "bought"."""
    filler: bool = False
    """A word that only introduces the query ("another", "best"), so it has a low weight; never set for all terms."""
