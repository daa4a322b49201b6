"""Extracts the text of Rich Text Format files, as TextEdit, WordPad and others write them.

Written from the "Rich Text Format (RTF) Specification", version 1.9.1 (2008). striprtf 0.0.35 drops headings, lists,
titles and footnotes, keeps deleted text, and splits characters such as emoji in two.
"""

import codecs
import re
from dataclasses import dataclass, replace

from engine.base import skip_reasons
from engine.corpus.documents.text_collector import DocumentText, comment, damaged, list_item

_TOKEN = re.compile(
    rb"\\([a-zA-Z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-fA-F]{2})|\\([^a-zA-Z])|([{}])|([^\\{}\r\n]{1,65536})", re.DOTALL
)
"""A control word with its number, a byte, a control symbol, the bounds of a group, or text."""
_SKIPPED = frozenset(
    b"colortbl pict object datafield fldinst filetbl revtbl nonshppict template xe tc rxe pntext listtext sp pn"
    b" listtable listoverridetable rsidtbl nonesttables"
    b" operator company manager category keywords subject hlinkbase creatim revtim printim buptim comment".split()
)
"""Groups without text to read; the others are marked as ones that readers may ignore."""
_READ = (b"shpinst", b"annotation", b"atnauthor", b"ud", b"nesttableprops")
"""Groups that are read although they are marked; `ud` has a title again, in Unicode, and `nesttableprops` ends a row of
a table in a cell.
"""
_BULLETS = (b"pntext", b"listtext")
_NOTES = (b"footnote", b"annotation")
_MARGINS = (b"header", b"headerl", b"headerr", b"headerf", b"footer", b"footerl", b"footerr", b"footerf")
_TABLES = (b"fonttbl", b"stylesheet", b"title", b"author", b"atnauthor")
_CHARACTERS = dict(
    zip(
        b"tab line lbr emdash endash bullet lquote rquote ldblquote rdblquote emspace enspace qmspace zwj zwnj".split(),
        "\t\n\n\u2014\u2013\u2022\u2018\u2019\u201c\u201d   \u200d\u200c",
        strict=True,
    )
) | {b"cell": " | ", b"nestcell": " | "}
_SYMBOLS = {b"~": "\xa0", b"_": "-", b"\t": "\t"}
_PARAGRAPH_ENDS = (b"par", b"sect", b"page", b"column", b"row", b"nestrow")
_CHARSETS = {
    int(number): codec
    for number, _, codec in (
        pair.partition("=")
        for pair in "77=mac_roman 128=cp932 129=cp949 130=johab 134=gb18030 136=cp950 161=cp1253 162=cp1254 163=cp1258"
        " 177=cp1255 178=cp1256 186=cp1257 204=cp1251 222=cp874 238=cp1250 255=cp850".split()
    )
}
"""Encodings of the character sets of fonts."""
_NAMED_CODE_PAGES = {936: "gb18030", 1361: "johab", 10000: "mac_roman", 10007: "mac_cyrillic", 65001: "utf-8"}


_STYLE = re.compile(r"(?:heading ([1-9])|title)", re.IGNORECASE)
_MAX_LEVELS = 5_000
_LAST_UNIT = 0xFFFF


@dataclass(frozen=True)
class _State:
    """The state that a group inherits from the group around it."""

    kind: bytes = b""
    """The group whose text this is, such as a footnote; empty for the document itself."""
    hidden: bool = False
    skipped: bool = False
    font: int = -1
    fallback: int = 1
    """Number of characters after a Unicode character that replace it in older readers."""


@dataclass
class _Paragraph:
    style: int = -1
    level: int = 0
    """That of a heading; 0 for text."""
    is_item: bool = False
    nesting: int = 0
    in_table: bool = False


def read_rtf(data: bytes, text: DocumentText) -> None:
    """Read an RTF document into `text`. Raises `DocumentError`."""
    data = data.lstrip(b"\xef\xbb\xbf \t\r\n\0")
    if not data.startswith(b"{\\rtf"):
        raise damaged(skip_reasons.NO_RTF)
    reader, at = _Reader(text), 0
    while token := _TOKEN.search(data, at):
        at = token.end() + reader.read_token(token)
    reader.end()


def _code_page(number: int, default: str) -> str:
    """Return the codec of a code page; the default for one that Python doesn't have."""
    try:
        return codecs.lookup(_NAMED_CODE_PAGES.get(number, f"cp{number}")).name
    except LookupError:
        return default


