"""Mask secrets in a text before it is stored, embedded, shown or sent.

`PATTERNS` lists the detected secrets. The text is searched only for the patterns' anchors, which are plain strings. An
expression runs only at a found anchor, on the whole text, so that no boundary between blocks can hide a secret.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import NamedTuple

from engine.base import lazy_pattern
from engine.redaction.code_patterns import CODE_PATTERNS
from engine.redaction.command_patterns import COMMAND_PATTERNS
from engine.redaction.context_patterns import CONTEXT_PATTERNS
from engine.redaction.non_secrets import is_code
from engine.redaction.secret_pattern import (
    LINE_END,
    LINE_PREFIX,
    LONGEST_JUDGED,
    QUOTED,
    AnchorSearches,
    JsonStrings,
    SecretPattern,
    alternates,
    anchor_searches,
    anchors_in,
    is_path,
    is_random,
    mixes_digits,
    secret_span,
    unescaped,
)
from engine.redaction.secret_words import PLACEHOLDER, is_ordinary, is_phrase
from engine.redaction.service_tokens import FORM_PATTERNS, SERVICES
from engine.redaction.syntax_patterns import SYNTAX_PATTERNS
from engine.redaction.table_patterns import TABLE_PATTERNS, cells_below

HIDDEN = "***"
"""Replacement for a secret that is hidden completely."""

_BLOCK = 256 * 1024
_WINDOW = 64 * 1024  # maximum length of one match
_OVERLAP = 64  # between blocks: more than the longest anchor
_BEFORE = 48  # characters before a match that are passed to the function that checks it
_MIN_SHOWN = 20  # in a shorter secret, a partial mask would show more than half
_HEAD, _TAIL = 6, 4
_ROUNDS = 8  # maximum; even two are rarely needed
_LINE_ENDS = "\v\f\x1c\x1d\x1e\x85\u2028\u2029"
_LINE_FEEDS = str.maketrans(dict.fromkeys(_LINE_ENDS, "\n"))
_LONE_RETURN = lazy_pattern(r"\r(?!\n)")
_PARTIAL = lazy_pattern(rf"\S{{{_HEAD}}}…\S{{{_TAIL}}}")
_PART_OF_ESCAPE = lazy_pattern(r"[\\\x1b]")
_END = lazy_pattern(f"[{LINE_END}]")
_PART = lazy_pattern(rf"\S(?:[^{LINE_END}]*\S)?")
_LAST_RUN = lazy_pattern(r"(?<![!-~])[!-~]+\Z")  # the last run of characters that occur in secrets
_RUN = lazy_pattern(r"[^\s\"'`]*+")
_BASE64 = "[A-Za-z0-9+/=]"
_QUOTING = r"[ \t>#*|\"'`-]*+"
_KEY_LINE = lazy_pattern(
    rf"{_QUOTING}(?:\d{{1,6}}[ \t:|→]++)?+({_BASE64}*+)(?:\\+[nr])*+[ \t\"'`,;+\\]*+(?:\r?\n|\Z)"
    r"|[ \t>#*|]*+(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset|MessageID):[^\n]{0,200}\n"
)
_KEY_ON_LINE = lazy_pattern(
    rf"((?:{_BASE64}|[ \t]|\\+[nrt/]|(?:Proc-Type|DEK-Info|Version|Comment): ?[^\\\n]{{0,100}}\\+n)++)"
)
_INDENT = lazy_pattern(r"[ \t]*+(?:- )*+")
_INDENTED = lazy_pattern(r"([ \t]*+)([^\r\n]*+)\r?\n?")
_A_CODE = (
    r"(?:(?=[A-Za-z]{0,23}\d)[A-Za-z0-9]{5,24}|[A-Za-z0-9]{3,12}(?:-[A-Za-z0-9]{3,12}){1,7}|\d{3,6}(?: \d{3,6}){1,7})"
)
_CODE = lazy_pattern(rf"(?<![A-Za-z0-9-]){_A_CODE}(?![A-Za-z0-9-])")
_CODE_LINE = lazy_pattern(
    rf"[ \t>#*|\"'`\[-]*+(?:\d{{1,2}}[.)][ \t]+)?((?:{_A_CODE}(?:[ \t,;|/\"'`\].]++|(?=\r?\n|\Z)))*+)(?:\r?\n|\Z)"
)
_SHORTEST_KEY = 12
_LETTERS = lazy_pattern(r"[^\W\d_]{3}")
_SHORTEST_CUT = 16
_NEXT_STRING = lazy_pattern(
    rf"[\"'`][ \t]{{0,8}}(?:[+.&\\][ \t]{{0,4}})?\r?\n{LINE_PREFIX}[ \t]{{0,80}}(?:[+.&][ \t]{{0,4}})?"
    r"[bBrRuUN]?(?P<quote>[\"'`])(?P<value>(?:(?!(?P=quote))(?:\\.|[^\n\\])){1,500}+)(?=(?P=quote)(?![ \t]{0,8}[:=]))"
)
_NEXT_PART = lazy_pattern(
    rf"\r?\n{LINE_PREFIX}[ \t]{{0,8}}(?P<value>[A-Za-z0-9_+/=.-]{{6,200}}+)(?=[\"'`,;)]{{0,3}}[ \t]*(?:\r?\n|\Z))"
)
_ITEM_WITHIN = lazy_pattern(rf"\s{{0,400}}(?P<bare>)(?P<label>){QUOTED}(?=\s{{0,80}}[,\])}}])\s{{0,80}},?")
_ITEM_BELOW = lazy_pattern(
    rf"{LINE_PREFIX}[ \t]*(?:(?P<bullet>[*+-])[ ]{{1,4}})?"
    r"(?P<label>\*{0,2}[^\W\d][^:\n=|/–—]{0,40}?(?:[ ]?:\*{0,2}[ ]|[ ][/|–—][ ])(?:[^\s:]{1,64}[ ][/|–—][ ])?)?"
    rf"(?:{QUOTED}|(?P<bare>[^\s\"'`:#\[{{]\S{{3,200}}+(?<!:)))[ \t]*(?:#[^\n]{{0,200}})?(?:\r?\n|\Z)"
)
_JSON = frozenset("{[")
_DEEPEST_STRING = 2
_NEAR_KIND = 16 * 1024  # maximum distance of an entry's object from the kind in JSON, in characters
_LONGEST_MANIFEST = 1536 * 1024  # Kubernetes allows 1 MiB, in base64
_MANIFEST_LINES = 400  # before and after the kind, the rest of `data:` not included
_MANIFEST_LINE = lazy_pattern(rf"{LINE_PREFIX}([ \t]*+(?:-[ ]+)?)([^\r\n]*)\r?(?:\n|\Z)")
_LINE_ESCAPE = lazy_pattern(r"(\\+)n")
_MANIFEST_END = lazy_pattern(r"---|```|~~~|[^\r\n]*kind:[ ][\"']?_*Secret(?![A-Za-z-])")
_DATA = lazy_pattern(r"([\"']?)(?:data|stringData)\1:[ \t]*(?:#.*)?\Z")
_ENTRY = lazy_pattern(
    r"([\"']?)[\w.-]+\1:(?:[ \t]+(?:\"((?:\\.|[^\"\\])++)|'((?:''|[^'])++)|(?![\"'|>#])"
    r"(\S(?:[^#]|(?<=\S)#)*(?<=\S))))?+"
)
_JSON_DATA = lazy_pattern(
    r"(\\*\")(?:data|stringData)\1\s*:\s*\{((?:(?!\1)[^{}]|\1(?:(?!\1)(?:\\.|[^\\]))*+(?:\1)?)*+)"
)
_JSON_ENTRY = lazy_pattern(r"(\\*\")[\w.-]+\1\s*:\s*\1((?:(?!\1)(?:\\.|[^\\]))++)")
_LONG_RUN = lazy_pattern(rf"{_BASE64}{{16}}")
_LONGEST_BLOCK = 20_000  # lines of a private key
_BLANK_LINES = 2
_LONGEST_PHRASE = 24  # lines
PATTERNS: tuple[SecretPattern, ...] = (
    *CONTEXT_PATTERNS,
    *CODE_PATTERNS,
    *TABLE_PATTERNS,
    *SYNTAX_PATTERNS,
    *COMMAND_PATTERNS,
    *FORM_PATTERNS,
    *SERVICES,
)


class _Span(NamedTuple):
    start: int
    end: int
    whole: bool


def beginning_of(text: str, most: int) -> str:
    """Return the start of a text, at most `most` code points, without cutting through a possible secret.

    A cut before masking could otherwise leave half of a secret, which no pattern detects.
    """
    return text if len(text) <= most else _LAST_RUN.sub("", text[:most])


def redact(text: str, *, whole: bool = False) -> str:
    """Return the text with its secrets masked; the same text if it has none.

    A secret becomes "***", or its first six and last four characters with "…" between them where that is at most half
    of it; with `whole` always "***". Line ends stay where they are. Redacting again changes nothing.
    """
    for _ in range(_ROUNDS):  # a mask can change how the surrounding text matches
        masked = _masked(text, whole=whole)
        if masked is text:
            break
        text = masked
    return text


def holds_secret(text: str) -> bool:
    """Return whether the text contains a secret to mask; a masked text does not."""
    return redact(text) != text


def _masked(text: str, *, whole: bool) -> str:
    """Mask in one pass over the text; return the same object if nothing is found."""
    pieces: list[str] = []
    copied = 0
    for span in _by_line(text, _merged(_all_spans(_with_line_feeds(text), text[:64].lstrip()[:1] in _JSON))):
        secret = text[span.start : span.end]
        if not _is_mask(secret):
            pieces += text[copied : span.start], _mask(secret, whole or span.whole)
            copied = span.end
    return "".join([*pieces, text[copied:]]) if pieces else text


def _all_spans(text: str, is_json: bool, depth: int = _DEEPEST_STRING) -> Iterator[_Span]:
    """Yield the spans of the secrets, in JSON also of those in its strings, in which escapes and quotes hide lines."""
    if not (is_json and depth):
        yield from _spans(text)
        if (seen := unescaped(text)) is not None:  # as after `grep --color`, or JSON after other text
            plain, position = seen
            for span in _merged(_spans(_with_line_feeds(plain))):
                start, end = position(span.start), position(span.end)
                yield _Span(start, end, span.whole or bool(_PART_OF_ESCAPE.search(text, start, end)))
    else:
        strings = JsonStrings(text)
        yield from _spans(strings.outside)
        inner = _all_spans(_with_line_feeds(strings.text), strings.holds_json, depth - 1)
        for span in _by_line(strings.text, _merged(inner)):
            start, end = strings.span_in_json(span.start, span.end)
            if start < end:
                yield _Span(start, end, span.whole or "\\" in text[start:end])  # a partial mask could cut an escape


def _with_line_feeds(text: str) -> str:
    """Replace every line end except "\\r\\n" by one line feed, so that positions don't change.

    The patterns then need to match only two kinds of line ends.
    """
    for end in _LINE_ENDS:
        if end in text:
            text = text.translate(_LINE_FEEDS)
            break
    return text if text.count("\r") == text.count("\r\n") else _LONE_RETURN.sub("\n", text)


def _mask(secret: str, whole: bool) -> str:
    if whole or len(secret) < _MIN_SHOWN:
        return HIDDEN
    return f"{secret[:_HEAD]}…{secret[-_TAIL:]}"


def _is_mask(value: str) -> bool:
    return value == HIDDEN or _PARTIAL.fullmatch(value) is not None


def _merged(spans: Iterable[_Span]) -> Iterator[_Span]:
    """Return the spans in order, overlapping ones merged."""
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


def _by_line(text: str, spans: Iterable[_Span]) -> Iterator[_Span]:
    """Divide spans of several lines, so that line ends stay."""
    for span in spans:
        if _END.search(text, span.start, span.end) is None:
            yield span
        else:
            yield from (span._replace(start=part.start(), end=part.end()) for part in _PART.finditer(text, *span[:2]))


def _spans(text: str) -> Iterator[_Span]:
    tries = _tries()
    searches = _searches()
    done: dict[str, dict[str, int]] = {}  # end of the last match of an expression, by anchor
    tables: dict[int, re.Match[str]] = {}  # headers by their end
    for start in range(0, len(text), _BLOCK):
        for anchor, found in anchors_in(text[start : start + _BLOCK + _OVERLAP], searches):
            position = start + found
            ends = done.get(anchor)
            for pattern in tries[anchor]:
                if ends is not None and position < ends.get(pattern.regex, 0):
                    continue
                match = _compiled(pattern.regex).match(text, position, position + _WINDOW)
                if match is not None and pattern.block == "column":
                    tables.setdefault(match.end(), match)
                elif match is not None:
                    for span in _secrets(text, match, pattern):
                        if span.start < span.end:
                            yield span
                        ends = done.setdefault(anchor, {})
                        ends[pattern.regex] = span.end
    yield from (_Span(*span, True) for span in cells_below(text, tables, _LONGEST_BLOCK))


def _secrets(text: str, match: re.Match[str], pattern: SecretPattern) -> Iterator[_Span]:
    """Yield the spans of the secrets in a match; an empty one at the end of the searched part."""
    position = match.start()
    if pattern.block == "key":
        yield from _key_lines(text, match.end())
        return
    if pattern.block == "codes":
        yield from _codes(text, match.end())
        return
    if pattern.block == "list":
        yield from _list_items(text, match)
        return
    if pattern.block == "manifest":
        yield from _manifest_entries(text, match)
        return
    start, end = secret_span(match)
    judge = pattern.judge if end - start <= LONGEST_JUDGED else None
    if judge is not None and not judge(text[max(0, position - _BEFORE) : position], match):
        return
    if pattern.block == "yaml":
        yield from _indented_lines(text, match)
        return
    while end - position >= _WINDOW and (rest := _RUN.match(text, end, end + _WINDOW)) and rest[0]:
        position, end = end, rest.end()
    yield _Span(start, end, pattern.mask == "whole")
    yield from _continued(text, match, pattern)


def _continued(text: str, match: re.Match[str], pattern: SecretPattern) -> Iterator[_Span]:
    """Yield the rest of a secret on the next lines: strings that a program joins, and a token that a terminal cut."""
    start, end = secret_span(match)
    is_string = match.groupdict().get("quoted") is not None
    if not is_string and (pattern.mask == "whole" or not is_random(text[start:end][:LONGEST_JUDGED], _SHORTEST_CUT)):
        return
    expression = _NEXT_STRING if is_string else _NEXT_PART
    for _ in range(_LONGEST_PHRASE):
        part = expression.match(text, end, end + _WINDOW)
        if part is None or not (is_string or alternates(part["value"])):
            return
        yield _Span(*part.span("value"), pattern.mask == "whole")
        end = part.end("value")


def _list_items(text: str, match: re.Match[str]) -> Iterator[_Span]:
    """Yield the secrets in a list: every word in a list of passwords, random text in one of tokens or keys."""
    below = match["below"]
    before = text[text.rfind("\n", 0, match.start()) + 1 : match.start()] if below else ""
    if below and ":" not in below and before.strip(" \t#>*+-_"):
        return  # the end of a sentence
    item = _ITEM_WITHIN if below is None else _ITEM_BELOW
    position = match.end()
    for _ in range(_LONGEST_BLOCK):
        found = item.match(text, position, position + _WINDOW)
        if found is None or (below and found["bullet"] is None and not found["label"]):
            break
        span = found.span("quoted") if found["quoted"] is not None else found.span("bare")
        value = text[slice(*span)]
        if match["password"] is None:
            is_secret = len(value) >= _SHORTEST_KEY and alternates(value)
        else:
            is_secret = not (is_ordinary(value) or (found["quoted"] is None and is_code(value)))
            if below and (found["label"] is not None or ":" not in below):
                is_secret &= mixes_digits(value) and _LETTERS.search(value) is not None and not is_path(value)
        if is_secret:
            yield _Span(*span, True)
        position = found.end()
    yield _Span(position, position, True)  # the lines are not read again for a name among them


def _key_lines(text: str, position: int) -> Iterator[_Span]:
    """Yield the key material after the header line of a private key."""
    on_line = _KEY_ON_LINE.match(text, position, position + _WINDOW)
    if on_line is not None and _LONG_RUN.search(on_line[0]):
        yield _Span(*on_line.span(), True)
        return
    blank = -1  # the end of the header line itself looks like a blank line
    for _ in range(_LONGEST_BLOCK):
        line = _KEY_LINE.match(text, position, position + _WINDOW)
        if line is None or line.end() == position or blank > _BLANK_LINES:
            return
        if line[1]:
            yield _Span(*line.span(1), True)
        blank = blank + 1 if line[1] == "" else 0
        position = line.end()


def _codes(text: str, position: int) -> Iterator[_Span]:
    """Yield codes that contain a digit, on the rest of this line and on the next ones, up to a line without a code."""
    blank = 0
    for _ in range(_LONGEST_PHRASE):
        line = _CODE_LINE.match(text, position, position + _WINDOW)
        if line is None or line.end() == position:
            return
        codes = [match.span() for match in _CODE.finditer(text, *line.span(1))]
        yield from (_Span(*span, True) for span in codes if any(map(str.isdigit, text[slice(*span)])))
        blank = 0 if codes else blank + 1
        if blank > _BLANK_LINES:
            return
        position = line.end()


def _indented_lines(text: str, match: re.Match[str]) -> Iterator[_Span]:
    """Yield the lines of a YAML block that are key material, a single word or a passphrase, not a description."""
    named = text.rfind("\n", max(0, match.start() - _BLOCK), match.start()) + 1
    depth = len(_INDENT.match(text, named)[0])  # type: ignore[index] # it may be empty
    position = match.end()
    words: list[_Span] = []  # the first lines if one of them has several words
    for _ in range(_LONGEST_BLOCK):
        line = _INDENTED.match(text, position, position + _WINDOW)
        if line is None or line.end() == position or (line[2] and len(line[1]) <= depth):
            break
        if line[2] and (words or len(line[2].split(maxsplit=1)) > 1):
            words.append(_Span(*line.span(2), True))
            if len(words) > _LONGEST_PHRASE:
                return
        elif line[2] and not is_ordinary(line[2]):
            yield _Span(*line.span(2), True)
        position = line.end()
    if is_phrase(" ".join(text[span.start : span.end] for span in words)):
        yield from words


def _manifest_entries(text: str, match: re.Match[str]) -> Iterator[_Span]:
    """Yield the values below `data:` and `stringData:` of the manifest around the match."""
    if match.groupdict().get("escaped") is not None:
        spans = _escaped_values(text, match)
    elif match["json"] is not None:
        spans = _json_values(text, match)
    else:
        spans = _yaml_values(text, *match.span())
    yield from (span for span in spans if not PLACEHOLDER.fullmatch(text, span.start, span.end))


def _json_values(text: str, match: re.Match[str]) -> Iterator[_Span]:
    """Yield the values of the entries between the previous kind and the next one."""
    first = max(0, match.start() - _LONGEST_MANIFEST)
    first = max(first, text.rfind("kind", first, match.start() - len('kind\\": \\"')))
    last = match.end() + _LONGEST_MANIFEST
    for word in ("kind", "apiVersion"):
        end = text.find(word, match.end(), last)
        last = last if end < 0 else end
    for block in _JSON_DATA.finditer(text, first, last):
        if block.end() > match.start() - _NEAR_KIND and block.start() < match.end() + _NEAR_KIND:
            yield from (_Span(*entry.span(2), True) for entry in _JSON_ENTRY.finditer(text, *block.span(2)))


def _escaped_values(text: str, match: re.Match[str]) -> Iterator[_Span]:
    """Yield the values of the manifests in a string whose ends of lines are escaped, as in JSON."""
    escape = _LINE_ESCAPE.search(text, max(0, match.start() - _BEFORE), match.end() + _BEFORE)
    if escape is None:
        return
    signs = len(escape[1])
    first, last = max(0, match.start() - _NEAR_KIND), match.end() + _NEAR_KIND
    start, end = match.start(), match.end() - 1
    while (start := text.rfind('"', first, start)) >= 0:
        if not text.endswith("\\" * signs, 0, start):
            break
    while (end := text.find('"', end + 1, last)) >= 0:
        if not text.endswith("\\" * signs, 0, end):
            break
    start = first if start < 0 else start + 1
    string = text[start : last if end < 0 else end]
    lines = string.replace("\\" * signs + "n", " " * signs + "\n").replace("\\" * signs + "r", " " * (signs + 1))
    quote, filler = "\\" * (2 * signs - 1) + '"', "_" * (2 * signs - 1)  # a letter, so that a key stays one word
    lines = re.sub(rf"{re.escape(quote)}(?=\w)", f'"{filler}', lines).replace(quote, f'{filler}"')
    done = match.end() + _NEAR_KIND // 2 if end < 0 else end
    for kind in match.re.finditer(text, match.start(), done + _WINDOW):
        if kind.start() >= done:
            break
        for span in _yaml_values(lines, kind.start() - start, kind.end() - start):
            value = string[span.start : span.end]
            left = span.start + start + len(value) - len(value.lstrip('\\"'))
            yield _Span(left, left + len(value.strip('\\"')), True)
    yield _Span(done, done, True)


def _yaml_values(text: str, start: int, end: int) -> Iterator[_Span]:
    """Yield the values of the entries, also on several lines, up to the next manifest before and after the kind."""
    position = text.rfind("\n", 0, start) + 1
    kind = _manifest_line(text, position, end)
    for _ in range(_MANIFEST_LINES if position else 0):
        before = text.rfind("\n", 0, position - 1) + 1
        line = _manifest_line(text, before, position)
        if _MANIFEST_END.match(line[2]):
            break
        position = before
        if position == 0 or _begins_item(line, kind):
            break
    data = entry = -1  # depth of the last `data:`, and of an entry below it, whose value may continue
    lines = 0  # after the kind
    while lines < _MANIFEST_LINES or data >= 0:
        line = _manifest_line(text, position, len(text))
        if line.end() == position:
            return
        if position >= end and (_MANIFEST_END.match(line[2]) or _begins_item(line, kind)):
            return
        lines += position > start
        position, depth = line.end(), len(line[1])
        if not line[2] or line[2].startswith("#"):
            continue
        if data < 0 or depth <= data:
            data, entry = (depth if _DATA.match(line[2]) else -1), -1
        elif 0 <= entry < depth:
            yield _Span(line.start(2), line.start(2) + len(line[2].rstrip()), True)
        else:
            named = _ENTRY.match(text, *line.span(2))
            entry = -1 if named is None else depth
            if named is not None and named.lastindex and named.lastindex > 1:
                yield _Span(*named.span(named.lastindex), True)


def _manifest_line(text: str, start: int, end: int) -> re.Match[str]:
    line = _MANIFEST_LINE.match(text, start, end)
    assert line is not None  # it may be empty
    return line


def _begins_item(line: re.Match[str], kind: re.Match[str]) -> bool:
    """Whether the line begins an entry of the list of manifests that the line with the kind belongs to."""
    return "-" in line[1] and line[1].index("-") < len(kind[1])


@cache
def _tries() -> dict[str, list[SecretPattern]]:
    """Return the patterns by anchor."""
    tries: dict[str, list[SecretPattern]] = {}
    for pattern in PATTERNS:
        for anchor in pattern.anchors:
            tries.setdefault(anchor, []).append(pattern)
    return tries


@cache
def _searches() -> AnchorSearches:
    return anchor_searches(_tries())


_compiled = cache(re.compile)  # compiling all up front takes as long as masking a hundred pages
