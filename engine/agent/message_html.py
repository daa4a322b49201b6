"""Converts the Markdown of a message to HTML, for an exported session.

Headings, lists, quotes, tables, code, emphasis and links become elements. All text is escaped, HTML in it included.
Links have only web and mail addresses, and pictures become links, so that the page loads nothing. Line breaks and
indentation in paragraphs stay.
"""

import re
from collections.abc import Iterator, Sequence
from html import escape

from engine.corpus.markdown_writer import indent_of

_LONGEST = 256 * 1024
"""Number of characters. Longer messages are only escaped."""
_DEEPEST = 8
"""Maximum number of lists and quotes inside each other; the text of deeper ones is a paragraph."""
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})[^`]*")
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*)")
_RULE = re.compile(r" {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*")
_QUOTE = re.compile(r" {0,3}> ?")
_ITEM = re.compile(r"([ \t]*)(?:([-*+])|(\d{1,9})[.)])(?:[ \t]+(?=\S)|[ \t]*$)")
_DIVIDER = re.compile(r"\|?(?:[ \t]*:?-+:?[ \t]*\|)+(?:[ \t]*:?-+:?)?")
_BAR = re.compile(r"(?<!\\)\|")
_LONGEST_LINE = 20_000
"""Number of characters. In a longer line or paragraph, nothing is marked."""
_MARKED = re.compile(
    r"(?P<ticks>(?<!`)`{1,3}(?!`))(?P<code>[^\n]{1,500}?)(?<!`)(?P=ticks)(?!`)"
    r"|!?\[(?P<text>[^\[\]\n]{1,300})\]\((?P<address>(?:https?://|mailto:)[^\s()<>]{1,2000}(?:\([^\s()<>]{1,200}\))?)\)"
    r"|(?P<bare>https?://[^\s<>\[\]\"'`]{1,2000}[^\s<>\[\]\"'`.,;:!?)*_~])"
    r"|\*\*(?=\S)(?P<strong>[^\n]{1,300}?)(?<=\S)\*\*(?!\*)"
    r"|(?<![\w*])\*(?=[^\s*])(?P<em>[^*\n]{1,300}?)(?<=\S)\*(?![\w*])"
    r"|(?<![\w_])_(?=[^\s_])(?P<low>[^_\n]{1,300}?)(?<=\S)_(?![\w_])"
    r"|~~(?=\S)(?P<gone>[^~\n]{1,300}?)(?<=\S)~~"
)
# markdown-it-py 4.3 takes 780 ms instead of 120 for a list of 20,000 items and 310 instead of 40 for a table of 8,000
# rows, and its 260 KB of modules would be in the bundle for this alone.
_ELEMENTS = {"strong": "strong", "em": "em", "low": "em", "gone": "s"}
PAGE_STYLE = """
:root { color-scheme: light dark; --line: #d9d9d4; --soft: #f4f4f1; --muted: #5f6b76; --you: #e9edfb;
  --gone: #b3261e; --new: #1e7d34; }
@media (prefers-color-scheme: dark) {
  :root { --line: #3a3b3f; --soft: #2a2b2f; --muted: #a2a7ad; --you: #2b3353;
    --gone: #f2837b; --new: #6ecf85; }
}
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 48rem; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.5rem; line-height: 1.25; }
h2 { font-size: 1rem; margin: 1.5rem 0 .3rem; }
h2 time, .facts, summary span { color: var(--muted); font-weight: normal; }
nav ol { padding-left: 2rem; }
.text { overflow-wrap: anywhere; }
.text p { margin: .5rem 0; white-space: pre-wrap; }
.text h3, .text h4, .text h5, .text h6 { font-size: 1rem; margin: 1rem 0 .3rem; }
.text ul, .text ol { margin: .4rem 0; padding-left: 1.6rem; }
blockquote { border-left: 3px solid var(--line); margin: .5rem 0; padding-left: .8rem; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
th, td { border: 1px solid var(--line); padding: .2rem .5rem; text-align: start; vertical-align: top; }
.user { background: var(--you); border-radius: 8px; padding: .5rem .8rem; }
pre { background: var(--soft); border-radius: 6px; margin: .4rem 0; overflow-x: auto; padding: .6rem .8rem; }
code { font: .9em ui-monospace, monospace; }
details { border: 1px solid var(--line); border-radius: 6px; margin: .4rem 0; padding: .3rem .7rem; }
del, ins { text-decoration: none; }
del { color: var(--gone); }
ins { color: var(--new); }
summary { cursor: pointer; overflow-wrap: anywhere; }
"""
"""Style sheet of an exported session."""