class _Reader:
    def __init__(self, text: DocumentText) -> None:
        self._text = text
        self._open = [_State()]
        self._bytes = bytearray()
        """Characters in the encoding of the font."""
        self._to_skip = 0
        self._marked = False
        """Whether the next control word names a group that readers may ignore."""
        self._begun = False
        """Whether the next control word is the first one of a group."""
        self._encoding = "cp1252"
        self._fonts: dict[int, str] = {}
        self._default_font = self._font = -1
        self._levels: dict[int, int] = {}
        self._style = -1
        self._named: dict[bytes, list[str]] = {}
        """Title and author of the document, and the author of a comment."""
        self._paragraph = _Paragraph()
        self._has_bullet = False
        self._parts: list[str] = []
        self._lines: list[str] = []
        """Consecutive items of lists or rows of tables."""
        self._note: list[str] = []
        self._notes: list[str] = []
        self._numbered = 0
        self._margins: dict[str, None] = {}

    def read_token(self, token: re.Match[bytes]) -> int:
        """Read a token; returns the number of bytes of binary data after it."""
        word, number, code, symbol, brace, plain = token.groups()
        if plain is not None or code is not None:
            self._begun = False
            self._add_bytes(plain if plain is not None else bytes([int(code, 16)]))
            return 0
        if word == b"bin":
            return max(0, int(number or 0))
        if word in (b"u", b"uc") or symbol or not self._to_skip:
            self._write_bytes()
        if brace:
            self._to_skip = 0
            self._bound(opens=brace == b"{")
        elif symbol:
            self._symbol(symbol)
        elif word:
            self._word(word, int(number) if number else None)
        return 0

    def end(self) -> None:
        self._write_bytes()
        self._end_paragraph()
        self._flush()
        for margin in self._margins:
            self._text.paragraph(margin)
        self._text.title, self._text.author = ("".join(self._named.get(kind, ())) for kind in (b"title", b"author"))

    # --- groups and characters ----------------------------------------------------------------------------------------

    @property
    def _state(self) -> _State:
        return self._open[-1]

    def _set(self, **changes: bytes | bool | int) -> None:
        self._open[-1] = replace(self._state, **changes)  # type: ignore[arg-type]  # checked by the record

    def _bound(self, *, opens: bool) -> None:
        self._write_bytes()
        self._begun, self._marked = opens, False
        if opens:
            if len(self._open) >= _MAX_LEVELS:
                raise damaged(skip_reasons.TOO_DEEP)
            self._open.append(self._state)
        elif len(self._open) > 1:
            ended = self._open.pop()
            if ended.kind != self._state.kind:
                self._end_group(ended.kind)

    def _end_group(self, kind: bytes) -> None:
        if kind not in _NOTES and kind not in _MARGINS:
            return
        note, self._note = "".join(self._note).strip(), []
        if kind == b"annotation":
            author = "".join(self._named.pop(b"atnauthor", ()))
            self._notes += [comment(author, note)] if note else []
        elif kind == b"footnote":
            self._notes.append(f"[{self._numbered}] {note}")
        elif any(map(str.isalpha, note)):  # else it is the number of the page
            self._margins[f"{'Header' if kind.startswith(b'header') else 'Footer'}: {note}"] = None

    def _add_bytes(self, data: bytes) -> None:
        skipped = min(self._to_skip, len(data))
        self._to_skip -= skipped
        if not self._state.skipped:
            self._bytes += data[skipped:]

    def _write_bytes(self) -> None:
        if self._bytes:
            font = self._state.font if self._state.font >= 0 else self._default_font
            encoding = self._fonts.get(font, self._encoding)
            self._write(self._bytes.decode(encoding, "replace"))
            self._bytes.clear()

    def _write(self, text: str) -> None:
        state = self._state
        if state.skipped or state.hidden:
            return
        if state.kind in _NOTES or state.kind in _MARGINS:
            self._note.append(text)
        elif state.kind == b"stylesheet":
            if match := _STYLE.match(text.strip()):
                self._levels[self._style] = int(match[1] or 1)
        elif state.kind in _TABLES:
            self._named.setdefault(state.kind, []).append(text)
        elif not state.kind:
            self._parts.append(text)

    def _symbol(self, symbol: bytes) -> None:
        if symbol == b"*":
            self._marked = True
            return
        self._begun = False
        if symbol in b"\r\n":
            self._word(b"par", None)
        else:
            self._write(_SYMBOLS.get(symbol, symbol.decode() if symbol in b"\\{}" else ""))

    # --- control words ------------------------------------------------------------------------------------------------

    def _word(self, word: bytes, number: int | None) -> None:
        if self._begun or self._marked:
            begun, marked, self._begun, self._marked = self._begun, self._marked, False, False
            if begun and self._begin_group(word, marked=marked):
                return
        if self._state.skipped:
            return
        if self._state.kind in (b"fonttbl", b"stylesheet"):
            self._define(word, number or 0)
        elif word == b"u":
            self._write(chr((number or 0) & _LAST_UNIT))
            self._to_skip = self._state.fallback
        elif word == b"uc":
            self._set(fallback=max(0, number or 0))
        elif word in (b"v", b"deleted"):
            self._set(hidden=number != 0)
        elif word in (b"f", b"plain"):
            self._set(font=number if word == b"f" and number is not None else -1)
            self._set(hidden=self._state.hidden and word == b"f")
        elif word in (b"ansicpg", b"mac", b"pc", b"pca", b"deff"):
            self._choose_encoding(word, number or 0)
        elif word in _PARAGRAPH_ENDS or word in _CHARACTERS:
            self._end_or_character(word)
        elif not self._state.kind:
            self._property(word, number)

    def _begin_group(self, word: bytes, *, marked: bool) -> bool:
        """Set the kind of the group by its first word; return False for an ordinary control word.

        `marked`: readers that don't know the word skip the group.
        """
        if word in _BULLETS and not self._state.kind:
            self._has_bullet = True
        if word in _SKIPPED or (marked and word not in _READ):
            self._set(skipped=True)
        elif word == b"footnote" and not self._state.kind:
            self._numbered += 1
            self._write(f"[{self._numbered}]")
            self._set(kind=word)
        elif word in (*_NOTES, *_MARGINS, *_TABLES) and not self._state.kind:
            self._set(kind=word)
            self._named.pop(word, None)
        else:
            return False
        return True

    def _define(self, word: bytes, number: int) -> None:
        """Read the definition of a font or of a style."""
        match word:
            case b"f":
                self._font = number
            case b"fcharset" if number in _CHARSETS:
                self._fonts[self._font] = _CHARSETS[number]
            case b"cpg":
                self._fonts[self._font] = _code_page(number, self._encoding)
            case b"s" | b"cs" | b"ds" | b"ts":
                self._style = number if word == b"s" else -1

    def _choose_encoding(self, word: bytes, number: int) -> None:
        match word:
            case b"deff":
                self._default_font = number
            case b"ansicpg":
                self._encoding = _code_page(number, self._encoding)
            case _:
                self._encoding = {b"mac": "mac_roman", b"pc": "cp437"}.get(word, "cp850")

    def _end_or_character(self, word: bytes) -> None:
        if word in _CHARACTERS:
            self._write(_CHARACTERS[word])
        elif self._state.kind:
            self._write("\n")
        elif self._paragraph.in_table and word == b"par":
            self._write(" ")
        else:
            self._end_paragraph(is_row=word in (b"row", b"nestrow"))

    def _property(self, word: bytes, number: int | None) -> None:
        """Read a property of the paragraph that is open."""
        match word:
            case b"pard":
                self._paragraph = _Paragraph()
            case b"s":
                self._paragraph.style = number or 0
            case b"outlinelevel":
                self._paragraph.level = ((number or 0) + 1) % 10
            case b"ls":
                self._paragraph.is_item = number != 0
            case b"ilvl":
                self._paragraph.nesting = min(max(number or 0, 0), 8)
            case b"intbl":
                self._paragraph.in_table = True

    def _end_paragraph(self, *, is_row: bool = False) -> None:
        units = "".join(self._parts)
        content = units.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        self._parts.clear()
        paragraph, has_bullet, self._has_bullet = self._paragraph, self._has_bullet, False
        level = paragraph.level or self._levels.get(paragraph.style, 0)
        if not content.strip("| \t\n"):
            return
        if is_row:
            self._lines.append(" ".join(content.split()).removesuffix("|").rstrip())
        elif (paragraph.is_item or has_bullet) and not level:
            self._lines.append(list_item(paragraph.nesting, content.strip()))
        else:
            self._flush()
            if level:
                self._text.heading(level, content)
            else:
                self._text.paragraph(content)
        if self._lines:
            self._lines += self._notes
        else:
            for note in self._notes:
                self._text.paragraph(note)
        self._notes = []

    def _flush(self) -> None:
        lines, self._lines = self._lines, []
        if lines:
            self._text.paragraph("\n".join(lines))
