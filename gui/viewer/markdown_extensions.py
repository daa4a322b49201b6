"""Rewrites the Markdown extensions of Obsidian and Logseq as Markdown that Qt's importer knows, line by line.

Links become links to `note:`, which the viewer resolves in the index; nothing is fetched. Written from Obsidian's help
("Obsidian Flavored Markdown", "Callouts", "Basic formatting syntax") and Logseq's documentation ("Properties").
"""

import re
from collections.abc import Callable, Iterable, Iterator
from urllib.parse import quote

from engine import CODE_SPAN, HASHTAG, HEADING_ATTRIBUTES, LinkedText, marked, tr, without_links, written_links
from gui.viewer.markdown_html import (
    END_OF_BLOCK,
    LINE_BREAK,
    TABLE,
    TABLE_END,
    OpenTable,
    escaped,
    markdown_table,
    may_break,
    outside_code,
    without_code,
    without_html,
)
from gui.viewer.pictures import ImageMarkup, Pictures

NOTE_SCHEME = "note"
FOLD_SCHEME = "fold"
TAG_SCHEME = "tag"
FOOTNOTE = "footnote-"
"""Beginning of an anchor of this page that is a footnote."""
ANCHOR, ANCHOR_END, MARK, MARK_END = "\ue000", "\ue001", "\ue002", "\ue003"
"""Characters for private use, around the name of an anchor and around highlighted text; the page takes them out."""
QUOTED = "\ue004"
"""Character for private use before a heading, as many as there are quotes around it: Qt's importer forgets them."""
SEPARATOR = MARK + MARK_END
"""A paragraph that ends a quote or block of code, since Qt's document joins it with the next one."""

