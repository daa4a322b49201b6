"""Translates a query for `qmd`: without function words for its keyword search, and on one line for its models."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from engine.base.language import marked, tr
from engine.text import Query, QueryAnalysis, analyse_query, highlight_ranges, parse_query
from engine.text.parsed_query import Clause, Field, Phrase, Word
from engine.text.scripts import UNSPACED, shape

_MOST_WAYS = 4
"""Lines of one search: `qmd` knows no "one of these" within a line."""
_MOST_LOOSE = 12
"""Words that are looked for one by one where no document has all, as in the reference."""
_LETTERS = re.compile(r"[^\W_]")
_SIGNS = re.compile(r"[^\w'.\-]+")
_ENDS = re.compile(r"^[^\w]+|[^\w]+$")
_SIGNED = re.compile(r'\s-+(?=[\w"])')
_PAIR = 2
_TYPED = re.compile(r"^\s*(lex|vec|hyde|intent|expand)\s*:", re.IGNORECASE)
_LONGEST_WORD = 120
UNKNOWN_TO_QMD = {"tag": marked("tags"), "role": marked("who speaks")}


@dataclass(frozen=True)
class QueryText:
    """A parsed query."""

    query: Query
    analysis: QueryAnalysis
    ways: tuple[str, ...]
    """Alternative keyword searches; empty if there are no search words."""
    loose: tuple[str, ...]
    """Each word as a separate search, longest first, if no document has all; empty for a single word."""
    sentence: str
    """For the models."""
    remarks: tuple[str, ...]

    @property
    def plain_sentence(self) -> str:
        """The same without signs that `qmd` would refuse before a word."""
        return _SIGNED.sub(" ", f" {self.sentence}").strip()

    def is_satisfied_by(self, text: str) -> bool:
        """Whether a text has the required phrases and none of the excluded words; qmd's models don't check that."""
        for clause in _worded(self.query):
            if clause.required:
                # Behind a space, a word is no beginning of a longer one.
                atoms = (parse_query(f"{atom} ") for atom in clause.alternatives)
                if any(highlight_ranges(text, atom, self.analysis.languages) for atom in atoms) == clause.negated:
                    return False
        return True

    @property
    def fields(self) -> tuple[Clause, ...]:
        """What it demands of files."""
        return tuple(
            clause
            for clause in self.query.clauses
            if all(isinstance(atom, Field) and atom.name not in UNKNOWN_TO_QMD for atom in clause.alternatives)
        )


def read_question(text: str) -> QueryText:
    """Parse a query. Every text is valid."""
    query = parse_query(text.encode("utf-8", "replace").decode().replace("\0", " "))
    analysis = analyse_query(query)
    needless = frozenset(term.surface for term in analysis.terms if term.stop)
    wanted, excluded = list[tuple[str, ...]](), list[str]()
    for clause in _worded(query):
        written = [_written(atom) for atom in clause.alternatives if not isinstance(atom, Field)]
        if clause.negated:
            excluded += [f"-{one}" for one in filter(None, written)]
        elif len(written) > 1 or written[0] not in needless or isinstance(clause.alternatives[0], Phrase):
            wanted.append(tuple(filter(None, written)))
    wanted = [one for one in wanted if one]
    ways = tuple(
        " ".join((*chosen, *excluded)) for chosen, _ in zip(product(*wanted), range(_MOST_WAYS), strict=False) if chosen
    )
    words = dict.fromkeys(part for one in wanted for word in one for part in _parts(word))
    singles = sorted(words, key=lambda word: -len(word))[:_MOST_LOOSE]
    loose = tuple(" ".join((word, *excluded)) for word in singles) if len(words) > 1 else ()
    sentence = _TYPED.sub(r"\1", " ".join(query.question.split()))
    return QueryText(query, analysis, ways, loose, sentence, tuple(_remarks(query, wanted)))


def _worded(query: Query) -> Iterator[Clause]:
    """The parts that ask for words."""
    if not query.clauses:  # a pasted file, all of it words
        yield from (Clause((Word(word, 0, 0),)) for word in query.text[: 10 * _LONGEST_WORD].split())
    for clause in query.clauses:
        if not any(isinstance(atom, Field) for atom in clause.alternatives):
            yield clause


def _written(atom: Word | Phrase) -> str:
    """In qmd's syntax; empty if nothing in it can be found."""
    # Characters that it would delete from a word separate words here.
    words = (_ENDS.sub("", word) for word in _SIGNS.sub(" ", atom.text).split())
    text = " ".join(filter(_LETTERS.search, words))[:_LONGEST_WORD].rstrip()
    return f'"{text}"' if isinstance(atom, Phrase) or " " in text else text


def _parts(word: str) -> list[str]:
    """Of a word in a script without spaces each pair: all of it may be a whole sentence."""
    if word.startswith('"') or UNSPACED not in shape(word) or len(word) <= _PAIR:
        return [word]
    return [word[at : at + _PAIR] for at in range(len(word) - _PAIR + 1)]


def _remarks(query: Query, wanted: list[tuple[str, ...]]) -> Iterator[str]:
    for clause in query.clauses:
        names = [atom.name for atom in clause.alternatives if isinstance(atom, Field)]
        if names and len(names) < len(clause.alternatives):
            yield tr("qmd cannot look for one of {part}: this part was left out.", part=str(clause))
        for name in names:
            if name in UNKNOWN_TO_QMD:
                what = tr(UNKNOWN_TO_QMD[name])
                yield tr("qmd does not know {what}: {part} was left out.", what=what, part=str(clause))
    ways = 1
    for one in wanted:
        ways *= len(one)
    if ways > _MOST_WAYS:
        yield tr(
            "qmd searches for one combination of words at a time: the first {asked} of {ways} were asked for.",
            asked=_MOST_WAYS,
            ways=ways,
        )
