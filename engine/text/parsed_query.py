"""A parsed query, made of clauses with words, phrases and operators, and its terms."""

import re
from collections.abc import Iterator
from functools import cached_property

import msgspec

from engine.base.language import tr
from engine.text.folding import fold
from engine.text.operators import DATED, OPERATORS
from engine.text.query_introductions import subject

CLOSING = {'"': '"', "“": "”“", "„": "“”"}
"""Closing quotation marks, by opening mark."""
TOKEN = re.compile(r"\S+")
NAMED = re.compile(r"([^\W\d_]{2,16}):")
"""Matches what may be the name of an operator, such as `path:`."""
_MAX_REMARKS = 3


class Word(msgspec.Struct, frozen=True):
    """A text without spaces in a query, which the analysis may split into several terms."""

    text: str
    start: int
    end: int
    """Offset in the query at which `text` ends; it begins at `start`."""
    is_prefix: bool = False
    """Whether longer words with this prefix match too."""

    def __str__(self) -> str:
        return f"{self.text}*" if self.is_prefix else self.text

    @property
    def opens(self) -> bool:
        """Whether the word begins with a quotation mark that is not closed yet."""
        match = NAMED.match(self.text)
        begin = match.end() if match and match[1].casefold() in OPERATORS else 0
        return self.text.startswith('"', begin) and self.text.count('"') % 2 == 1


class Phrase(msgspec.Struct, frozen=True):
    """Words that must occur together, in this order and as written."""

    text: str
    start: int
    end: int
    """Offset in the query at which `text` ends, without the quotation mark."""

    def __str__(self) -> str:
        return _in_quotes(self.text)


class Field(msgspec.Struct, frozen=True):
    """A filter of a query, such as `path:notes`: the operator and its value."""

    name: str
    value: str

    def __str__(self) -> str:
        return f"{self.name}:{self.value if self.bare else _in_quotes(self.value)}"

    @property
    def bare(self) -> bool:
        """Whether the value can be written without quotation marks."""
        return TOKEN.fullmatch(self.value) is not None and self.value[0] not in CLOSING


Atom = Word | Phrase | Field


def _in_quotes(text: str) -> str:
    return _curly(text) if '"' in text else f'"{text}"'


def _curly(text: str) -> str:
    return f"“{text}”"


def _behind_open_mark(atom: Atom) -> str:
    """Write a phrase after an unclosed `"` with other quotation marks, which it doesn't contain."""
    if isinstance(atom, Phrase):
        return _curly(atom.text)
    return str(atom) if isinstance(atom, Word) or atom.bare else f"{atom.name}:{_curly(atom.value)}"


