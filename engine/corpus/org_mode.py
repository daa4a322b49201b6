"""Reads the structure of an Org file, as "Org Syntax v2" describes it (orgmode.org/worg/org-syntax.html).

Keywords (`#+title:`), headings with their TODO states and tags, property drawers and blocks are read; radio targets,
macros and files named by `#+include:` are not. The state words are `TODO`, `DONE` and those of `#+todo:` lines.
"""

import re

from engine.base import lazy_pattern
from engine.corpus.note_structure import LONGEST_PROPERTY, Structure, StructureBuilder, markup_lines

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
    reader = _Reader()
    for number, line, _, _ in markup_lines(text):
        reader.take(number, line)
    return reader.found.done()


class _Reader:
    def __init__(self) -> None:
        self.found = StructureBuilder()
        self._states = {"TODO", "DONE"}
        self._block = ""
        self._block_start = 0
        self._drawer = False
        self._file_level = True
        """Whether no heading has come yet."""

    def take(self, number: int, line: str) -> None:
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

    def _heading(self, number: int, level: int, title: str) -> None:
        word, _, rest = title.partition(" ")
        if word in self._states:
            title = rest.lstrip()
        title = _PRIORITY.sub("", title, count=1) if title.startswith("[#") else title
        title = title.removeprefix("COMMENT ")
        if tagged := _TAGS.fullmatch(title):
            title = tagged[1] or ""
            self.found.tags += filter(None, tagged[2].split(":"))
        self.found.heading(number, number, level, plain(title))

    def _keyword(self, number: int, line: str) -> None:
        if begin := _BLOCK_BEGIN.fullmatch(line):
            self._block, self._block_start = begin[1].lower(), number
        elif found := _KEYWORD.fullmatch(line):
            key, value = found[1].lower(), (found[2] or "").strip()
            if key in _LISTS:
                self._states.update(word.partition("(")[0] for word in value.split() if word != "|")
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
        elif found := _NODE_PROPERTY.fullmatch(line):
            if self._file_level:
                self._property(number, found[1].lower(), (found[2] or "").strip())
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


def plain(title: str) -> str:
    """Return a title without links and emphasis."""
    title = _NO_WORDS.sub(lambda found: found[1] if found[0].startswith("<<<") else "", title)
    title = _LINK.sub(lambda link: link[2] or link[1], title)
    return _MARKS.sub(r"\2", title)
