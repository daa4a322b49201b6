"""Notes and sessions as resources: listed newest first in pages, and read as text with secrets masked."""

import base64
import binascii
import contextlib
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote, unquote

from engine.agent.access import AgentAccess
from engine.agent.readable_session import readable_session
from engine.base.cancellation import CancelToken
from engine.base.errors import PathRefused
from engine.text.characters import cut

if TYPE_CHECKING:
    from engine.memory.contract import MemorySearchManager

URI = "mnemoscope:///"
"""Before the stable name of a file."""
PAGE = 100
LONGEST_TEXT = 1_000_000
"""Characters of one resource."""
_NOTE, _SESSION = "text/markdown", "text/plain"
_CUT = "\n\n[The rest is left out: read it in parts with memory_get.]"


class Listed(NamedTuple):
    """One note or session."""

    modified: float
    name: str
    title: str
    """Empty for a note whose file at `path` was not read yet."""
    is_session: bool
    size: int
    path: str = ""

    @property
    def uri(self) -> str:
        return URI + quote(self.name, safe="/")

    @property
    def kind(self) -> str:
        return _SESSION if self.is_session else _NOTE

    @property
    def changed(self) -> str | None:
        """As ISO 8601; None if unknown."""
        try:
            return datetime.fromtimestamp(self.modified, UTC).isoformat(timespec="seconds") if self.modified else None
        except (OverflowError, OSError, ValueError):
            return None


class UnknownResource(Exception):
    """There is none of this name, or none for this session; one sentence."""


def list_page(access: AgentAccess, cursor: str | None, cancel: CancelToken) -> tuple[Sequence[Listed], str | None]:
    """A page of the resources, newest first, and the cursor of the next one; None at the end.

    Raises the memory's errors, and `ValueError` for an invalid cursor.
    """
    after = None if cursor is None else _place(cursor)

    def page(memory: "MemorySearchManager", token: CancelToken) -> tuple[Sequence[Listed], str | None]:
        found = sorted(_everything(access, memory, token), key=_order)
        left = found if after is None else [one for one in found if _order(one) > after]
        shown = [_titled(one, token) for one in left[:PAGE]]
        return shown, _cursor(shown[-1]) if len(left) > PAGE else None

    return access.ask(page, cancel)


def read_text(access: AgentAccess, uri: str, cancel: CancelToken) -> tuple[str, str]:
    """Return kind and text of a note, or of a session in readable form.

    Raises `UnknownResource`, and the memory's errors.
    """
    name = unquote(uri.removeprefix(URI), errors="replace")
    if not uri.startswith(URI) or not access.may_read(name):
        raise UnknownResource("There is no such note or session.")
    is_session = access.is_session(name)

    def read(memory: "MemorySearchManager", token: CancelToken) -> str:
        if is_session:
            return "\n".join(readable_session(memory.read_session(name, cancel=token), full=False)) + "\n"
        found = memory.read_file(name)
        if not found.lines:
            memory.locate(name)  # one that vanished reads as empty, as an empty one does
        return found.text

    try:
        text = access.ask(read, cancel)
    except (PathRefused, FileNotFoundError):
        raise UnknownResource("There is no such note or session.") from None
    return _SESSION if is_session else _NOTE, text if len(text) <= LONGEST_TEXT else cut(text, LONGEST_TEXT) + _CUT


def _everything(access: AgentAccess, memory: "MemorySearchManager", cancel: CancelToken) -> Iterator[Listed]:
    from engine.corpus.discovery import discover

    for file in discover(Path(memory.status().workspace_dir), access.settings, cancel=cancel).files:
        if access.may_read(file.name):
            yield Listed(file.mtime_ns / 1e9, file.name, "", False, file.size, file.path)
    if access.shared or "sessions" in memory.lacks:
        return
    for session in memory.sessions():
        changed = session.ended or session.started or 0.0
        yield Listed(changed, session.path, session.title or "Untitled", True, session.bytes)


def _titled(one: Listed, cancel: CancelToken) -> Listed:
    """Add the title of a note from its file, since the index may be behind."""
    if one.title:
        return one
    from engine.corpus.document import HEAD_CHARACTERS, note_title
    from engine.corpus.safe_open import open_binary

    cancel.checkpoint()
    head = b""
    with contextlib.suppress(OSError, PathRefused), open_binary(one.path) as file:
        head = file.read(HEAD_CHARACTERS)
    return one._replace(title=note_title(head.decode("utf-8-sig", "replace"), one.name))


def _order(one: Listed) -> tuple[float, str]:
    return -one.modified, one.name


def _cursor(last: Listed) -> str:
    return base64.urlsafe_b64encode(f"{last.modified!r} {last.name}".encode("utf-8", "surrogatepass")).decode()


def _place(cursor: str) -> tuple[float, str]:
    """The end of a page. Files added or removed meanwhile don't move later pages."""
    try:
        time, _, name = base64.b64decode(cursor, b"-_", validate=True).decode("utf-8", "surrogatepass").partition(" ")
        return -float(time), name
    except (binascii.Error, UnicodeError, ValueError):
        raise ValueError("This cursor is none of this server.") from None
