"""Writes the text of a reStructuredText file as Markdown, after the specification that `restructuredtext.py` names and
Sphinx's documentation ("Directives", "Roles"). Nothing is included from other files.
"""

import re
from collections.abc import Generator, Iterator, Sequence

from engine.base import lazy_pattern
from engine.corpus import restructuredtext
from engine.corpus.link_parsing import reference_target
from engine.corpus.markdown_writer import (
    CALLOUTS,
    MAX_NESTED,
    Inline,
    MarkdownWriter,
    code,
    csv_rows,
    dedented,
    footnote_name,
    image,
    indent_of,
    pieces,
)
from engine.corpus.note_structure import MarkupHeading, lines_of

_NUMBERED = lazy_pattern(r"(?:\(([0-9]{1,9}|#)\)|([0-9]{1,9}|#)[.)])(?:[ ]+|$)")
_LETTERED = lazy_pattern(r"(?:\((?:[A-Za-z]|[ivxlcdmIVXLCDM]{2,9})\)|(?:[A-Za-z]|[ivxlcdmIVXLCDM]{2,9})[.)])(?:[ ]+|$)")
_COMMAND_OPTION = lazy_pattern(
    r"((?:--?|/)[\w?][\w-]*(?:[ =][\w<][^\s,]*)?(?:, (?:--?|/)[\w?][\w-]*(?:[ =][\w<][^\s,]*)?)*)(?:[ ]{2,}(\S.*))?"
)
_EXPLICIT = lazy_pattern(r"\.\.(?:[ ]+|$)")
_NAMED = lazy_pattern(r"([\w.+-]+(?::[\w.+-]+){0,3})[ ]?::(?:[ ]+(.*))?$")
_OPTION = lazy_pattern(r"[ ]*:([\w-]+):(?:[ ]+(.*))?$")
_FOOTNOTE = lazy_pattern(r"\[(#?[\w.:+-]*|\*)\](?:[ ]+|$)")
_HYPERLINK = lazy_pattern(r"_(?:`([^`]+)`|((?![ _])(?:[^:\\]|\\.)+)):(?:[ ]+(\S.*))?$")
_SUBSTITUTION = lazy_pattern(r"\|([^|]{1,100})\|[ ]+(replace|image|unicode)::[ ]+(\S.*)$")
_QUIET = frozenset(
    "contents index highlight currentmodule module default-role role sectnum include tabularcolumns rst-class"
    " sectionauthor codeauthor title target-notes".split()
)
"""Directives whose arguments are not shown."""
_ADMONITIONS = CALLOUTS | {"seealso", "versionadded", "versionchanged", "deprecated", "admonition", "versionremoved"}
_PHRASES = {
    "seealso": "See also",
    "versionadded": "Added in version",
    "versionchanged": "Changed in version",
    "versionremoved": "Removed in version",
    "deprecated": "Deprecated since version",
}
_CODE_IN_CELL = lazy_pattern(r"\.\. (?:code|code-block|sourcecode)::(?: [\w+-]+)? (.+)")
_DELIMITERS = {"tab": "\t", "space": " "}
_PLAIN_QUOTES = frozenset({"epigraph", "highlights", "pull-quote", "compound", "header", "footer"})
_QUOTES = _PLAIN_QUOTES | {"topic", "sidebar", "container", "rubric"}
_WITHOUT_ARGUMENTS = restructuredtext.CODE_DIRECTIVES | _ADMONITIONS | _PLAIN_QUOTES | {"toctree"}
"""Directives whose text may begin directly below."""

