"""Opens the file of the viewer's target in the background, and detects when a file has changed on disk."""

import logging
import re
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from PySide6.QtCore import QFileSystemWatcher, QObject, QTimer, Signal

from engine import (
    PARSER_FAULTS,
    CancelToken,
    MemorySearchManager,
    MemorySearchResult,
    MnemoscopeError,
    has_pages,
    is_document,
    page_of,
    split_name,
    tr,
)
from gui.core.jobs import JobOwner, Jobs, JobSlot
from gui.viewer.outline import Outline, title_of
from gui.viewer.text_lines import FileLines

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ViewTarget:
    """The file that the viewer should show, and the lines in it that a search found."""

    name: str
    """The file's stable name."""
    query: str = ""
    first: int | None = None
    """First and last line of the part that was found; None shows the file from its start."""
    last: int | None = None
    focus: int = 1
    """The line to have in view: the best one of the part."""
    title: str = ""
    heading: tuple[str, ...] = ()

    @classmethod
    def of_result(cls, result: MemorySearchResult, query: str) -> "ViewTarget":
        """Return the target for a result: its lines, with the first match in view."""
        lines_before = result.snippet[: result.match_ranges[0][0]].count("\n") if result.match_ranges else 0
        return cls(
            name=result.path,
            query=query,
            first=result.start_line,
            last=max(result.start_line, result.end_line),
            focus=max(result.start_line, result.snippet_line + lines_before),
            title=result.title,
            heading=result.heading,
        )

    @classmethod
    def of_lines(cls, name: str, line: int | None, end: int | None = None) -> "ViewTarget":
        """Return the target for lines of a file, both inclusive; for None, its start."""
        last = end if end is None or line is None else max(line, end)
        return cls(name=name, first=line, last=last or line, focus=line or 1)

    @property
    def part(self) -> tuple[int, int] | None:
        """First and last line of the part that the search found; None without one."""
        return None if self.first is None or self.last is None else (self.first, self.last)

    @property
    def identity(self) -> tuple[object, ...]:
        """A value that identifies the target: file, lines and query."""
        return self.name, self.first, self.last, self.query

    @property
    def file_title(self) -> str:
        return self.title or PurePosixPath(self.name).stem

    @property
    def breadcrumb(self) -> str:
        """The path of the file, followed by the headings above the part."""
        if has_pages(self.name):
            return " › ".join(filter(None, split_name(self.name)))
        headings = self.heading[1:] if self.heading[:1] == (self.title,) else self.heading
        return " › ".join([*filter(None, split_name(self.name)), *headings])


_WRITTEN = (".md", ".markdown", ".mdown", ".mkd", ".mdx")
MARKDOWN = (*_WRITTEN, ".canvas", ".ipynb")
"""Endings of Markdown, also of files that the engine returns as Markdown."""
_STRICT = re.compile(r'"strictLineBreaks"\s*:\s*true')
_MAX_SETTINGS = 256 * 1024
_SLOW_MS = 150
_LANGUAGE_LINES = 60


@dataclass(frozen=True)
class OpenedFile:
    """An open file with its structure, ready to be shown; `lines` have to be closed."""

    name: str
    """The file's stable name."""
    location: Path
    lines: FileLines
    outline: Outline
    title: str
    """Of a note; empty for other files."""
    language: str
    """Of the file's beginning, as the analysis names it; a single line is too short to tell."""
    in_vault: bool
    """Whether it is in a vault of Obsidian."""
    keep: Callable[[], None]
    """Called by the receiver: from now on the receiver closes `lines`, not a cancelled job."""
    problem: str = ""
    """The problem with reading the file, as a sentence to show."""
    line_breaks: bool = False
    """Whether each line of a paragraph begins a new line on the page."""

    @property
    def is_document(self) -> bool:
        """Whether the lines are the text of a document, and not those of the file."""
        return is_document(self.name)

    def crumb(self, path: str, line: int) -> str:
        """Return the path with the file's encoding; for a document, what its text at this line is, then the path."""
        if not self.is_document:
            return " · ".join(filter(None, (path, self.lines.encoding)))
        kind = tr("Text of the document")
        if page := self.page_at(line):
            kind = tr("Text of page {page} of {pages}", page=page, pages=page_of(self.outline.headings[-1].title))
        return f"{kind} · {path}"

    def page_at(self, line: int) -> int:
        """Return the number of the page with this line; 0 in a file without pages."""
        pages = self.outline.headings if has_pages(self.name) else ()
        if not pages:
            return 0
        return page_of(pages[max(0, bisect_right(pages, line, key=lambda heading: heading.line) - 1)].title)


class FileLoader(JobOwner, QObject):
    """Opens one file at a time in the background; a new request cancels the previous one.

    Signals:
        opened: an `OpenedFile`.
        failed: why it could not be opened, as one sentence.
        slow: it takes long enough for a message.
    """

    opened = Signal(object)
    failed = Signal(str)

    def __init__(self, jobs: Jobs, parent: QObject) -> None:
        super().__init__(parent)
        self._job = JobSlot(self, jobs)
        self._clock = QTimer(self, singleShot=True, interval=_SLOW_MS)
        self.slow = self._clock.timeout

    def open(self, manager: MemorySearchManager, name: str) -> None:
        self.cancel()
        self._clock.start()
        self._job.read(lambda token: _open(manager, name, token), self._done, self._failed)

    def cancel(self) -> None:
        self._clock.stop()
        self._job.cancel()

    def _done(self, opened: OpenedFile) -> None:
        self._clock.stop()
        opened.keep()
        self.opened.emit(opened)

    def _failed(self, sentence: str) -> None:
        self._clock.stop()
        self.failed.emit(sentence)


