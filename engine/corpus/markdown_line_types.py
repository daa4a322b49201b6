"""Recognises headings, fences, rules and list items of Markdown, one line at a time."""

import re
from collections.abc import Callable

from engine.base import lazy_pattern

_HEAD = 400
_TITLE_LIMIT = 200

_ATX = lazy_pattern(r" {0,3}(#{1,6})[ \t]+(.*)", re.DOTALL)
_FENCE = lazy_pattern(r"[ \t]*((?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*)(?:(`{3,})[^`]*|(~{3,}).*)", re.DOTALL)
_RAW = lazy_pattern(r" {0,3}(?:(<!--)|<(pre|script|style|textarea)(?=[\s>]|$)|(%%)|(\{/\*))", re.IGNORECASE)
_RULE = lazy_pattern(r" {0,3}([-*_])(?:[ \t]*\1){2,}\s*")
_LIST_ITEM = lazy_pattern(r"[ \t]*(?:[-*+]|•|\d{1,9}[.)])[ \t]")
_UNDERLINE = lazy_pattern(r" {0,3}([=\-~^\"'*+#.:_])\1*\s*")

_WORDS = lazy_pattern(r" {0,3}[^\s>|#]")

_MARKUP = lazy_pattern(r"[\\`*_~=\[\]<>{}&#^%]")
"""Matches a character of inline markup; text without one has no inline markup."""
_WIKI_LINK = lazy_pattern(r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]")
_LINK = lazy_pattern(r"!?\[([^\[\]]*)\](?:\((?:[^()]|\([^()]*\))*\)|\[[^\[\]]*\])")
HEADING_ATTRIBUTES = lazy_pattern(
    r"(?<![_^\\])[ \t]*\{(?:-|:?[ \t]*[#.][^{}]{1,200}|:[^{}]{1,200}|[\w-]{1,40}=\"[^{}]{1,200})\}(?=[ \t]*#*[ \t]*\Z)"
)
"""Matches the attributes after a heading, such as its id, as Pandoc, Hugo, kramdown and MkDocs write them."""
_NO_WORDS = lazy_pattern(
    r"\[\^[^\[\]]*\]|<!--.*?-->|%%.*?%%|\{/\*.*?\*/\}|[ \t]\^[0-9A-Za-z-]+[ \t]*$"
    r"|</?(?:a|abbr|b|br|code|del|em|font|i|img|ins|kbd|mark|p|s|small|span|strong|sub|sup|u)(?:\s[^<>]*)?/?>",
    re.IGNORECASE,
)
"""Matches footnotes, comments, the id of a block and HTML tags for parts of a line."""
_ADDRESS = lazy_pattern(r"<([a-z][a-z0-9+.-]+:[^\s<>]*)>", re.IGNORECASE)
_CLOSING_MARKS = lazy_pattern(r"(?:^|[ \t]+)#+[ \t]*$")
_EMPHASIS = lazy_pattern(r"(?<!\w)(?:\*+|==)(?=\S)|(?<=\S)(?:\*+|==)(?!\w)|~~")
_UNDERSCORES = lazy_pattern(r"(?<!\w)(_{1,3})(?=[^\s_])((?:(?!\1).)*?[^\s_])\1(?!\w)")
_ESCAPED = lazy_pattern(r"\\([!-/:-@\[-`{-~])")
_PRIVATE = 0x100000
"""Code points from here on replace escaped characters until other marks are removed."""


def atx_heading(line: str) -> tuple[int, str] | None:
    """Return level and plain title of a `# Heading`; None for other or very long lines, or without words."""
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
    if match[1] not in "=-" and (len(line.rstrip()) != len(title.rstrip()) or line.startswith(" ")):
        return ""
    return match[1]


CODE_SPAN = lazy_pattern(r"(?<!`)(`++)(?!`)(?:[^`]|(?!\1(?!`))`++)*+\1(?!`)")
"""Matches code within a line. Each run of back-ticks is tried once."""


def fence_marks(line: str) -> str:
    """Return the back-ticks or tildes with which a line opens fenced code; else "".

    Code that begins the text of a list's item ends with the item. Blanks, as many as the item's text is indented, are
    then in front of the marks.
    """
    match = _FENCE.fullmatch(line[:_HEAD]) if "```" in line or "~~~" in line else None
    if match is None:
        return ""
    return " " * (len(_columns(line[: match.end(1)])) if match[1] else 0) + (match[2] or match[3])


