"""The query language: words, "phrases", -exclusions, OR, beginnings*, and operators such as `path:` and `after:`.

Any text is a query. What looks like syntax and is none is read as words, and the query says so in its remarks.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from engine.text.operators import DATED, OPERATORS, problem_with

LONGEST = 4096
"""Code points of a query that are read; a longer text is a pasted file, and all of it words."""
_CLOSING = {'"': '"', "“": "”“", "„": "“”"}
_SPACE = re.compile(r"\s*")
_TOKEN = re.compile(r"\S+")
_NAMED = re.compile(r"([^\W\d_]{2,16}):")
_TWO_WORD_DATE = re.compile(
    r"(?:last|this|letzte[nrs]?|diese[nrs]?)[ \t]+(?:week|month|year|woche|monat|jahr)\b", re.IGNORECASE
)
_BEGINNING = re.compile(r"([^*]*\w)\*")
_STRAY_STAR = re.compile(r"[^\W_]*\*+[^\W_]+")
_UNKNOWN = re.compile(r"([A-Za-z]{2,16}):[^\W\d_][^:/]*")
_SHORTEST_BEGINNING = 2
_NEVER_CLOSES = "A quotation mark that never closes was read as a part of its word."


class Word(NamedTuple):
    """Text without spaces: one word, or what the analysis makes of it."""

    text: str
    start: int
    end: int
    """Place of `text` in the query."""
    beginning: bool = False
    """Whatever begins so counts, too."""

    def __str__(self) -> str:
        return f"{self.text}*" if self.beginning else self.text

    @property
    def opens(self) -> bool:
        """Whether it has a quotation mark that never closes: another one like it would close it."""
        found = _NAMED.match(self.text)
        begin = found.end() if found and found[1].casefold() in OPERATORS else 0
        return self.text.startswith('"', begin) and self.text.count('"') % 2 == 1


class Phrase(NamedTuple):
    """Words that must stand together, in this order and as they are written."""

    text: str
    start: int
    end: int
    """Place of `text` in the query, without its quotation marks."""

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
        return _TOKEN.fullmatch(self.value) is not None and self.value[0] not in _CLOSING


Atom = Word | Phrase | Field


def _in_quotes(text: str) -> str:
    return _curly(text) if '"' in text else f'"{text}"'


def _curly(text: str) -> str:
    return f"“{text}”"


def _behind_open_mark(atom: Atom) -> str:
    """As it is written where an earlier `"` never closes. It was in other marks, so it holds none of these."""
    if isinstance(atom, Phrase):
        return _curly(atom.text)
    return str(atom) if isinstance(atom, Word) or atom.bare else f"{atom.name}:{_curly(atom.value)}"


class Clause(NamedTuple):
    """One of these, or with `negated` none of them."""

    alternatives: tuple[Atom, ...]
    negated: bool = False

    @property
    def required(self) -> bool:
        """Whether it decides what may be found at all: plain words only say what is found first."""
        return self.negated or len(self.alternatives) > 1 or not isinstance(self.alternatives[0], Word)

    def __str__(self) -> str:
        return ("-" if self.negated else "") + " OR ".join(map(str, self.alternatives))


@dataclass(frozen=True)
class Query:
    """A query that was read; immutable. `str` gives it back in the same language."""

    text: str
    clauses: tuple[Clause, ...] = ()
    """In their order; those that name a field again stand with the first that does."""
    remarks: tuple[str, ...] = field(default=(), compare=False)
    """One sentence for everything that was read as words though it looks like syntax."""

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
        """Whether it is words and nothing else."""
        return not any(clause.required or _begins(clause) for clause in self.clauses)

    @property
    def dated(self) -> bool:
        """Whether it names a date, which may be told from now."""
        atoms = (atom for clause in self.clauses for atom in clause.alternatives)
        return any(isinstance(atom, Field) and atom.name in DATED for atom in atoms)

    @property
    def required(self) -> tuple[Clause, ...]:
        """What every chunk that is found must satisfy."""
        return tuple(clause for clause in self.clauses if clause.required)

    def demands(self, operator: str) -> list[str]:
        """What every chunk that is found must have by this operator, each alternative."""
        atoms = (atom for clause in self.required if not clause.negated for atom in clause.alternatives)
        return [atom.value for atom in atoms if isinstance(atom, Field) and atom.name == operator]

    @cached_property
    def asked(self) -> str:
        """The text with spaces in place of all that is not looked for: each word keeps its place."""
        if self.plain:
            return self.text
        kept = [" "] * len(self.text)
        for _, atom in self.wanted():
            kept[atom.start : atom.end] = self.text[atom.start : atom.end]
        return "".join(kept)

    @cached_property
    def question(self) -> str:
        """What is asked for in words alone: a model that knows no operators understands it. May be empty."""
        return self.text if self.plain else " ".join(self.asked.split())

    def wanted(self) -> Iterator[tuple[int, Word | Phrase]]:
        """All words and phrases that are looked for, each with the number of its clause."""
        for number, clause in enumerate(self.clauses):
            if not clause.negated:
                yield from ((number, atom) for atom in clause.alternatives if not isinstance(atom, Field))


def parse_query(text: str) -> Query:
    """Reads any text; never raises."""
    return _Reader(text).read() if len(text) <= LONGEST else Query(text)


def _begins(clause: Clause) -> bool:
    return any(isinstance(atom, Word) and atom.beginning for atom in clause.alternatives)


class _Reader:
    """Reads one text from its beginning to its end."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._clauses: list[Clause] = []
        self._remarks: list[str] = []
        self._joins = False
        """Whether an OR waits for what it joins."""
        self._or_place = (0, 0)

    def read(self) -> Query:
        at = self._skip(0)
        while at < len(self._text):
            at = self._skip(self._next(at))
        if self._joins:
            self._or_as_word()
        return Query(self._text, _gathered(self._clauses), tuple(dict.fromkeys(self._remarks)))

    def _skip(self, at: int) -> int:
        found = _SPACE.match(self._text, at)
        return found.end() if found else at

    def _next(self, at: int) -> int:
        """Read what begins here; returns its end."""
        text = self._text
        if text[at] == "-" and at and not text[at - 1].isspace():
            return at + 1  # behind a quotation: “left”-handed
        after = text[at + 1 : at + 2]
        negated = text[at] == "-" and (after.isalpha() or after in _CLOSING)
        begin = at + 1 if negated else at
        if text[begin] in _CLOSING and (end := self._phrase(begin, negated=negated)):
            return end
        found = _NAMED.match(text, begin)
        if found and found[1].casefold() in OPERATORS and (end := self._field(at, found, negated=negated)):
            return end
        end = self._end_of_token(begin)
        if text[begin:end] == "OR" and not negated:
            self._or(begin, end)
        else:
            self._word(begin, end, negated=negated)
        return end

    def _phrase(self, begin: int, *, negated: bool) -> int:
        """Returns 0 for a quotation mark that never closes."""
        end = self._closing(begin)
        if end < 0:
            self._remarks.append(_NEVER_CLOSES)
            return 0
        inside = self._text[begin + 1 : end]
        if inside.strip():
            self._add(Phrase(inside, begin + 1, end), negated=negated)
        return end + 1

    def _closing(self, begin: int) -> int:
        """Where the quotation that begins here ends; -1 for nowhere."""
        marks = _CLOSING[self._text[begin]]
        return next((at for at in range(begin + 1, len(self._text)) if self._text[at] in marks), -1)

    def _field(self, at: int, found: re.Match[str], *, negated: bool) -> int:
        """Returns 0 where the value does not fit."""
        text, name, begin = self._text, found[1].casefold(), found.end()
        if text[begin : begin + 1] in _CLOSING:
            end = self._closing(begin)
            if end < 0:
                self._remarks.append(_NEVER_CLOSES)
                return 0
            value, end = text[begin + 1 : end], end + 1
        elif dated := _TWO_WORD_DATE.match(text, begin) if name in ("after", "before", "on") else None:
            value, end = dated[0], dated.end()
        else:
            token = _TOKEN.match(text, begin)
            value, end = (token[0], token.end()) if token else ("", begin)
        problem = problem_with(name, value)
        if problem:
            self._remarks.append(f"“{text[at:end]}” was read as words: {problem}.")
            return 0
        self._add(Field(name, value.strip()), negated=negated)
        return end

    def _end_of_token(self, begin: int) -> int:
        found = _TOKEN.match(self._text, begin)
        return found.end() if found else begin + 1

    def _or(self, begin: int, end: int) -> None:
        if self._joins or not self._clauses or self._clauses[-1].negated:
            if self._joins:
                self._or_as_word()
            self._remark_or()
            self._word(begin, end, negated=False)
        else:
            self._joins, self._or_place = True, (begin, end)

    def _remark_or(self) -> None:
        self._remarks.append("“OR” was read as a word: it joins what stands before it and after it.")

    def _or_as_word(self) -> None:
        self._joins = False
        self._remark_or()
        self._clauses.append(Clause((Word("OR", *self._or_place),)))

    def _word(self, begin: int, end: int, *, negated: bool) -> None:
        text = self._text[begin:end]
        beginning = _BEGINNING.fullmatch(text)
        if beginning and len(beginning[1]) >= _SHORTEST_BEGINNING:
            self._add(Word(beginning[1], begin, end - 1, beginning=True), negated=negated)
            return
        if beginning:
            self._remarks.append(f"“{text}” was read as a word: a beginning has at least two letters.")
        elif _STRAY_STAR.fullmatch(text):
            self._remarks.append(f"“{text}” was read as words: * stands only at the end of a word.")
        elif (unknown := _UNKNOWN.fullmatch(text)) and unknown[1].casefold() not in OPERATORS:
            self._remarks.append(f"“{text}” was read as words: there is no operator {unknown[1]}.")
        if self._joins and (text.startswith("(") or text.endswith(")")):
            self._remarks.append("Brackets group nothing: OR joins only what stands beside it.")
        self._add(Word(text, begin, end), negated=negated)

    def _add(self, atom: Atom, *, negated: bool) -> None:
        if self._joins and negated:
            self._or_as_word()
        if self._joins:
            self._joins = False
            former = self._clauses.pop()
            self._clauses.append(Clause((*former.alternatives, atom)))
        else:
            self._clauses.append(Clause((atom,), negated))


def _gathered(clauses: list[Clause]) -> tuple[Clause, ...]:
    """With one clause for all values of an operator of which a chunk has one: any of them will do."""
    gathered: dict[object, Clause] = {}
    for place, clause in enumerate(clauses):
        names = {atom.name if isinstance(atom, Field) else "" for atom in clause.alternatives}
        name = names.pop() if len(names) == 1 else ""
        key = name if name and OPERATORS[name].either and not clause.negated else place
        former = gathered.get(key, Clause(()))
        gathered[key] = Clause(tuple(dict.fromkeys(former.alternatives + clause.alternatives)), clause.negated)
    return tuple(gathered.values())
