"""The query language: words, "phrases", -exclusions, OR, NOT, prefixes*, and operators such as `path:` and `after:`.

Any text is a query. Invalid syntax is read as words and noted in the query's remarks.
"""

import re
from functools import cached_property

from engine.base import lazy_pattern
from engine.base.language import marked, tr
from engine.text.folding import fold
from engine.text.languages import detect_language
from engine.text.operators import EITHER, OPERATORS, problem_with
from engine.text.parsed_query import CLOSING, NAMED, TOKEN, Atom, Clause, Field, Phrase, Query, Word
from engine.text.stems import is_korean_ending
from engine.text.stopwords import FUNCTION_CHARACTERS, unsearched_words
from engine.text.writing_systems import UNSPACED, shape

LONGEST = 4096
"""Maximum number of code points of a query with operators; a longer text is a pasted file and read as words."""
_SPACE = lazy_pattern(r"\s*")
_TWO_WORD_DATE = lazy_pattern(
    r"(?:last|this|letzte[nrs]?|diese[nrs]?)[ \t]+(?:week|month|year|woche|monat|jahr)\b", re.IGNORECASE
)
_PREFIX = lazy_pattern(r"([^*]*\w)\*")
_STRAY_STAR = lazy_pattern(r"[^\W_]*\*+[^\W_]+")
_OPTION = lazy_pattern(r"-[A-Za-z](?=[,;:=)]?(?:\s|\Z))")
"""Matches an option of a command, which is a word: excluding a single letter is not useful."""
_TAG = lazy_pattern(r"#[^\W\d]")
_UNKNOWN = lazy_pattern(r"([A-Za-z]{2,16}):[^\W\d_][^:/]*")
_SHORTEST_PREFIX = 2
_HANGUL = lazy_pattern("[\u1100-\u11ff\uac00-\ud7a3]+")
_JAPANESE_PARTICLES = tuple("はがをにのとでもへや")
_QUESTION_MARKS = ("?", "？", "؟")
_PUNCTUATION = ".,;:!?"
_MIN_WORDS, _MIN_FUNCTION_WORDS = 4, 2
"""Least number of words outside of quotations in a whole question, and of function words among them. A word with a
comma shows a sentence in any language, unless half of the words have one, as in a list.
"""
_MIN_WORDS_WITH_MARK = 3
"""Least number of words of a question that ends with a question mark."""
_MIN_CHARACTERS = 2 * _MIN_WORDS
"""Least number of characters of a sentence in a script without spaces."""
_IN_SENTENCES = FUNCTION_CHARACTERS.union("はがをにので", "，、。；：")
"""Chinese and Japanese function words, and signs that only sentences have."""
_QUOTATION = lazy_pattern("|".join(f"{opening}[^{marks}]*[{marks}]" for opening, marks in CLOSING.items()))
_CONNECTIVES = ("AND", "OR", "NOT")
_NOT_WITH_OR = marked("“OR” was ignored: it doesn't join exclusions.")
_NEVER_CLOSES = marked("An unclosed quotation mark was read as part of its word.")


def parse_query(text: str) -> Query:
    """Parse any text as a query; never raises."""
    return _Parser(text).parse() if len(text) <= LONGEST else Query(text)


