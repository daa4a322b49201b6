"""Reads an Org file, as "Org Syntax v2" describes it (orgmode.org/worg/org-syntax.html): its structure, and its text
as Markdown.

Keywords (`#+title:`), headings with their TODO states and tags, property drawers and blocks are read; radio targets,
macros and files named by `#+include:` are not. The state words are `TODO`, `DONE` and those of `#+todo:` lines.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from engine.base import lazy_pattern
from engine.corpus.link_parsing import is_attachment
from engine.corpus.markdown_writer import (
    CALLOUTS,
    MAX_NESTED,
    Inline,
    MarkdownWriter,
    footnote_name,
    indent_of,
    literal,
    pieces,
)
from engine.corpus.note_structure import LONGEST_PROPERTY, Structure, StructureBuilder, lines_of, markup_lines

_KEYWORD = lazy_pattern(r"[ \t]*#\+([^\s:]+):[ \t]*(.*)")
_BLOCK_BEGIN = lazy_pattern(r"[ \t]*#\+begin_(src|example|export|comment)(?:[ \t].*)?", re.IGNORECASE)
_BLOCK_END = lazy_pattern(r"[ \t]*#\+end_(src|example|export|comment)[ \t]*", re.IGNORECASE)
_HEADING = lazy_pattern(r"(\*+)[ \t]+(.*)")
_PRIORITY = lazy_pattern(r"\[#[A-Za-z0-9]{1,2}\][ \t]*")
_TAGS = lazy_pattern(r"(?:(.*)[ \t])?:([\w@#%:]+):")
_NODE_PROPERTY = lazy_pattern(r"[ \t]*:([^\s:]+?)\+?:(?:[ \t]+(.*))?")
_LINK = lazy_pattern(r"\[\[([^\[\]]*)\](?:\[([^\[\]]*)\])?\]")
_NO_WORDS = lazy_pattern(r"<<<?(?=\S)([^<>\n]+)(?<=\S)>>>?|\[(?:\d*/\d*|\d*%)\]|\[fn:[^\[\]]*\]|@@[\w-]+:.*?@@")
"""Matches targets, statistics cookies, footnotes and text for one export."""
_MARKS = lazy_pattern(r"(?<![\w*/_=~+])([*/_=~+])(\S(?:[^\n]{0,60}?\S)?)\1(?![\w*/_=~+])")
_STAMP = lazy_pattern(r"[<\[](\d{4}-\d\d-\d\d)(?: [^\d\s>\]]+)?(?: (\d{1,2}:\d\d))?[^>\]]*[>\]]")
_ALIAS = lazy_pattern(r'"([^"]+)"|(\S+)')
_DATES = ("date", "created", "modified", "updated", "last_modified")
_LISTS = ("todo", "seq_todo", "typ_todo")
_ALIASES = ("roam_aliases", "roam_alias", "aliases")


def read(text: str) -> Structure:
    return _read(text).done()


def _read(text: str) -> "_Reader":
    reader = _Reader()
    for number, line, _, _ in markup_lines(text):
        reader.read_line(number, line)
    return reader


class _Reader:
    def __init__(self) -> None:
        self.found = StructureBuilder()
        self.states = {"TODO", "DONE"}
        self._block = ""
        self._block_start = 0
        self._drawer = False
        self._file_level = True
        """Whether no heading has come yet."""

    def read_line(self, number: int, line: str) -> None:
        if line.startswith("*") and (heading := _HEADING.fullmatch(line)):
            self._block, self._drawer, self._file_level = "", False, False  # a heading ends everything open
            self._heading(number, len(heading[1]), heading[2])
        elif self._block:
            if (end := _BLOCK_END.fullmatch(line)) and end[1].lower() == self._block:
                self.found.code.append((self._block_start, number))
                self._block = ""
        elif self._drawer:
            self._in_drawer(number, line)
        elif line.lstrip()[:2] == "#+":
            self._keyword(number, line)
        elif line.strip().upper() == ":PROPERTIES:":
            self._drawer = True
            self.found.hide(number)
        elif line and not line.startswith("# "):
            self.found.begun = True

    def done(self) -> Structure:
        return self.found.done(separate_title=bool(self.found.title.strip()))

    def _heading(self, number: int, level: int, title: str) -> None:
        _, title, tags = _heading_parts(title, self.states)
        self.found.tags += tags
        self.found.heading(number, number, level, plain(title))

    def _keyword(self, number: int, line: str) -> None:
        if begin := _BLOCK_BEGIN.fullmatch(line):
            self._block, self._block_start = begin[1].lower(), number
        elif match := _KEYWORD.fullmatch(line):
            key, value = match[1].lower(), (match[2] or "").strip()
            if key in _LISTS:
                self.states.update(word.partition("(")[0] for word in value.split() if word != "|")
            if key == "caption":
                return  # a caption is part of the text that is indexed and shown
            if key == "title" and len(self.found.title) < LONGEST_PROPERTY:
                self.found.title = f"{self.found.title} {plain(value)}"
            self._property(number, "tags" if key in ("filetags", "roam_tags") else key, value)
        elif not line.lstrip().lower().startswith(("#+begin", "#+end")):
            self.found.hide(number)

    def _in_drawer(self, number: int, line: str) -> None:
        if line.strip().upper() == ":END:":
            self._drawer = False
            self.found.hide(number)
        elif match := _NODE_PROPERTY.fullmatch(line):
            if self._file_level:
                self._property(number, match[1].lower(), (match[2] or "").strip())
            else:
                self.found.hide(number)
        else:
            self._drawer = False  # a drawer of properties has nothing else in it

    def _property(self, number: int, key: str, value: str) -> None:
        if key in _DATES and (stamp := _STAMP.search(value)):
            value = " ".join(filter(None, stamp.groups()))
        self.found.property(number, key, value)
        if key in _ALIASES:
            self.found.aliases += [quoted or word for quoted, word in _ALIAS.findall(value)]
            self.found.data[number] = value


def _heading_parts(heading: str, states: set[str]) -> tuple[str, str, list[str]]:
    """Return the state and the priority of a heading, its title, and its tags."""
    word, _, rest = heading.partition(" ")
    title = rest.lstrip() if word in states else heading
    state = word if word in states else ""
    if priority := _PRIORITY.match(title):
        state, title = f"{state} {priority[0].strip()}".lstrip(), title[priority.end() :]
    title = title.removeprefix("COMMENT ")
    tagged = _TAGS.fullmatch(title)
    return (state, tagged[1] or "", [*filter(None, tagged[2].split(":"))]) if tagged else (state, title, [])


def plain(title: str) -> str:
    """Return a title without links and emphasis."""
    title = _NO_WORDS.sub(lambda match: match[1] if match[0].startswith("<<<") else "", title)
    title = _LINK.sub(lambda link: link[2] or link[1], title)
    return _MARKS.sub(r"\2", title)


# --- The text as Markdown --------------------------------------------------------------------------------------------

_ITEM = lazy_pattern(
    r"(?:([-+])|(?<=[ \t])\*|([0-9]{1,9})[.)])(?:[ \t]+|$)(?:\[@\w+\][ \t]+)?"
    r"(?:\[([ Xx-])\](?:[ \t]+|$))?(?:(\S.{0,200}?)[ \t]+::(?:[ \t]+|$))?"
)
_BEGIN = lazy_pattern(r"#\+begin_([\w-]+)", re.IGNORECASE)
_END = lazy_pattern(r"#\+end_([\w-]+)", re.IGNORECASE)
_CAPTION = lazy_pattern(r"#\+caption(?:\[[^\]]*\])?:[ \t]*(.*)", re.IGNORECASE)
_DRAWER = lazy_pattern(r":[\w-]+:")
_CLOCK = lazy_pattern(r"CLOCK:[ \t]*[\[(].*", re.IGNORECASE)
_PLANNING = lazy_pattern(r"(?:(?:SCHEDULED|DEADLINE|CLOSED):[ \t]*(?:<[^<>]{1,80}>|\[[^\[\]]{1,80}\])[ \t]*)+")
_RULE = lazy_pattern(r"-{5,}")
_NOTE = lazy_pattern(r"\[fn:([\w-]{1,80})\][ \t]*")
_RULE_ROW = lazy_pattern(r"\|?[-+:]*-[-+]*\|?")
_CELLS = lazy_pattern(r"(?<!\\)\|")
_VERBATIM = lazy_pattern(
    r"(?<![^\s({'\"\-])([=~])(?=\S)([^=~]{1,400}|.{1,200}?)(?<=\S)\1(?![^\s.,;:!?')}\[\]\\\"\-])", re.DOTALL
)
_MATH = lazy_pattern(
    r"\\\((?:.{1,400}?)\\\)|\\\[(?:.{1,400}?)\\\]|\$\$[^$]{1,400}\$\$|(?<![\w$])\$(?=\S)[^$]{1,300}(?<=\S)\$(?![\w$])",
    re.DOTALL,
)
_ENVIRONMENT = lazy_pattern(r"\\begin\{([A-Za-z0-9*]{1,40})\}")
_LONGEST_ENVIRONMENT = 200
_BRACKETED = lazy_pattern(r"\[\[([^\[\]]{1,400})\](?:\[([^\[\]]{1,400})\])?\]")
_FOOTNOTE = lazy_pattern(r"\[fn:([\w-]{0,80})(?::([^\[\]]{1,1000}))?\]")
_ADDRESS = lazy_pattern(r"<?(https?://[^\s<>\[\]\"|]{1,1000}[^\s<>\[\]\"|.,;:!?)'*/_~=+]/?)>?")
_TARGET = lazy_pattern(r"<<<?(?=\S)([^<>\n]{1,200})(?<=\S)>>>?")
_COOKIE = lazy_pattern(r"[ \t]*(\[(?:\d*/\d*|\d*%)\])")
_ESCAPING_COMMA = re.compile(r"^([ \t]*),(?=,*(?:\*|#\+))")
"""The comma before a line of code that would be a heading or a keyword of Org."""
_MACRO = lazy_pattern(r"\{\{\{[A-Za-z][\w-]*\(([^(){}\n]{0,400})\)\}\}\}")
_EXPORT = lazy_pattern(r"@@[\w-]{1,20}:[^@\n]{0,200}@@")
_BREAK = lazy_pattern(r"\\\\[ \t]*$", re.MULTILINE)
_SCHEME = lazy_pattern(r"[A-Za-z][\w+.-]*:(?!:)")
_EMPHASIS = {
    mark: lazy_pattern(
        rf"(?<![^\s({{'\"*/_+\-\U000F0000-\U000FFFFD])\{mark}(?=\S)([^\{mark}]{{1,400}})(?<=\S)\{mark}"
        r"(?![^\s.,;:!?')}\[\]\\\"*/_+\-\U000F0000-\U000FFFFD])"
    )
    for mark in "*/_+"
}
_MARKDOWN_MARKS = {"*": "**", "/": "*", "_": "_", "+": "~~"}


def markdown(text: str) -> Iterator[str]:
    """Yield the lines of the note as Markdown, without its properties, comments, clocks and logs."""
    reader = _read(text)
    lines, skipped = list(lines_of(text)), 0
    page = _Page(reader.done(), reader.states, lines)
    for number, line in enumerate(lines, 1):
        if number > skipped:
            skipped = page.write(number, line, lines)
            yield from page.out.take_lines()
    page.end()
    yield from page.out.take_lines()


class _Page:
    def __init__(self, structure: Structure, states: set[str], lines: Sequence[str]) -> None:
        self.out = MarkdownWriter()
        self._states = states
        self._hidden = structure.data
        self._headings = {heading.line: heading for heading in structure.headings}
        self._code = dict(structure.code)
        self._kind = ""
        """Kind of the pending lines: text, table or code."""
        self._pending: list[str] = []
        self._before = ""
        """Markdown before the next paragraph."""
        self._items: list[tuple[int, int]] = []
        """Indentation of each open list item, and the number of containers around it."""
        self._blocks: list[tuple[str, int, list[tuple[int, int]]]] = []
        """Names of the open blocks, and the containers and items around each."""
        self._names: dict[str, str] = {}
        """Titles of sections by the folded names that find them or a place in them; `#` begins a `CUSTOM_ID`."""
        self._logs: dict[int, int] = {}
        """First and last line of each drawer that is left out."""
        self._collect(lines)
        if structure.separate_title:
            self.out.heading(1, literal(structure.title))

    def _collect(self, lines: Sequence[str]) -> None:
        """Find the drawers, and the targets, which the text may use before they are defined."""
        section, drawer, code = "", 0, 0
        targets: dict[str, str] = {}
        for number, line in enumerate(lines, 1):
            code = max(code, self._code.get(number, 0))
            if heading := self._headings.get(number):
                section, drawer = heading.title, 0
                if "[[" not in line:  # the title of a page, which Logseq's headings often consist of
                    self._names.setdefault(_name(section), section)
            elif number <= code:
                continue
            text = line.strip()
            if text[:1] == ":":
                if (match := _NODE_PROPERTY.fullmatch(line)) and match[1].lower() == "custom_id":
                    targets.setdefault(f"#{_name(match[2] or '')}", section)
                elif text.upper() == ":LOGBOOK:":
                    drawer = drawer or number
                elif drawer and text.upper() == ":END:":
                    self._logs[drawer], drawer = number, 0
            elif text[:7].lower() == "#+name:":
                targets.setdefault(_name(text[7:]), section)
            elif "<<" in text:
                for target in _TARGET.finditer(text):
                    targets.setdefault(_name(target[1]), section)
        self._names |= targets

    def write(self, number: int, line: str, lines: list[str]) -> int:
        """Write a line, or the block of code that begins with it; returns the last line that is written."""
        text = line.strip()
        if heading := self._headings.get(number):
            self._flush()
            self._items, self._blocks = [], []
            self._heading(heading.level, line.lstrip("*").strip())
        elif last := self._code.get(number):
            self._flush()
            self._leave(indent_of(line) - 1)
            if not text.lower().startswith("#+begin_comment"):
                words = text.split(maxsplit=2)
                code = [_ESCAPING_COMMA.sub(r"\1", inner) for inner in lines[number : last - 1]]
                self.out.code(code, words[1] if text[8:11].lower() == "src" and words[1:] else "")
            return last
        elif last := self._logs.get(number):
            self._flush()
            return last
        elif text[:7] == "\\begin{" and (last := self._end_of_environment(number, text, lines)):
            self._flush()
            self._leave(indent_of(line) - 1)
            self.out.code(lines[number - 1 : last], "latex")
            return last
        elif number in self._hidden or not text or text == "#" or text.startswith("# "):
            self._flush()
        else:
            self._line(line, text)
        return number

    def _end_of_environment(self, first: int, text: str, lines: Sequence[str]) -> int:
        """Return the last line of the environment of LaTeX that begins in a line; 0 if it has no end."""
        name = _ENVIRONMENT.match(text)
        end = f"\\end{{{name[1]}}}" if name else "\n"
        for number in range(first, min(first + _LONGEST_ENVIRONMENT, len(lines) + 1)):
            if number in self._headings:
                break
            if lines[number - 1].rstrip().endswith(end):
                return number
        return 0

    def end(self) -> None:
        self._flush()
        self.out.close()

    def _heading(self, level: int, heading: str) -> None:
        state, title, tags = _heading_parts(heading, self._states)
        self.out.heading(level, self.inline(_COOKIE.sub("", title)))  # links find it by its words
        below = [f"**{self.inline(state)}**"] if state else []
        below += map(literal, _COOKIE.findall(title))
        below += (f"#{tag}" for tag in tags)
        if below:
            self.out.line(" ".join(below))

    def _line(self, line: str, text: str) -> None:
        indent = indent_of(line)
        if self._items and indent <= self._items[-1][0] and not _ITEM.match(line, indent):
            self._flush()
            self._leave(indent - 1)
        if begin := _BEGIN.match(text):
            self._flush()
            self._begin(begin[1].lower(), text[begin.end() :].strip())
        elif end := _END.match(text):
            self._flush()
            self._end_block(end[1].lower())
        elif caption := _CAPTION.match(text):
            self._add("text", f"/{caption[1]}/")
            self._flush()
        elif text[0] == "|":
            self._add("table", text)
        elif text == ":" or text.startswith(": "):
            self._add("code", text[2:])
        elif _DRAWER.fullmatch(text):
            self._flush()
        elif _RULE.fullmatch(text):
            self._flush()
            self.out.rule()
        elif _CLOCK.fullmatch(text):
            self._flush()
        elif _PLANNING.fullmatch(text):
            self._flush()
            self.out.paragraph(f"*{literal(text)}*")
        elif line[0] == "[" and (note := _NOTE.match(line)):
            self._flush()
            self._leave(-1)
            self._before = f"[^{footnote_name(note[1])}]: "
            self._add("text", line[note.end() :])
        else:
            self._text(line, text)

    def _text(self, line: str, text: str) -> None:
        indent = indent_of(line)
        item = _ITEM.match(line, indent)
        if item is None:
            self._add("text", text)
            return
        self._flush()
        if not self._items:
            self.out.blank()
        self._leave(indent - 1)
        self._items.append((indent, self.out.depth))
        self.out.open_item(f"{item[2]}. " if item[2] else "- ")
        box = {None: "", " ": "[ ] ", "-": "[/] "}.get(item[3], "[x] ")
        self._before = box + (f"**{self.inline(item[4])}**: " if item[4] else "")
        self._add("text", line[item.end() :])

    def _leave(self, indent: int) -> None:
        """End the items that are indented more than this."""
        while self._items and self._items[-1][0] > indent:
            self.out.close(self._items.pop()[1])

    def _begin(self, name: str, words: str) -> None:
        if len(self._blocks) < MAX_NESTED:
            self._blocks.append((name, self.out.depth, self._items))
        self._items = []
        if name in ("quote", "verse"):
            self.out.open_quote()
        elif name in CALLOUTS:
            self.out.open_quote(name, self.inline(words))

    def _end_block(self, name: str) -> None:
        if any(name == block[0] for block in self._blocks):
            while True:
                begun, depth, items = self._blocks.pop()
                self.out.close(depth)
                if begun == name:
                    self._items = items
                    self.out.blank()
                    return

    def _add(self, kind: str, text: str) -> None:
        if kind != self._kind:
            self._flush(before=not self._pending and kind == "text")
        self._kind = kind
        self._pending.append(text)

    def _flush(self, *, before: bool = False) -> None:
        """Write the lines since the last one that ended a paragraph; `before`: the next paragraph follows."""
        pending, self._pending = self._pending, []
        if pending and self._kind == "table":
            self.out.table([self._cells(row) for row in pending if not _RULE_ROW.fullmatch(row)])
        elif pending and self._kind == "code":
            self.out.code(pending)
        elif pending:
            verse = any(block[0] == "verse" for block in self._blocks)
            for number, piece in enumerate(pieces(pending)):
                text = self.inline(piece)
                start = "" if number else self._before
                self.out.paragraph(start + (text.replace("\n", "  \n") if verse else text))
        if not before:
            self._kind = self._before = ""

    def _cells(self, row: str) -> list[str]:
        return [self.inline(cell.strip()) for cell in _CELLS.split(row.strip().removeprefix("|").removesuffix("|"))]

    def inline(self, text: str) -> str:
        """Return a paragraph or a part of one as Markdown."""
        inline = Inline(text)
        inline.text = _VERBATIM.sub(lambda code: inline.code(code[2]), inline.text)
        inline.text = _MATH.sub(lambda math: inline.code(math[0]), inline.text)
        inline.text = _MACRO.sub(r"\1", _EXPORT.sub("", inline.text))
        inline.text = _BRACKETED.sub(
            lambda link: _linked(inline, link[1].strip(), (link[2] or "").strip(), self._names), inline.text
        )
        inline.text = _FOOTNOTE.sub(lambda note: _footnote(inline, note), inline.text)
        inline.text = _ADDRESS.sub(lambda address: inline.token(f"<{address[1]}>"), inline.text)
        inline.text = _TARGET.sub(lambda target: target[1] if target[0].startswith("<<<") else "", inline.text)
        inline.text = _BREAK.sub(lambda _: inline.token("  "), inline.text)
        return inline.done(_emphasised(inline, inline.text))


def _emphasised(inline: Inline, text: str) -> str:
    for mark, pattern in _EMPHASIS.items():
        text = inline.marked(text, pattern, _MARKDOWN_MARKS[mark])
    return text


def _footnote(inline: Inline, note: re.Match[str]) -> str:
    if note[2] is None:
        return inline.footnote(note[1]) if note[1] else note[0]
    return inline.token(f"^[{inline.done(note[2])}]")


def _name(written: str) -> str:
    """Return a name as links compare it."""
    return " ".join(written.split()).casefold()


def _linked(inline: Inline, written: str, label: str, names: Mapping[str, str]) -> str:
    """Return a link, an image, or the label of a link that no page can open."""
    target, _, anchor = " ".join(written.split()).partition("::")
    label = _emphasised(inline, label)
    path = target.removeprefix("file:").removeprefix("./")
    if path.startswith(("http://", "https://", "mailto:")):
        return inline.link(label or path, written)
    scheme, _, id_ = target.partition(":")
    if scheme.lower() in ("id", "denote"):
        return inline.link(label or id_, id_.lower())
    section = names.get(_name(target)) if not anchor else None
    if section is not None:
        return inline.link(label or target.removeprefix("#"), f"#{section}")
    if target[:1] in "*#":
        return inline.link(label or target[1:], f"#{target[1:]}")
    if _SCHEME.match(path):
        return label or target
    if is_attachment(path) and not label:
        return inline.image("", path)
    return inline.link(label or path, f"{path}#{anchor.lstrip('*#')}" if anchor else path)