_PRIVATE = dict.fromkeys(map(ord, (ANCHOR, ANCHOR_END, MARK, MARK_END, QUOTED)), " ")
_QUOTED_HEADING = re.compile(r"(?<![> \t])((?:[ \t]*+>)++[ \t]{0,4}#{1,6}[ \t]+)(?=\S)")
_FENCE = re.compile(r"[ \t>]*(`{3,}|~{3,})")
_CALLOUT = re.compile(r"((?:[ \t]*>)+)[ \t]*\[!([\w-]{1,40})(?:\|[^\]]*)?\]([+-]?)[ \t]*(.*)")
_CALLOUT_NAMES = {
    "abstract": marked("Abstract"),
    "attention": marked("Attention"),
    "bug": marked("Bug"),
    "caution": marked("Caution"),
    "check": marked("Check"),
    "cite": marked("Quote"),
    "danger": marked("Danger"),
    "done": marked("Done"),
    "error": marked("Error"),
    "example": marked("Example"),
    "fail": marked("Failure"),
    "failure": marked("Failure"),
    "help": marked("Help"),
    "hint": marked("Hint"),
    "important": marked("Important"),
    "info": marked("Info"),
    "missing": marked("Missing"),
    "note": marked("Note"),
    "question": marked("Question"),
    "quote": marked("Quote"),
    "success": marked("Success"),
    "summary": marked("Summary"),
    "tip": marked("Tip"),
    "todo": marked("To do"),
    "warning": marked("Warning"),
}
"""Names of the callouts that Obsidian and GitHub have; other names are shown as written."""
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)")
_QUOTED_ITEM = re.compile(r"([ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+)(>.*)")
_QUOTES = re.compile(r"(?:[ \t]*>)+")
_TASK = re.compile(r"([ \t>]*(?:[-*+](?![ \t]+\[[ xX]\])|\d{1,9}[.)])[ \t]+)\[([/\-><!? xX])\][ \t]+(.*)")
"""A task that Qt's importer doesn't know; the box of a numbered one would cover its number."""
_STATES = {
    " ": "☐ {}",
    "x": "☒ {}",
    "X": "☒ {}",
    "/": "◐ {}",
    "-": "✕ ~~{}~~",
    ">": "→ {}",
    "<": "← {}",
    "!": "**!** {}",
    "?": "**?** {}",
}
"""How a task is shown, by the sign in its box."""
_FOOTNOTE_TEXT = re.compile(r"\[\^([^\]\s]{1,80})\]:[ \t]*(.*)")
_FOOTNOTE_MARK = re.compile(r"\[\^([^\]\s]{1,80})\]")
_INLINE_NOTE = re.compile(r"(?<!\\)\^\[((?:[^\[\]\n]|\[\[[^\[\]\n]*\]\]|\[[^\[\]\n]*\]){1,1000})\]")
_HIGHLIGHT = re.compile(r"(?<![\w=?&/])(==|\^\^)(?=\S)([^=^\n]{1,2000}?)(?<=\S)\1")
_MATH = re.compile(r"(?<![\\\w$])(\$\$?)(?=[^\s$])([^$`\n]{1,2000}?)(?<=[^\s\\])\1(?![\w$])")
_BLOCK_ID = re.compile(r"(?:^|(?<![*_~])[ \t]|(?<=[*_~])([ \t]))\^([0-9A-Za-z-]{1,64})[ \t]*$")
"""The id of a block, and a space that the end of emphasis before it needs."""
_PROPERTY = re.compile(
    r"(?:([ \t]*[-*+])(?=[ \t]))?[ \t]*(?::LOGBOOK:|:END:|CLOCK: \[.*"
    r"|(?:id|collapsed|heading|background[-_]color|(?:created|updated)[-_]at|ls-type|hl-\w+|logseq\.[\w.-]+"
    r"|card-[\w-]+|query-[\w-]+)::[ \t].*)"
)
_ITEM_HEADING = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+#{1,6}[ \t].*")
_BLOCK_BEGIN = re.compile(r"([ \t]*(?:[-*+][ \t]+)?)#\+begin_(\w{1,40})(?:[ \t]+(.*))?", re.IGNORECASE)
_BLOCK_END = re.compile(r"[ \t]*#\+end_(\w{1,40})[ \t]*", re.IGNORECASE)
_CODE_BLOCKS = {"example": "", "export": "", "query": "clojure", "src": ""}
"""Blocks of Logseq with literal text, each with its language if it names none."""
_QUOTE_BLOCKS = ("center", "quote", "verse")
_MACRO = re.compile(r"\{\{(\w{1,40})(?:[ \t]+(https?://[^\s{}]{1,1000})[ \t]*)?((?:[^{}\n]|\{[^{}\n]*\}){0,1000})\}\}")
"""A macro of Logseq: a video or another web page, which becomes a link, or a query."""
_EMBED = re.compile(
    r"([ \t]*(?:[-*+][ \t]+)?)(?:!\[\[[^\[\]|]{1,400}(?:\|[^\[\]]*)?\]\]|\{\{embed[ \t]+.{1,400}?\}\})[ \t]*"
)
_WIKILINK = re.compile(r"(?<!!)\[\[([^\[\]|\n]{1,400})(?:\|([^\[\]\n]{0,400}))?\]\]")
_ADDRESS = re.compile(r"https?://[^\s<>`]+")
_TAG = re.compile(
    r"\[[^\[\]\n]*\](?:\((?:[^()\n]|\([^()\n]*\))*\)|\[[^\[\]\n]*\])"
    r"|^[ ]{0,3}\[(?!\^)[^\[\]\n]+\]:[ \t]*\S+(?:[ \t]+[\"'(].*)?[ \t]*$"
    r"|<[/!?A-Za-z][^<>\n]*>|" + HASHTAG.pattern
)
"""A tag; or a link of Markdown, the definition of one, or an HTML tag, in which none is looked for."""
_HEADING = re.compile(r"[ \t>]*(?:[-*+][ \t]+)?#{1,6}[ \t]")
_LONGEST_HEADING = 500
_MAX_EMBEDS = 20
_LONGEST_EMBED = 2_000
_LONGEST_BLOCK = 120

Resolve = Callable[[str, str], LinkedText | None]
"""Reads the target of a link, given by note and anchor; called on a pool thread."""