class _Parser:
    """Parser of one query."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._clauses: list[Clause] = []
        self._remarks: list[str] = []
        self._joins = False
        """Whether an OR awaits its second operand."""
        self._or_range = (0, 0)
        self._has_particle = False
        """Whether a particle follows a quotation directly, as in `"설정 파일"을`: the text around it is a sentence."""

    def parse(self) -> Query:
        at = self._skip(0)
        while at < len(self._text):
            at = self._skip(self._next(at))
        if self._joins:
            self._or_as_word()
        if self._is_pasted():
            return Query(self._text, remarks=(tr("A text of several lines is read as words."),))
        if self._is_question():
            self._clauses = [clause for whole in self._clauses for clause in self._preferred(whole)]
        return Query(self._text, _with_alternatives(self._clauses), tuple(dict.fromkeys(self._remarks)))

    def _is_pasted(self) -> bool:
        """Whether a text of several lines has quotation marks or minus signs, but no operators: then they are its own,
        as in JSON and in lists.
        """
        required = [clause for clause in self._clauses if clause.required]
        fields = any(isinstance(atom, Field) for clause in required for atom in clause.alternatives)
        return bool(required) and not fields and len(self._text.strip().splitlines()) > 1

    def _is_question(self) -> bool:
        """Whether the words outside of quotations form a whole question, and there are no operators."""
        if not any(isinstance(clause.alternatives[0], Phrase) for clause in self._clauses):
            return False
        if any(clause.required and not clause.is_quotation for clause in self._clauses):
            return False
        if self._has_particle:
            return True
        words = [str(clause.alternatives[0]) for clause in self._clauses if not clause.required]
        words = [word for word in words if word != ","]  # after a quotation
        if self._text.rstrip().endswith(_QUESTION_MARKS):
            return len(words) >= _MIN_WORDS_WITH_MARK
        outside = " ".join(words)
        if shape(outside).count(UNSPACED) >= _MIN_CHARACTERS:
            return sum(map(outside.count, _IN_SENTENCES)) >= _MIN_FUNCTION_WORDS
        unsearched = unsearched_words(detect_language(outside))
        function_words = sum(fold(word.strip(_PUNCTUATION)) in unsearched for word in words)
        commas = sum(word.endswith(",") for word in words)
        return len(words) >= _MIN_WORDS and (0 < 2 * commas < len(words) or function_words >= _MIN_FUNCTION_WORDS)

    def _preferred(self, clause: Clause) -> list[Clause]:
        """Replace a required phrase by its words, which score more if they are adjacent; other clauses
        are unchanged.
        """
        phrase = clause.alternatives[0]
        if not (clause.is_quotation and isinstance(phrase, Phrase)):
            return [clause]
        self._remarks.append(
            tr(
                "In a question, results need not contain “{text}”: to require it, search for it alone.",
                text=phrase.text,
            )
        )
        words = TOKEN.finditer(phrase.text)
        return [Clause((Word(word[0], phrase.start + word.start(), phrase.start + word.end()),)) for word in words]

    def _skip(self, at: int) -> int:
        match = _SPACE.match(self._text, at)
        return match.end() if match else at

    def _next(self, at: int, *, negated: bool = False) -> int:
        """Parse the word, phrase or operator that begins at `at`; returns its end. `negated` after a NOT."""
        text = self._text
        if text[at] == "-" and at and not text[at - 1].isspace():
            return at + 1  # after a quotation: “left”-handed
        after = text[at + 1 : at + 2]
        excludes = after.isalpha() or after in CLOSING or _TAG.match(text, at + 1) is not None
        minus = text[at] == "-" and excludes and not _OPTION.match(text, at)
        negated, begin = negated or minus, at + 1 if minus else at
        if text[begin] in CLOSING and (end := self._phrase(begin, negated=negated)):
            return end
        match = NAMED.match(text, begin)
        if match and match[1].casefold() in OPERATORS and (end := self._field(at, match, negated=negated)):
            return end
        end = self._end_of_token(begin)
        if text[begin:end] == "OR" and not negated:
            self._read_or(begin, end)
        elif text[begin:end] == "NOT" and not negated and self._negates(operand := self._skip(end)):
            return self._next(operand, negated=True)
        else:
            self._word(begin, end, negated=negated)
        return end

    def _phrase(self, begin: int, *, negated: bool) -> int:
        """Parse a phrase; returns its end, or 0 if the quotation mark never closes."""
        end = self._closing(begin)
        if end < 0:
            self._remarks.append(tr(_NEVER_CLOSES))
            return 0
        inside = self._text[begin + 1 : end]
        if inside.strip():
            self._add(Phrase(inside, begin + 1, end), negated=negated)
            self._notice_particle(end + 1)
        return end + 1

    def _notice_particle(self, at: int) -> None:
        """Notice a Korean or Japanese particle directly after a quotation, which ends at `at`."""
        korean = _HANGUL.match(self._text, at)
        self._has_particle |= (korean is not None and is_korean_ending(fold(korean[0]))) or self._text.startswith(
            _JAPANESE_PARTICLES, at
        )

    def _closing(self, begin: int) -> int:
        """Return the position of the mark that closes the quotation beginning at `begin`; -1 if there is none."""
        marks = CLOSING[self._text[begin]]
        return next((at for at in range(begin + 1, len(self._text)) if self._text[at] in marks), -1)

    def _field(self, at: int, match: re.Match[str], *, negated: bool) -> int:
        """Parse an operator; returns its end, or 0 if its value is invalid."""
        text, name, begin = self._text, match[1].casefold(), match.end()
        if text[begin : begin + 1] in CLOSING:
            end = self._closing(begin)
            if end < 0:
                self._remarks.append(tr(_NEVER_CLOSES))
                return 0
            value, end = text[begin + 1 : end], end + 1
        elif dated := _TWO_WORD_DATE.match(text, begin) if name in ("after", "before", "on") else None:
            value, end = dated[0], dated.end()
        else:
            token = TOKEN.match(text, begin)
            value, end = (token[0], token.end()) if token else ("", begin)
            if value and not value.strip("*_") and value in text[:at]:
                return 0  # a label in bold, as in "**Log file:** app.log"
        problem = problem_with(name, value)
        if problem:
            self._remarks.append(tr("“{text}” was read as words: {problem}.", text=text[at:end], problem=problem))
            return 0
        self._add(Field(name, value.strip()), negated=negated)
        return end

    def _end_of_token(self, begin: int) -> int:
        match = TOKEN.match(self._text, begin)
        return match.end() if match else begin + 1

    def _negates(self, at: int) -> bool:
        """Return whether a NOT before `at` excludes the term that begins there, as in other search programs.

        In a sentence NOT only stresses, and in a query in capital letters it belongs to a command, such as `NOT NULL`.
        """
        token = TOKEN.match(self._text, at)
        if token is None or token[0] in _CONNECTIVES or self._is_sentence:
            return False
        if token[0].isupper() and token[0][0] not in CLOSING and not NAMED.match(token[0]):
            self._remarks.append(tr("“NOT” was read as a word: to exclude a word, write -{word}.", word=token[0]))
            return False
        return True

    @cached_property
    def _is_sentence(self) -> bool:
        """Whether the query contains a function word outside of quotations; AND, OR and NOT do not count."""
        words = [word for word in TOKEN.findall(_QUOTATION.sub(" ", self._text)) if word not in _CONNECTIVES]
        unsearched = unsearched_words("english") | unsearched_words(detect_language(" ".join(words)))
        return any(fold(word.strip(_PUNCTUATION)) in unsearched for word in words)

    def _read_or(self, begin: int, end: int) -> None:
        if self._clauses and self._clauses[-1].negated and not self._joins:
            self._remarks.append(tr(_NOT_WITH_OR))
        elif self._joins or not self._clauses:
            if self._joins:
                self._or_as_word()
            self._remark_or()
            self._word(begin, end, negated=False)
        else:
            self._joins, self._or_range = True, (begin, end)

    def _remark_or(self) -> None:
        self._remarks.append(tr("“OR” was read as a word: it joins the words before and after it."))

    def _or_as_word(self) -> None:
        self._joins = False
        self._remark_or()
        self._clauses.append(Clause((Word("OR", *self._or_range),)))

    def _word(self, begin: int, end: int, *, negated: bool) -> None:
        text = self._text[begin:end]
        prefix = _PREFIX.fullmatch(text) if "*" in text else None
        if prefix and len(prefix[1]) >= _SHORTEST_PREFIX:
            self._add(Word(prefix[1], begin, end - 1, is_prefix=True), negated=negated)
            return
        if prefix:
            self._remarks.append(tr("“{text}” was read as a word: at least two letters must precede *.", text=text))
        elif "*" in text and _STRAY_STAR.fullmatch(text):
            self._remarks.append(tr("“{text}” was read as words: * is only allowed at the end of a word.", text=text))
        elif ":" in text and (unknown := _UNKNOWN.fullmatch(text)) and unknown[1].casefold() not in OPERATORS:
            self._remarks.append(_unknown_operator(text, unknown[1]))
        if self._joins and (text.startswith("(") or text.endswith(")")):
            self._remarks.append(tr("Brackets don't group: OR only joins the words next to it."))
        self._add(Word(text, begin, end), negated=negated)

    def _add(self, atom: Atom, *, negated: bool) -> None:
        if self._joins and negated:
            self._joins = False
            self._remarks.append(tr(_NOT_WITH_OR))
        if self._joins:
            self._joins = False
            former = self._clauses.pop()
            self._clauses.append(Clause((*former.alternatives, atom)))
        else:
            self._clauses.append(Clause((atom,), negated))


def _with_alternatives(clauses: list[Clause]) -> tuple[Clause, ...]:
    """Combine the values of an operator into one clause with alternatives if a chunk has only one of them.

    Repeated alternatives and conditions are left out, since each takes time.
    """
    gathered: dict[object, Clause] = {}
    for index, clause in enumerate(clauses):
        names = {atom.name if isinstance(atom, Field) else "" for atom in clause.alternatives}
        name = names.pop() if len(names) == 1 else ""
        either = name in EITHER and not clause.negated
        key = name if either else str(clause) if clause.required else index
        different: dict[str, Atom] = {}
        for atom in gathered.get(key, Clause(())).alternatives + clause.alternatives:
            different.setdefault(str(atom), atom)
        gathered[key] = Clause(tuple(different.values()), clause.negated)
    return tuple(gathered.values())


def _unknown_operator(text: str, name: str) -> str:
    from difflib import get_close_matches

    if nearest := get_close_matches(name.casefold(), OPERATORS, 1, 0.75):
        return tr("“{text}” was read as words. Did you mean {operator}?", text=text, operator=f"{nearest[0]}:")
    return tr("“{text}” was read as words: there is no operator {operator}.", text=text, operator=name)
