"""Reads one note as text, or gives the reason why it can't be indexed."""

import codecs
import hashlib
import os
from collections.abc import Generator
from contextlib import closing

import msgspec

from engine.base import skip_reasons
from engine.base.errors import PathRefused
from engine.corpus.safe_open import open_regular
from engine.records import FileIssue

# Decoding holds the interpreter lock: blocks of this size keep the window responsive (well under a millisecond).
_BLOCK = 256 * 1024
_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class NoteText(msgspec.Struct, frozen=True):
    text: str
    """Without a byte order mark; line ends as in the file."""
    hash: str
    """sha256 of the text in UTF-8, hexadecimal."""


class Unreadable(Exception):
    """The note can't be indexed; `issue` has the reason: `unreadable`, `symlink`, `too-large`, `binary` or
    `not-utf8`."""

    def __init__(self, name: str, rule: str, detail: str) -> None:
        super().__init__(detail)
        self.issue = FileIssue(path=name, rule=rule, detail=detail)


def read_note(path: str, name: str, max_bytes: int) -> NoteText:
    """The text of the regular file at `path`, whose stable name is `name`.

    Raises `Unreadable`, and `FileNotFoundError` for a file deleted meanwhile, which is no error of it.
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    digest = hashlib.sha256()
    parts: list[str] = []
    lines = 0
    try:
        with closing(_blocks(path, name, max_bytes)) as blocks:
            for block in blocks:
                if b"\0" in block:
                    raise Unreadable(name, "binary", skip_reasons.ZERO_BYTES.said())
                parts.append(decoder.decode(block))
                digest.update(block)
                lines += block.count(b"\n")
        parts.append(decoder.decode(b"", True))
    except UnicodeDecodeError as error:
        byte, before = error.object[error.start], error.object.count(b"\n", 0, error.start)
        detail = skip_reasons.NOT_UTF8.said(byte=f"{byte:02x}", line=lines + before + 1)
        raise Unreadable(name, "not-utf8", detail) from None
    return NoteText("".join(parts), digest.hexdigest())


def _blocks(path: str, name: str, max_bytes: int) -> Generator[bytes, None, None]:
    """The file's bytes without a byte order mark, up to the limit."""
    try:
        descriptor, state = open_regular(path)
    except PathRefused:
        raise Unreadable(name, "symlink", skip_reasons.REPLACED.said()) from None
    except FileNotFoundError:
        raise
    except OSError as error:
        raise _unreadable(name, error) from None
    try:
        size = state.st_size
        total = 0
        while True:
            if max(size, total) > max_bytes:
                detail = skip_reasons.GROWN_TOO_LARGE.said(size=max(size, total), limit=max_bytes)
                raise Unreadable(name, "too-large", detail)
            block = os.read(descriptor, _BLOCK)
            if not block:
                return
            total += len(block)
            yield block if total > len(block) else _without_mark(block, name)
    except OSError as error:
        raise _unreadable(name, error) from None
    finally:
        os.close(descriptor)


def _unreadable(name: str, error: OSError) -> Unreadable:
    return Unreadable(name, "unreadable", skip_reasons.unreadable(error))


def _without_mark(first: bytes, name: str) -> bytes:
    if first.startswith(_UTF16_MARKS):
        raise Unreadable(name, "not-utf8", skip_reasons.UTF16.said())
    return first.removeprefix(codecs.BOM_UTF8)
