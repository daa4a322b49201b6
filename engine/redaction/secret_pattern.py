"""Describes the form of one kind of secret as data, and reads and measures the secret in a match."""

import re
from collections.abc import Callable
from typing import Literal, NamedTuple

from engine.base import lazy_pattern

Judge = Callable[[str, re.Match[str]], bool]
"""Takes the text before the match (up to 48 characters) and the match; returns whether its last group is a secret."""
Mask = Literal["part", "whole"]


class SecretPattern(NamedTuple):
    name: str
    about: str
    """Description of the hidden text, for the docs."""
    examples: tuple[str, ...]
    """Invented examples; the text between « and » must be masked."""
    anchors: tuple[str, ...]
    """Strings; the pattern is tried only at one of them. Lower case also matches capitals. An anchor with a bracket is
    an expression, matched against the text with "?" in place of each non-ASCII character."""
    regex: str
    """Matched (not searched) at an anchor."""
    mask: Mask = "part"
    """`whole` for secrets that users choose: the ends of a password help to guess the rest."""
    judge: Judge | None = None
    """Returns false if the context or the value shows that the match is not a secret."""
    block: Literal["", "key", "yaml", "codes", "column", "manifest"] = ""
    """Whether the secret is on the next lines: key material or codes (also on the rest of this line), or an indented
    block of YAML; in a column of a table; or in the entries of the manifest around the match."""


LONGEST_JUDGED = 200
"""Maximum length of a value that is judged; a longer one without a space is always a secret."""
_NOT_RANDOM = lazy_pattern(r"[A-Za-z_.-]*|[0-9.,:%+-]{1,5}|[A-Za-z]+[_.-]?\d{1,2}|v?\d+(?:\.\w+)+|\d{4}-\d\d-\d\d.*")
_CHANGE = lazy_pattern(r"(?<=[a-z])[^a-z]|(?<=[A-Z])[^A-Za-z]|(?<=[0-9])[^0-9]|(?<=[^A-Za-z0-9])[A-Za-z0-9]")


SIGN_WITHIN = lazy_pattern(r"\w[!#$%&*+?^]\w")
"""A sign of a password between letters or digits."""
_LETTERS = lazy_pattern("[^\\W\\d_]{3}")
_JOINED_NAMES = lazy_pattern("[/.+]")
_UNLIKE_NAMES = lazy_pattern(
    r"\w[!#$%&*?^]\w|[a-z]\d+[a-z].*[!#$%&?]$|^\w{6}(?:-\w{6}){2}$"
    r"|^(?=.*-).*[^\W\d_]{2}\d[^\W\d_A-Z]{2}"
)
"""Matches signs, digits and groups as in generated passwords, and not as in Qwen3-30B-A3B and other names."""


def secret_span(match: re.Match[str]) -> tuple[int, int]:
    """Return the span of the last non-empty group; that of the whole match if there is none."""
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


def is_chosen(value: str, *, known: bool) -> bool:
    """Whether letters, digits and signs are mixed as in a password. Fewer are enough after a `known` account."""
    capital, digit = any(map(str.isupper, value)), any(map(str.isdigit, value))
    if known and SIGN_WITHIN.search(value) and (digit or (capital and _LETTERS.search(value))):
        return True
    if not (capital and digit and (known or not _JOINED_NAMES.search(value))):
        return False
    return (known and len(value) >= 8) or _UNLIKE_NAMES.search(value) is not None


def mixes_digits(value: str) -> bool:
    """Return whether a value has letters and digits, and at least five characters."""
    return len(value) >= 5 and any(map(str.isdigit, value)) and any(map(str.isalpha, value))


# --- Regular expression fragments shared by several patterns ---------------------------------------------------------

LINE_END = r"\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029"
QUOTED = (
    r"""(?:[bBrRuUN]?(?P<quote>\\{0,8}["'`])"""
    rf"""(?P<quoted>(?:(?!(?P=quote))(?:\\.|[^{LINE_END}])){{1,500}}+)(?P=quote))"""
)
LINE_PREFIX = r"(?:[ \t]*\d{1,6}(?:\t|→|\|[ ]?))?+(?:>[ ]?)*+(?:\+|-(?=[ ]{2}|[\w|]))?+"
"""The number of a line, the signs of a quotation or those of a difference."""
CONTINUED = r"[\\`^]\r?\n[ \t>+]{0,40}"
"""The end of a line that a shell, Make or C joins with the next one, which may be indented."""
_STRING_BELOW = (
    rf"\(?[ \t]{{0,4}}\r?\n{LINE_PREFIX}[ \t]{{0,40}}"
    r"(?=(?:\"[^\"\n]{4,200}\"|'[^'\n]{4,200}')[ \t]{0,4}[,;)}]{0,4}[ \t]{0,4}(?:\r?\n|\Z))"
)
"""The end of a line above a string that is alone on the next one."""
NAME_END = (
    r"""(?:[_-]?\d{1,2})?(?![A-Za-z0-9_-])\\{0,8}["'`*]{0,3}"""
    r"""(?:(?<=["'])\](?=[ \t]?=[ \t]?["']))?(?:(?<!\bpwd)(?<!\bPWD)[ \t]{9,60}+(?=:)|[ \t]{9,60}+(?==)|[ \t]{0,8})"""
)
_TYPE = r"(?:As[ \t]|&'?)?[A-Za-z_][A-Za-z0-9_.|\[\] ]{0,40}"
READING_TAG = (
    "!(?:cidr|condition|env|env_var|equals|file|findinmap|getatt|getazs|if|importvalue|include|input|join|ref"
    "|reference|secret|select|split|ssm|transform|var|vault)"
)
"""Tags of YAML whose value is the name of something else, such as `!Ref DatabasePassword`, to match in any case."""
SIGN = (
    rf"(?P<sign>(?:(?::[ \t]{{0,4}}|(?=As[ \t])){_TYPE}[ \t]{{0,4}}=(?!=)|(?:\?\?|\|\|)(?=[ \t]?[\"'`])"
    r"|={1,3}>?|%3[dD]|![=]{1,2}|:=|:(?!:)|->|→|\uff1a|\uff1d)"
    r"\*{0,2}[ \t]{0,8})(?:[\"']?\$\{\w{1,60}:?-(?=[^\s$}\"'])|!!str[ ]"
    rf"|(?!(?i:{READING_TAG}) )!{{1,2}}[A-Za-z]\w{{0,20}}[ ](?=[\"'])|{CONTINUED}|{_STRING_BELOW})?"
)
"""Also the start of `${VARIABLE:-x}`, whose value is the default, a tag of YAML, and a line end before the value."""
BARE_TOKEN = r"""(?:\\{0,8}["'`]|[*]{1,2})?([^\s"'`\\;,&<>(){}\[\]|*]++)"""
# A password may contain any character; the next field of a connection string or URL query ends it.
BARE_PASSWORD = r"""(?:\\{0,8}["'`])?((?:[^\s"'`\\;&]|[;&](?![\w .]{1,30}=)|\\(?![nrt"'`\\]))+(?<![.,:)\]}>]))"""
BLANK = rf"[ \t]{{1,4}}(?:{CONTINUED})?"
ARGUMENT = rf"(?:{QUOTED}|([^\s\"'`;|&<>]++))"
