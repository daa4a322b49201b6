"""Writes the text of an AsciiDoc file as Markdown, after the documentation that `asciidoc.py` names.

Nothing is included from other files.
"""

import re
from collections.abc import Iterator, Sequence

from engine.base import lazy_pattern
from engine.corpus import asciidoc
from engine.corpus.link_parsing import ASCIIDOC, asciidoc_link
from engine.corpus.markdown_writer import CALLOUTS, Inline, MarkdownWriter, csv_rows, image, pieces
from engine.corpus.note_structure import Structure, lines_of

_ITEM = lazy_pattern(r"[ \t]*(\*{1,5}|-|\.{1,5}|\d{1,9}\.|<(?:\d+|\.)>)[ \t]+(?:\[([ xX*])\][ \t]+)?(?=\S)")
_TERM = lazy_pattern(r"[ \t]*(\S.{0,300}?)(:{2,4}|;;)(?:[ \t]+(\S.*))?$")
_ADMONITION = lazy_pattern(r"(NOTE|TIP|IMPORTANT|WARNING|CAUTION):[ \t]+")
_MACRO = lazy_pattern(r"(image|video|audio|include|toc)::([^\s\[\]](?:[^\[\]]*[^\s\[\]])?)?\[(.*)\]")
_NAMED = lazy_pattern(r"\[(?:\[([^\[\],]+)(?:,[^\[\]]*)?\]|[^\[\]]*?(?<![\w])#([\w-]+)[^\[\]]*)\]")
_ATTRIBUTES = lazy_pattern(r"\[(?:[\w.#%{,\"'].*|\[.*\])?\]")
"""Matches the attributes of a block, which end a paragraph."""
_TABLE = lazy_pattern(r"([|,:!])={3,}")
_CELL = lazy_pattern(
    r"(?:(?:^|(?<=[ \t]))(?:(\d{1,3})(\*)|(\d{1,3})?(?:\.\d{1,3})?\+)?(?:\.?[<^>]){0,2}[adehlmsv]?|)(?<!\\)\|"
)
_COLUMNS = lazy_pattern(r"cols=(?:\"([^\"]*)\"|([^,\s\]]*))")
_REPEATED = lazy_pattern(r"(\d{1,3})\*")
_DELIMITER = lazy_pattern(r"={4,}|\*{4,}|_{4,}|~{4,}|--")
_VERBATIM = lazy_pattern(
    r"\+\+\+(.{1,400}?)\+\+\+|pass:[a-z,]{0,20}\[([^\]]{0,400})\]|`\+([^`+]{1,400})\+`"
    r"|``([^`]{1,400})``|(?<![\w`\\\"'])`(?=\S)([^`]{1,400})(?<=\S)`(?![\w`\"'])"
    r"|(?:kbd|btn|stem|latexmath|asciimath):[^\s\[\]]{0,100}\[([^\]]{0,400})\]|\\([*_`#{<\[^~]|(?:https?|ftp)://[^\s\[\]]{1,400}|[\w.+-]{1,64}@[\w-])"
    r"|menu:([\w.](?:[^\[\]\n]{0,100}[^\s\[\]])?)\[([^\]]{0,400})\]",
    re.DOTALL,
)
_URL = lazy_pattern(
    r"<?(?<![\w:])((?:(?:https?|ftp)://|mailto:)[^\s\[\]<>\"]{1,1000}[^\s\[\]<>\".,;:!?)'])(?:\[([^\[\]]{0,400})\])?>?"
)
_UNKNOWN_LINK = lazy_pattern(r"\{[\w-]{1,80}\}[^\s\[\]{}]{0,400}\[([^\[\]]{1,400})\]")
"""Matches a link whose address begins with an attribute that another file defines."""
_IMAGE = lazy_pattern(r"image:(?!:)([^\s\[\]][^\[\]\n]{0,400})\[([^\[\]]{0,400})\]")
_ATTRIBUTE = lazy_pattern(r"[ ]*(?:([A-Za-z_][\w-]*)[ ]*=[ ]*)?(?:\"([^\"]*)\"[ ]*|([^,]*))(?:,|$)")
_FOOTNOTE = lazy_pattern(r"footnote(?:ref)?:([\w-]{0,80})\[((?:[^\[\]]|\[[^\[\]]{0,400}\]){0,1000})\]")
_INDEX_TERM = lazy_pattern(
    r"\(\(\((?!\()[^\n]{1,400}?\)\)\)(?!\))|indexterm:\[[^\]]{1,400}\]"
    r"|\(\((?!\()([^\n]{1,400}?)\)\)(?!\))|indexterm2:\[([^\]]{1,400})\]"
)
"""Matches a term for the index; a term in two parentheses or of `indexterm2` is also part of the text."""
_QUOTED = lazy_pattern(r"([\"'])`(?=\S)([^`\"]{1,400}?)(?<=\S)`\1")
_ROLE = lazy_pattern(r"\[[.#%][\w.#% -]{1,80}\](?=[#*_`])")
_BREAK = lazy_pattern(r"[ \t]\+$", re.MULTILINE)
_SCRIPTS = lazy_pattern(r"(?<=\w)([~^])(?=\S)([^~^\s]{1,80})\1")
_EMPHASIS = [
    (lazy_pattern(pattern, re.DOTALL), mark)
    for pattern, mark in (
        (r"\*\*(?=\S)([^*]{1,400})\*\*", "**"),
        (r"(?<![\w*\\])\*(?=\S)([^*]{1,400})(?<=\S)\*(?![\w*])", "**"),
        (r"__(?=\S)([^_]{1,400})__", "*"),
        (r"(?<![\w_\\])_(?=\S)([^_]{1,400}(?:_\w[^_]{0,400}){0,4}?)(?<=\S)_(?![\w_])", "*"),
        (r"##(?=\S)([^#\n]{1,400})##", "=="),
        (r"(?<![\w#&\\])#(?=\S)([^#\n]{1,400})(?<=\S)#(?![\w#])", "=="),
    )
]
_SIGNS = {
    "nbsp": "\u00a0",
    "empty": "",
    "blank": "",
    "sp": " ",
    "plus": "+",
    "asterisk": "*",
    "vbar": "|",
    "cpp": "C++",
    "apos": "'",
    "quot": '"',
    "lsquo": "\u2018",
    "rsquo": "\u2019",
    "ldquo": "\u201c",
    "rdquo": "\u201d",
    "amp": "&",
    "lt": "<",
    "gt": ">",
    "deg": "\u00b0",
    "zwsp": "",
    "wj": "",
    "pp": "++",
    "brvbar": "\u00a6",
    "startsb": "[",
    "endsb": "]",
    "caret": "^",
    "tilde": "~",
    "backslash": "\\",
    "backtick": "`",
    "two_colons": "::",
    "two_semicolons": ";;",
}
_START = lazy_pattern(r"start=[0-9]{1,9}")
_LONGEST_VALUE = 200
_MAX_VALUES = 10_000
_MAX_COLUMNS = 60