class NoteMarkup:
    """Rewrites the lines of one note, called in their order; a new instance is needed for each note."""

    def __init__(
        self,
        resolve: Resolve,
        toggled: frozenset[int],
        pictures: Pictures | None = None,
        *,
        unfold: bool = False,
        keep_breaks: bool = False,
    ) -> None:
        """`toggled`: lines of callouts whose fold the user has toggled. `pictures`: collects the images to show.

        `unfold`: folded callouts are open. `keep_breaks`: each line of a paragraph begins a new line.
        """
        self._resolve = resolve
        self._images = ImageMarkup(pictures)
        self._toggled = toggled
        self._unfold = unfold
        self._keep_breaks = keep_breaks
        self._in_comment = False
        self._last_comment = 0
        """Last line that opens or closes a comment."""
        self._in_html_comment = self._in_math = False
        self._folded = 0
        """Level of the folded callout whose text is left out."""
        self._embeds = 0
        self._notes: list[str] = []
        """Footnotes written in the text as `^[…]`."""
        self._ends: dict[str, int] = {}
        """Last line that ends a block of Logseq, by its name, a comment of HTML, by `-->`, or a formula, by `$$`."""
        self._block = ("", "", False)
        """Name of the open block of Logseq, the indentation of its text, and whether that is code."""
        self.open_table = OpenTable()  # a blank line ends it
        self._after_heading = False
        """Whether the line above is a heading in a list, which Qt joins with a line of text below it."""
        self._fence = ("", 0)
        """The marks that opened a block of code in a quote, and the level of the quote."""
        self._after_quote = self._after_blank = False
        """Whether the last text was a quote, and whether a blank line followed."""

    def find_comments(self, lines: Iterable[tuple[int, str]]) -> None:
        """Record which of these numbered lines, without code, can close a comment or a block; called before `line`."""
        for number, line in lines:
            if _comment_marks(line):
                self._last_comment = number
            self._ends |= {end: number for end in ("-->", "$$", TABLE_END) if end in line}
            if "#+" in line and (end := _BLOCK_END.fullmatch(line)):
                self._ends[end[1].lower()] = number

    @property
    def is_inside_block(self) -> bool:
        """Whether a comment, a formula, a block or a folded callout, which may have blank lines, is open."""
        return bool(self._in_comment or self._in_html_comment or self._in_math or self._block[0] or self._folded)

    def line(self, number: int, line: str) -> str | None:
        """Return the text that replaces a line outside of code, possibly several lines; None to omit the line."""
        if self.open_table.lines or (number <= self._ends.get(TABLE_END, 0) and "<table" in without_code(line)):
            texts = (self._line(number, text) for text in self.open_table.add(line))
            return "\n".join(text for text in texts if text is not None) or None
        return self._line(number, line)

    def _line(self, number: int, line: str) -> str | None:
        embeds, level = self._embeds, _level(line)
        text = self._rewritten(number, line, level)
        if text is None:
            return None
        if (self._keep_breaks or line.endswith("  ")) and not self._fence[0] and may_break(text):
            text = text.rstrip() + LINE_BREAK
        if self._after_heading and line.strip() and not _ITEM.match(line):
            text = f"\n{text}"
        self._after_heading = _ITEM_HEADING.fullmatch(line) is not None
        if not line.strip():
            self._after_blank = True
            return text
        embed = self._embeds > embeds
        separate = self._after_quote and (embed or (level > 0 and self._after_blank))
        self._after_quote = embed or level > 0 or (self._after_quote and not self._after_blank)
        self._after_blank = embed
        return f"{line[: len(line) - len(line.lstrip())]}{SEPARATOR}\n\n{text}" if separate else text

    def _rewritten(self, number: int, line: str, level: int) -> str | None:
        if self._block[0]:
            return self._in_block(number, line)
        if hidden := _PROPERTY.fullmatch(line):
            return hidden[1]  # the sign of a list item, whose text follows
        if self._ends and (begin := _BLOCK_BEGIN.fullmatch(line)) and number < self._ends.get(begin[2].lower(), 0):
            return self._begin_block(number, begin)
        if not 0 < self._folded <= level and self._is_quoted_code(line, level):
            return line.translate(_PRIVATE)
        line = self._without_comments(number, line.translate(_PRIVATE))
        line = _without_attributes(line) if "}" in line else line
        if self._folded:
            if level >= self._folded:
                return None
            self._folded = 0
        return self._rewritten_text(number, line, level)

    def _rewritten_text(self, number: int, line: str, level: int) -> str | None:
        """Return the text that replaces a line without comments, outside of blocks and folded callouts."""
        words = line.strip()
        opens = words.startswith("$$") and "$$" not in words[2:] and number < self._ends.get("$$", 0)
        if self._in_math or opens:
            self._in_math = not self._in_math or "$$" not in words
            return f"`{words.replace('`', ' ')}`{LINE_BREAK}" if words else LINE_BREAK
        if item := _QUOTED_ITEM.fullmatch(line):
            quote = self._rewritten_text(number, _blank(item[1]) + item[2], _level(item[2]))
            return quote and f"{_item_before_quote(item[1])}{quote}"
        if match := _CALLOUT.fullmatch(line):
            return self._callout(number, *match.groups())
        if (match := _EMBED.fullmatch(line)) and (box := self._embed(line, match[1])):
            return box
        if match := _FOOTNOTE_TEXT.match(line):
            name = match[1]
            return f"{ANCHOR}{FOOTNOTE}{name}{ANCHOR_END}\\[{escaped(name)}\\] {self._inline(match[2])}\n"
        if match := _TASK.fullmatch(line):
            before, state, text = match.groups()
            return before + _STATES[state].format(self._inline(text))
        text = self._inline(_keep_quoted(line, level) if level else line)
        return f"{text}\n" if "</" in line and END_OF_BLOCK.fullmatch(line) else text

    def _begin_block(self, number: int, begin: re.Match[str]) -> str:
        """Return the beginning of a block of Logseq as that of a block of code, a callout or a quote."""
        before, name, words = begin[1], begin[2].lower(), (begin[3] or "").strip()
        indent = _blank(before)
        self._block = name, indent, name in _CODE_BLOCKS
        if name in _CODE_BLOCKS:
            return f"{before}```{words.partition(' ')[0] or _CODE_BLOCKS[name]}"
        head = ">" if name in _QUOTE_BLOCKS else self._callout(number, ">", name, "", words)
        return (_item_before_quote(before) if before.strip() else "") + indent + head.replace("\n", f"\n{indent}")

    def _in_block(self, number: int, line: str) -> str:
        """Return a line of a block of Logseq, or its end."""
        name, indent, is_code = self._block
        end = _BLOCK_END.fullmatch(line)
        if end is not None and end[1].lower() == name:
            self._block = ("", "", False)
            self._after_quote = self._after_blank = False  # the separator ends it
            return f"{indent}```\n\n{indent}{SEPARATOR}\n" if is_code else f"\n{indent}{SEPARATOR}\n"
        line = line.translate(_PRIVATE)
        text = line.removeprefix(indent) if line.startswith(indent) else line.lstrip()
        return f"{indent}{text if is_code else f'> {self._inline(text)}'}".rstrip()

    def _is_quoted_code(self, line: str, level: int) -> bool:
        """Return whether a line belongs to a block of code in a quote, which the caller can't know."""
        fence, inside = self._fence
        if fence and level >= inside:
            self._fence = ("" if _closes(line, fence) else fence), inside
            return True
        match = _FENCE.match(line) if level else None
        self._fence = ("", 0) if match is None else (match[1], level)
        return match is not None

    def _without_comments(self, number: int, line: str) -> str:
        """Remove the comments from a line; a `%%` without an end stays as text, and so do HTML comments of one line."""
        if self._in_html_comment:
            _, end, line = line.partition("-->")
            self._in_html_comment = not end
        opening = without_code(line).rfind("<!--") if "<!--" in line else -1
        if opening >= 0 and "-->" not in line[opening:] and number < self._ends.get("-->", 0):
            self._in_html_comment, line = True, line[:opening]
        marks = _comment_marks(line)
        stays_open = (len(marks) % 2 == 1) != self._in_comment
        if stays_open and marks and number >= self._last_comment:
            marks.pop()
        parts, start = [], 0
        for mark in marks:
            if not self._in_comment:
                parts.append(line[start:mark])
            self._in_comment = not self._in_comment
            start = mark + 2
        if not self._in_comment:
            parts.append(line[start:])
        return "".join(parts)

    def _callout(self, number: int, quotes: str, kind: str, fold: str, title: str) -> str:
        known = _CALLOUT_NAMES.get(kind.casefold())
        name = escaped(tr(known) if known else kind.replace("-", " ").capitalize())
        title = title.rstrip()
        if title and title.casefold() not in (kind.casefold(), name.casefold()):
            name = f"{name}: {self._inline(title)}"
        if not fold:
            return f"{quotes} **{name}**\n{quotes}"
        is_open = (fold == "+" or self._unfold) != (number in self._toggled)
        self._folded = 0 if is_open else _level(quotes)
        mark = "▾" if is_open else "▸"
        return f"{quotes} [{mark}]({FOLD_SCHEME}:{number}) **{name}**\n{quotes}"

    def _embed(self, line: str, item: str) -> str:
        """Return a quote with the text that an embed names, below a link to it; empty if the line is not an embed.

        `item`: the beginning of the line, with the sign of a list item.
        """
        links = written_links(line)
        if len(links) != 1 or self._embeds == _MAX_EMBEDS:
            return ""
        link = links[0]
        linked_text = self._resolve(link.target, link.anchor)
        if linked_text is None:
            return ""
        self._embeds += 1
        text = linked_text.text[:_LONGEST_EMBED]
        label = f"{linked_text.title} › {link.anchor.lstrip('^')}" if link.anchor else linked_text.title
        cut = ["", "…"] if linked_text.cut or len(linked_text.text) > _LONGEST_EMBED else []
        parts = linked(label, link.target, link.anchor), "", *self._embedded(text.translate(_PRIVATE)), *cut
        indent = _blank(item)
        before = _item_before_quote(item) if item.strip() else "\n"
        box = f"\n{indent}".join(f"> {part}" for part in parts)
        return f"{before}{indent}{box}\n"

    def _embedded(self, text: str) -> Iterator[str]:
        """Yield the lines of an embedded text, rewritten outside of fenced code."""
        fence, margin = "", text[: len(text) - len(text.lstrip(" \t"))]
        for line in (line.removeprefix(margin) for line in text.split("\n")):
            if fence:
                fence = "" if _closes(line, fence) else fence
                yield line
            elif match := _FENCE.match(line):
                fence = match[1]
                yield line
            elif not _PROPERTY.fullmatch(line):
                end = LINE_BREAK if self._keep_breaks and may_break(line) else ""
                yield self._inline(_keep_quoted(f"> {line}", _level(line) + 1)[2:]) + end
        if fence:
            yield fence

    def _inline(self, text: str) -> str:
        """Rewrite the inline markup of a line outside of code."""
        if "<table" in text.lower():
            text = outside_code(TABLE, markdown_table, text)
        if "{{" in text:
            text = _MACRO.sub(_macro, text)
        if "[[" in text:
            text = outside_code(_WIKILINK, _wikilink, text)
        if "`" not in text:
            return self._plain(text)
        parts, done = [], 0
        for code in CODE_SPAN.finditer(text):
            parts += [self._plain(text[done : code.start()]), code[0]]
            done = code.end()
        return "".join((*parts, self._plain(text[done:])))

    def _plain(self, text: str) -> str:
        if "![" in text:
            text = self._images.rewrite(text)
        if "^[" in text:
            text = _INLINE_NOTE.sub(self._inline_note, text)
        if "==" in text or "^^" in text:
            text = _HIGHLIGHT.sub(rf"{MARK}\2{MARK_END}", text)
        parts, done = [], 0
        for link in written_links(text) if "[[" in text or "((" in text else ():
            markdown = text[link.start] == "[" and not text.startswith("[[", link.start)
            if link.start < done or (markdown and not text.endswith(("]])", ")))"), link.start, link.end)):
                continue  # a link of Markdown is not changed, unless it contains one of Logseq
            label = link.label or self._first_words(link.target)
            parts += [self._marks(text[done : link.start]), linked(label, link.target, link.anchor)]
            done = link.end
        return "".join((*parts, self._marks(text[done:])))

    def _marks(self, text: str) -> str:
        if "<" in text:
            text = without_html(text, self._images.image)
        if "#" in text:
            text = _TAG.sub(_tag, text)
        if "$" in text:
            text = _MATH.sub(lambda math: f"`{math[0]}`", text)
        if "[^" in text:
            text = _FOOTNOTE_MARK.sub(lambda match: _footnote(match[1]), text)
        if "^" in text:
            text = _BLOCK_ID.sub(lambda match: f"{match[1] or ''}{ANCHOR}^{match[2].lower()}{ANCHOR_END}", text)
        return text

    def _inline_note(self, match: re.Match[str]) -> str:
        """Move a footnote that is written in the text to the end of the page."""
        self._notes.append(match[1].strip())
        return f"[^*{len(self._notes)}]"

    def notes(self) -> Iterator[str]:
        """Yield the lines with the footnotes that were written in the text, after the last line."""
        done = 0
        while done < len(self._notes):  # a footnote may have another one in it
            text = self._inline(self._notes[done])
            done += 1
            yield ""
            yield f"{ANCHOR}{FOOTNOTE}*{done}{ANCHOR_END}\\[{escaped(f'*{done}')}\\] {text}"

    def _first_words(self, block: str) -> str:
        """Return the first line of the Logseq block with this id, to be shown instead of the id."""
        linked_text = self._resolve(block, "")
        lines = linked_text.text.split("\n") if linked_text is not None else []
        words = (line.strip(" \t-*+#>") for line in lines if not _PROPERTY.fullmatch(line.lstrip(" \t-*+#>")))
        return without_links(next(filter(None, words), ""))[:_LONGEST_BLOCK] or f"(({block}))"


