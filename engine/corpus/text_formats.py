"""Reads the structure of other plain-text formats, which are shown as source.

- LaTeX (`.tex`), from "LaTeX2e for authors"; Typst (`.typ`), from its reference (typst.app/docs)
- scripts in Fountain 1.1 (`.fountain`, fountain.io)
- subtitles: SubRip (`.srt`), and WebVTT (`.vtt`, W3C): the spoken words, without numbers and times
- notes of TiddlyWiki (`.tid`, tiddlywiki.com) and of Zim (`.txt` with a header, zim-wiki.org)
"""

import re
from collections.abc import Callable

from engine.base import lazy_pattern
from engine.corpus.note_structure import Structure, StructureBuilder, markup_lines


def read(text: str, ending: str) -> Structure:
    """Return the structure of a text with this ending, in lower case."""
    return _READERS[ending](text)


class _Code:
    """Collects blocks of code between lines."""

    def __init__(self, found: StructureBuilder) -> None:
        self._found = found
        self._start = 0

    def bound(self, number: int, *, opens: bool, closes: bool) -> bool:
        """Return whether a line belongs to a block of code; it may open or close one."""
        if not self._start:
            self._start = number if opens else 0
            return opens
        if closes:
            self._found.code.append((self._start, number))
            self._start = 0
        return True

    def end(self, last: int) -> None:
        """End a block that nothing closes."""
        if self._start:
            self._found.code.append((self._start, last))


# --- LaTeX ------------------------------------------------------------------------------------------------------------

_TEX_LEVELS = {"part": 1, "chapter": 1, "section": 2, "subsection": 3, "subsubsection": 4, "paragraph": 5}
_TEX_TITLE = lazy_pattern(
    r"\s*\\(part|chapter|section|subsection|subsubsection|paragraph|frametitle|begin\{frame\})\*?(?:\[[^\[\]]*\])?"
    r"\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}"
)
_TEX_PROPERTY = lazy_pattern(
    r"\s*\\(title|author|date|subtitle|keywords)(?:\[[^\[\]]*\])?\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}"
)
_TEX_CODE = lazy_pattern(r"\s*\\(begin|end)\{(?:verbatim|Verbatim|lstlisting|minted|alltt|comment)\*?\}.*")
_TEX_COMMAND = lazy_pattern(r"\\(?:texorpdfstring\{[^{}]*\}|[a-zA-Z]+\*?(?:\[[^\[\]]*\])?|[,;:!])|[{}$]")
_TEX_ESCAPED = lazy_pattern(r"\\([&%$#_{}])")


def _read_tex(text: str) -> Structure:
    found = StructureBuilder()
    code = _Code(found)
    preamble = "\\begin{document}" in text
    number = 0
    for number, line, _, _ in markup_lines(text):
        mark = _TEX_CODE.fullmatch(line) if "\\" in line else None
        if not preamble and code.bound(
            number, opens=mark is not None and mark[1] == "begin", closes=mark is not None and mark[1] == "end"
        ):
            continue
        if "\\begin{document}" in line:
            preamble = False
            found.hide(number)
        elif match := _TEX_PROPERTY.match(line):
            value = _tex_words(match[2])
            found.title = found.title or (value if match[1] == "title" else "")
            found.property(number, match[1], value)
        elif preamble:
            found.hide(number)  # commands, not text
        elif match := _TEX_TITLE.match(line):
            found.heading(number, number, _TEX_LEVELS.get(match[1], 4), _tex_words(match[2]))
    code.end(number)
    return found.done()


def _tex_words(text: str) -> str:
    """Return text of LaTeX without commands."""
    text = _TEX_ESCAPED.sub(lambda match: f"\0{match[1]}", text.replace("~", " ").replace("\\\\", " "))
    return " ".join(re.sub(r"(?<!\0)[{}$]", "", _TEX_COMMAND.sub(_spaced, text)).replace("\0", "").split())


def _spaced(match: re.Match[str]) -> str:
    return match[0] if match.start() and match.string[match.start() - 1] == "\0" else ""


# --- Typst ------------------------------------------------------------------------------------------------------------

_TYPST_HEADING = lazy_pattern(r"(={1,6})[ \t]+(.*?)(?:[ \t]*<[\w:.-]+>)?")
_TYPST_PROPERTY = lazy_pattern(r"""[^"\[]{0,200}\b(title|author|date|keywords):\s*(?:"([^"]*)"|\[([^\[\]]*)\]).*""")
_FENCE = lazy_pattern(r"\s*(`{3,})[^`]*")


def _read_typst(text: str) -> Structure:
    found = StructureBuilder()
    code = _Code(found)
    number = 0
    for number, line, _, _ in markup_lines(text):
        fence = _FENCE.fullmatch(line) is not None
        if code.bound(number, opens=fence, closes=fence):
            continue
        if match := _TYPST_HEADING.fullmatch(line):
            found.heading(number, number, len(match[1]), match[2])
        elif not found.headings and (match := _TYPST_PROPERTY.fullmatch(line)):
            value = match[2] or match[3] or ""
            found.title = found.title or (value if match[1] == "title" else "")
            found.property(number, match[1], value)
        elif line.startswith(("#import", "#set ", "#show", "#let ", "//")):
            found.hide(number)
    code.end(number)
    return found.done()


# --- Fountain ---------------------------------------------------------------------------------------------------------