class Clause(msgspec.Struct, frozen=True):
    """One condition of a query: one of the alternatives must match, or none of them if `negated`."""

    alternatives: tuple[Atom, ...]
    negated: bool = False

    @property
    def required(self) -> bool:
        """Whether the clause limits the results; plain words only affect the ranking."""
        return self.negated or len(self.alternatives) > 1 or not isinstance(self.alternatives[0], Word)

    @property
    def is_quotation(self) -> bool:
        """Whether the clause requires a single phrase."""
        return not self.negated and len(self.alternatives) == 1 and isinstance(self.alternatives[0], Phrase)

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
        """Whether the query consists of words only."""
        return not any(clause.required or _begins(clause) for clause in self.clauses)

    @property
    def dated(self) -> bool:
        """Whether the query contains a date, which may be relative to now."""
        atoms = (atom for clause in self.clauses for atom in clause.alternatives)
        return any(isinstance(atom, Field) and atom.name in DATED for atom in atoms)

    @property
    def required(self) -> tuple[Clause, ...]:
        """The conditions that every result must satisfy."""
        return tuple(clause for clause in self.clauses if clause.required)

    @property
    def contradiction(self) -> str:
        """A sentence on a word that is both searched and excluded, perhaps in a phrase or by its beginning; empty if
        there is none.
        """
        atoms = (clause.alternatives[0] for clause in self.clauses if clause.negated)
        excluded = [_spaced(atom) for atom in atoms if not isinstance(atom, Field)]
        for _, atom in self.searched_atoms() if excluded else ():
            if any(words in _spaced(atom) for words in excluded):
                return tr("“{word}” is both searched and excluded, so no result contains it.", word=atom)
        return ""

    @property
    def shown_remarks(self) -> tuple[str, ...]:
        """The first remarks, as many as are shown; on a contradiction before those on syntax."""
        return tuple(remark for remark in (self.contradiction, *self.remarks) if remark)[:_MAX_REMARKS]

    @property
    def words_optional(self) -> bool:
        """Whether a passage can satisfy the query without any of its words, as for `tag:garden OR hammer`."""
        demanded = [clause.alternatives for clause in self.clauses if not clause.negated]
        return bool(demanded) and all(any(isinstance(atom, Field) for atom in atoms) for atoms in demanded)

    def values_of_required(self, operator: str) -> list[str]:
        """Return the values of an operator in the required clauses."""
        atoms = (atom for clause in self.required if not clause.negated for atom in clause.alternatives)
        return [atom.value for atom in atoms if isinstance(atom, Field) and atom.name == operator]

    @cached_property
    def words_text(self) -> str:
        """The query's text with operators and exclusions replaced by spaces, so that offsets stay the same."""
        if self.plain:
            return self.text
        characters = [" "] * len(self.text)
        for _, atom in self.searched_atoms():
            characters[atom.start : atom.end] = self.text[atom.start : atom.end]
        return "".join(characters)

    @cached_property
    def searched_text(self) -> str:
        """`words_text` with spaces for words that only introduce the subject, unless they are in a quotation."""
        text, (start, end) = self.words_text, subject(self.words_text)
        phrases = (atom for _, atom in self.searched_atoms() if isinstance(atom, Phrase))
        if any(phrase.start < start or phrase.end > end for phrase in phrases):
            return text
        return f"{' ' * start}{text[start:end]}{' ' * (len(text) - end)}"

    @cached_property
    def free_text(self) -> str:
        """The query's words without operators, for an embedding model. May be empty."""
        text = self.searched_text
        return text if text == self.text else " ".join(text.split())

    def searched_atoms(self) -> Iterator[tuple[int, Word | Phrase]]:
        """Yield all words and phrases to search, each with the number of its clause."""
        for number, clause in enumerate(self.clauses):
            if not clause.negated:
                yield from ((number, atom) for atom in clause.alternatives if not isinstance(atom, Field))


def _spaced(atom: Word | Phrase) -> str:
    """Return the folded words of an atom between spaces; none after a beginning, which longer words have, too."""
    words = f" {fold(atom.text)}"
    return words if isinstance(atom, Word) and atom.is_prefix else f"{words} "


def _begins(clause: Clause) -> bool:
    return any(isinstance(atom, Word) and atom.is_prefix for atom in clause.alternatives)


class QueryTerm(msgspec.Struct, frozen=True):
    """One word, identifier, or stretch of an unspaced script in a query, with its tokens and stems."""

    surface: str
    start: int
    end: int
    """Offsets in the query, in code points."""
    word: str | tuple[str, ...]
    """Token of the `words` stream, or a tuple of adjacent tokens (the pairs of an unspaced stretch)."""
    stems: tuple[str, ...]
    """Forms in the `stems` stream: alternatives, one per language if they differ. A form with spaces is a phrase, such
    as the parts of an identifier. Empty for unspaced scripts and pictographs.
    """
    stop: bool
    """Whether it is a function word, which is not searched; never set for all terms of a query."""
    is_prefix: bool
    """Whether `word` also matches longer tokens: the last word while it is typed, or a single unspaced character, since
    the index contains pairs."""
    phrased: bool = False
    """Whether the term is searched only inside a phrase."""
    group: int = 0
    """Number shared by alternative terms; one of them must match. 0 for other terms."""
    loose: tuple[tuple[str, ...], ...] = ()
    """Looser forms: phrases of the `words` stream that are weaker evidence than the term itself.

    A last token with `*` is a prefix.
    """
    loose_stems: tuple[str, ...] = ()
    """Looser forms in the `stems` stream, written as in `stems`."""
    misspelt: bool = False
    """Whether the term occurs nowhere and its looser forms are similar words, since it may be a typing error."""
    irregular: tuple[str, ...] = ()
    """Stems of irregular forms of the word, "buy" for "bought", and of the word joined with the one next to it."""
    filler: bool = False
    """Whether the word only introduces the query ("another", "best"), so that its weight is low; never set for all
    terms.
    """
