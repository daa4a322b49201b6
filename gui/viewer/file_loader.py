"""Opens a file for the viewer in the background; a newer request replaces an older one."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from engine import CancelToken, MemorySearchManager, MnemoscopeError, tr
from gui.core.jobs import Job, Jobs
from gui.viewer.lines import FileLines
from gui.viewer.outline import Outline, title_of

MARKDOWN = (".md", ".markdown", ".mdown", ".mkd")
_SLOW_MS = 150
_TELLING_LINES = 60


@dataclass(frozen=True)
class OpenedFile:
    name: str
    """The file's stable name."""
    location: Path
    lines: FileLines
    outline: Outline
    title: str
    """Of a note; empty for other files."""
    language: str
    """Of the file's beginning, as the analysis names it; a single line is too short to tell."""
    keep: Callable[[], None]
    """Called by the receiver: from now on the receiver closes `lines`, not a cancelled job."""


class FileLoader(QObject):
    """One file at a time.

    Signals: opened: an `OpenedFile`. failed: why it could not be opened, as one sentence. slow: it takes long enough
    for a message.
    """

    opened = Signal(object)
    failed = Signal(str)
    slow = Signal()

    def __init__(self, jobs: Jobs, parent: QObject) -> None:
        super().__init__(parent)
        self._jobs = jobs
        self._job: Job | None = None
        self._clock = QTimer(self)
        self._clock.setSingleShot(True)
        self._clock.setInterval(_SLOW_MS)
        self._clock.timeout.connect(self.slow)

    def open(self, manager: MemorySearchManager, name: str) -> None:
        self.cancel()
        self._clock.start()
        self._job = self._jobs.read(lambda token: _open(manager, name, token), self._done, self._failed)

    def cancel(self) -> None:
        self._clock.stop()
        if self._job is not None:
            self._job.cancel()
            self._job = None

    def _done(self, opened: OpenedFile) -> None:
        self._clock.stop()
        self._job = None
        opened.keep()
        self.opened.emit(opened)

    def _failed(self, sentence: str) -> None:
        self._clock.stop()
        self._job = None
        self.failed.emit(sentence)


def _open(manager: MemorySearchManager, name: str, token: CancelToken) -> OpenedFile:
    """On a pool thread: locate, open and read the headings of a file."""
    try:
        location = manager.locate(name)
        lines = FileLines(manager.open_file(name, cancel=token))
    except FileNotFoundError as problem:
        raise MnemoscopeError(tr("{name} is not there any more.", name=name)) from problem
    # Registered first: if this job is cancelled, before or after its end, the file must be closed.
    keep = token.on_cancel(lines.close)
    markdown = name.lower().endswith(MARKDOWN)
    try:
        outline = Outline.of(lines, token) if markdown else Outline()
        title = title_of(lines, name) if markdown else ""
        language = _language(lines)
    except BaseException:
        lines.close()
        raise
    return OpenedFile(name, location, lines, outline, title, language, keep)


def _language(lines: FileLines) -> str:
    from engine import detect_language  # brings the analysis, which an empty window does not need

    return detect_language("\n".join(lines.lines(1, _TELLING_LINES)))