def _open(manager: MemorySearchManager, name: str, token: CancelToken) -> OpenedFile:
    """Locate and open a file, and read its headings. On a pool thread."""
    try:
        location = manager.locate(name)
        lines = FileLines(manager.open_file(name, cancel=token))
    except FileNotFoundError as problem:
        raise MnemoscopeError(tr("{name} no longer exists.", name=name)) from problem
    # Registered first: if this job is cancelled, before or after its end, the file must be closed.
    keep = token.on_cancel(lines.close)
    try:
        markdown = name.lower().endswith(MARKDOWN)
        outline, title, unread = None, "", ""
        try:
            outline = Outline.of(lines, token) if markdown else Outline.of_markup(lines, name, token)
            title = title_of(lines, name) if outline is not None else ""
        except PARSER_FAULTS as error:
            token.checkpoint()  # a cancelled job has closed the file
            log.warning("The structure of a file could not be read: %s", type(error).__name__)
            unread = tr("The structure of this file can't be read completely.")
        language = _language(lines)
    except BaseException:
        lines.close()
        raise
    vault = markdown and in_vault(location)
    breaks = name.lower().endswith(".txt") or (name.lower().endswith(_WRITTEN) and keeps_breaks(location))
    return OpenedFile(
        name, location, lines, outline or Outline(), title, language, vault, keep, unread, line_breaks=breaks
    )


def in_vault(location: Path) -> bool:
    """Return whether a folder above the file is an Obsidian vault."""
    return _folder_with(".obsidian", location) is not None


def keeps_breaks(location: Path) -> bool:
    """Return whether the program that a note is written with shows a single line break as one.

    Logseq does, and Obsidian unless its setting *Strict line breaks* is on.
    """
    vault, graph = _folder_with(".obsidian", location), _folder_with("logseq/config.edn", location)
    if vault is None or (graph is not None and vault in graph.parents):
        return graph is not None
    try:
        with (vault / ".obsidian" / "app.json").open(encoding="utf-8") as file:
            return _STRICT.search(file.read(_MAX_SETTINGS)) is None
    except (OSError, UnicodeDecodeError):
        return True


def _folder_with(name: str, location: Path) -> Path | None:
    """Return the nearest folder above a file that contains a file or folder of this name; None if none does."""
    return next((folder for folder in location.parents if (folder / name).exists()), None)


def _language(lines: FileLines) -> str:
    from engine import language_of_note  # loads the text analysis, which an empty window doesn't need

    return language_of_note("\n".join(lines.lines(1, _LANGUAGE_LINES)))


# --- Detects that the shown file has changed, was replaced or deleted ------------------------------------------------

_DEBOUNCE_MS = 200
_ABSENCES = 5
"""Failed checks before a file counts as deleted: editors that replace a file leave a gap."""

Stamp = tuple[int, int, int]


class FileWatch(QObject):
    """Reports when a file on disk changes or is deleted, or the entries of a folder.

    Signals:
        changed: it has other content now, or exists again.
        vanished: it was deleted.
    """

    changed = Signal()
    vanished = Signal()

    def __init__(self, parent: QObject, *, quiet: bool = True) -> None:
        """`quiet`: report a change only after the file has stopped changing, instead of repeatedly meanwhile."""
        super().__init__(parent)
        self._quiet = quiet
        self._watcher = QFileSystemWatcher(self)
        self._watcher.fileChanged.connect(self._restart_timer)
        self._watcher.directoryChanged.connect(self._restart_timer)
        self._timer = QTimer(self, singleShot=True, interval=_DEBOUNCE_MS)
        self._timer.timeout.connect(self._check)
        self._path: Path | None = None
        self._stamp: Stamp | None = None
        self.last_seen: Stamp | None = None
        """Time, size and identity of the file when it was last there."""
        self._absences = 0

    def follow(self, path: Path | None) -> None:
        """Watch the file or folder `path` for changes from now on; None stops."""
        self._timer.stop()
        for watched in (self._watcher.files(), self._watcher.directories()):
            if watched:
                self._watcher.removePaths(watched)
        self._path = path
        self._absences = 0
        self._stamp = self.last_seen = self._read_stamp()
        if path is not None:
            self._watch()

    def check_again(self) -> None:
        """Check whether a deleted file exists again: its folder can't be watched if it was deleted too."""
        if self._stamp is None:
            self._restart_timer()

    def _restart_timer(self) -> None:
        if self._path is not None and (self._quiet or not self._timer.isActive()):
            self._timer.start()

    def _check(self) -> None:
        """Compare the file with its last known state, after it has been quiet for a moment, and emit the change."""
        stamp = self._read_stamp()
        if stamp is None:
            self._absences += 1
            if self._absences < _ABSENCES:
                self._timer.start()
            elif self._absences == _ABSENCES:
                self._stamp = None
                self.vanished.emit()
            self._watch()
            return
        self._absences = 0
        self._watch()
        if stamp != self._stamp:
            self._stamp = self.last_seen = stamp
            self.changed.emit()

    def _watch(self) -> None:
        """Watch the path again, since replacing a file ends the watch; if the file is missing, watch its folder."""
        if self._path is None:
            return
        if self._path.exists():
            if self._watcher.directories():
                self._watcher.removePaths(self._watcher.directories())
            self._watcher.addPath(str(self._path))
        elif self._path.parent.is_dir():
            self._watcher.addPath(str(self._path.parent))

    def _read_stamp(self) -> Stamp | None:
        if self._path is None:
            return None
        try:
            state = self._path.stat()
        except OSError:
            return None
        return state.st_mtime_ns, state.st_size, state.st_ino
