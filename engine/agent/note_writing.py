"""Writes the note of a session without the user: for the command line, and for agents at the start of a new session."""

import contextlib
import threading
from collections.abc import Callable, Sequence
from functools import partial
from heapq import nlargest
from pathlib import Path
from typing import NamedTuple

import msgspec

from engine.agent.session_note import draft_note, save_note, suggest_slug, to_slug
from engine.base.cancellation import CancelToken
from engine.base.errors import MnemoscopeError, NoteError, ProviderError
from engine.memory.contract import MemorySearchManager
from engine.memory.session_library import wanted_session
from engine.records import SessionNote, SessionSummary, WrittenNote
from engine.settings import Settings

_MOST_EMPTY = 5
"""Most sessions that are checked for the latest one: a new one may contain only the command that started it."""


class Remembered(NamedTuple):
    """Result of writing a note."""

    note: SessionNote
    written: WrittenNote | None
    """None for a preview, or if it exists already: `note.existing`."""
    notice: str = ""
    """Why it is named by the session's own words though a chat model is set, as a sentence."""


def remember(  # noqa: PLR0913 - most are options, given by name
    manager: MemorySearchManager,
    workspace: Path,
    settings: Settings,
    session: str | None,
    *,
    messages: int | None = None,
    slug: str = "",
    ask_model: bool = True,
    again: bool = False,
    write: bool = True,
    by_agent: bool = False,
    cancel: CancelToken | None = None,
) -> Remembered:
    """Write the note of a session: that of this stable name or id, None for the latest one.

    The latest is the newest with messages. A session is written once, until it continues, unless `again`. `slug`: the
    name, instead of the chat model's or of the session's own words. If the model fails, the note is still written.
    Raises `NoteError`, and `MnemoscopeError` for an unknown session.
    """
    known = manager.sessions()
    wanted = _newest(known) if session is None else [wanted_session(session, known)]
    note = _first_draft(wanted, partial(draft_note, manager, workspace, settings, messages=messages, cancel=cancel))
    if note.existing and not again:
        return Remembered(note, None)
    if slug and not to_slug(slug):
        raise NoteError(f"A note cannot be called {slug}: its name has letters a to z, digits and hyphens.")
    named, notice = to_slug(slug), ""
    if not named and ask_model:
        try:
            named = suggest_slug(note, settings, cancel=cancel)
        except ProviderError as error:
            notice = f"The note is named by the session's own words. {error}"
    if named:
        note = msgspec.structs.replace(note, slug=named)
    if not write:
        return Remembered(note, None, notice=notice)
    return Remembered(note, save_note(manager, workspace, settings, note, by_agent=by_agent), notice=notice)


def update_index(manager: MemorySearchManager, seconds: float, cancel: CancelToken | None = None) -> None:
    """Update the index as far as possible in this time: text comes first, vectors may come later.

    Errors are ignored: the note exists. Raises `Cancelled` when `cancel` fires.
    """
    enough = CancelToken()
    forget = cancel.on_cancel(enough.cancel) if cancel is not None else lambda: None
    timer = threading.Timer(seconds, enough.cancel)
    timer.daemon = True
    timer.start()
    try:
        with contextlib.suppress(MnemoscopeError):
            manager.sync(cancel=enough)
    finally:
        timer.cancel()
        timer.join()
        forget()
    if cancel is not None:
        cancel.checkpoint()


def _newest(known: Sequence[SessionSummary]) -> Sequence[SessionSummary]:
    """The newest sessions that are not part of another one. Raises `NoteError` if there is none."""
    whole = [session for session in known if not session.parent and session.messages]
    if not whole:
        raise NoteError("No session is indexed yet, so there is none to remember.")
    return nlargest(_MOST_EMPTY, whole, key=lambda session: session.ended or session.started or 0.0)


def _first_draft(wanted: Sequence[SessionSummary], draft: Callable[[str], SessionNote]) -> SessionNote:
    """The draft for the first session with messages. Raises `NoteError` if there is none: that of the first."""
    failures = []
    for session in wanted:
        try:
            return draft(session.path)
        except FileNotFoundError:
            failures.append(NoteError(f"The transcript of {session.path} is not there any more."))
        except NoteError as nothing_said:
            failures.append(nothing_said)
    raise failures[0]