def _without_attributes(line: str) -> str:
    """Remove the attributes in braces from a line that is a heading."""
    is_heading = len(line) < _LONGEST_HEADING and _HEADING.match(line)
    return HEADING_ATTRIBUTES.sub("", line) if is_heading else line


def _blank(text: str) -> str:
    """Return the indentation of text below the item of a list that begins with `text`."""
    return re.sub(r"\S", " ", text)


def _item_before_quote(begin: str) -> str:
    """Return an item without text for the quote below it; Qt would continue a quote in its first line after the item.

    `begin`: indentation, sign and space of the item.
    """
    return f"{begin}{SEPARATOR}\n"


def _closes(line: str, fence: str) -> bool:
    """Return whether a line closes the block of code that `fence` opened."""
    match = _FENCE.match(line)
    return match is not None and match[1].startswith(fence) and not line[match.end() :].strip()


def _keep_quoted(line: str, level: int) -> str:
    """Mark a heading in a quoted line with the depth of the quote, `level`."""
    return _QUOTED_HEADING.sub(lambda match: match[0] + QUOTED * level, line, count=1)


def _macro(match: re.Match[str]) -> str:
    """Return a link to the page that a macro of Logseq shows, or the macro as code."""
    if match[2]:
        return f"<{match[2]}>"
    return match[0] if "`" in match[0] or match[1] == "embed" else f"`{match[0]}`"


