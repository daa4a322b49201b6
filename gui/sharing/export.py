"""Exports search results and sessions to files of the user, and copies sessions to drag them or to continue them.

An export is written to a temporary file in the same folder, and renamed when it is complete, so that neither a full
disk nor an end of the program leaves half a file in place of an older one. A session's transcript itself is never
shared, since it contains the secrets that are masked in the window.
"""

import errno
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePosixPath

import msgspec
from PySide6.QtCore import QStandardPaths, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog

from engine import (
    CancelToken,
    MemorySearchManager,
    MemorySearchResult,
    MnemoscopeError,
    SearchOutcome,
    SessionSummary,
    export_session,
    exporting,
    outcome_values,
    results_markdown,
    session_context,
    temporary_prefix,
    to_slug,
    tr,
    tr_count,
)
from gui.core.jobs import JobSlot, OnDone, OnError, Work
from gui.core.window_context import Controller, WindowContext
from gui.core.workspace import OpenWorkspace
from gui.search.panel import SearchPanel
from gui.search.query import Answer, run_query
from gui.viewer.external_programs import ExternalOpener

MAX_RESULTS = 10_000


def documents_folder() -> str:
    """Return the folder in which file dialogs open: Qt would replace a missing one with the current folder."""
    documents = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation)
    return documents if Path(documents).is_dir() else str(Path.home())


class SavingFailed(MnemoscopeError):
    """Raised when a file could not be written; an existing file is unchanged."""


def note_paths(opened: OpenWorkspace) -> tuple[Path, ...]:
    """Return all paths that are searched: the workspace's folder, other indexed paths, and the session folders of
    agents."""
    settings = opened.settings
    listed = filter(None, map(str.strip, (*settings.extra_paths, *settings.sessions.folders)))
    return (opened.folder, *(opened.folder / os.path.expanduser(text) for text in listed))  # noqa: PTH111 - see Options


def save_whole(path: Path, data: bytes, *, notes: Iterable[Path], may_replace: bool = True) -> None:
    """Write `data` to the file `path`. An existing file in one of the paths `notes` is never replaced.

    Any thread. Raises `SavingFailed`.
    """
    try:
        if not may_replace and os.path.lexists(path):
            raise SavingFailed(tr("{path} already exists. Choose another name.", path=path))
        if os.path.lexists(path) and any(path.resolve().is_relative_to(note.resolve()) for note in notes):
            raise SavingFailed(
                tr("{name} is one of your notes, which are never changed: choose another name.", name=path.name)
            )
        if path.is_dir():
            raise SavingFailed(tr("{path} is a folder: choose a name for the file in it.", path=path))
        target = path.resolve()  # a link stays a link
        with exporting(target) as file:
            file.write(data)
    except OSError as error:
        raise SavingFailed(_sentence(path, error)) from error