def markdown(text: str) -> Iterator[str]:
    """Yield the lines of the note as Markdown, without its attributes and comments."""
    lines = [line.rstrip() for line in lines_of(text)]
    page, done = _Page(asciidoc.read(text), lines), 0
    for number, line in enumerate(lines, 1):
        if number > done:
            done = page.write(number, line)
            yield from page.out.take_lines()
    page.flush()
    page.out.close()
    yield from page.out.take_lines()


class _Page:
    def __init__(self, structure: Structure, lines: Sequence[str]) -> None:
        self.out = MarkdownWriter()
        self._lines = lines
        self._found = structure
        self._headings = {heading.line: heading for heading in structure.headings}
        self._code = dict(structure.code)
        self._ids = self._read_ids()
        self._values = 0
        """Number of attributes that were inserted."""
        self._attributes: list[str] = []
        """Attributes of the next block."""
        self._pending: list[str] = []
        self._around = -1
        """Number of containers around the quote that ends with the paragraph; -1 if it has none."""
        self._items: list[tuple[str, int]] = []
        """Marker of each open list item, and the number of containers around it."""
        self._attached = self._apart = False
        """Whether the next block belongs to the list item above, and whether a blank line is in between."""
        self._blocks: list[tuple[str, int, list[tuple[str, int]]]] = []
        """Lines that end the open blocks, and the containers and items around each."""

    def _read_ids(self) -> dict[str, str]:
        """Return the titles of sections by the ids that are written above them or above a block in them."""
        ids, waiting, section = dict[str, str](), list[str](), ""
        for number, line in enumerate(self._lines, 1):
            if heading := self._headings.get(number):
                section = heading.title
                ids |= dict.fromkeys(waiting, section)
            elif line[:1] == "[" and (named := _NAMED.fullmatch(line)):
                waiting.append(named[1] or named[2])
                continue
            if not line or line[0] not in "[.":
                for id_ in waiting:
                    ids.setdefault(id_, section)
                waiting = []
        return ids

    def write(self, number: int, line: str) -> int:
        """Write a line, or the block that begins with it; returns the last line that is written."""
        text = line.strip()
        if heading := self._headings.get(number):
            self.flush()
            self._items, self._blocks, self._attributes = [], [], []
            title = line if heading.last > number else line.lstrip("=#").strip()
            self.out.heading(heading.level, self.inline(title.removesuffix(line[: heading.level]).rstrip()))
            return heading.last
        if last := self._code.get(number):
            self._verbatim(number, last)
            return last
        if number in self._found.data or line.startswith("//"):
            self.flush()
        elif not text:
            self.flush()
            self._apart = True
        elif text == "+":
            self.flush()
            self._attached = True
        elif self._in_block(line) or self._before_block(line):
            pass
        elif table := _TABLE.fullmatch(line):
            return self._table(number, table[1])
        else:
            self._line(line, text)
        return number

    def _in_block(self, line: str) -> bool:
        """Whether the line begins or ends a block with others in it."""
        if not _DELIMITER.fullmatch(line):
            return False
        self.flush()
        if any(line == end for end, _, _ in self._blocks):
            while True:
                end, depth, self._items = self._blocks.pop()
                self.out.close(depth)
                if end == line:
                    self.out.blank()
                    return True
        author = self._author()
        style = self._begin()
        self._blocks.append((line, self.out.depth, self._items))
        self._items = []
        self._open_quote(style if line[0] in "=-" else style or "quote" if line[0] in "*_" else "", author)
        return True

    def _before_block(self, line: str) -> bool:
        """Whether the line is the title or the attributes of the next block, or an instruction that is not shown."""
        if line[0] == "[" and line[-1] == "]" and (not self._pending or _ATTRIBUTES.fullmatch(line)):
            self.flush()
            self._attributes += [] if _NAMED.fullmatch(line) else map(str.strip, line[1:-1].split(","))
            return True
        if line[0] == "." and line[1:2].strip(". ") and not self._pending:
            self._leave()
            self.out.paragraph(f"**{self.inline(line[1:])}**")
            return True
        is_directive = asciidoc.PREPROCESSOR.match(line) is not None and not line.startswith("include")
        return is_directive or line == "<<<"

    def _begin(self) -> str:
        """Begin a block; returns its style."""
        self._leave()
        attributes, self._attributes = self._attributes, []
        return attributes[0].lower().partition("%")[0].partition(".")[0] if attributes else ""

    def _leave(self) -> None:
        """End the open list items, unless the next block belongs to the last one."""
        if self._items and not self._attached:
            self.out.close(self._items[0][1])
            self._items = []
        self._attached = self._apart = False

    def _author(self) -> str:
        """Return the author and the source of the next block."""
        return ", ".join(filter(None, self._attributes[1:3])) if self._attributes[:1] in (["quote"], ["verse"]) else ""

    def _open_quote(self, style: str, author: str) -> None:
        if style in CALLOUTS:
            self.out.open_quote(style)
        elif style in ("quote", "verse", "sidebar", "abstract"):
            self.out.open_quote()
        if author:
            self.out.paragraph(f"**{self.inline(author)}**")

    def _verbatim(self, number: int, last: int) -> None:
        self.flush()
        lines, attributes, language = self._lines[number - 1 : last], self._attributes, ""
        style = self._begin()
        if fence := asciidoc.FENCE.fullmatch(lines[0]):
            language = lines[0].removeprefix(fence[1])
        elif style == "source" or attributes[:1] == [""]:
            language = next((attribute for attribute in attributes[1:2] if "=" not in attribute), "")
        is_block = fence or asciidoc.VERBATIM.fullmatch(lines[0]) or lines[0] == "--"
        if is_block:
            is_closed = len(lines) > 1 and lines[-1] == (fence[1] if fence else lines[0])
            lines = lines[1:-1] if is_closed else lines[1:]
        if style != "comment" and not (is_block and self._lines[number - 1].startswith("//")):
            self.out.code(lines, language)

    def _line(self, line: str, text: str) -> None:
        if not self._pending and (macro := _MACRO.fullmatch(text)):
            self._begin()
            self._macro(macro[1], macro[2] or "", macro[3])
        elif text == "'''" or (asciidoc.ALONE.fullmatch(text) and text[0] in "-*_'"):
            self.flush()
            self._begin()
            self.out.rule()
        elif (item := _ITEM.match(line)) and not (self._pending and not self._items):
            self.flush()
            text = line[item.end() :]
            if item[2]:
                self._item(item[1], "", f"[{' ' if item[2] == ' ' else 'x'}] {self.inline(text)}")
            else:
                self._item(item[1], text)
        elif (term := _TERM.match(line)) and not (self._pending and not self._items):
            self.flush()
            self._item(term[2], term[3] or "", f"**{self.inline(term[1].strip())}**")
        elif not self._pending and line[0] in " \t" and not self._items:
            self._begin()
            self.out.code([line])
        else:
            self._text(text)

    def _text(self, text: str) -> None:
        if not self._pending and (self._apart or not self._items or self._attached):
            author = self._author()
            style = self._begin()
            self._around = self.out.depth
            if admonition := _ADMONITION.match(text):
                style, text = admonition[1].lower(), text[admonition.end() :]
            self._open_quote(style, author)
        self._pending.append(text)

    def _macro(self, name: str, target: str, attributes: str) -> None:
        if name == "image":
            words, width = _words_and_width(attributes)
            self.out.paragraph(image(words, self._inserted(target), width))
        elif target:
            inline = Inline("")
            self.out.paragraph(inline.done(inline.link(target, target)))

    def _item(self, marker: str, text: str, label: str = "") -> None:
        """Begin an item of a list; `label`: Markdown before its text."""
        kind = marker
        if marker[0].isdigit():
            kind = "1."
        elif marker[0] == "<":
            kind = "<"
        start = next((word[6:] for word in self._attributes if _START.fullmatch(word)), "1")
        self._attached = self._apart = False
        self._attributes = []
        known = [number for number, (open_, _) in enumerate(self._items) if open_ == kind]
        if known:
            self.out.close(self._items[known[0]][1])
            del self._items[known[0] :]
        elif not self._items:
            self.out.blank()
        self._items.append((kind, self.out.depth))
        if kind == "1.":
            self.out.open_item(f"{marker} ")
        else:
            self.out.open_item(f"{start}. " if kind[0] in ".<" else "- ")
        if label:
            self.out.line(label)
        self._pending = [text] if text else []

    def flush(self) -> None:
        """Write the paragraph so far."""
        pending, self._pending = self._pending, []
        for piece in pieces(pending):
            self.out.paragraph(self.inline(piece))
        if self._around >= 0:
            self.out.close(self._around)
            self._around = -1

    # --- tables -------------------------------------------------------------------------------------------------------

    def _table(self, number: int, mark: str) -> int:
        """Write the table that begins with this line; returns its last line."""
        self.flush()
        attributes = ",".join(self._attributes)
        self._begin()
        end = self._lines[number - 1]
        last = next((at for at in range(number, len(self._lines)) if self._lines[at] == end), len(self._lines))
        lines = self._lines[number:last]
        if mark in ",:" or "format=csv" in attributes:
            rows = csv_rows(lines, mark if mark == ":" else ",")
        else:
            rows = _rows(lines, attributes)
        if rows is None:
            self.out.code(lines)
        else:
            self.out.table([[self.inline(cell) for cell in row] for row in rows])
        return last + 1

    # --- inline markup ------------------------------------------------------------------------------------------------

    def inline(self, text: str) -> str:
        """Return a paragraph or a part of one as Markdown."""
        inline = Inline(self._inserted(text))
        inline.text = _QUOTED.sub(
            lambda quote: f"\u201c{quote[2]}\u201d" if quote[1] == '"' else f"\u2018{quote[2]}\u2019", inline.text
        )
        inline.text = _VERBATIM.sub(lambda match: _verbatim_token(inline, match), inline.text)
        inline.text = _IMAGE.sub(lambda match: _inline_image(inline, match), inline.text)
        inline.text = _URL.sub(lambda url: self._web_link(inline, url), inline.text)
        inline.text = ASCIIDOC.sub(lambda link: self._link(inline, link), inline.text)
        if "((" in inline.text or "indexterm" in inline.text:
            inline.text = _INDEX_TERM.sub(lambda term: term[1] or term[2] or "", inline.text).strip()
        if "{" in inline.text:
            inline.text = _UNKNOWN_LINK.sub(r"\1", inline.text)
        inline.text = _ROLE.sub("", asciidoc.ANCHOR.sub("", inline.text) if "[[" in text else inline.text)
        inline.text = _FOOTNOTE.sub(lambda note: self._footnote(inline, note), inline.text)
        inline.text = _SCRIPTS.sub(r"\2", inline.text)
        inline.text = _BREAK.sub(lambda _: inline.token("  "), inline.text)
        return inline.done(_emphasised(inline, inline.text))

    def _inserted(self, text: str) -> str:
        """Return the text with the values of attributes in place of their names."""

        def value(name: re.Match[str]) -> str:
            self._values += 1
            key = name[1].lower().replace("-", "_")
            text = _SIGNS.get(key, self._found.properties.get(key, name[0]))
            return text if len(text) <= _LONGEST_VALUE and self._values < _MAX_VALUES else name[0]

        return asciidoc.REFERENCE.sub(value, text) if "{" in text else text

    def _web_link(self, inline: Inline, url: re.Match[str]) -> str:
        label = (url[2] or "").partition(",window=")[0].strip(" ^")
        return inline.link(_emphasised(inline, label), url[1]) if label else inline.token(f"<{url[1]}>")

    def _link(self, inline: Inline, match: re.Match[str]) -> str:
        label = _emphasised(inline, (match[2] or match[4] or "").partition(",window=")[0].strip(" ^"))
        if link := asciidoc_link(match):
            return inline.link(label or link.label, f"{link.target}#{link.anchor}" if link.anchor else link.target)
        written = (match[1] or match[3]).strip()
        name = written.lstrip("#")
        is_web = "://" in written or written.startswith("mailto:") or "." in name
        title = self._ids.get(name, "")
        return inline.link(label or title or name.strip("_"), written if is_web else f"#{title or name}")

    def _footnote(self, inline: Inline, note: re.Match[str]) -> str:
        if not note[2].strip():
            return inline.footnote(note[1] or "1")
        text = inline.done(_emphasised(inline, note[2]))
        return inline.token(f"^[{text}]")