def is_below_item(line: str, marks: str) -> bool:
    """Whether the line is below the item whose text the fenced code with these marks begins.

    The end of the code never is, though it may be indented less than the item's text.
    """
    if marks[0] != " " or not line or line.isspace() or closes_fence(line, marks):
        return False
    indent = len(marks) - len(marks.lstrip())
    return not _columns(line[:_HEAD]).startswith(" " * indent)


def _columns(text: str) -> str:
    """Return a text with its tabs as CommonMark counts them."""
    return text.expandtabs(4)


def closes_fence(line: str, marks: str) -> bool:
    """Whether the line ends the fenced code that `marks` opened."""
    if len(line) > _HEAD:
        return False
    stripped, marks = line.strip(), marks.lstrip()
    return stripped.startswith(marks) and not stripped.strip(marks[0])


def opened_block(line: str, is_below: Callable[[str], bool]) -> str:
    """Return the marks that end a block without headings which a line opens: fenced code, HTML or a comment; else "".

    HTML is that of CommonMark whose end is a tag; comments are those of HTML, Obsidian and MDX. Obsidian's need an end,
    which `is_below` looks for in the lines below, since other programs write `%%`, too.
    """
    if marks := fence_marks(line):
        return marks
    match = _RAW.match(line) if line.lstrip(" ").startswith(("<", "%%", "{/*")) else None
    if match is None:
        return ""
    if match[1]:
        end = "-->"
    elif match[2]:
        end = f"</{match[2].lower()}>"
    else:
        end = match[3] or "*/}"
    return "" if end in line[match.end() :].lower() or (match[3] and not is_below(end)) else end


def closes_block(line: str, marks: str) -> bool:
    """Whether the line ends the block that `opened_block` has found."""
    return closes_fence(line, marks) if is_fence(marks) else marks in line.lower()


def is_fence(marks: str) -> bool:
    """Whether the block that these marks end is fenced code."""
    return marks[-1] in "`~"


def is_rule(line: str) -> bool:
    """Whether the line is a thematic break such as `---`."""
    return len(line) <= _HEAD and _RULE.fullmatch(line) is not None


def is_overline(line: str) -> bool:
    """Whether the line is one repeated character, as above a title in reStructuredText."""
    return len(line) <= _HEAD and len(line.rstrip()) > 1 and _UNDERLINE.fullmatch(line) is not None


def is_list_item(line: str) -> bool:
    return _LIST_ITEM.match(line[:_HEAD]) is not None


def plain_title(text: str) -> str:
    """Return a heading's displayed words, without markup, at most 200 characters."""
    text = text[:_HEAD].strip()
    if _MARKUP.search(text) is None:
        return " ".join(text.split())[:_TITLE_LIMIT]
    parts, done = list[str](), 0
    for code in CODE_SPAN.finditer(text):
        parts += [text[done : code.start()], _hidden(code[0].strip("`").strip())]
        done = code.end()
    text = _ESCAPED.sub(lambda escaped: _hidden(escaped[1]), "".join((*parts, text[done:])))
    text = HEADING_ATTRIBUTES.sub("", text)
    text = _CLOSING_MARKS.sub("", _NO_WORDS.sub("", text).strip())
    text = _ADDRESS.sub(r"\1", _LINK.sub(r"\1", _WIKI_LINK.sub(r"\1", text)))
    text = _UNDERSCORES.sub(r"\2", _EMPHASIS.sub("", text)).replace("`", "")
    if "&" in text:
        from html import unescape  # few headings need its long table

        text = unescape(text)
    return " ".join(_shown(text).split())[:_TITLE_LIMIT]


def _hidden(text: str) -> str:
    """Return the text with punctuation replaced by private-use characters, which aren't markup."""
    return "".join(chr(_PRIVATE + ord(sign)) if sign.isascii() and not sign.isalnum() else sign for sign in text)


def _shown(text: str) -> str:
    return "".join(chr(ord(sign) - _PRIVATE) if _PRIVATE <= ord(sign) < _PRIVATE + 128 else sign for sign in text)