_KEY = lazy_pattern(r"([A-Za-z][A-Za-z ]{0,40}):[ \t]*(.*)")
_SECTION = lazy_pattern(r"(#{1,6})[ \t]*([^#].*)")
_SCENE = lazy_pattern(r"\.(?![.\s])(.+)|((?:INT|EXT|EST|I/E|INT\.?/EXT)[. ].*)", re.IGNORECASE)
_SCENE_LEVEL = 4


def _read_fountain(text: str) -> Structure:
    found = StructureBuilder()
    first = text.lstrip("\ufeff").partition("\n")[0]
    head, cut, above = bool(_KEY.fullmatch(first.rstrip())), False, ""
    for number, line, _, _ in markup_lines(text):
        if head:
            head = bool(line)
            if match := _KEY.fullmatch(line.lstrip("\ufeff")):
                value = match[2].strip("_* ")
                found.title = found.title or (value if match[1].lower() == "title" else "")
                found.property(number, "date" if match[1].lower() == "draft date" else match[1], value)
            elif line:
                found.data[number] = line  # a value on separate lines
                found.title = found.title or line.strip("_* \t")
        elif cut or line.startswith("/*"):
            cut = "*/" not in line
            found.hide(number)
        elif match := _SECTION.fullmatch(line):
            found.heading(number, number, min(len(match[1]), _SCENE_LEVEL - 1), match[2])
        elif not above and (match := _SCENE.fullmatch(line)):
            found.heading(number, number, _SCENE_LEVEL, match[1] or match[2])
        above = line
    return found.done()


# --- subtitles --------------------------------------------------------------------------------------------------------

_TIMES = lazy_pattern(r"\s*(?:\d{1,4}:)?\d\d:\d\d[.,]\d{3}[ \t]+-->[ \t]+(?:\d{1,4}:)?\d\d:\d\d[.,]\d{3}.*")
_DATA_BLOCK = lazy_pattern(r"(?:WEBVTT|NOTE|STYLE|REGION)(?:[ \t].*)?")


def _read_subtitles(text: str) -> Structure:
    found = StructureBuilder()
    in_data, above = False, ""
    for number, line, below, _ in markup_lines(text):
        if not above and _DATA_BLOCK.fullmatch(line.lstrip("\ufeff")):
            in_data = True
        in_data = in_data and bool(line)
        is_name = not above and "-->" in below and bool(_TIMES.fullmatch(below))
        if in_data or is_name or ("-->" in line and _TIMES.fullmatch(line)):
            found.hide(number)
        above = line
    return found.done()


# --- wikis ------------------------------------------------------------------------------------------------------------

_FIELD = lazy_pattern(r"([\w. -]{1,60}):[ \t]?(.*)")
_TID_TAG = lazy_pattern(r"\[\[([^\[\]]+)\]\]|(\S+)")
_TID_HEADING = lazy_pattern(r"(!{1,6})[ \t]*([^!].*)")
_TID_DATE = lazy_pattern(r"(\d{4})(\d\d)(\d\d)\d*")
_WIKI_LINK = lazy_pattern(r"\[\[([^\[\]|]*)(?:\|[^\[\]|]*)?\]\]")


def _read_tid(text: str) -> Structure:
    found = StructureBuilder()
    code = _Code(found)
    head, number = True, 0
    for number, line, _, _ in markup_lines(text):
        if head:
            head = bool(line) or number == 1
            if match := _FIELD.fullmatch(line):
                _declare_tid(found, number, match[1], match[2])
            continue
        fence = line.startswith("```")
        if code.bound(number, opens=fence, closes=line == "```"):
            continue
        if match := _TID_HEADING.fullmatch(line):
            found.begun = True  # the title is a field
            found.heading(number, number, len(match[1]), _WIKI_LINK.sub(r"\1", match[2]))
    code.end(number)
    return found.done()


def _declare_tid(found: StructureBuilder, number: int, key: str, value: str) -> None:
    if key == "tags":
        found.tags += (whole or word for whole, word in _TID_TAG.findall(value))
        found.data[number] = value
        return
    if key in ("created", "modified") and (day := _TID_DATE.fullmatch(value)):
        value = "-".join(day.groups())
    found.property(number, key, value)
    if key in ("title", "caption"):
        found.data[number] = value
        found.title = value if key == "title" else found.title


_ZIM_HEADING = lazy_pattern(r"(={2,6})[ \t]*(.+?)[ \t]*=*")
_ZIM_TAG = lazy_pattern(r"(?<!\S)@([^\W\d][\w-]*)")
_ZIM_FIELDS = {"Creation-Date": "created", "Modification-Date": "modified"}


def _read_zim(text: str) -> Structure:
    found = StructureBuilder()
    code = _Code(found)
    head, number = True, 0
    for number, line, _, _ in markup_lines(text):
        if head:
            head = bool(line)
            found.hide(number)
            if match := _FIELD.fullmatch(line):
                found.property(number, _ZIM_FIELDS.get(match[1], match[1]), match[2])
            continue
        fence = line == "'''"
        if code.bound(number, opens=fence, closes=fence):
            continue
        if match := _ZIM_HEADING.fullmatch(line):
            found.heading(number, number, 7 - len(match[1]), match[2])
        elif "@" in line:
            found.tags += _ZIM_TAG.findall(line)
    code.end(number)
    return found.done()


_READERS: dict[str, Callable[[str], Structure]] = {
    ".tex": _read_tex,
    ".typ": _read_typst,
    ".fountain": _read_fountain,
    ".srt": _read_subtitles,
    ".vtt": _read_subtitles,
    ".tid": _read_tid,
    ".txt": _read_zim,
}
