"""File access of a workspace: notes unchanged from disk, sessions with secrets masked."""

from pathlib import Path
from typing import TYPE_CHECKING

from engine.base.cancellation import CancelToken
from engine.base.errors import PathRefused
from engine.corpus.path_guard import PathGuard
from engine.records import FileText

if TYPE_CHECKING:
    from engine.corpus.numbered_lines import NumberedText
    from engine.memory.session_files import SessionFiles


class WorkspaceFiles:
    """Reads notes and sessions. Thread-safe. See `MemorySearchManager` for the errors raised."""

    def __init__(self, guard: PathGuard, sessions: "SessionFiles") -> None:
        self._guard = guard
        self._sessions = sessions

    def read_file(self, path: str, *, start: int | None = None, lines: int | None = None) -> FileText:
        try:
            if self._sessions.holds(path):
                return self._sessions.read_file(path, start=start, lines=lines)
            text = self.open_file(path)
        except FileNotFoundError:
            first = start or 1
            return FileText(
                path=path, text="", from_line=first, lines=0, truncated=False, next_from=None, total_lines=None
            )
        with text:
            return read_slice(text, path, start, lines)

    def open_file(self, path: str, *, cancel: CancelToken | None = None) -> "NumberedText":
        from engine.corpus.numbered_lines import NumberedText

        if self._sessions.holds(path):
            raise PathRefused  # the file on disk contains unmasked secrets
        return NumberedText.open(self._guard.locate(path), cancel)

    def locate(self, path: str) -> Path:
        if self._sessions.holds(path):
            return self._sessions.locate(path)
        return self._guard.locate(path)


def read_slice(text: "NumberedText", path: str, start: int | None, lines: int | None) -> FileText:
    r"""Return `lines` lines from `start`; None or 0 mean all lines and the first one. Empty beyond the end.

    A slice has "\\n" between its lines and no trailing line break; without `start` and `lines`, the text is unchanged.
    """
    if not start and not lines:
        return FileText(
            path=path,
            text=text.whole(),
            from_line=1,
            lines=text.line_count,
            truncated=False,
            next_from=None,
            total_lines=text.line_count,
        )
    first = max(1, start or 1)
    last = min(text.line_count, first + lines - 1) if lines and lines > 0 else text.line_count
    more = last < text.line_count
    return FileText(
        path=path,
        text=text.text(first, last) if first <= last else "",
        from_line=first,
        lines=max(0, last - first + 1),
        truncated=more,
        next_from=last + 1 if more else None,
        total_lines=text.line_count,
    )