def linked(label: str, target: str, anchor: str) -> str:
    """Return a Markdown link to a note."""
    name = quote(target, safe="", errors="replace")
    return f"[{escaped(label)}]({NOTE_SCHEME}:{name}" + (
        f"#{quote(anchor, safe='', errors='replace')})" if anchor else ")"
    )


def _wikilink(match: re.Match[str]) -> str:
    """Return as Markdown a wikilink to an address, an image or another file, or one with code; others unchanged."""
    if _ADDRESS.fullmatch(match[1]):
        return f"[{escaped((match[2] or match[1]).strip())}](<{match[1]}>)"
    if "`" not in match[0] and ("://" in match[1] or written_links(match[0])):
        return match[0]
    name, _, anchor = match[1].removesuffix("\\").replace("`", "").partition("#")
    return linked((match[2] or match[1]).replace("`", "").strip(), name.strip(), anchor.strip())


def _tag(match: re.Match[str]) -> str:
    """A link that searches for the tag; other markup unchanged."""
    name = (match[1] or "").strip("/")
    if not name or name.isdigit():
        return match[0]
    return f"[{escaped(match[0])}]({TAG_SCHEME}:{quote(name, errors='replace')})"


def _footnote(name: str) -> str:
    return f"[\\[{escaped(name)}\\]](#{FOOTNOTE}{quote(name, safe='', errors='replace')})"


def _comment_marks(line: str) -> list[int]:
    """Return the positions of `%%` outside of inline code."""
    if "%%" not in line:
        return []
    return [mark.start() for mark in re.finditer("%%", without_code(line))]


def _level(line: str) -> int:
    match = _QUOTES.match(line)
    return match[0].count(">") if match else 0
