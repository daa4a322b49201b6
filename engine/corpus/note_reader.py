"""Reads a note as text, or gives the reason why it can't be indexed."""

import codecs
import hashlib
import os
from collections.abc import Generator
from contextlib import closing

import msgspec

from engine.base import skip_reasons
from engine.base.cancellation import CancelToken
from engine.base.errors import PathRefused
from engine.corpus import documents, encodings, json_notes
from engine.corpus.folder_walk import FoundFile, is_transient
from engine.corpus.note_metadata import joplin_issue
from engine.corpus.safe_open import open_regular
from engine.records import FileIssue

_PGP = b"-----BEGIN PGP "
"""Beginning of keys, signatures and messages of OpenPGP (RFC 9580), whose files end as AsciiDoc's may."""


class NoteText(msgspec.Struct, frozen=True):
    text: str
    """Text without a byte order mark; line ends as in the file, but "\\n" instead of "\\r" if only that ends lines."""
    hash: str
    """Hexadecimal sha256 of the text in UTF-8; for a file in plain UTF-8, of its bytes without the mark."""


EMPTY = NoteText("", hashlib.sha256().hexdigest())


class Unreadable(Exception):
    """The note can't be indexed; `issue` has the reason: `unreadable`, `symlink`, `too-large`, `binary`,
    `unknown-format`, or the rule of a `DocumentError`."""

    def __init__(self, name: str, rule: str, detail: str, *, transient: bool = False) -> None:
        """`transient`: whether a later attempt may succeed although the file is unchanged."""
        super().__init__(detail)
        self.issue = FileIssue(path=name, rule=rule, detail=detail)
        self.transient = transient


def read_note(path: str, name: str, max_bytes: int, cancel: CancelToken | None = None) -> NoteText:
    """Return the text of the regular file at `path`, whose stable name is `name`.

    Raises `Unreadable`, and `FileNotFoundError` for a file deleted meanwhile, which is not a failure. Only a document
    takes so long that it can be cancelled.
    """
    if documents.is_document(name):
        return _document(path, name, max_bytes, cancel)
    decoder = codecs.getincrementaldecoder("utf-8")()
    digest = hashlib.sha256()
    parts: list[str] = []
    size = controls = 0
    try:
        with closing(_blocks(path, name, max_bytes)) as blocks:
            for block in blocks:
                if not size and encodings.wide_encoding(block):
                    return _in_other_encoding(path, name, max_bytes)
                if not size and block.startswith(_PGP) and name.lower().endswith(".asc"):
                    raise Unreadable(name, documents.NOT_NOTES, skip_reasons.PGP.message())
                size += len(block)
                if b"\0" in block:
                    controls += encodings.count_controls(block)
                parts.append(decoder.decode(block))
                digest.update(block)
        parts.append(decoder.decode(b"", True))
    except UnicodeDecodeError:
        return _in_other_encoding(path, name, max_bytes)
    if controls and encodings.is_binary(size, controls, utf8=True):
        raise _binary(name)
    if json_notes.is_json_note(name):
        return _readable("".join(parts), name)
    text = encodings.as_text("".join(parts))
    if refused := joplin_issue(text, name):
        raise Unreadable(name, *refused)
    return NoteText(text, digest.hexdigest())


def beginning(file: FoundFile) -> str:
    """Return the start of a file in lower case, with undecodable bytes left out; empty if it can't be read."""
    if documents.is_document(file.name):
        return ""
    try:
        with closing(_blocks(file.path, file.name, file.size)) as blocks:
            return next(blocks, b"").decode("utf-8", "ignore").casefold()
    except (Unreadable, FileNotFoundError):
        return ""


def _document(path: str, name: str, max_bytes: int, cancel: CancelToken | None) -> NoteText:
    from engine.corpus.documents.extraction_process import DOCUMENTS  # multiprocessing takes 10 ms to import

    try:
        documents.check(name, 0)
        with closing(_blocks(path, name, max_bytes, with_mark=True)) as blocks:
            text = DOCUMENTS.text_of(b"".join(blocks), name, cancel)
    except documents.DocumentError as problem:
        raise Unreadable(name, problem.rule, problem.detail) from None
    return NoteText(text, hashlib.sha256(text.encode()).hexdigest())


def _readable(text: str, name: str) -> NoteText:
    """Return the Markdown of a note that is stored as JSON."""
    try:
        text = json_notes.readable(text.encode(), name)
    except ValueError as error:
        raise Unreadable(name, "unknown-format", skip_reasons.BROKEN_NOTE.message(problem=error)) from None
    return NoteText(text, hashlib.sha256(text.encode()).hexdigest())


def _in_other_encoding(path: str, name: str, max_bytes: int) -> NoteText:
    """Read a file that is not valid UTF-8, again from its start."""
    with closing(_blocks(path, name, max_bytes)) as blocks:
        data = list(blocks)
    try:
        codec = encodings.detect(lambda: data)
    except encodings.Binary:
        raise _binary(name) from None
    text = encodings.as_text("".join(encodings.decoded(lambda: data, codec)))
    if json_notes.is_json_note(name):
        return _readable(text, name)
    return NoteText(text, hashlib.sha256(text.encode()).hexdigest())


def _binary(name: str) -> Unreadable:
    return Unreadable(name, "binary", skip_reasons.BINARY.message())


def _blocks(path: str, name: str, max_bytes: int, *, with_mark: bool = False) -> Generator[bytes, None, None]:
    """Yield the file's bytes up to the limit; `with_mark`: including a byte order mark."""
    try:
        descriptor, state = open_regular(path)
    except PathRefused:
        raise Unreadable(name, "symlink", skip_reasons.REPLACED.message()) from None
    except FileNotFoundError:
        raise
    except OSError as error:
        raise _unreadable(name, error) from None
    try:
        size = state.st_size
        total = 0
        while True:
            if max(size, total) > max_bytes:
                detail = skip_reasons.GROWN_TOO_LARGE.message(size=max(size, total), limit=max_bytes)
                raise Unreadable(name, "too-large", detail)
            block = os.read(descriptor, encodings.BLOCK)
            if not block:
                return
            total += len(block)
            yield block if with_mark or total > len(block) else block.removeprefix(codecs.BOM_UTF8)
    except OSError as error:
        raise _unreadable(name, error) from None
    finally:
        os.close(descriptor)


def _unreadable(name: str, error: OSError) -> Unreadable:
    return Unreadable(name, "unreadable", skip_reasons.unreadable(error), transient=is_transient(error))
