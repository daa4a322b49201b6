"""Reads a text file of any size as numbered lines, decoded only where needed."""

import codecs
import contextlib
import io
import os
import tempfile
import threading
from array import array
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple, Self

from engine.base.cancellation import CancelToken, checkpoint
from engine.base.errors import PARSER_FAULTS
from engine.corpus import documents, encodings, json_notes
from engine.corpus.safe_open import open_regular

LINE_LIMIT = 20_000
"""Default for the most characters of one line that are decoded."""

_BLOCK = 64 * 1024
_CACHED_BLOCKS = 16
_IN_MEMORY = 4 * 1024 * 1024
_WIDEST_CHARACTER = 4
_CHECKED = 32 * 1024 * 1024
"""Bytes at the start of a file that decide whether it is UTF-8; no file that is indexed by default is larger."""


class NumberedText:
    """Gives access to the lines of an opened file, counted from 1. Thread-safe.

    "\\n" ends a line, and a "\\r" before it is not part of the line. A text that ends in a line end has no empty line
    after it; an empty file has no lines.

    The number of line ends before each block is stored. Opening is one pass at the speed of the disk, and finding a
    line reads one block. 100 MB of blank lines need no more memory than one long line.

    The text stays unchanged if another program replaces the file: small files are in memory (so that no handle prevents
    replacement on Windows), larger ones are read through an open handle. Text that is not plain UTF-8 (`encodings`) is
    copied to UTF-8 first. Invalid bytes and NUL become U+FFFD.
    """

    def __init__(self, source: IO[bytes], ends: "_LineEnds", size: int, encoding: str = "") -> None:
        """`source` is in UTF-8; `size` is the file's size in bytes."""
        self.encoding = encoding
        """Name of the file's encoding; empty for UTF-8."""
        self.size: int = size
        """Size of the file in bytes when it was opened."""
        self._source = source
        self._before, self._bytes = ends
        self._lock = threading.Lock()
        self._blocks: OrderedDict[int, tuple[bytes, array[int]]] = OrderedDict()
        last = _read(source, self._bytes - 1, 1) if self._bytes else b"\n"
        self.line_count = self._before[-1] + (last != b"\n")

    @classmethod
    def open(cls, path: str | Path, cancel: CancelToken | None = None) -> Self:
        """Open a text file and count its lines.

        Raises `PathRefused` if it isn't a regular file, `DocumentError` for a document without text, `OSError`,
        `Cancelled`.
        """
        descriptor, state = open_regular(path)
        file = os.fdopen(descriptor, "rb")
        try:
            if documents.is_document(str(path)):
                return cls._of_document(file, state.st_size, str(path), cancel)
            text = cls._of_file(file, state.st_size, cancel)
            return cls._readable(text, str(path)) if json_notes.is_json_note(str(path)) else text
        except BaseException:
            file.close()
            raise

    @classmethod
    def of(cls, text: str) -> Self:
        """Create an instance from a text in memory."""
        source = io.BytesIO(text.encode("utf-8", "replace"))
        ends = _line_ends(source, None)
        return cls(source, ends, ends.size)

    @classmethod
    def _of_document(cls, file: IO[bytes], size: int, path: str, cancel: CancelToken | None) -> Self:
        from engine.corpus.documents.extraction_process import DOCUMENTS  # multiprocessing takes 10 ms to import

        documents.check(path, size)
        with file:
            text = cls.of(DOCUMENTS.text_of(file.read(size), path, cancel))
        text.size = size
        return text

    @classmethod
    def _readable(cls, text: Self, path: str) -> Self:
        """Return a canvas or notebook as Markdown; one that is damaged, huge or ends its parser unchanged."""
        if text.size > json_notes.LARGEST:
            return text
        try:
            readable = json_notes.readable(text.full_text().encode(), path)
        except PARSER_FAULTS:
            return text
        text.close()
        lines = cls.of(readable)
        lines.size, lines.encoding = text.size, text.encoding
        return lines

    @classmethod
    def _of_file(cls, file: IO[bytes], size: int, cancel: CancelToken | None) -> Self:
        source = file
        if size <= _IN_MEMORY:
            with file:
                source = io.BytesIO(file.read(size))
        check = encodings.Utf8Check()
        line_ends = _line_ends(source, cancel, check)
        codec = "utf-8" if check.is_valid(whole=size <= _CHECKED) else _codec(source, cancel)
        if codec != "utf-8":
            source = _copied(source, codec, cancel)
        try:
            if codec != "utf-8":
                line_ends = _line_ends(source, cancel)
            if not line_ends.before[-1] and any(b"\r" in block for block in _all_blocks(source, cancel)):
                source = _copied(source, "utf-8", cancel, returns_as_feeds=True)
                line_ends = _line_ends(source, cancel)
            return cls(source, line_ends, size, encodings.NAMES.get(codec, ""))
        except BaseException:
            source.close()
            raise

    def line(self, number: int, *, limit: int = LINE_LIMIT) -> str:
        """Return at most `limit` characters of one line, without its line end.

        Raises `IndexError` for a missing line.
        """
        if not 1 <= number <= self.line_count:
            raise IndexError(f"no line {number}")
        with self._lock:
            start, end = self._span(number)
            cut = min(end, start + limit * _WIDEST_CHARACTER + len(codecs.BOM_UTF8))
            raw = self._read(start, cut)
        if cut == end:
            raw = raw.removesuffix(b"\r")
        if number == 1:
            raw = raw.removeprefix(codecs.BOM_UTF8)
        return _decode(raw)[:limit]

    def lines(self, first: int, last: int, *, limit: int = LINE_LIMIT) -> list[str]:
        """Return lines `first` to `last`, both included; numbers outside the file are left out."""
        number, last = max(1, first), min(last, self.line_count)
        lines: list[str] = []
        while number <= last:
            with self._lock:
                start = self._span(number)[0]
                stop = min(last, self._before[start // _BLOCK + 1])
                raw = self._read(start, self._span(stop)[1]) if stop > number else b""
            if stop > number:
                lines.extend(_split(raw, stop - number + 1, limit, first=number == 1))
            else:
                lines.append(self.line(number, limit=limit))
            number = max(number, stop) + 1
        return lines

    def text(self, first: int, last: int) -> str:
        """Return lines `first` to `last` in full length, joined with "\\n"."""
        return "\n".join(self.lines(first, last, limit=self._bytes + 1))

    def full_text(self) -> str:
        """Return the whole text with its line ends, without a byte order mark."""
        with self._lock:
            raw = _read(self._source, 0, self._bytes)
        return _decode(raw.removeprefix(codecs.BOM_UTF8))

    def close(self) -> None:
        """Release the file; reading afterwards raises `ValueError`. Closing twice is fine."""
        with self._lock:
            self._source.close()
            self._blocks.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _span(self, number: int) -> tuple[int, int]:
        """Return the offsets of the line's first byte and of its line end, or of the end of the file."""
        start = 0 if number == 1 else self._line_end(number - 1) + 1
        end = self._line_end(number) if number <= self._before[-1] else self._bytes
        return start, max(start, end)

    def _line_end(self, number: int) -> int:
        """Return the offset of the `number`-th "\\n" of the file."""
        block = bisect_left(self._before, number) - 1
        return block * _BLOCK + self._block(block)[1][number - self._before[block] - 1]

    def _block(self, index: int) -> "tuple[bytes, array[int]]":
        """Return a block's bytes and the positions of its line ends, from the cache."""
        block = self._blocks.get(index)
        if block is not None:
            self._blocks.move_to_end(index)
            return block
        data = _read(self._source, index * _BLOCK, _BLOCK)
        ends = array("I", _ends_in(data))
        # Text that was overwritten in place may have fewer line ends now: the missing ones fall on the block's end.
        missing = self._before[index + 1] - self._before[index] - len(ends)
        ends.extend([len(data)] * missing)
        self._blocks[index] = data, ends
        if len(self._blocks) > _CACHED_BLOCKS:
            self._blocks.popitem(last=False)
        return data, ends

    def _read(self, start: int, end: int) -> bytes:
        index, offset = divmod(start, _BLOCK)
        if end - start <= _BLOCK - offset and index in self._blocks:
            return self._blocks[index][0][offset : offset + end - start]
        return _read(self._source, start, end - start)


def _read(source: IO[bytes], offset: int, size: int) -> bytes:
    """Return up to `size` bytes from `offset`; fewer at the end, or if the file was shortened meanwhile."""
    source.seek(offset)
    return source.read(size)


class _LineEnds(NamedTuple):
    before: list[int]
    """Number of line ends before each block, and finally the total."""
    size: int
    """Bytes of the text; a file may grow after they were counted."""


def _line_ends(source: IO[bytes], cancel: CancelToken | None, check: encodings.Utf8Check | None = None) -> _LineEnds:
    """`check` receives the first blocks."""
    counts, size = [0], 0
    for block in _all_blocks(source, cancel):
        if check is not None and len(counts) * _BLOCK <= _CHECKED:
            check.add(block)
        counts.append(counts[-1] + block.count(b"\n"))
        size += len(block)
    return _LineEnds(counts, size)


def _all_blocks(source: IO[bytes], cancel: CancelToken | None) -> Iterator[bytes]:
    source.seek(0)
    while block := source.read(_BLOCK):
        checkpoint(cancel)
        yield block


def _codec(source: IO[bytes], cancel: CancelToken | None) -> str:
    """Return the codec of a file that is not plain UTF-8; "utf-8" for a binary file, which is shown as damaged text."""
    try:
        return encodings.detect(lambda: _all_blocks(source, cancel))
    except encodings.Binary:
        return "utf-8"


def _copied(source: IO[bytes], codec: str, cancel: CancelToken | None, *, returns_as_feeds: bool = False) -> IO[bytes]:
    """Return a copy of a source in UTF-8, and close the source; a large copy is a file without a name.

    `returns_as_feeds`: lines end in "\\r" alone, which becomes "\\n".
    """
    with source, contextlib.ExitStack() as stack:
        copy = stack.enter_context(tempfile.SpooledTemporaryFile(_IN_MEMORY))
        for text in encodings.decoded(lambda: _all_blocks(source, cancel), codec):
            copy.write((text.replace("\r", "\n") if returns_as_feeds else text).encode())
        stack.pop_all()
        return copy


def _ends_in(data: bytes) -> Iterator[int]:
    position = data.find(b"\n")
    while position >= 0:
        yield position
        position = data.find(b"\n", position + 1)


def _split(raw: bytes, count: int, limit: int, *, first: bool) -> list[str]:
    """Return the `count` lines in `raw`, which fits in a block; empty lines replace any that were overwritten."""
    text = _decode(raw.removeprefix(codecs.BOM_UTF8) if first else raw)
    lines = text.split("\n")[:count]
    lines.extend([""] * (count - len(lines)))
    if "\r" not in text and len(text) <= limit:
        return lines
    return [line.removesuffix("\r")[:limit] for line in lines]


def _decode(raw: bytes) -> str:
    """Decode UTF-8 with replacements, at most a block in one call, since decoding holds the interpreter's lock."""
    if len(raw) <= _BLOCK:
        return raw.decode("utf-8", "replace").replace("\0", "\ufffd")
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    parts = [decoder.decode(raw[at : at + _BLOCK]) for at in range(0, len(raw), _BLOCK)]
    return "".join([*parts, decoder.decode(b"", True)]).replace("\0", "\ufffd")