_LITERAL = lazy_pattern(
    r"``(?=\S)(`{0,2}[^`]{1,400}(?:`{1,2}[^`]{1,400}){0,20}?`{0,2})``(?![\w`])"
    r"|(?<![\w`:]):([A-Za-z][\w.+-]{0,39}(?::[\w.+-]{1,39})?):`([^`]{1,400})`|\\(?:(\S)|\s|$)"
)
_ESCAPED = lazy_pattern(r"\\(?:(\S)|\s)")
_PHRASE = lazy_pattern(r"_?`(?=\S)([^`]{1,400})`(_{0,2})(?!\w)")
_EMBEDDED = lazy_pattern(r"(.*?)\s*<([^<>]+)>", re.DOTALL)
_SIMPLE_REFERENCE = lazy_pattern(r"(?<![\w`.:/@+-])([A-Za-z0-9](?:[\w.+:-]{0,80}[A-Za-z0-9])?)__?(?!\w)")
_NOTE_REFERENCE = lazy_pattern(r"[ ]?\[(#?[\w.:+-]{1,80}|#|\*)\]_(?!\w)")
_REPLACED = lazy_pattern(r"\|(?=\S)([^|\n]{1,100})(?<=\S)\|_{0,2}")
_ADDRESS = lazy_pattern(r"https?://[^\s<>\"`|*]{1,1000}[^\s<>\"`|*.,;:!?)'\]]")
_STRONG = lazy_pattern(r"(?<![\w*])\*\*(?=\S)([^*]{1,800}(?:\*[^*]{1,400}){0,4}?)(?<=\S)\*\*(?![\w*])")
_EMPHASIS = lazy_pattern(r"(?<![\w*])\*(?=\S)([^*]{1,800})(?<=\S)\*(?![\w*])")
_TEXT_ROLES = frozenset({"sub", "subscript", "sup", "superscript"})


def markdown(text: str) -> Iterator[str]:
    """Yield the lines of the note as Markdown, without its metadata, comments and link targets."""
    page = _Page(text)
    for _ in page.blocks(page.lines, 0, 1):
        yield from page.out.take_lines()
    page.out.close()
    yield from page.out.take_lines()


