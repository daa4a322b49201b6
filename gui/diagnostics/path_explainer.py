"""A field that explains why a file is or isn't found, with remedies."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QMimeData, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent, QKeyEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from engine import READABLE_EXTENSIONS, MemorySearchManager, PathState, marked, tr, tr_reason
from gui.core.capabilities import Gate, capabilities, why_missing
from gui.core.jobs import JobOwner, Jobs, JobSlot
from gui.text.formatting import exact, passages_text, size_text, vectors_text
from gui.text.status_texts import State
from gui.widgets.buttons import push_button
from gui.widgets.icons import add_clear_button
from gui.widgets.labels import breakable, label
from gui.widgets.layouts import column_of
from gui.widgets.state_dot import StateLabel

# --- The status of a path for display: a word with its dot, a sentence, the details as a tooltip ---------------------

ACTION_WORDS = {
    "sync": marked("Update now"),
    "settings": marked("Open the settings…"),
    "add": marked("Add this path to the index…"),
    "open": marked("Open the file"),
}
"""Remedy -> label of its button."""

_WORDS: dict[str, tuple[State, str]] = {
    "indexed": ("fine", marked("indexed")),
    "pending": ("working", marked("waiting")),
    "failed": ("degraded", marked("failed")),
    "excluded": ("off", marked("skipped")),
    "outside": ("off", marked("outside the index")),
    "too-large": ("off", marked("too large")),
    "not-text": ("degraded", marked("not text")),
    "deleted": ("working", marked("deleted")),
    "missing": ("off", marked("not found")),
    "folder": ("fine", marked("folder")),
}


@dataclass(frozen=True)
class PathDiagnostic:
    """Whether a path is indexed: a word on its state, and a sentence with the reason."""

    state: State
    value: str
    sentence: str
    tip: str


def path_diagnostic(state: PathState) -> PathDiagnostic:
    """Return the diagnostic to show for a path."""
    dot, word = _WORDS[state.state]
    word = tr(word)
    found_by_name = not {"/", "\\"}.intersection(state.requested)
    base = state.path.rpartition("/")[2] or state.file.rpartition("/")[2] or state.requested
    name = (state.path if found_by_name else "") or base
    return PathDiagnostic(dot, f"{word}: {name}" if name.strip() else word, state.sentence, "\n".join(_details(state)))


def _details(state: PathState) -> Iterator[str]:
    yield state.file
    if state.origin is not None and state.origin.key:
        yield f"{state.origin.key}: {state.origin.value}"
    if state.modified is not None:
        texts = [
            passages_text(state.chunks),
            *([] if state.vectors is None else [vectors_text(state.vectors)]),
            size_text(state.size),
        ]
        yield tr("In the index: {details}", details=", ".join(texts))
        yield tr("Changed {when}", when=exact(state.modified))
    if state.contents is not None:
        yield from (f"{issue.path}: {tr_reason(issue.detail)}" for issue in state.contents.skipped)


def excluded_type(state: PathState) -> str:
    """Return the extension that excludes a text file, such as ".txt"; empty if something else excludes it."""
    suffix = Path(state.file).suffix.lower()
    excluded = state.rule == "extension" and state.source == "memory"
    return suffix if excluded and suffix in READABLE_EXTENSIONS else ""


# ---------------------------------------------------------------------------------------------------------------------

_TITLE = marked("Why is this file not found?")
_LONGEST = 4096
_TYPING_MS = 400


def dropped_path(data: QMimeData) -> str:
    """Return the path of the first file in a drag, or else its text; empty if it has neither."""
    local = (url.toLocalFile() for url in data.urls() if url.isLocalFile())
    return next(local, data.text().strip().partition("\n")[0].strip())


class _PathEdit(QLineEdit):
    """Line edit for a path; a dropped file replaces the text."""

    dropped = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setMaxLength(_LONGEST)
        self.setPlaceholderText(tr("Path, name, or dropped file"))
        self.setAccessibleName(tr(_TITLE))
        add_clear_button(self)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if dropped_path(event.mimeData()):
            event.acceptProposedAction()

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        if path := dropped_path(event.mimeData()):
            event.acceptProposedAction()
            self.dropped.emit(path)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.text():
            self.clear()
        else:
            super().keyPressEvent(event)


class PathExplainer(JobOwner, QWidget):
    """A field for a path and the explanation below it, which follows typing; a change of the index updates it.

    Signals:
        action_requested: the remedy and its PathState.
        type_requested: file extension to index, too.
    """

    action_requested = Signal(str, object)
    type_requested = Signal(str)

    def __init__(self, jobs: Jobs, config: Path | None = None) -> None:
        super().__init__()
        self._config = config
        self._job = JobSlot(self, jobs)
        self._manager: MemorySearchManager | None = None
        self._moment: object = None
        self._explained_text = ""
        self._state: PathState | None = None
        self.edit = _PathEdit()
        Gate(self.edit, "path-states")
        self._unsupported = label("", "meta", wrap=True)
        self.answer = StateLabel()
        self.sentence = label("", "meta", wrap=True)
        self.sentence.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.button = push_button(role="flush")
        title = label(tr(_TITLE), "section", wrap=True)
        column = column_of(title, self.edit, self._unsupported, self.answer, self.sentence, spacing=6, parent=self)
        column.addWidget(self.button, 0, Qt.AlignmentFlag.AlignLeft)
        self._typing = QTimer(self, singleShot=True, interval=_TYPING_MS)
        self._typing.timeout.connect(self._explain)
        self.edit.textEdited.connect(self._typing.start)
        self.edit.returnPressed.connect(self._explain)
        self.edit.textChanged.connect(self._edited)
        self.edit.dropped.connect(self.enter_path)
        self.button.clicked.connect(self._act)
        capabilities().changed.connect(self._follow_features)
        self._follow_features()

    def set_manager(self, manager: MemorySearchManager | None, *, reopening: bool = False) -> None:
        """Set the memory that explains paths; the text of the field stays.

        `reopening`: the workspace is reopened, so the explanation stays, too, until it is updated.
        """
        self._manager = manager
        if not reopening:
            self._clear()
        elif self._explained_text:
            self._start(self._explained_text)

    @Slot()
    def _follow_features(self) -> None:
        """Show the reason if the backend can't explain paths."""
        reason = why_missing("path-states")
        self._unsupported.setText(breakable(reason))
        self._unsupported.setVisible(bool(reason))
        if reason:
            self._clear()

    @Slot(str)
    def enter_path(self, path: str) -> None:
        """Enter `path` in the field and explain it."""
        self.edit.setText(path)
        self._explain()

    def refresh(self, moment: object) -> None:
        """Update the explanation if `moment`, which identifies a state of the index, has changed."""
        before, self._moment = self._moment, moment
        if before is not None and moment != before and self._state is not None:
            self._start(self._explained_text)

    @Slot()
    def _explain(self) -> None:
        self._typing.stop()
        text = self.edit.text()
        if not text.strip() or self._manager is None or not self.edit.isEnabled():
            return
        self._clear()
        self._show("working", tr("Checking the file…"), "")
        self._start(text)

    def _start(self, text: str) -> None:
        self._job.cancel()
        manager, config = self._manager, self._config
        if manager is None:
            return
        self._explained_text = text
        self._job.read(
            lambda token: manager.explain_path(text, config=config, cancel=token), self._answered, self._failed
        )

    def _answered(self, state: PathState) -> None:
        self._state = state
        diagnostic = path_diagnostic(state)
        self._show(diagnostic.state, diagnostic.value, diagnostic.sentence, diagnostic.tip)
        suffix = excluded_type(state)
        words = tr(ACTION_WORDS[state.remedy]) if state.remedy else ""
        if suffix:
            words = tr("Include {suffix} files", suffix=suffix)
        self.button.setText(words)
        self.button.setAccessibleName(f"{words}: {state.path or state.file}")
        self._show_button(bool(words))

    def _failed(self, sentence: str) -> None:
        self._clear()
        self._show("degraded", tr("not checked"), sentence)

    def _show(self, state: State | None, word: str, sentence: str, tip: str = "") -> None:
        self.answer.show_state(state, word, tip)
        self.answer.show()
        self.sentence.setText(breakable(sentence))
        self.sentence.setVisible(bool(sentence))
        self.setAccessibleDescription(f"{word}. {sentence}".strip())

    def _show_button(self, shown: bool) -> None:
        """Show or hide the button; the field takes its focus."""
        if not shown and self.button.hasFocus():
            self.edit.setFocus()
        self.button.setVisible(shown)

    @Slot(str)
    def _edited(self, text: str) -> None:
        if text != self._explained_text:
            self._clear()

    def _clear(self) -> None:
        self._job.cancel()
        self._state = None
        self._explained_text = ""
        self.answer.hide()
        self.sentence.hide()
        self._show_button(False)
        self.setAccessibleDescription("")

    @Slot()
    def _act(self) -> None:
        if self._state is not None and (suffix := excluded_type(self._state)):
            self.type_requested.emit(suffix)
        elif self._state is not None and self._state.remedy is not None:
            self.action_requested.emit(self._state.remedy, self._state)
