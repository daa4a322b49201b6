"""Recognises headings, fences, rules and list items of Markdown, one line at a time."""

import re

from engine.base import lazy_pattern

_HEAD = 400
_TITLE_LIMIT = 200

_ATX = lazy_pattern(r" {0,3}(#{1,6})[ \t]+(.*)", re.DOTALL)
_FENCE = lazy_pattern(r"[ \t]*(?:(`{3,})[^`]*|(~{3,}).*)", re.DOTALL)
_RULE = lazy_pattern(r" {0,3}([-*_])(?:[ \t]*\1){2,}\s*")
_LIST_ITEM = lazy_pattern(r"[ \t]*(?:[-*+•]|\d{1,9}[.)])[ \t]")
_UNDERLINE = lazy_pattern(r"([=\-~^\"'*+#.:_])\1*\s*")

_WORDS = lazy_pattern(r" {0,3}[^\s>|#]")

_WIKI_LINK = lazy_pattern(r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]")
_LINK = lazy_pattern(r"!?\[([^\[\]]*)\]\([^()]*\)")
_ATTRIBUTES = lazy_pattern(r"\s*\{#[^{}]*\}\s*")
_CLOSING_MARKS = lazy_pattern(r"(?:^|[ \t]+)#+[ \t]*$")
_EMPHASIS = lazy_pattern(r"(?<!\w)\*+(?=\S)|(?<=\S)\*+(?!\w)|`+|~~")


def atx_heading(line: str) -> tuple[int, str] | None:
    """Return level and plain title of a `# Heading`; None for other lines, very long ones, and
    headings without words.
    """
    match = _ATX.match(line) if len(line) <= _HEAD else None
    title = plain_title(match[2]) if match else ""
    return (len(match[1]), title) if match and title else None


def underline_mark(title: str, line: str) -> str:
    """Return the character that underlines `title` in `line` and so makes it a heading; "" if it doesn't.

    Markdown's `=` and `-` may have any length; the marks of reStructuredText (Python's own documentation) must be as
    long as the title, or else many other lines would count.
    """
    match = _UNDERLINE.fullmatch(line[:_HEAD])
    if not match or len(line) > _HEAD or len(title) > _TITLE_LIMIT:
        return ""
    if not _WORDS.match(title) or is_list_item(title) or _UNDERLINE.fullmatch(title):
        return ""
    length = len(line.rstrip())
    if length < 2 or (match[1] not in "=-" and length != len(title.rstrip())):
        return ""
    return match[1]


CODE_SPAN = re.compile(r"(?<!`)(`++)(?!`)(?:[^`]|(?!\1(?!`))`++)*+\1(?!`)")
"""Matches code within a line. Each run of back-ticks is tried once."""
FENCES = ("```", "~~~")
"""Beginnings of a line that opens fenced code, after its indentation."""


def fence_marks(line: str) -> str:
    """Return the back-ticks or tildes with which a line opens fenced code; "" if it doesn't."""
    match = _FENCE.fullmatch(line[:_HEAD])
    return (match[1] or match[2]) if match else ""


def closes_fence(line: str, marks: str) -> bool:
    """Whether the line ends the fenced code that `marks` opened."""
    if len(line) > _HEAD:
        return False
    stripped = line.strip()
    return stripped.startswith(marks) and not stripped.strip(marks[0])


def is_rule(line: str) -> bool:
    """Whether the line is a thematic break such as `---`."""
    return len(line) <= _HEAD and _RULE.fullmatch(line) is not None


def is_overline(line: str) -> bool:
    """Whether the line is one repeated character, as above a title in reStructuredText."""
    return len(line) <= _HEAD and len(line.rstrip()) > 1 and _UNDERLINE.fullmatch(line) is not None


def is_list_item(line: str) -> bool:
    return _LIST_ITEM.match(line[:_HEAD]) is not None


def plain_title(text: str) -> str:
    """Return a heading's words without links, emphasis, back-ticks and closing marks, at most 200 characters."""
    text = _CLOSING_MARKS.sub("", _ATTRIBUTES.sub("", text[:_HEAD].strip()))
    text = _LINK.sub(r"\1", _WIKI_LINK.sub(r"\1", text))
    return " ".join(_EMPHASIS.sub("", text).split())[:_TITLE_LIMIT]