class _Page:
    def __init__(self, text: str) -> None:
        self.out = MarkdownWriter()
        self.lines = [line.expandtabs(8).rstrip() for line in lines_of(text)]
        structure = restructuredtext.read(text)
        self._hidden = structure.data
        self._headings = {heading.line: heading for heading in structure.headings}
        self._names: dict[str, str] = {}
        """Targets by the folded names by which the text refers to them."""
        self._substitutes: dict[str, tuple[str, str]] = {}
        self._footnotes = 0
        """Number of the latest footnote without a name."""
        self._referred = 0
        self._replaced = 0
        """Characters that substitutes have added."""
        self._collect(structure.headings)

    def _collect(self, headings: Sequence[MarkupHeading]) -> None:
        """Read the targets and substitutes, which the text may use before they are defined."""
        for heading in headings:
            self._names.setdefault(_name(heading.title), f"#{heading.title}")
        waiting = list[str]()
        for number, line in enumerate(self.lines, 1):
            if waiting and (section := self._headings.get(number)):
                self._names |= dict.fromkeys(waiting, f"#{section.title}")
            explicit = line.lstrip()
            if explicit.startswith(".. _") and (target := _HYPERLINK.match(explicit, 3)):
                name, address = _name(target[1] or target[2]), target[3]
                if address:
                    self._names.setdefault(name, address.strip("` "))
                else:
                    waiting.append(name)
            elif explicit.startswith(".. |") and (substitute := _SUBSTITUTION.match(explicit, 3)):
                self._substitutes.setdefault(substitute[1].lower(), (substitute[2], substitute[3]))
            elif line and waiting:
                waiting = []

    def blocks(self, lines: Sequence[str], depth: int, first: int = 0) -> Iterator[None]:
        """Write the blocks of some lines, and yield after each. `first`: number of the first line in the note, or 0."""
        at = 0
        while at < len(lines):
            line = lines[at]
            heading = self._headings.get(first + at) if first else None
            if heading is not None:
                title = lines[at + (heading.last - heading.line == 2)]
                self.out.heading(heading.level, self.inline(title.strip()))
                at = heading.last + 1 - first
            elif not line or (first and first + at in self._hidden):
                at += 1
            elif line[0] == " ":
                end = _indented(lines, at)
                yield from self._nested(lines[at:end], depth, quote=True)
                at = end
            else:
                at = yield from self._block(lines, at, depth)
            yield

    def _nested(self, lines: Sequence[str], depth: int, *, quote: bool = False) -> Iterator[None]:
        """Write blocks that are indented below others."""
        outer = self.out.depth
        if depth >= MAX_NESTED:
            self.out.code(lines)
            return
        if quote:
            self.out.open_quote()
        yield from self.blocks(dedented(lines), depth + 1)
        if quote:
            self.out.close(outer)
            self.out.blank()

    def _block(self, lines: Sequence[str], at: int, depth: int) -> Generator[None, None, int]:
        """Write the block that begins with a line; returns the first line after it."""
        line = lines[at]
        below = lines[at + 1] if at + 1 < len(lines) else ""
        if explicit := _EXPLICIT.match(line):
            end = _indented(lines, at + 1) if below or line != ".." else at + 1
            yield from self._explicit(line[explicit.end() :], lines[at + 1 : end], depth)
            return end
        if item := restructuredtext.BULLET.match(line) or (self._is_item(line, below) and _NUMBERED.match(line)):
            return (yield from self._list(lines, at, item, depth))
        if self._is_item(line, below) and (item := _LETTERED.match(line)):
            end = _indented(lines, at + 1)
            yield from self._nested(_item(f"\\{line}", item.end(), lines[at + 1 : end]), depth)
            return end
        if restructuredtext.is_line(line) and len(line) >= 4 and not below:
            self.out.rule()
            return at + 1
        if line.startswith("__ "):
            return at + 1  # an anonymous target
        if end := restructuredtext.end_of_table(lines, at):
            return self._table(lines[at:end], restructuredtext.table(lines[at:end]), end)
        if end := (yield from self._labelled(lines, at, depth)):
            return end
        end = restructuredtext.end_of_paragraph(lines, at)
        if line.startswith(">>> "):
            self.out.code(lines[at:end], "pycon")
        elif line[0] == "|" and line[1:2] in ("", " "):
            self._text([row.removeprefix("|").strip() for row in lines[at:end]], breaks=True)
        else:
            return self._paragraph(lines, at, end)
        return end

    def _labelled(self, lines: Sequence[str], at: int, depth: int) -> Generator[None, None, int]:
        """Write a field, an option of a command or a definition; returns the first line after it, or 0 for others."""
        line = lines[at]
        below = lines[at + 1] if at + 1 < len(lines) else ""
        option = _COMMAND_OPTION.fullmatch(line) if line[0] in "-/" else None
        start, text = at + 1, ""
        if option and (option[2] or below[:1] == " "):
            label, text = code(option[1]), option[2] or ""
        elif (field := restructuredtext.FIELD.fullmatch(line)) and not line.startswith("::"):
            label, text = f"**{self.inline(field[1])}**", field[2] or ""
        elif below[:1] == " " and not line.startswith((">>> ", "| ")) and not line.endswith(("::", "|")):
            term, _, kind = line.partition(" : ")
            label = f"**{self.inline(term)}**" + (f" *{self.inline(kind)}*" if kind else "")
        else:
            return 0
        while text and start < len(lines) and lines[start][:1] == " ":
            start += 1
        text = " ".join([text, *map(str.strip, lines[at + 1 : start])])
        outer, end = self.out.depth, _indented(lines, start)
        self.out.open_item("- ")
        self.out.line(f"{label}: {self.inline(text)}" if text.strip() else label)
        self.out.blank()
        yield from self._nested(lines[start:end], depth)
        self.out.close(outer)
        return end

    def _is_item(self, line: str, below: str) -> bool:
        return not below or below[0] == " " or (_NUMBERED.match(below) or _LETTERED.match(below)) is not None

    def _table(self, lines: Sequence[str], rows: list[list[str]] | None, end: int) -> int:
        """Write the rows, or the lines as code if they aren't a table; returns `end`."""
        if rows is None:
            self.out.code(lines)
        else:
            self.out.table([[self._cell(cell) for cell in row] for row in rows])
        return end

    def _cell(self, text: str) -> str:
        """Return the text of a cell, whose lines were joined: a block of code in it becomes code in the line."""
        block = _CODE_IN_CELL.fullmatch(text)
        return self.inline(text) if block is None else code(block[1])

    def _list(self, lines: Sequence[str], at: int, item: re.Match[str], depth: int) -> Generator[None, None, int]:
        numbered, outer = not restructuredtext.BULLET.match(lines[at]), self.out.depth
        self.out.blank()
        count = 0
        while True:
            end = _indented(lines, at + 1)
            written = (item[1] or item[2]) if numbered else ""
            count = int(written) if written.isdigit() and not count else count + 1
            self.out.open_item(f"{count}. " if numbered else "- ")
            yield from self._nested(_item(lines[at][item.end() :], item.end(), lines[at + 1 : end]), depth)
            self.out.close(outer)
            at = end
            while at < len(lines) and not lines[at]:
                at += 1
            marker = _NUMBERED if numbered else restructuredtext.BULLET
            following = marker.match(lines[at]) if at < len(lines) else None
            if following is None:
                self.out.blank()
                return at
            item = following

    def _paragraph(self, lines: Sequence[str], at: int, end: int) -> int:
        text = list(lines[at:end])
        if not text[-1].endswith("::"):
            self._text(text)
            return end
        text[-1] = text[-1][:-2].rstrip() if text[-1][:-2].endswith(" ") or text[-1] == "::" else text[-1][:-1]
        self._text([line for line in text if line])
        last = _indented(lines, end)
        block = lines[end:last]
        if not any(block):  # a quoted literal block
            start = next((number for number in range(end, len(lines)) if lines[number]), end)
            last = restructuredtext.end_of_paragraph(lines, start)
            mark = lines[start][:1] if start < len(lines) else ""
            if mark not in restructuredtext.PUNCTUATION or any(line[:1] != mark for line in lines[start:last]):
                return end
            block = lines[start:last]
        self.out.code(block)
        return last

    def _text(self, lines: Sequence[str], *, breaks: bool = False) -> None:
        for piece in pieces(lines):
            text = self.inline(piece)
            self.out.paragraph(text.replace("\n", "  \n") if breaks else text)

    # --- explicit markup ----------------------------------------------------------------------------------------------

    def _explicit(self, line: str, block: Sequence[str], depth: int) -> Iterator[None]:
        """Write explicit markup, which begins with two dots; comments, targets and substitutions are left out."""
        if note := _FOOTNOTE.match(line):
            name = note[1]
            if name in ("#", "*"):
                self._footnotes += 1
                name = f"+{self._footnotes}"
            text = [line[note.end() :], *dedented(block)]
            self.out.blank()
            self.out.line(f"[^{footnote_name(name)}]: {self.inline(' '.join(text))}")
            self.out.blank()
        elif not line.startswith(("_", "|")) and (named := _NAMED.match(line)):
            content = dedented(block)
            content = content if block[:1] != [""] else ["", *content]
            yield from self._directive(named[1].lower(), named[2] or "", content, depth)

    def _directive(self, name: str, words: str, block: list[str], depth: int) -> Iterator[None]:
        words, options, block = _arguments(name, words, block)
        if name in restructuredtext.CODE_DIRECTIVES:
            self.out.code([words, *block] if name in ("math", "prompt") else block, words if name != "math" else "")
        elif name in ("image", "figure"):
            self.out.paragraph(image(options.get("alt", ""), words, options.get("width", "")))
            yield from self._nested(block, depth)
        elif name in _ADMONITIONS:
            yield from self._admonition(name, words, block, depth)
        elif name in ("list-table", "csv-table", "table"):
            yield from self._table_directive(name, words, block, options, depth)
        elif name == "toctree":
            for entry in filter(str.strip, block):
                self.out.open_item("- ")
                self.out.line(self.inline(f":doc:`{entry.strip()}`"))
                self.out.close(self.out.depth - 1)
            self.out.blank()
        elif name in _QUOTES:
            outer = self.out.depth
            self.out.open_quote(title=self.inline(words) if name != "container" else "")
            yield from self._nested(block, depth)
            self.out.close(outer)
            self.out.blank()
        elif name != "meta":
            is_class = name == "class" and not block and "(" not in words and words.islower()  # styles the next block
            yield from self._other_directive("" if name in _QUIET or is_class else words, block, depth)

    def _other_directive(self, words: str, block: list[str], depth: int) -> Iterator[None]:
        """Write the signature and the text of a directive, such as Sphinx's `function`."""
        outer = self.out.depth
        if words:
            self.out.blank()
            self.out.open_item("- ")
            self.out.line(code(words))
            self.out.blank()
        yield from self._nested(block, depth)
        self.out.close(outer)
        self.out.blank()

    def _admonition(self, name: str, words: str, block: list[str], depth: int) -> Iterator[None]:
        outer = self.out.depth
        has_title = name in _PHRASES or name == "admonition"
        version, _, text = words.partition(" ") if name.startswith(("version", "deprecated")) else (words, "", "")
        title = f"{_PHRASES.get(name, '')} {version}".strip() if has_title else ""
        callout = name if name in CALLOUTS else "note"
        self.out.open_quote("" if title else callout, self.inline(title))
        yield from self._nested([*filter(None, [text if has_title else words]), *block], depth)
        self.out.close(outer)
        self.out.blank()

    def _table_directive(
        self, name: str, words: str, block: list[str], options: dict[str, str], depth: int
    ) -> Iterator[None]:
        if words:
            self.out.paragraph(f"*{self.inline(words)}*")
        if name == "table":
            yield from self._nested(block, depth)
        elif name == "csv-table":
            head = [options["header"]] if "header" in options else []
            delimiter = options.get("delim", ",")
            self._table(block, csv_rows([*head, *block], _DELIMITERS.get(delimiter, delimiter)), 0)
        else:
            self._table(block, restructuredtext.list_table(block), 0)

    # --- inline markup ------------------------------------------------------------------------------------------------

    def inline(self, text: str) -> str:
        """Return a paragraph or a part of one as Markdown."""
        inline = Inline(text)

        def literal(match: re.Match[str]) -> str:
            if match[2]:
                return self._role(inline, match[2].rpartition(":")[2], match[3])
            return inline.code(match[1]) if match[1] else inline.token(Inline(match[4] or "").done())

        inline.text = _LITERAL.sub(literal, inline.text)
        inline.text = _PHRASE.sub(lambda phrase: self._phrase(inline, phrase), inline.text)
        inline.text = _REPLACED.sub(lambda name: self._substitute(inline, name), inline.text)
        inline.text = _ADDRESS.sub(lambda address: inline.token(f"<{address[0]}>"), inline.text)
        inline.text = _NOTE_REFERENCE.sub(lambda note: self._note(inline, note[1]), inline.text)
        inline.text = _SIMPLE_REFERENCE.sub(lambda name: self._reference(inline, name[1], name[0]), inline.text)
        inline.text = inline.marked(inline.text, _STRONG, "**")
        inline.text = inline.marked(inline.text, _EMPHASIS, "*")
        return inline.done()

    def _role(self, inline: Inline, role: str, content: str) -> str:
        content = " ".join(content.split())
        if role == "math":
            return inline.code(content)
        content = _ESCAPED.sub(lambda escaped: escaped[1] or "", content)
        label, target = (match[1], match[2]) if (match := _EMBEDDED.fullmatch(content)) else ("", content)
        if role == "doc":
            return inline.link(label or target, target if target.endswith(".rst") else f"{target}.rst")
        if role in ("ref", "numref") or role == "any":
            known = self._names.get(_name(target), "")
            if known or role == "any":
                title = label or known.lstrip("#") or target
                return inline.link(title, known) if known else inline.token(f"*{inline.done(title)}*")
            return inline.link(label or target, reference_target(target))
        if role in ("emphasis", "strong", "title", "term", "guilabel", "menuselection", "abbr", "dfn", "t"):
            mark = "*" if role in ("emphasis", "title", "dfn", "t") else "**"
            return inline.token(f"{mark}{inline.done(label or content)}{mark}")
        if role in _TEXT_ROLES:
            return inline.token(inline.done(content))
        name = content.lstrip("!")
        return inline.code(label or (name[1:].rpartition(".")[2] if name[:1] == "~" else name))

    def _phrase(self, inline: Inline, phrase: re.Match[str]) -> str:
        content, end = " ".join(phrase[1].split()), phrase[2]
        if phrase[0][0] == "_":
            return content
        if not end:
            return inline.token(f"*{inline.done(content)}*")
        embedded = _EMBEDDED.fullmatch(content)
        if embedded is None:
            return self._reference(inline, content, content)
        label, target = embedded[1].strip(), embedded[2].strip()
        if target.endswith("_"):
            target = self._names.get(_name(target[:-1]), "")
        else:
            self._names.setdefault(_name(label), target)
        return inline.link(label or target, target) if target else label

    def _reference(self, inline: Inline, name: str, written: str) -> str:
        target, seen = self._names.get(_name(name), ""), 0
        while target.endswith("_") and seen < MAX_NESTED:  # the name of another target
            target, seen = self._names.get(_name(target[:-1]), ""), seen + 1
        return inline.link(name, target) if target else written

    def _note(self, inline: Inline, name: str) -> str:
        if name in ("#", "*"):
            self._referred += 1
            name = f"+{self._referred}"
        return inline.footnote(name)

    def _substitute(self, inline: Inline, name: re.Match[str]) -> str:
        kind, text = self._substitutes.get(" ".join(name[1].split()).lower(), ("", ""))
        self._replaced += len(text)
        if not kind or self._replaced > _MAX_REPLACED:
            return name[1] if kind else name[0]
        if kind == "image":
            return inline.image(name[1], text)
        return text if kind == "replace" else name[1]


