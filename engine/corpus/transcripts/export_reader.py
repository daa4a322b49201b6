"""Reads data exports: `conversations.json`, in a zip file or unpacked, one conversation at a time.

Zip files are never unpacked to disk, and files larger than an export can be are refused, by declared and by actual
size.
"""

import glob
import os
import re
import zipfile
import zlib
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any, TypeVar

from engine.base import skip_reasons
from engine.base.bounded_json import (
    ESCAPE,
    FIRST_HALF,
    PAIR,
    BoundedDigits,
    DividedStrings,
    backslashes_before,
    built,
    limited,
    one_value,
    whole_escapes,
)
from engine.base.cancellation import CancelToken
from engine.base.errors import PathRefused
from engine.corpus.safe_open import open_binary
from engine.corpus.transcripts.formats import Conversation, DocumentFormat, LineParser
from engine.corpus.transcripts.json_values import seconds
from engine.corpus.transcripts.jsonl import LARGEST_CONVERSATION, first_line
from engine.corpus.transcripts.messages import Message

_BLOCK = 256 * 1024
_HEAD = 64 * 1024
LARGEST_DOCUMENT = 4 * 1024**3
"""Largest `conversations.json` in bytes; exports of many years stay below a tenth of it."""
_LARGEST_IMAGE = 64 * 1024**2
_ZIP = b"PK\x03\x04"
_MEMBER = re.compile(
    r"(?:[^/\\]+/){0,2}conversations(?:(?:[-_]\d{1,6})?\.json|(?:-[^/\\]+)?/[^/\\]+\.json)"
    r"|(?:[^/\\]+/){0,6}prod-grok-backend\.json"
    r"|(?:[^/\\]+/){0,3}[^/\\]*Gemini[^/\\]*/M[^/\\]*\.json"  # MyActivity.json, MeineAktivitäten.json …
)
_MEMBERS_TO_JUDGE = 8
_COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # others may expand a few bytes to megabytes in one step
_ENCRYPTED = 0x1
_BOM = b"\xef\xbb\xbf"
_SURROGATES = re.compile(FIRST_HALF + rb"\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
_REPLACEMENT = rb"\ufffd"

_Event = tuple[str, Any]
_Node = TypeVar("_Node")


def matches(path: str, head: bytes, is_ours: Callable[[bytes], bool]) -> bool:
    """Whether `is_ours` accepts the first bytes of a document, or of one of the first documents in a zip file."""
    if not head.startswith(_ZIP):
        return is_ours(head)
    try:
        with open_binary(path) as file, zipfile.ZipFile(file) as archive:
            members = _members(archive)
            for member in members[:_MEMBERS_TO_JUDGE]:
                with archive.open(member) as document:
                    if is_ours(document.read(_HEAD)):
                        return True
            return False
    except (OSError, ValueError, PathRefused, *_BROKEN):
        return False


def zip_problem(path: str) -> str:
    """Return why a zip file can't be read, as after an interrupted download; empty if it can. Raises OSError."""
    try:
        with open_binary(path) as file, zipfile.ZipFile(file) as archive:
            for member in _members(archive):
                with archive.open(member) as document:
                    document.read(_HEAD)
    except _BROKEN:
        return skip_reasons.BROKEN_ZIP.message()
    except ValueError as error:
        return str(error)
    return ""


def conversations(path: str, cancel: CancelToken | None = None, *, array: str = "") -> Iterator[Mapping[str, Any]]:
    """Yield the conversations of an export as JSON objects, in order.

    `array`: name of the member with them if the document is an object.

    Raises OSError, Cancelled, and ValueError for a truncated, invalid or oversized file, after the objects before the
    error.
    """
    with open_binary(path) as file, _broken_as_value_error():
        if file.read(len(_ZIP)) != _ZIP:
            file.seek(0)
            yield from _objects(_Reader(file, cancel), array)
            return
        with zipfile.ZipFile(file) as archive:
            for member in _members(archive):
                with archive.open(member) as document:
                    yield from _objects(_Reader(document, cancel), array)


def image_file(path: str, name: str) -> bytes:
    """Return the data of an image in an export, packed or not: of the first file whose name begins with `name`.

    Empty if there is none, or it is larger than 64 MB. Raises OSError, `PathRefused`, and ValueError for a broken zip
    file.
    """
    fits = re.compile(rf"(?:[^/]+/)?{re.escape(name)}(?![0-9A-Za-z])[^/]*").fullmatch
    with open_binary(path) as file, _broken_as_value_error():
        if file.read(len(_ZIP)) == _ZIP:
            with zipfile.ZipFile(file) as archive:
                usable = (member for member in archive.infolist() if member.compress_type in _COMPRESSIONS)
                if member := next((member for member in usable if fits(member.filename)), None):
                    with archive.open(member) as image:
                        return _whole(image)
            return b""
    folder, names = Path(path).parent, f"{glob.escape(name)}*"
    folders = (folder, folder.parent) if folder.name.startswith("conversations") else (folder,)
    for found in sorted(chain.from_iterable((*each.glob(names), *each.glob(f"*/{names}")) for each in folders)):
        if fits(found.name):
            with open_binary(found) as image:
                return _whole(image)
    return b""


def _whole(image: IO[bytes]) -> bytes:
    blocks = list(islice(iter(partial(image.read, _BLOCK), b""), 1 + _LARGEST_IMAGE // _BLOCK))
    return b"".join(blocks) if len(blocks) <= _LARGEST_IMAGE // _BLOCK else b""


class SessionDocument(DocumentFormat):
    """A format of documents that contain only one session. A subclass describes it."""

    def read(self, path: str, cancel: CancelToken | None) -> Iterator[Conversation]:
        """Yield the file's only session; nothing if it has no messages. Raises OSError, ValueError, Cancelled."""
        session = next((self.conversation(path, value, cancel) for value in conversations(path, cancel)), None)
        if session is not None and session.messages:
            yield session

    def conversation(self, path: str, value: Mapping[str, Any], cancel: CancelToken | None) -> Conversation:
        """Return the session in a document. Raises Cancelled while it reads other files."""
        raise NotImplementedError


class Export(DocumentFormat):
    """A format of downloaded exports, plain or in a zip file, with many sessions. A subclass describes it."""

    array = ""
    """Name of the member with the sessions; empty if the document is an array of them."""
    member = ""
    """Name of a member that each session has; a folder of sessions may also contain a list of them."""

    def matches(self, path: str, head: bytes) -> bool:
        return matches(path, head, partial(super().matches, path))

    def read(self, path: str, cancel: CancelToken | None) -> Iterator[Conversation]:
        listed = conversations(path, cancel, array=self.array)
        return (self.conversation(path, value) for value in listed if not self.member or self.member in value)

    def conversation(self, path: str, value: Mapping[str, Any]) -> Conversation:
        """Return a session of the export."""
        raise NotImplementedError


def listed_time(folder: str, session: str) -> float | None:
    """Return the time at which a session began, from Continue's list of the sessions in a folder, which Kiro has, too;
    None if it is unknown.
    """
    try:
        listed = conversations(os.path.join(folder, "sessions.json"))
        stated = next((entry.get("dateCreated") for entry in listed if entry.get("sessionId") == session), None)
    except (OSError, ValueError, PathRefused):
        return None
    return seconds(int(stated) if isinstance(stated, str) and stated.isdecimal() and len(stated) < 16 else stated)


_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ArithmeticError)


@contextmanager
def _broken_as_value_error() -> Iterator[None]:
    import ijson  # not needed before an export is read

    try:
        yield
    except (*_BROKEN, ijson.JSONError) as error:
        if isinstance(error, ValueError):
            raise
        raise ValueError(skip_reasons.BROKEN_EXPORT.message(what=first_line(error))) from None


def _members(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    """Return the documents in a zip file, in order. Raises ValueError if one is too large or not readable."""
    members = [member for member in archive.infolist() if _MEMBER.fullmatch(member.filename)]
    if members:
        depth = min(member.filename.count("/") for member in members)
        members = [member for member in members if member.filename.count("/") == depth]
    for member in members:
        if member.file_size > LARGEST_DOCUMENT:
            size, limit = member.file_size, LARGEST_DOCUMENT
            raise ValueError(skip_reasons.LARGE_MEMBER.message(name=member.filename, size=size, limit=limit))
        if member.compress_type not in _COMPRESSIONS or member.flag_bits & _ENCRYPTED:
            raise ValueError(skip_reasons.STRANGE_MEMBER.message(name=member.filename))
    return sorted(members, key=lambda member: member.filename)


class _Reader:
    """Reads a file in blocks of about 256 KB, up to the maximum size of an export, without splitting surrogate pairs.

    (Some halves of a pair end ijson's parser, others are merged with the next character.)
    """

    def __init__(self, file: IO[bytes], cancel: CancelToken | None) -> None:
        self._file = file
        self._cancel = cancel
        self._total = 0
        self._since = 0
        self._remainder = file.read(len(_BOM)).removeprefix(_BOM)

    def read(self, size: int = _BLOCK) -> bytes:
        if not size:
            return b""
        block = b""
        while not block:
            if self._cancel:
                self._cancel.checkpoint()
            read = self._file.read(_BLOCK - PAIR)
            self._count(len(read))
            block, self._remainder = self._remainder + read, b""
            if not read:
                break
            end = whole_escapes(block)
            block, self._remainder = block[:end], block[end:]
        return _SURROGATES.sub(_repaired, block)

    def _count(self, size: int) -> None:
        self._total += size
        self._since += size
        if self._total > LARGEST_DOCUMENT:
            raise ValueError(skip_reasons.LARGE_EXPORT.message(limit=LARGEST_DOCUMENT))
        if self._since > LARGEST_CONVERSATION:
            raise ValueError(skip_reasons.LARGE_CONVERSATION.message(limit=LARGEST_CONVERSATION))

    def conversation_ends(self) -> None:
        self._since = 0


def _repaired(match: re.Match[bytes]) -> bytes:
    is_escaped = backslashes_before(match.string, match.start()) % 2 == 1  # then it is text that looks like an escape
    if len(match[0]) == PAIR:
        return match[0][:ESCAPE] + _REPLACEMENT if is_escaped else match[0]
    return match[0] if is_escaped else _REPLACEMENT


def _objects(reader: _Reader, array: str) -> Iterator[Mapping[str, Any]]:
    """Yield the objects in the document's array; if the document is an object, those in its member `array`, or the
    object itself if `array` is empty.
    """
    import ijson

    events: Iterator[_Event] = ijson.basic_parse(DividedStrings(BoundedDigits(reader)), buf_size=_BLOCK)
    if array:
        events = _in_member(array, events)
    for event in events:
        if event[0] != "end_array" and event[0] != "start_array":
            value = built(limited(one_value(event, events)))
            if isinstance(value, dict):
                yield value
            reader.conversation_ends()


def _in_member(member: str, events: Iterator[_Event]) -> Iterator[_Event]:
    """Yield the events of a document, or only of this member if it is an object."""
    first = next(events, ("", None))
    if first[0] != "start_map":
        yield from chain((first,), events)
        return
    for kind, name in events:
        if kind == "map_key":
            value = one_value(next(events, ("", None)), events)
            if name == member:
                yield from value
                return
            deque(value, maxlen=0)


# --- A conversation whose messages form a tree, since users edit and repeat questions: the branch shown last.


def branch(parents: Mapping[str, str], times: Mapping[str, float | None], tip: str) -> list[str]:
    """Return the nodes of a tree from the root to `tip`, or to the newest leaf if `tip` isn't a node.

    `parents` has every node; the parent of a root is not a node.
    """
    if tip not in parents:
        inner = set(parents.values())
        leaves = [name for name in parents if name not in inner] or list(parents)
        newest = max(((times.get(name) or 0, number) for number, name in enumerate(leaves)), default=None)
        if newest is None:
            return []
        tip = leaves[newest[1]]
    path: dict[str, None] = {}
    while tip in parents and tip not in path:
        path[tip] = None
        tip = parents[tip]
    return list(reversed(path))


def whole_conversation(
    path: str, parser: LineParser, read: Callable[[Any], list[Message]], cancel: CancelToken | None
) -> Iterator[Conversation]:
    """Yield the only conversation of a JSON file; of a truncated file the complete messages, before the ValueError.

    `read` is the parser's method that returns the messages of one value.
    """
    messages: list[Message] = []
    broken: ValueError | None = None
    try:
        for value in conversations(path, cancel):
            messages += read(value)
    except ValueError as error:
        broken = error
    if messages:
        yield Conversation("", parser.metadata, tuple(messages), Counter(parser.unknown))
    if broken:
        raise broken


def divided(
    nodes: Mapping[str, _Node], parents: Mapping[str, str], times: Mapping[str, float | None], tip: str = ""
) -> tuple[list[_Node], list[_Node]]:
    """Return the nodes of a tree from the root to `tip`, as `branch` finds them, and those of all other branches."""
    shown = branch(parents, times, tip)
    first, others = (
        [nodes[name] for name in names if name in nodes] for names in (shown, abandoned_branches(parents, shown))
    )
    return first, others


def read_branches(
    parser: LineParser,
    key: str,
    current: Iterable[Mapping[str, Any]],
    abandoned: Iterable[Mapping[str, Any]],
    *,
    started: float | None = None,
    ended: float | None = None,
) -> Conversation:
    """Return the session with the branch seen last, and all other branches, which don't change the metadata.

    `started`, `ended`: times of the session if its messages have none.
    """
    messages = tuple(chain.from_iterable(parser.feed(value, 0) for value in current))
    metadata, last = parser.metadata, parser.ordinal
    before = metadata.started, metadata.ended, metadata.active, metadata.pauses, metadata.opening
    others = tuple(chain.from_iterable(parser.feed(value, 0) for value in abandoned))
    metadata.started, metadata.ended, metadata.active, metadata.pauses, metadata.opening = before
    metadata.rewound = [(last + 1, parser.ordinal)] if others else []
    metadata.started, metadata.ended = metadata.started or started, metadata.ended or ended
    return parser.conversation(key, messages, others)


def abandoned_branches(parents: Mapping[str, str], path: Iterable[str]) -> list[str]:
    """Return the messages that are not on `path`, each abandoned branch from its beginning, in order."""
    children: dict[str, list[str]] = {}
    for name, parent in parents.items():
        children.setdefault(parent, []).append(name)
    seen, branches = set(path), list[str]()
    starts = [name for name, parent in parents.items() if parent in seen or parent not in parents]
    for name in (*starts, *parents):  # only messages whose parents form a circle are still left after the starts
        waiting = [name]
        while waiting:
            node = waiting.pop()
            if node not in seen:
                seen.add(node)
                branches.append(node)
                waiting += reversed(children.get(node, []))
    return branches