def message_html(text: str) -> str:
    """Return a message as elements of a page. The text of a very long one is in a single paragraph."""
    if len(text) > _LONGEST:
        return f"<p>{escape(text)}</p>"
    return "".join(_blocks(text.split("\n"), 0))


def _blocks(lines: Sequence[str], depth: int) -> Iterator[str]:
    at = 0
    while at < len(lines):
        line, end = lines[at], at + 1
        if fence := _FENCE.fullmatch(line):
            end = _end_of_fence(lines, end, fence[1])
            closed = end > at + 1 and _closes(lines[end - 1], fence[1])
            code = "\n".join(lines[at + 1 : end - closed])
            yield f"<pre>{escape(code)}</pre>\n"
        elif heading := _HEADING.fullmatch(line):
            level = min(6, len(heading[1]) + 2)  # below the headings of the page
            yield f"<h{level}>{_spans(_title(heading[2]))}</h{level}>\n"
        elif _RULE.fullmatch(line):
            yield "<hr />\n"
        elif depth < _DEEPEST and _QUOTE.match(line):
            while end < len(lines) and _QUOTE.match(lines[end]):
                end += 1
            inside = [_QUOTE.sub("", quoted, count=1) for quoted in lines[at:end]]
            yield f"<blockquote>\n{''.join(_blocks(inside, depth + 1))}</blockquote>\n"
        elif depth < _DEEPEST and (item := _ITEM.match(line)):
            end = _end_of_list(lines, at, item)
            yield from _list(lines[at:end], item, depth)
        elif _is_table(lines, at):
            while end < len(lines) and "|" in lines[end]:
                end += 1
            yield from _table(lines[at:end])
        elif line.strip():
            while end < len(lines) and lines[end].strip() and not _begins(lines, end):
                end += 1
            yield f"<p>{_spans(chr(10).join(lines[at:end]).rstrip())}</p>\n"
        at = end


def _begins(lines: Sequence[str], at: int) -> bool:
    """Whether a block begins at a line, which ends a paragraph before it."""
    line = lines[at]
    marked = (_FENCE, _HEADING, _RULE)
    item = _ITEM.match(line)
    return (
        any(mark.fullmatch(line) for mark in marked)
        or _QUOTE.match(line) is not None
        or (item is not None and item.end() < len(line) and item[3] in (None, "1"))
        or _is_table(lines, at)
    )


def _title(text: str) -> str:
    """Return the text of a heading without the marks that close it."""
    text = text.rstrip()
    bare = text.rstrip("#")
    return bare.rstrip() if not bare or bare[-1].isspace() else text


def _closes(line: str, fence: str) -> bool:
    ends = line.strip()
    return ends.startswith(fence) and not ends.strip(fence[0])


def _end_of_fence(lines: Sequence[str], at: int, fence: str) -> int:
    """Return the line after a block of code, which ends with the message if nothing closes it."""
    while at < len(lines):
        at += 1
        if _closes(lines[at - 1], fence):
            break
    return at


# --- lists ----------------------------------------------------------------------------------------------------------


def _sort(item: re.Match[str]) -> bool:
    return item[3] is not None