_MAX_REPLACED = 256 * 1024


def _name(text: str) -> str:
    return " ".join(text.replace("\\", "").split()).casefold()


def _item(first: str, width: int, rest: Sequence[str]) -> list[str]:
    """Return the lines of an item; `width`: characters of its marker, below which the rest may begin further left."""
    return [" " * min([width, *(indent_of(line) for line in rest if line)]) + first, *rest]


def _indented(lines: Sequence[str], at: int) -> int:
    """Return the end of the lines from here on that are indented or blank, without blank ones at the end."""
    end = at
    for number in range(at, len(lines)):
        if lines[number]:
            if lines[number][0] != " ":
                break
            end = number + 1
    return end


def _arguments(name: str, words: str, block: list[str]) -> tuple[str, dict[str, str], list[str]]:
    """Return the arguments, options and content of a directive; `words`: text on its first line."""
    start = 0
    while name not in _WITHOUT_ARGUMENTS and any(block[start : start + 1]) and not _OPTION.match(block[start]):
        start += 1
    words = " ".join([*([words] if words else []), *map(str.strip, block[:start])])
    options, latest = dict[str, str](), ""
    while start < len(block):
        if option := _OPTION.match(block[start]):
            latest = option[1]
            options[latest] = option[2] or ""
        elif latest and block[start][:1] == " ":
            options[latest] += f" {block[start].strip()}"
        else:
            break
        start += 1
    return words, options, block[start + (block[start : start + 1] == [""]) :]
