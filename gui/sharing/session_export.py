"""The open session, as a file to take along, as a text with which another agent continues, or as a copy to drag.

The transcript itself is never shared, since it contains the secrets that are masked in the window.
"""

import tempfile
from collections.abc import Callable
from pathlib import Path, PurePosixPath

from PySide6.QtCore import Slot
from PySide6.QtGui import QGuiApplication

from engine import (
    CancelToken,
    MemorySearchManager,
    SessionSummary,
    export_session,
    session_context,
    temporary_prefix,
    to_slug,
    tr,
    tr_count,
)
from gui.core.window_context import WindowContext
from gui.sharing.export import FileExport
from gui.sharing.save_file import note_paths, save_whole
from gui.viewer.external_programs import ExternalOpener


class SessionExports(FileExport):
    """Exports sessions to files, with secrets masked even if the window shows them."""

    def __init__(
        self, context: WindowContext, current_session: Callable[[], SessionSummary | None], external: ExternalOpener
    ) -> None:
        """`shown`: returns the open session, or None."""
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
            session = opened.everywhere.read_session(summary.path, reveal=False, cancel=token)
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
        limit = opened.settings.sessions.context_characters

        def done(text: str) -> None:
            self._job.done()
            QGuiApplication.clipboard().setText(text)
            notice = tr_count(
                "{count:,} character copied: paste it into another agent.",
                "{count:,} characters copied: paste them into another agent.",
                len(text),
            )
            self._banner.show_message(notice, "fine", key=self._key)

        self._job.put(
            self._jobs.read(
                lambda token: session_context(
                    opened.everywhere.read_session(summary.path, reveal=False, cancel=token), limit
                ),
                done,
                self._fail,
            )
        )

    def _open_session(self) -> SessionSummary | None:
        """Return the open session, or None after showing a message that there is none."""
        session = self._current_session()
        if session is None:
            self._banner.show_message(tr("No session is open: choose one first."), "off", key=self._key)
        return session

    def _fail(self, sentence: str) -> None:
        self._job.done()
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