def _sentence(path: Path, error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return tr("The disk of {folder} is full. Free some space, or choose another folder.", folder=path.parent)
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return tr("{folder} cannot be written: choose another folder.", folder=path.parent)
    if error.errno == errno.ENOENT:
        return tr("The folder {folder} no longer exists. Choose another one.", folder=path.parent)
    return tr("{path} cannot be written: {reason}.", path=path, reason=(error.strerror or str(error)).rstrip("."))


class FileExport(Controller):
    """Exports to a file that the user chooses, one at a time; a new export cancels the previous one."""

    def __init__(self, context: WindowContext, external: ExternalOpener, key: str, filters: Mapping[str, str]) -> None:
        """`key`: of messages in the banner. `filters`: formats that the file dialog offers, by file suffix."""
        super().__init__(context)
        self._external = external
        self._key = key
        self._filters = filters
        self._job = JobSlot(self, self._jobs)
        self._folder = ""
        self._workspace.closed.connect(self._stop)

    def _ask_path(self, title: str, name: str) -> tuple[Path, bool] | None:
        """Ask for a target file. Returns it, and whether the user agreed to replace an existing one; None if
        cancelled.
        """
        start = Path(self._folder or documents_folder()) / name
        chosen, kind = QFileDialog.getSaveFileName(self._window, title, str(start), ";;".join(self._filters.values()))
        if not chosen:
            return None
        self._folder = str(Path(chosen).parent)
        path = _with_suffix(Path(chosen), kind, self._filters)
        return path, path == Path(chosen)

    def _start(self, notice: str, work: Work, done: OnDone, fail: OnError) -> None:
        """Run an export in the background, and show `notice` with a button that cancels it."""
        self._banner.show_message(notice, "working", (tr("Cancel"), self._stop), key=self._key)
        self._job.write(work, done, fail)

    def _report(self, path: Path, notice: str) -> None:
        """Show that the export to `path` is complete."""
        show = (tr("Show in file manager"), partial(self._external.reveal_path, path))
        self._banner.show_message(notice, "fine", show, key=self._key)

    @Slot()
    def leave(self) -> None:
        """Remove the message about the last export, since the user leaves the view that it was made in."""
        if not self._job.busy:
            self._banner.clear(self._key)

    @Slot()
    def _stop(self) -> None:
        if self._job.busy:
            self._job.cancel()
            self._banner.clear(self._key)


class Exports(FileExport):
    """Exports search results to files."""

    def __init__(self, context: WindowContext, search: SearchPanel, external: ExternalOpener) -> None:
        super().__init__(context, external, "export", {".md": "Markdown (*.md)", ".json": "JSON (*.json)"})
        self._search = search
        search.actions.export_requested.connect(self.choose)

    @Slot()
    def choose(self) -> None:
        """Ask the user for a target file, and export to it."""
        answer = self._search.body.answer
        if self._workspace.current is None or answer is None or not self._search.body.has_results:
            self._banner.show_message(
                tr("There are no results to export: search for something first."), "off", key=self._key
            )
            return
        chosen = self._search.body.list.selected_results()
        many = len(chosen) > 1
        count = len(chosen)
        title = (
            tr_count("Export {count:,} result", "Export {count:,} results", count) if many else tr("Export all results")
        )
        answered = self._ask_path(title, f"{to_slug(_query_text(answer)) or 'results'}.md")
        if answered is not None:
            path, may_replace = answered
            self.save(path, chosen if many else (), may_replace=may_replace)

    def save(self, path: Path, chosen: Sequence[MemorySearchResult] = (), *, may_replace: bool = True) -> None:
        """Export the results `chosen`, or all if it is empty; the file suffix decides the format.

        `may_replace`: whether the user agreed to replace an existing file.
        """
        opened, answer = self._workspace.current, self._search.body.answer
        if opened is None or answer is None:
            return

        def work(token: CancelToken) -> int:
            outcome = _chosen(answer, chosen) if chosen else _found(opened.all_workspaces, answer, token)
            data = _written(outcome, _query_text(answer), as_json=path.suffix.lower() == ".json")
            token.checkpoint()
            save_whole(path, data, notes=note_paths(opened), may_replace=may_replace)
            return len(outcome.results)

        self._start(tr("Exporting the results…"), work, partial(self._done, path), self._fail)

    def _done(self, path: Path, count: int) -> None:
        self._report(
            path,
            tr_count("{count:,} result exported to {path}.", "{count:,} results exported to {path}.", count, path=path),
        )

    def _fail(self, sentence: str) -> None:
        self._banner.show_message(sentence, "degraded", (tr("Choose another file…"), self.choose), key=self._key)


def _found(manager: MemorySearchManager, answer: Answer, token: CancelToken) -> SearchOutcome:
    """Return all results of the answer's query; if all are shown already, without searching again."""
    outcome = answer.outcome
    if answer.final and outcome.total <= len(outcome.results) and not outcome.total_is_least:
        return outcome
    everything = replace(answer.query, max_results=MAX_RESULTS)
    return run_query(manager, everything, explain=False, cancel=token, whole_files=True)


def _chosen(answer: Answer, chosen: Sequence[MemorySearchResult]) -> SearchOutcome:
    return msgspec.structs.replace(answer.outcome, results=tuple(chosen), total=len(chosen), total_is_least=False)


def _query_text(answer: Answer) -> str:
    query = answer.query
    return f"Like {query.like.path}" if query.like is not None else query.text


def _written(outcome: SearchOutcome, query: str, *, as_json: bool) -> bytes:
    if as_json:
        values = {"query": query, **outcome_values(outcome)}
        return (json.dumps(values, ensure_ascii=False, indent=2) + "\n").encode("utf-8", "backslashreplace")
    page = "\n\n".join(results_markdown(outcome.results, query=query, total=outcome.total))
    return f"{page}\n".encode("utf-8", "replace")


def _with_suffix(path: Path, kind: str, filters: Mapping[str, str]) -> Path:
    """Add the file suffix of the format `kind`, chosen in the dialog, unless the path has a known suffix."""
    if path.suffix.lower() in filters:
        return path
    ending = next((ending for ending, words in filters.items() if words == kind), next(iter(filters)))
    return path.with_name(f"{path.name}{ending}")


class SessionExports(FileExport):
    """Exports sessions to files, with secrets masked even if the window shows them."""

    def __init__(
        self, context: WindowContext, current_session: Callable[[], SessionSummary | None], external: ExternalOpener
    ) -> None:
        """`current_session`: returns the open session, or None."""
        super().__init__(context, external, "export-session", {".html": "HTML (*.html)", ".md": "Markdown (*.md)"})
        self._current_session = current_session

    @Slot()
    def choose(self) -> None:
        """Ask the user for a target file, and export the open session to it."""
        session = self._open_session()
        if session is not None:
            name = to_slug(session.title) or to_slug(PurePosixPath(session.path).name.partition(".")[0]) or "session"
            answered = self._ask_path(tr("Export session"), f"{name}.html")
            if answered is not None:
                target, may_replace = answered
                self.save(target, may_replace=may_replace)

    def save(self, target: Path, *, may_replace: bool = True) -> None:
        """Export the open session; the file suffix decides the format."""
        summary, opened = self._open_session(), self._workspace.current
        if summary is None or opened is None:
            return

        def work(token: CancelToken) -> None:
            session = opened.all_workspaces.read_session(summary.path, reveal=False, cancel=token)
            page = export_session(session, "markdown" if target.suffix.lower() == ".md" else "html")
            token.checkpoint()
            data = page.encode("utf-8", "replace")
            save_whole(target, data, notes=note_paths(opened), may_replace=may_replace)

        def done(_: object) -> None:
            self._report(target, tr("Session exported to {path}.", path=target))

        self._start(tr("Exporting the session…"), work, done, self._fail)

    @Slot()
    def copy_context(self) -> None:
        """Copy a summary of the open session to the clipboard, with which another agent can continue it."""
        summary, opened = self._open_session(), self._workspace.current
        if summary is None or opened is None:
            return
        limit = opened.settings.sessions.context_max_chars

        def done(text: str) -> None:
            QGuiApplication.clipboard().setText(text)
            notice = tr_count(
                "{count:,} character copied: paste it into another agent.",
                "{count:,} characters copied: paste them into another agent.",
                len(text),
            )
            self._banner.show_message(notice, "fine", key=self._key)

        self._job.read(
            lambda token: session_context(
                opened.all_workspaces.read_session(summary.path, reveal=False, cancel=token), limit
            ),
            done,
            self._fail,
        )

    def _open_session(self) -> SessionSummary | None:
        """Return the open session, or None after showing a message that there is none."""
        session = self._current_session()
        if session is None:
            self._banner.show_message(tr("No session is open: choose one first."), "off", key=self._key)
        return session

    def _fail(self, sentence: str) -> None:
        self._banner.show_message(sentence, "degraded", key=self._key)


class SessionCopies:
    """Temporary Markdown files of sessions, to drag or open elsewhere.

    Created on demand and deleted by `close` or at exit. Any thread.
    """

    def __init__(self) -> None:
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def make(self, manager: MemorySearchManager, path: str, token: CancelToken) -> Path:
        """Write the session with this path to a temporary file and return it. Raises the errors of `read_session`."""
        session = manager.read_session(path, reveal=False, cancel=token)
        text = export_session(session, "markdown")
        token.checkpoint()
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix=temporary_prefix("shared"), ignore_cleanup_errors=True)
        # A folder for each: two sessions may have one title, and the file name is visible to the target.
        folder = Path(tempfile.mkdtemp(dir=self._folder.name))
        made = folder / f"{to_slug(session.summary.title) or 'session'}.md"
        made.write_text(text, encoding="utf-8", errors="replace", newline="\n")
        made.chmod(0o600)
        return made

    def close(self) -> None:
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None
