"""Describes the form of one kind of secret as data, finds where it may be, and reads and measures it in a match."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from typing import Literal, NamedTuple

from engine.base import lazy_pattern
from engine.base.formatting import TERMINAL_ESCAPE

Judge = Callable[[str, re.Match[str]], bool]
"""Takes the text before the match (up to 48 characters) and the match; returns whether its last group is a secret."""
Mask = Literal["part", "whole"]


class SecretPattern(NamedTuple):
    name: str
    """As the manual (`packaging/manual/masked.md`) lists it; `secret_examples.py` of the tests has examples."""
    anchors: tuple[str, ...]
    """Strings; the pattern is tried only at one of them. Lower case also matches capitals. An anchor with a bracket is
    an expression, matched against the text with "?" in place of each non-ASCII character; `LAST_WORD` is none of
    these. It begins with a literal character."""
    regex: str
    """Matched (not searched) at an anchor."""
    mask: Mask = "part"
    """`whole` for secrets that users choose: the ends of a password help to guess the rest."""
    judge: Judge | None = None
    """Returns false if the context or the value shows that the match is not a secret."""
    block: Literal["", "key", "yaml", "codes", "column", "list", "manifest"] = ""
    """Whether the secret is on the next lines: key material or codes (also on the rest of this line), or an indented
    block of YAML; in a column of a table or the items of a list; or in the entries of the manifest around the match."""


LAST_WORD = "(last word of a line)"
"""Anchor for the blank before a word that ends a line or a string and mixes characters as passwords do."""
LONGEST_JUDGED = 200
"""Maximum length of a value that is judged; a longer one without a space is always a secret."""
_NOT_RANDOM = lazy_pattern(r"[A-Za-z_.-]*|[0-9.,:%+-]{1,5}|[A-Za-z]+[_.-]?\d{1,2}|v?\d+(?:\.\w+)+|\d{4}-\d\d-\d\d.*")
_CHANGE = lazy_pattern(r"(?<=[a-z])[^a-z]|(?<=[A-Z])[^A-Za-z]|(?<=[0-9])[^0-9]|(?<=[^A-Za-z0-9])[A-Za-z0-9]")


PATH = lazy_pattern(
    r"(?:[a-z]+:/)?(?:~|\.{1,2})?/[\w.@:-]+(?:/[\w.@?=-]*)*|(?:[a-z_.-]+|\d+)(?:/(?:[a-z_.-]+|\d+))+"
    r"|\S+\.(?:pem|key|pub|crt|json|ya?ml|txt|py|ts|js|md|toml|env)"
)
SIGN_WITHIN = lazy_pattern(r"\w[!#$%&*+?^]\w")
"""A symbol in a password between letters or digits."""
_LETTERS = lazy_pattern("[^\\W\\d_]{3}")
_JOINED_NAMES = lazy_pattern("[/.+]")
_UNLIKE_NAMES = lazy_pattern(
    r"\w[!#$%&*?^]\w|[a-z]\d+[a-z].*[!#$%&?]$|^\w{6}(?:-\w{6}){2}$"
    r"|^(?=.*-).*[^\W\d_]{2}\d[^\W\d_A-Z]{2}"
)
"""Matches symbols, digits and groups as in generated passwords, and not as in Qwen3-30B-A3B and other names."""


def secret_span(match: re.Match[str]) -> tuple[int, int]:
    """Return the span of the last non-empty group, or of the whole match if there is none."""
    for group in range(match.re.groups, 0, -1):
        if match.end(group) > match.start(group):
            return match.span(group)
    return match.span()


def value_of(match: re.Match[str]) -> str:
    """Return the matched value, cut to the maximum length that is checked."""
    start, end = secret_span(match)
    return match.string[start : min(end, start + LONGEST_JUDGED)]


def alternates(value: str) -> bool:
    """Whether letters and digits alternate as in a random value: in eight characters, at least four times."""
    changes = len(_CHANGE.findall(value))
    return len(value) >= 8 and any(map(str.isdigit, value)) and changes >= max(4, len(value) // 4)


def is_random(value: str, least: int) -> bool:
    """Return whether it mixes too many letters and digits to be a name."""
    if len(value) < least or _NOT_RANDOM.fullmatch(value):
        return False
    digits = sum(map(str.isdigit, value))
    return digits >= (1 if least < 12 else 2) and (digits < len(value) or digits >= 6)


def resembles_password(value: str, *, known: bool) -> bool:
    """Whether letters, digits and symbols are mixed as in a password. Fewer are enough after a `known` account."""
    capital, digit = any(map(str.isupper, value)), any(map(str.isdigit, value))
    if known and SIGN_WITHIN.search(value) and (digit or (capital and _LETTERS.search(value))):
        return True
    if not (capital and digit and (known or not _JOINED_NAMES.search(value))):
        return False
    return (known and len(value) >= 8) or _UNLIKE_NAMES.search(value) is not None


def is_path(value: str) -> bool:
    """Whether the value is a path or the name of a file."""
    return PATH.fullmatch(value) is not None


def mixes_digits(value: str) -> bool:
    """Return whether a value has letters and digits, and at least five characters."""
    return len(value) >= 5 and any(map(str.isdigit, value)) and any(map(str.isalpha, value))


# --- Regular expression fragments shared by several patterns ---------------------------------------------------------

LINE_END = r"\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029"
QUOTED = (
    r"""(?:[@bBrRuUN]?(?P<quote>\\{0,8}["'`])"""
    rf"""(?P<quoted>(?:(?!(?P=quote))(?:\\.|[^{LINE_END}])){{1,500}}+)(?P=quote))"""
)
LINE_PREFIX = r"(?:[ \t]*\d{1,6}(?:\t|→|\|[ ]?))?+(?:>[ ]?)*+(?:\+|-(?=[ ]{2}|[\w|]))?+"
"""The number of a line, or the signs of a quotation or a diff."""
CONTINUED = r"[\\`^]\r?\n[ \t>+]{0,40}"
"""The end of a line that a shell, Make or C joins with the next one, which may be indented."""
_STRING_BELOW = (
    rf"\(?[ \t]{{0,4}}\r?\n{LINE_PREFIX}[ \t]{{0,40}}"
    r"(?=(?:\"[^\"\n]{4,200}\"|'[^'\n]{4,200}')[ \t]{0,4}[,;)}]{0,4}[ \t]{0,4}(?:\r?\n|\Z))"
)
"""The end of a line above a string that is alone on the next one."""
NAME_END = (
    r"""(?:[_-]?\d{1,2}|_(?i:admin|backup|current|default|dev(?:elopment)?|live|local|main|master|new|old|plain(?:text)?"""
    r"""|prev(?:ious)?|prod(?:uction)?|qa|root|sandbox|secure|stag(?:ing|e)|test(?:ing)?|uat|value)"""
    r"""|(?:Current|Default|Dev|Live|New|Old|Plain|Prod|Production|Staging|Test|Value))?(?:\[\d{0,4}\])?(?![A-Za-z0-9_-])\\{0,8}["'`*]{0,3}"""
    r"""(?:(?<=["'])\](?=[ \t]?(?:=|\?\?|\|\|)[ \t]?["']))?"""
    r"""(?:(?<!\bpwd)(?<!\bPWD)[ \t]{9,60}+(?=:)|[ \t]{9,60}+(?==)|[ \t]{0,8})"""
)
_TYPE = r"(?:As[ \t]|&'?)?[A-Za-z_][A-Za-z0-9_.|\[\] ]{0,40}"
READING_TAG = (
    "!(?:cidr|condition|env|env_var|equals|file|findinmap|getatt|getazs|if|importvalue|include|input|join|ref"
    "|reference|secret|select|split|ssm|transform|var|vault)"
)
"""Tags of YAML whose value is the name of something else, such as `!Ref DatabasePassword`, to match in any case."""
SIGN = (
    r"(?:\r?\n[ \t]{1,40}(?=\?\?|\|\|))?"
    rf"(?P<sign>(?:(?::[ \t]{{0,4}}|(?=As[ \t])){_TYPE}[ \t]{{0,4}}=(?!=)"
    rf"|(?:\?\?|\|\|)(?=[ \t]?(?:\r?\n[ \t]{{1,40}})?[\"'`])"
    r"|={1,3}>?|%3[dD]|![=]{1,2}|\)?\.(?:unwrap_or|(?i:or_?(?:else|default)|default(?:_?value)?|or))\((?=[\"'`])|:=|:-(?=[^\s}]{1,100}\})|:(?!:)|->|→|\uff1a|\uff1d)"
    r"\*{0,2}[ \t]{0,8})(?:[\"']?\$\{\w{1,60}:?-(?=[^\s$}\"'])|!!str[ ]"
    rf"|(?!(?i:{READING_TAG}) )!{{1,2}}[A-Za-z][\w-]{{0,20}}[ ](?=[\"'])|{CONTINUED}|{_STRING_BELOW}"
    r"|\((?=\"[^\"\n]{4,200}\"[ \t]*[\n\r)]|'[^'\n]{4,200}'[ \t]*[\n\r)]))?"
)
"""Also the start of `${VARIABLE:-x}`, whose value is the default, a tag of YAML, and a line end before the value."""
BARE_TOKEN = r"""(?:\\{0,8}["'`]|[*]{1,2})?([^\s"'`\\;,&<>(){}\[\]|*]++)"""
# A password may contain any character; the next field of a connection string or URL query ends it.
BARE_PASSWORD = r"""(?:\\{0,8}["'`])?((?:[^\s"'`\\;&]|[;&](?![\w .]{1,30}=)|\\(?![nrt"'`\\]))+(?<![.,:)\]}>]))"""
NOT_IN_PASSWORD = r"\s\"'`()<>\[\]{}|\\;,=:"
"""Characters that don't occur in a password that only its line distinguishes from other words."""
BLANK = rf"[ \t]{{1,4}}(?:{CONTINUED})?"
ARGUMENT = rf"(?:{QUOTED}|([^\s\"'`;|&<>]++))"

# --- Search for anchors ----------------------------------------------------------------------------------------------

_ASCII = bytes(range(128))
_WHOLE = frozenset({"key", "token", "secret", "pin", "psk", "pw"})  # anchors that must not be followed by a letter
_BY_RARITY = '~@<4q1zj*"xv/=:w3k569278_-.b0fhpgcmduylirsoante#$ '
_NEAR = 5  # characters next to the sign of an anchor that are compared
_IN_WORD = f"[^{NOT_IN_PASSWORD}]"
_MIXED_TAIL = (
    "(?:"
    + "|".join(rf"(?<=[\d!#$%&*+?^][\s\S]{{{count}}})" for count in range(1, 15))
    + "|"
    + "|".join(rf"(?<={_IN_WORD}{{12}}[\s\S]{{{count}}})" for count in (1, 2, 3))
    + ")"
)
"""A digit or a symbol near the end of the word, or a long word: most others are rejected without a line of Python."""
_WORD_ENDS = (  # each begins with one literal character, for which alone the text is searched
    lazy_pattern(
        rf"\n(?<![ \t()<>\[\]{{}}|\\;,=:\n]\n)"
        rf"(?<={_IN_WORD}{{6}}\n|{_IN_WORD}{{5}}[\r\"'`]\n|{_IN_WORD}{{4}}[\"'`]\r\n){_MIXED_TAIL}"
    ),
    lazy_pattern(rf'"(?<={_IN_WORD}{{6}}"){_MIXED_TAIL}'),
    lazy_pattern(rf"\\(?<={_IN_WORD}{{6}}\\|{_IN_WORD}{{5}}[\"'`]\\)(?=\\*[n\"])"),
)
_LONGEST_WORD = 42  # with quotes
_MIXED = lazy_pattern(
    r"(?:(?=\D*\d)(?:(?=.*[A-Z!#$%&*+?^])|(?=.{8})(?P<small>))|(?=[^!#$%&*+?^]*[!#$%&*+?^])(?=.*[A-Z]))(?=.*[a-z])"
    rf"[\"'`]?{_IN_WORD}{{6,40}}[\"'`]?\r?\Z"
)
_LONGEST_NAME = 24
_IN_LINE = lazy_pattern(r'\\n|"')


class _Foreign(NamedTuple):
    anchor: str
    word: str
    """The anchor in small or capital letters."""
    run: str
    """Its longest run of characters that aren't ASCII."""


class _Group(NamedTuple):
    """Anchors with the same rare character, so that one search finds all of them."""

    sign: str
    expression: re.Pattern[str]
    before: dict[str, list[tuple[str, int]]]
    after: dict[str, list[tuple[str, int]]]
    """Anchors with their offset of the sign, by the character before or after it."""


class AnchorSearches(NamedTuple):
    lower: list[_Group]
    exact: list[_Group]
    """Anchors with capital letters."""
    foreign: dict[str, list[_Foreign]]
    """Anchors that aren't ASCII, by the first character of their run."""
    expressions: list[tuple[str, str, re.Pattern[str]]]
    """Anchors that are expressions, each with the character that it begins with."""


def anchors_in(block: str, searches: AnchorSearches) -> Iterator[tuple[str, int]]:
    """Yield each anchor in the block with its position; positions of one anchor are in order."""
    if not block.isascii():
        yield from _foreign_anchors(block, searches.foreign)
        # Replace each character with one sign, so that positions do not change.
        block = block.encode("ascii", "replace").decode("ascii")
    yield from ((LAST_WORD, position) for position in _last_words(block))
    for sign, anchor, expression in searches.expressions:
        for match in expression.finditer(block) if sign in block else ():
            yield anchor, match.start()
    yield from _found(searches.exact, block)
    yield from _found(searches.lower, block.lower())


def _last_words(block: str) -> list[int]:
    """Return the positions before the words in a block that end a line or a string, if they may be passwords."""
    mixed = _MIXED.match
    ends = [match.start() for expression in _WORD_ENDS for match in expression.finditer(block)]
    positions = []
    for end in sorted([*ends, len(block)]):
        words = block[max(0, end - _LONGEST_WORD) : end].rsplit(None, 1)
        if not words or words[-1].isalpha() or (match := mixed(words[-1])) is None:
            continue
        start = end - len(words[-1]) - 1
        if match["small"] is not None:  # a password only if one word is before it
            name = block[max(0, start - _LONGEST_NAME) : max(0, start)].rpartition("\n")[2]
            if "\\" in name or '"' in name:
                name = _IN_LINE.split(name)[-1]
            if not name.strip(" \t>*+-:").replace("-", "").isalpha():
                continue
        positions.append(start)
    return [position for position in positions if position >= 0]


def _found(groups: list[_Group], block: str) -> Iterator[tuple[str, int]]:
    for group in groups:
        for match in group.expression.finditer(block) if group.sign in block else ():
            at = match.start()
            for anchor, offset in (
                *group.before.get(block[at - 1 : at], ()),
                *group.after.get(block[at + 1 : at + 2], ()),
            ):
                start = at - offset
                if start < 0 or not block.startswith(anchor, start):
                    continue
                if anchor not in _WHOLE or not block[start + len(anchor) : start + len(anchor) + 1].isalpha():
                    yield anchor, start


def _foreign_anchors(block: str, anchors: dict[str, list[_Foreign]]) -> Iterator[tuple[str, int]]:
    # Most texts have few characters beyond ASCII: searching only those is much faster.
    beyond = block.encode("utf-8", "replace").translate(None, _ASCII).decode("utf-8")
    positions: dict[str, list[int]] = {}
    for sign in anchors.keys() & set(beyond):
        for anchor, word, run in anchors[sign]:
            if run in beyond and word in block:
                starts = (match.start() for match in re.finditer(re.escape(word), block))
                positions.setdefault(anchor, []).extend(starts)
    for anchor, unordered in positions.items():
        yield from ((anchor, position) for position in sorted(unordered))


def anchor_searches(anchors: Iterable[str]) -> AnchorSearches:
    """Return expressions that find the anchors."""
    lower: dict[str, list[str]] = {}
    exact: dict[str, list[str]] = {}
    searches = AnchorSearches([], [], {}, [])
    for anchor in sorted({*anchors} - {LAST_WORD}):
        if "(" in anchor:
            searches.expressions.append((anchor.lstrip("\\")[0], anchor, re.compile(anchor)))
        elif not anchor.isascii():
            for word in {anchor, anchor.capitalize(), anchor.upper()}:
                run = max(re.findall("[^\0-\x7f]+", word), key=len)
                searches.foreign.setdefault(run[0], []).append(_Foreign(anchor, word, run))
        elif anchor.islower() or not any(map(str.isupper, anchor)):
            lower.setdefault(min(anchor, key=_BY_RARITY.index), []).append(anchor)
        else:
            exact.setdefault(min(filter(str.isupper, anchor)), []).append(anchor)
    searches.lower.extend(_group(sign, found) for sign, found in lower.items())
    searches.exact.extend(_group(sign, found) for sign, found in exact.items())
    return searches


def _group(sign: str, anchors: list[str]) -> _Group:
    """Return the group of anchors with `sign`; its expression finds `sign` next to the longer side of an anchor."""
    group = _Group(sign, re.compile(""), {}, {})
    tails: dict[int, set[str]] = {}
    rests: set[str] = set()
    for anchor in anchors:
        at = anchor.index(sign)
        if at >= min(_NEAR, len(anchor) - at - 1):
            tail = anchor[: at + 1][-_NEAR - 1 :]
            tails.setdefault(len(tail), set()).add(tail)
            group.before.setdefault(anchor[at - 1 : at], []).append((anchor, at))
        else:
            rests.add(anchor[at + 1 :][:_NEAR])
            group.after.setdefault(anchor[at + 1], []).append((anchor, at))
    ends = [f"(?<={'|'.join(map(re.escape, sorted(found)))})" for found in tails.values()]
    if rests:
        ends.append(f"(?={'|'.join(map(re.escape, sorted(rests)))})")
    return group._replace(expression=re.compile(f"{re.escape(sign)}(?:{'|'.join(ends)})"))


# --- Strings in JSON -------------------------------------------------------------------------------------------------

_STRING = lazy_pattern(r'"((?:[^"\\]++|\\(?:.|\Z))*+)(?:"|\Z)', re.DOTALL)
_AROUND = lazy_pattern(r"(?:[\s{}\[\],:\0-]|(?:true|false|null|\d[\d.eE+-]*+)(?![^\s{}\[\],:]))*+")
_ESCAPE = lazy_pattern(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_NEEDLESS_ESCAPE = lazy_pattern(
    # Without the look behind, each backslash of a long run would be tried as its beginning.
    rf"{TERMINAL_ESCAPE}|(?<!\\)\\++(?:(?:u001[bB]|x1[bB]|033)(?:\[[0-?]*+[ -/]*+[@-~]|[ -/]++[0-~])"
    r"|/|u00([0-9a-fA-F]{2}))"
)
_NEEDLESS_ESCAPES = ("\\/", "\\u00", "\x1b", "\\x1b", "\\x1B", "\\033")
"""Each text with a needless escape contains one of these."""
_CONTROLS = {"n": "\n", "r": "\r", "t": "\t", "b": " ", "f": "\n"}
_FILLER = "\0"
_LONGEST_READ_TWICE = 500
_BETWEEN = "\n\n---\n\0\n---\n\n"  # belongs to no value, and ends lists, tables and manifests


class JsonStrings:
    """The strings of a JSON text that have several words or escapes, without these and below each other."""

    def __init__(self, text: str) -> None:
        self._starts: list[int] = []
        self._spans: list[tuple[int, int]] = []
        """Of each part: where it starts in `text`, and its span in the JSON text."""
        parts: list[str] = []
        size = 0
        for part, start, end in _parts(text):
            parts.append(part)
            self._starts.append(size)
            self._spans.append((start, end))
            size += len(part)
        self.text = "".join(parts)
        self.holds_json = any(f"{_BETWEEN}{sign}" in f"{_BETWEEN}{self.text}" for sign in "{[")
        self.outside = "".join(_without_long_strings(text)) if _is_json(text) else text
        """The JSON text with as many other characters in place of its long strings, which need not be read twice; the
        whole text if it is none, since quotes of prose don't pair."""

    def span_in_json(self, start: int, end: int) -> tuple[int, int]:
        """Return the span in the JSON text of a part of `text`."""
        first, last = bisect_right(self._starts, start) - 1, bisect_right(self._starts, end - 1) - 1
        beginning = self._spans[first][0] + start - self._starts[first]
        left = self._starts[last + 1] - end if last + 1 < len(self._starts) else len(self.text) - end
        return beginning, self._spans[last][1] - left


def unescaped(text: str) -> tuple[str, Callable[[int], int]] | None:
    """Return a text without colours of a terminal, and with characters in place of their JSON escapes that aren't
    needed, such as `\\/` and `\\u003d`; and a function that returns the position of one of its characters in `text`.
    None without such escapes.
    """
    if not any(map(text.__contains__, _NEEDLESS_ESCAPES)):
        return None
    ends, removed = [0], [0]

    def replacement(escape: re.Match[str]) -> str:
        shown = chr(int(escape[1], 16)) if escape[1] else "/" if escape[0].endswith("\\/") else ""
        removed.append(removed[-1] + len(escape[0]) - len(shown))
        ends.append(escape.end() - removed[-1])
        return shown

    plain = _NEEDLESS_ESCAPE.sub(replacement, text)
    return plain, lambda position: position + removed[bisect_right(ends, position) - 1]


def _is_json(text: str) -> bool:
    """Return whether only JSON is around the strings of a text, which may end early."""
    done = 0
    for string in _STRING.finditer(text):
        if _AROUND.fullmatch(text, done, string.start()) is None or (done and not text[done : string.start()].strip()):
            return False
        done = string.end()
    return _AROUND.fullmatch(text, done) is not None


def _without_long_strings(text: str) -> Iterator[str]:
    done = 0
    for string in _STRING.finditer(text):
        start, end = string.span(1)
        if end - start > _LONGEST_READ_TWICE and (text.find(" ", start, end) >= 0 or text.find("\\", start, end) >= 0):
            yield f"{text[done:start]} {_FILLER * (end - start - 1)}"
            done = end
    yield text[done:]


def _parts(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield the parts of the strings: text without escapes, an escaped character, or text between two strings."""
    for string in _STRING.finditer(text):
        start, end = string.span(1)
        if text.find("\\", start, end) < 0:
            if text.find(" ", start, end) < 0:
                continue  # a name or a number
        else:
            for escape in _ESCAPE.finditer(text, start, end):
                if start < escape.start():
                    yield text[start : escape.start()], start, escape.start()
                code, letter = escape.groups()
                yield chr(int(code, 16)) if code else _CONTROLS.get(letter, letter), *escape.span()
                start = escape.end()
        if start < end:
            yield text[start:end], start, end
        yield _BETWEEN, end, end
