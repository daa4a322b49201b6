"""Hides secrets in a text: before it is stored, embedded, shown or sent.

`engine/redaction/patterns.py` lists what is found. The text is searched for the patterns' anchors alone, which are
plain strings; an expression runs only where one was found, on the whole text, so that no cut between blocks can hide a
secret.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import NamedTuple

from engine.redaction.pattern import SecretPattern
from engine.redaction.patterns import PATTERNS
from engine.redaction.values import LONGEST_JUDGED, secret_span

REDACTION_VERSION = 1
"""Raise it when more is masked: what was stored before is then read and stored anew."""

HIDDEN = "***"
"""What stands for a secret that is hidden whole."""

_BLOCK = 256 * 1024
_WINDOW = 64 * 1024  # of one match
_OVERLAP = 64  # more than the longest anchor
_BEFORE = 48  # characters before a match that tell what it is
_LEAST_SHOWN = 20  # of less, the ten characters of a partial mask would be more than half
_HEAD, _TAIL = 6, 4
_ROUNDS = 8  # hardly ever are two needed
_PARTIAL = re.compile(rf"\S{{{_HEAD}}}…\S{{{_TAIL}}}")
_LAST_RUN = re.compile(r"(?<![!-~])[!-~]+\Z")  # of such as secrets are made of
_RUN = re.compile(r"[^\s\"'`]*+")

_BASE64 = "[A-Za-z0-9+/=]"
_QUOTING = r"[ \t>#*|\"'`-]*+"
_KEY_LINE = re.compile(
    rf"{_QUOTING}(?:\d{{1,6}}[ \t:|→]++)?+({_BASE64}*+)(?:\\+[nr])*+[ \t\"'`,;+\\]*+(?:\r?\n|\Z)"
    r"|[ \t>#*|]*+(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset|MessageID):[^\n]{0,200}\n"
)
_KEY_ON_LINE = re.compile(
    rf"((?:{_BASE64}|[ \t]|\\+[nrt/]|(?:Proc-Type|DEK-Info|Version|Comment): ?[^\\\n]{{0,100}}\\+n)++)"
)
_LONG_RUN = re.compile(rf"{_BASE64}{{16}}")
_LONGEST_BLOCK = 20_000  # lines
_BLANK_LINES = 2


class _Span(NamedTuple):
    start: int
    end: int
    whole: bool


def beginning_of(text: str, most: int) -> str:
    """At most so many code points, without the run of characters that the cut would part.

    Whoever cuts before masking would leave half of a secret, which nobody knows for one.
    """
    return text if len(text) <= most else _LAST_RUN.sub("", text[:most])


def redact(text: str) -> str:
    """The text with its secrets masked; the same text if it has none.

    A secret becomes "***", or its first six and last four characters with "…" between them where that is at most half
    of it. Line ends stay where they are. Redacting again changes nothing.
    """
    return _redacted(text, _ROUNDS) if text else text


def holds_secret(text: str) -> bool:
    """Whether there is anything in it to be masked; a masked text has nothing."""
    return redact(text) != text


def _redacted(text: str, rounds: int) -> str:
    lines = list(_changed_lines(text)) if rounds else []
    if not lines:
        return text
    # What surrounds a mask may read differently afterwards; no secret but a private key is longer than a line.
    again = _redacted("\n".join(line for _, _, line in lines), rounds - 1).split("\n")
    pieces, end = list[str](), 0
    for (line_start, line_end, _), line in zip(lines, again, strict=True):
        pieces += text[end:line_start], line
        end = line_end
    return "".join([*pieces, text[end:]])


def _changed_lines(text: str) -> Iterator[tuple[int, int, str]]:
    """The lines with secrets: where each starts and ends, and what it becomes."""
    start, end, copied = 0, -1, 0
    pieces: list[str] = []
    for span in _merged(_spans(text)):
        if _is_mask(text[span.start : span.end]):
            continue
        if span.start > end:
            if pieces:
                yield start, end, "".join([*pieces, text[copied:end]])
            start = copied = text.rfind("\n", max(end, 0), span.start) + 1 or max(end, 0)
            end = text.find("\n", span.end)
            end = len(text) if end < 0 else end
            pieces = []
        pieces += text[copied : span.start], _mask(text[span.start : span.end], span.whole)
        copied = span.end
    if pieces:
        yield start, end, "".join([*pieces, text[copied:end]])


def _mask(secret: str, whole: bool) -> str:
    if whole or len(secret) < _LEAST_SHOWN:
        return HIDDEN
    return f"{secret[:_HEAD]}…{secret[-_TAIL:]}"


def _is_mask(value: str) -> bool:
    return value == HIDDEN or _PARTIAL.fullmatch(value) is not None


def _merged(spans: Iterable[_Span]) -> Iterator[_Span]:
    """In order, overlapping ones as one."""
    last: _Span | None = None
    for span in sorted(spans):
        if last is None or span.start >= last.end:
            if last is not None:
                yield last
            last = span
        else:
            last = _Span(last.start, max(last.end, span.end), last.whole or span.whole)
    if last is not None:
        yield last


def _spans(text: str) -> Iterator[_Span]:
    tries = _tries()
    done: dict[tuple[str, str], int] = {}  # up to where a pattern has found all from an anchor
    for start in range(0, len(text), _BLOCK):
        # One sign for each, so that positions are the same; lower case of ASCII alone, which all anchors are.
        block = text[start : start + _BLOCK + _OVERLAP].encode("ascii", "replace").decode("ascii").lower()
        for anchor, found in _anchors(block):
            position = start + found
            for pattern in tries[anchor]:
                if position >= done.get((anchor, pattern.name), 0):
                    for span in _secrets(text, position, pattern):
                        yield span
                        done[anchor, pattern.name] = span.end


def _secrets(text: str, position: int, pattern: SecretPattern) -> Iterator[_Span]:
    """What the pattern finds at this position."""
    match = _compiled(pattern.regex).match(text, position, position + _WINDOW)
    if match is None:
        return
    if pattern.block:
        yield from _key_lines(text, match.end())
        return
    start, end = secret_span(match)
    judge = pattern.judge if end - start <= LONGEST_JUDGED else None
    if judge is not None and not judge(text[max(0, position - _BEFORE) : position], match):
        return
    while end - position >= _WINDOW and (rest := _RUN.match(text, end, end + _WINDOW)) and rest[0]:
        position, end = end, rest.end()
    yield _Span(start, end, pattern.mask == "whole")


def _key_lines(text: str, position: int) -> Iterator[_Span]:
    """The key material after the line that announces a private key, as far as it goes."""
    on_line = _KEY_ON_LINE.match(text, position, position + _WINDOW)
    if on_line is not None and _LONG_RUN.search(on_line[0]):
        yield _Span(*on_line.span(), True)
        return
    blank = -1  # the end of the announcing line itself looks like a blank line
    for _ in range(_LONGEST_BLOCK):
        line = _KEY_LINE.match(text, position, position + _WINDOW)
        if line is None or line.end() == position or blank > _BLANK_LINES:
            return
        if line[1]:
            yield _Span(*line.span(1), True)
        blank = blank + 1 if line[1] == "" else 0
        position = line.end()


@cache
def _tries() -> dict[str, list[SecretPattern]]:
    """The patterns of each anchor."""
    tries: dict[str, list[SecretPattern]] = {}
    for pattern in PATTERNS:
        for anchor in pattern.anchors:
            tries.setdefault(anchor, []).append(pattern)
    return tries


_compiled = cache(re.compile)  # all at once would take as long as to mask a hundred pages


def _anchors(block: str) -> Iterator[tuple[str, int]]:
    """Each anchor in the block and where it starts; those of one anchor in order."""
    searches = _searches()
    # Most texts are short and have none: to ask for each takes half as long as to search for it.
    for anchor in [anchor for anchor in searches.plain if anchor in block]:
        position = block.find(anchor)
        while position >= 0:
            yield anchor, position
            position = block.find(anchor, position + 1)
    for anchor, expression in searches.expressions:
        for match in expression.finditer(block):
            yield anchor, match.start()
    for sign, regex, anchors in searches.prefixes:
        for match in regex.finditer(block) if sign in block else ():
            for anchor in anchors:
                if block.endswith(anchor, 0, match.end()):
                    yield anchor, match.end() - len(anchor)


class _Searches(NamedTuple):
    plain: list[str]
    expressions: list[tuple[str, re.Pattern[str]]]
    prefixes: list[tuple[str, re.Pattern[str], list[str]]]
    """Anchors that end in the same sign, of which there are dozens: one search for the sign finds them all."""


@cache
def _searches() -> _Searches:
    searches = _Searches([], [], [])
    signs: dict[str, list[str]] = {}
    for anchor in _tries():
        if "(" in anchor:
            searches.expressions.append((anchor, re.compile(anchor)))
        elif anchor[-1] in "_-.":
            signs.setdefault(anchor[-1], []).append(anchor)
        else:
            searches.plain.append(anchor)
    for sign, anchors in signs.items():
        tails = "|".join(sorted({re.escape(anchor[-3:]) for anchor in anchors}))  # a look back has one width
        searches.prefixes.append((sign, re.compile(f"{re.escape(sign)}(?<={tails})"), anchors))
    return searches