def _verbatim_token(inline: Inline, match: re.Match[str]) -> str:
    """Return a token for text in which no other markup is read."""
    if match[8]:
        return inline.code(" > ".join(filter(None, match.group(8, 9))))
    passed = match[1] or match[2] or match[7]
    return (
        inline.token(Inline(passed).done())
        if passed
        else inline.code(match[3] or match[4] or match[5] or match[6] or "")
    )


def _inline_image(inline: Inline, match: re.Match[str]) -> str:
    words, width = _words_and_width(match[2])
    return inline.image(words, match[1], width)


def _words_and_width(attributes: str) -> tuple[str, str]:
    """Return the description of an image and its width: its first two attributes, or those named `alt` and `width`."""
    found = [(match[1], (match[2] or match[3] or "").strip()) for match in _ATTRIBUTE.finditer(attributes)]
    named = {name: value for name, value in found if name}
    words, width, *_ = (*(value for name, value in found if not name), "", "")
    return named.get("alt", words), named.get("width", width)


def _emphasised(inline: Inline, text: str) -> str:
    for pattern, mark in _EMPHASIS:
        text = inline.marked(text, pattern, mark)
    return text


def _rows(lines: Sequence[str], attributes: str) -> list[list[str]]:
    """Return the cells of a table by rows; a cell across several columns comes first in them."""
    cells, first = list[str](), 0
    for line in lines:
        separators = list(_CELL.finditer(line))
        before = line[: separators[0].start()] if separators else line
        if cells:
            cells[-1] = f"{cells[-1]} {before}"
        elif before.strip():
            cells = [before]
        for number, separator in enumerate(separators):
            end = separators[number + 1].start() if number + 1 < len(separators) else len(line)
            text = line[separator.end() : end].strip()
            count = min(int(separator[1] or separator[3] or 1), _MAX_COLUMNS)
            cells += [text] * count if separator[2] else [text, *[""] * (count - 1)]
        first = first or len(cells)
    written = _COLUMNS.search(attributes)
    columns = _columns(written[1] or written[2] or "") if written else first
    columns = max(1, min(columns, _MAX_COLUMNS))
    cells = [cell.replace("\\|", "|") for cell in cells]
    return [cells[at : at + columns] for at in range(0, len(cells), columns)]


def _columns(written: str) -> int:
    """Return the number of columns that the attribute `cols` gives."""
    count = 0
    for column in written.replace(";", ",").split(","):
        repeated = _REPEATED.match(column.strip())
        count += int(repeated[1]) if repeated else 1
    return count
