"""The page to choose which sessions a workspace searches: those in its settings, and others found on this machine."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from posixpath import commonpath, dirname

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QKeyEvent
from PySide6.QtWidgets import QFrame, QWidget

import engine
from engine import CancelToken, FileIssue, FoundSource, MemorySearchManager, marked, tr, tr_count
from gui.core.jobs import Jobs, JobSlot
from gui.sources.folder_rows import SessionChooserButtons, SourceCheckBoxes, dropped_sessions, issue_lines
from gui.widgets.buttons import push_button
from gui.widgets.labels import breakable, label
from gui.widgets.layouts import column_of, row_of, scrolling_column

NOTHING = marked("No sessions of AI agents were found on this machine.")
LOOKING = marked("Looking for sessions of AI agents on this machine…")
LEAVE = marked("Unticked sessions leave the index; the files themselves stay unchanged.")
_WIDTH = 640
_UNREAD = ("broken", "unknown-format", "unreadable")
"""Rules by which the last update did not read a file with the name of a transcript."""
_MAX_UNREAD = 5


@dataclass(frozen=True)
class Source:
    """A folder or export of sessions, and whether it is ticked."""

    text: str
    """The path as written in the settings."""
    found: FoundSource
    ticked: bool


@dataclass(frozen=True)
class Choice:
    """The session folders and exports offered on the page, and which of them are ticked."""

    listed: tuple[str, ...]
    """Paths listed in the settings, as written there."""
    sources: tuple[Source, ...]
    issues: tuple[FileIssue, ...]

    def tick(self, ticked: Sequence[bool]) -> "Choice":
        """Return the choice with these boxes ticked."""
        sources = tuple(replace(source, ticked=on) for source, on in zip(self.sources, ticked, strict=True))
        return replace(self, sources=sources)

    def add(self, added: Sequence[Source], issues: Sequence[FileIssue]) -> "Choice":
        """Return the choice with `added` sources, ticked; those in the list already are only ticked."""
        added_keys = {_key(source.found.path) for source in added}
        known = {_key(source.found.path) for source in self.sources}
        sources = tuple(
            replace(source, ticked=source.ticked or _key(source.found.path) in added_keys) for source in self.sources
        )
        new = tuple(source for source in added if _key(source.found.path) not in known)
        return replace(self, sources=sources + new, issues=(*self.issues, *issues))

    @property
    def folders(self) -> tuple[str, ...]:
        """The paths to save in the settings: all that are ticked, except folders inside another ticked one."""
        ticked = [source for source in self.sources if source.ticked]
        return tuple(
            source.text for source in ticked if not any(_is_inside(source.found, other.found) for other in ticked)
        )

    @property
    def changed(self) -> bool:
        return any(source.ticked != (source.text in self.listed) for source in self.sources)

    @property
    def removes(self) -> bool:
        """Whether a folder that is in the settings was unticked."""
        return any(not source.ticked and source.text in self.listed for source in self.sources)


class SourcesPage(QFrame):
    """The page to choose session folders. Nothing is indexed or saved until the user presses the button.

    Signals:
        saved: Path of the workspace whose settings now list the choice.
        back_requested: leave without changes.
    """

    saved = Signal(object)
    back_requested = Signal()

    def __init__(self, jobs: Jobs, config: Path | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "page")
        self.setAcceptDrops(True)
        self._jobs = jobs
        self._config = config
        self._folder = Path()
        self._choice: Choice | None = None
        self._job = JobSlot(self, jobs)
        self._title = label(tr("Sessions of AI agents"), "title", wrap=True)
        self._storage_label = label("", wrap=True)
        self._state = label("", "meta", wrap=True)
        self._boxes = SourceCheckBoxes()
        self._boxes.changed.connect(self._tick)
        self._leave = label(tr(LEAVE), "meta", wrap=True)
        self._problem = label("", "degraded", wrap=True)
        self._save = push_button(tr("Save and index"), self._accept, role="primary")
        self._back = push_button(tr("Back"), self._leave_page)
        self._chooser_buttons = SessionChooserButtons(tr("or drop session folders here"))
        self._chooser_buttons.chosen.connect(self._add)
        self._lay_out()

    def _lay_out(self) -> None:
        found = self._title, self._storage_label, 4, self._state, self._boxes
        more = self._chooser_buttons, self._leave, self._problem
        buttons = row_of(self._save, self._back, None, spacing=8)
        column = column_of(*found, 4, *more, 4, buttons, None, spacing=12, margins=(0, 24, 0, 20))
        column_of(scrolling_column(column, _WIDTH, self), parent=self)

    # --- display ----------------------------------------------------------------------------------------------------

    @property
    def ready(self) -> bool:
        """Whether no search and no saving is running."""
        return not self._job.busy

    def begin(self, folder: Path, manager: MemorySearchManager | None = None) -> None:
        """Show the sources in the settings of a workspace with this memory, then search for others on this machine."""
        self._folder = folder
        self._choice = None
        self._boxes.show_sources((), ())
        name = breakable(folder.name or str(folder))
        self._storage_label.setText(
            tr(
                "Ticked sessions are searched together with the folder {name}. Nothing is read before you "
                "save, and nothing is ever written there.",
                name=name,
            )
        )
        self._problem.hide()
        self._show(tr(LOOKING))
        config = self._config

        def work(token: CancelToken) -> Choice:
            return find_other_sources(engine.load_settings(folder, config=config).sessions.folders, manager, token)

        self._job.read(work, self._set_choice, self._fail)
        self._back.setFocus()

    def stop(self) -> None:
        """Cancel the running search."""
        self._job.cancel()

    def _set_choice(self, choice: Choice) -> None:
        """Show these sources, and how they differ from the settings."""
        self._choice = choice
        self._boxes.show_sources(
            [source.found for source in choice.sources], [source.ticked for source in choice.sources]
        )
        self._show_issues(choice.issues)
        self._show("" if choice.sources else tr(NOTHING))
        self._boxes.focus_row(0)

    def _fail(self, sentence: str) -> None:
        self._problem.setText(breakable(sentence))
        self._problem.show()
        self._show("")

    def _show_issues(self, issues: Sequence[FileIssue]) -> None:
        self._problem.setText(breakable(issue_lines(issues, str(Path.home()))))
        self._problem.setVisible(bool(issues))

    def _show(self, state: str) -> None:
        self._state.setText(state)
        self._state.setVisible(bool(state))
        choice = self._choice
        self._save.setEnabled(choice is not None and choice.changed)
        self._leave.setVisible(choice is not None and choice.removes)
        self._chooser_buttons.setEnabled(choice is not None)

    # --- selection --------------------------------------------------------------------------------------------------

    @Slot()
    def _tick(self) -> None:
        if self._choice is not None:
            self._choice = self._choice.tick(self._boxes.ticked)
            self._show("")

    @Slot(object)
    def _add(self, names: Sequence[str]) -> None:
        if self._choice is None:
            return

        def work(token: CancelToken) -> tuple[list[Source], list[FileIssue]]:
            return measure([os.path.realpath(name) for name in names], token)

        self._job.read(work, self._add_sources, self._fail)

    def _add_sources(self, added: tuple[list[Source], list[FileIssue]]) -> None:
        if self._choice is not None:  # the user may have changed its ticks meanwhile
            self._set_choice(self._choice.add(*added))
            self._boxes.focus_row(-1)  # the last one that was added

    @Slot()
    def _accept(self) -> None:
        choice, folder, config = self._choice, self._folder, self._config
        if choice is None or not choice.changed:
            return
        self._save.setEnabled(False)

        def work(_: CancelToken) -> Path:
            engine.save_setting("sessions.folders", choice.folders, workspace=folder, config=config)
            return folder

        self._jobs.save(work, self.saved.emit, self._fail)

    @Slot()
    def _leave_page(self) -> None:
        self.stop()
        self.back_requested.emit()

    # --- Qt ---------------------------------------------------------------------------------------------------------

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self._leave_page()
        else:
            super().keyPressEvent(event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if self._choice is not None and dropped_sessions(event.mimeData()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        paths = dropped_sessions(event.mimeData())
        if paths:
            event.acceptProposedAction()
            self._add([str(path) for path in paths])


def find_other_sources(listed: Sequence[str], manager: MemorySearchManager | None, token: CancelToken) -> Choice:
    """Return the sources `listed`, ticked, then others found on this machine. Raises `Cancelled`.

    The issues include the transcripts that the last update of this memory did not read.
    """
    sources, issues = measure(listed, token)
    issues += () if manager is None else unread_transcripts(manager.status().skipped_files, engine.store_names(listed))
    found_sources = engine.find_sources(cancel=token)
    known = {_key(source.path): source for source in found_sources.sources if source.kind == "sessions"}
    once = {_key(source.found.path): source for source in sources}
    own = [replace(source, found=known.pop(key, source.found)) for key, source in once.items()]
    others = [
        Source(found.path, found, ticked=False)
        for found in known.values()
        if not any(_is_inside(found, source.found) for source in own)
    ]
    return Choice(tuple(listed), (*own, *others), (*issues, *found_sources.issues))


def unread_transcripts(skipped: Sequence[FileIssue], stores: Sequence[str]) -> list[FileIssue]:
    """Return the first files named like transcripts that were not read, and an issue that counts the others.

    `stores`: names of the listed folders; notes may be in a folder called sessions, too.
    """
    unread = [issue for issue in skipped if issue.rule in _UNREAD and engine.is_in_store(issue.path, stores)]
    named, rest = unread[:_MAX_UNREAD], unread[_MAX_UNREAD:]
    if rest:
        more = tr_count("{count:,} more file was not read.", "{count:,} more files were not read.", len(rest))
        folder = commonpath([dirname(issue.path) for issue in rest])
        named.append(FileIssue(path=folder, rule=rest[0].rule, detail=more))
    return named


def measure(folders: Sequence[str], token: CancelToken) -> tuple[list[Source], list[FileIssue]]:
    """Return folders and exports named by the user as ticked sources, with their sizes."""
    sources: list[Source] = []
    issues: list[FileIssue] = []
    for text in folders:
        measured = engine.measure_sessions((text,), cancel=token)
        sources += [Source(text, source, ticked=True) for source in measured.sources]
        issues += measured.issues
    return sources, issues


def _key(path: str) -> str:
    return os.path.normcase(path)


def _is_inside(inner: FoundSource, outer: FoundSource) -> bool:
    return _key(inner.path).startswith(_key(outer.path).rstrip(os.sep) + os.sep)
