"""Reads the text of PDFs that Qt wrote: its fonts are called F and the number of their object, each glyph has a code of
four hexadecimal digits, and a table says which letters these are."""

import re
import unicodedata
import zlib

_OBJECT = re.compile(rb"(?:^|\n)(\d+) 0 obj\r?\n(.*?)\r?\nendobj", re.DOTALL)
_SHOWN = re.compile(rb"/F(\d+) [\d.]+ Tf|<([0-9A-Fa-f]+)> Tj|\bBT\b")
_RANGE = re.compile(rb"<([0-9A-Fa-f]{4})> <([0-9A-Fa-f]{4})> (\[[^\]]*\]|<[0-9A-Fa-f]+>)")


def pdf_pages(data: bytes) -> list[str]:
    """Return the text of each page, a line for each run of characters; an empty page has none."""
    assert data.startswith(b"%PDF-")
    assert data.rstrip().endswith(b"%%EOF")
    objects = {int(found[1]): found[2] for found in _OBJECT.finditer(data)}
    fonts = {number: _letters(objects, body) for number, body in objects.items() if b"/ToUnicode" in body}
    pages = [body for body in objects.values() if re.search(rb"/Type /Page\b", body)]
    return [_text(_stream(objects[_named(body, b"Contents")]), fonts) for body in pages]


def pdf_text(data: bytes) -> str:
    """Return all text without white space, which Qt does not always write, and without ligatures."""
    return "".join(unicodedata.normalize("NFKC", "".join(pdf_pages(data))).split())


def _named(body: bytes, key: bytes) -> int:
    found = re.search(rb"/" + key + rb" (\d+) 0 R", body)
    assert found is not None
    return int(found[1])


def _stream(body: bytes) -> bytes:
    head, raw = body.split(b"stream", 1)
    raw = raw.lstrip(b"\r\n").rsplit(b"endstream", 1)[0]
    return zlib.decompress(raw) if b"FlateDecode" in head else raw


def _letters(objects: dict[int, bytes], font: bytes) -> dict[int, str]:
    letters = {}
    for first, last, given in _RANGE.findall(_stream(objects[_named(font, b"ToUnicode")])):
        codes = range(int(first, 16), int(last, 16) + 1)
        texts = [bytes.fromhex(text.decode()).decode("utf-16-be") for text in re.findall(rb"<([0-9A-Fa-f]+)>", given)]
        if not given.startswith(b"["):
            texts = [chr(ord(texts[0]) + index) for index in range(len(codes))]
        letters.update(zip(codes, texts, strict=True))
    return letters


def _text(content: bytes, fonts: dict[int, dict[int, str]]) -> str:
    letters: dict[int, str] = {}
    parts = []
    for font, glyphs in _SHOWN.findall(content):
        if font:
            letters = fonts[int(font)]
        elif glyphs:
            parts += [letters[int(glyphs[index : index + 4], 16)] for index in range(0, len(glyphs), 4)]
        else:
            parts.append("\n")
    return "".join(parts).strip()