def _end_of_list(lines: Sequence[str], at: int, first: re.Match[str]) -> int:
    """Return the line after a list: items of the same sort, and lines that are indented more, or continue one."""
    base, blank = len(first[1]), False
    end = at = at + 1
    while at < len(lines):
        line = lines[at]
        item = _ITEM.match(line)
        if not line.strip():
            blank = True
        elif indent_of(line) > base or (item and indent_of(line) == base and _sort(item) == _sort(first)):
            blank, end = False, at + 1
        elif item or blank or _begins(lines, at):
            break
        else:
            end = at + 1
        at += 1
    return end


def _list(lines: Sequence[str], first: re.Match[str], depth: int) -> Iterator[str]:
    base = len(first[1])
    starts = [at for at, line in enumerate(lines) if indent_of(line) <= base and _ITEM.match(line)]
    name = "ol" if _sort(first) else "ul"
    number = f' start="{int(first[3])}"' if _sort(first) and int(first[3]) != 1 else ""
    yield f"<{name}{number}>\n"
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        item = _ITEM.match(lines[start])
        width = item.end() if item else 0
        rest = [line[min(width, indent_of(line)) :] for line in lines[start + 1 : end]]
        inside = "".join(_blocks([lines[start][width:], *rest], depth + 1))
        if inside.startswith("<p>") and inside.count("<p>") == 1:  # of a short item only the text
            inside = inside.replace("<p>", "", 1).replace("</p>", "", 1)
        yield f"<li>{inside.strip()}</li>\n"
    yield f"</{name}>\n"


# --- tables ---------------------------------------------------------------------------------------------------------


def _is_table(lines: Sequence[str], at: int) -> bool:
    below = lines[at + 1] if at + 1 < len(lines) else ""
    if "|" not in lines[at] or len(below) > _LONGEST_LINE or not _DIVIDER.fullmatch(below.strip()):
        return False
    return len(_cells(lines[at])) == len(_cells(below))


def _cells(line: str) -> list[str]:
    cells = [cell.strip().replace("\\|", "|") for cell in _BAR.split(line.strip())]
    return cells[not cells[0] : len(cells) - (len(cells) > 1 and not cells[-1])]


def _table(lines: Sequence[str]) -> Iterator[str]:
    """Yield a table. Short rows stay short: filled, 200 KB of a wide table's would have gigabytes."""
    head = _cells(lines[0])
    yield "<table>\n" + _row(head, "th")
    for row in lines[2:]:
        yield _row(_cells(row)[: len(head)], "td")
    yield "</table>\n"


def _row(cells: Sequence[str], name: str) -> str:
    return f"<tr>{''.join(f'<{name}>{_spans(cell)}</{name}>' for cell in cells)}</tr>\n"


# --- parts of a line ------------------------------------------------------------------------------------------------


def _spans(text: str, depth: int = 0) -> str:
    """Return text with code, links and emphasis in their elements."""
    if len(text) > _LONGEST_LINE or depth > 3:
        return escape(text)
    parts, position = list[str](), 0
    for found in _MARKED.finditer(text):
        parts += (escape(text[position : found.start()]), _span(found, depth))
        position = found.end()
    return "".join((*parts, escape(text[position:])))


def _span(found: re.Match[str], depth: int) -> str:
    if (code := found["code"]) is not None:
        return f"<code>{escape(code.strip())}</code>"
    if address := found["address"] or found["bare"]:
        words = _without_links(found["text"], depth) if found["text"] else escape(address)
        return f'<a href="{escape(address)}" rel="noreferrer">{words}</a>'
    group = found.lastgroup or ""
    return f"<{_ELEMENTS[group]}>{_spans(found[group], depth + 1)}</{_ELEMENTS[group]}>"


def _without_links(text: str, depth: int) -> str:
    """Return the text of a link, in which an address is not a separate link."""
    return escape(text) if "://" in text else _spans(text, depth + 1)
