"""Rows of folders and exports, each with a check box or with a button to choose it, and a card to drop folders on."""

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QMimeData, QRectF, Qt, Signal, Slot
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFileDialog, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from engine import FileIssue, FoundSource, folder_name, tr, tr_count, tr_reason
from gui.style.theme import tokens
from gui.style.typography import FontSized
from gui.text.formatting import ago, short_path, size_text
from gui.text.plain_text import set_tip
from gui.text.right_to_left import margins
from gui.text.session_texts import agent_name
from gui.widgets.accessibility import LastInTabOrder
from gui.widgets.buttons import push_button
from gui.widgets.form_controls import CheckBox, indent
from gui.widgets.icons import icon_pixmap
from gui.widgets.labels import breakable, label
from gui.widgets.layouts import FlowLayout, clear_layout, column_of, row_of

_ICON = 32
EXPORTS = (".zip", ".json", ".jsonl", ".db")
"""Extensions of files that may contain sessions."""


def dropped_folder(data: QMimeData) -> Path | None:
    """Return the only item of a drag if it is a local folder, else None."""
    path = _only_path(data)
    return path if path is not None and path.is_dir() else None


def dropped_file(data: QMimeData) -> Path | None:
    """Return the only item of a drag if it is a local file, else None."""
    path = _only_path(data)
    return path if path is not None and path.is_file() else None


def _only_path(data: QMimeData) -> Path | None:
    urls = data.urls()
    return Path(urls[0].toLocalFile()) if len(urls) == 1 and urls[0].isLocalFile() else None


def dropped_sessions(data: QMimeData) -> list[Path]:
    """Return the local folders and exports in a drag; none if it contains anything else."""
    urls = data.urls()
    paths = [Path(url.toLocalFile()) for url in urls if url.isLocalFile()]
    fitting = [path for path in paths if path.is_dir() or path.suffix.lower() in EXPORTS]
    return fitting if len(fitting) == len(urls) else []


class DropZone(QWidget):
    """A dashed card on which a folder can be dropped."""

    dropped = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.setAcceptDrops(True)
        self._over = False
        self.choose = push_button(tr("Choose a folder…"), role="primary")
        self.choose.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        hint = label(tr("or drop a folder here"), "meta")
        hint.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        column = column_of(8, spacing=10, margins=(24, 28 + _ICON, 24, 24), parent=self)
        column.addWidget(self.choose, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addWidget(hint)

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = tokens(self.palette())
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        pen = QPen(colours.accent if self._over else colours.off, 1, Qt.PenStyle.DashLine)
        pen.setDashPattern([4, 4])
        painter.setPen(pen)
        painter.setBrush(colours.accent_ground if self._over else colours.base)
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 10, 10)
        drawing = icon_pixmap("folder", colours.muted, _ICON, self.devicePixelRatioF())
        painter.drawPixmap((self.width() - _ICON) // 2, 24, drawing)

    def _set_over(self, over: bool) -> None:
        self._over = over
        self.update()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if dropped_folder(event.mimeData()):
            event.acceptProposedAction()
            self._set_over(True)

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self._set_over(False)

    def dropEvent(self, event: QDropEvent) -> None:
        self._set_over(False)
        folder = dropped_folder(event.mimeData())
        if folder is not None:
            event.acceptProposedAction()
            self.dropped.emit(folder)


# --- Texts about folders of notes or sessions, as functions without widgets ------------------------------------------


def source_title(source: FoundSource) -> str:
    """Return a source's title: "Obsidian vault Garden", "OpenClaw: coder", "Claude Code".

    Other folders and files have their own name or, if it is an agent's ("codex") and sessions are in it, the agent's.
    """
    if source.kind == "obsidian-vault":
        return tr("Obsidian vault {name}", name=source.name)
    if source.kind == "logseq-graph":
        return tr("Logseq graph {name}", name=source.name)
    if not source.agent:
        name = folder_name(source.path)
        return agent_name(name) if source.files else name
    agent = agent_name(source.agent)
    if source.kind == "openclaw-workspace":
        agent = tr("{agent} workspace", agent=agent)
    return f"{agent}: {source.name}" if source.name else agent


def source_amount(source: FoundSource) -> str:
    """Return a source's size: "412 files, 118 MB, changed 3 h ago"."""
    if not source.files:
        return tr("no files") if source.complete else tr("more files than could be counted")
    size = size_text(source.bytes)
    if source.complete:
        amount = tr_count("{count:,} file, {size}", "{count:,} files, {size}", source.files, size=size)
    else:
        amount = tr_count(
            "more than {count:,} file, {size}", "more than {count:,} files, {size}", source.files, size=size
        )
    if source.newest is None:
        return amount
    return tr("{amount}, last changed {when}", amount=amount, when=ago(source.newest))


def issue_lines(issues: Sequence[FileIssue], home: str) -> str:
    """Return one line per issue, with its path."""
    return "\n".join(
        detail if path in detail else f"{short_path(path, home)}: {detail}"
        for path, detail in ((issue.path, tr_reason(issue.detail)) for issue in issues)
    )


# ---------------------------------------------------------------------------------------------------------------------


class SourceRows(QWidget):
    """Base class of lists of folders and exports; `show_sources` replaces all rows."""

    def __init__(self) -> None:
        super().__init__()
        self._home = str(Path.home())
        self._column = column_of(spacing=10, parent=self)

    def _clear(self) -> None:
        clear_layout(self._column)

    def _append(self, row: QWidget) -> None:
        end = LastInTabOrder(self)
        self._column.addWidget(row)
        end.append(row)
        row.show()  # immediately, not at the next layout: a box in it may get the focus

    def _details(self, source: FoundSource) -> QLabel:
        words = f"{source_amount(source)} · {short_path(source.path, self._home)}"
        return label(breakable(words), "meta", wrap=True)


class SourceCheckBoxes(FontSized, SourceRows):
    """A list of folders and exports with check boxes.

    Signals: changed: a box was ticked or unticked.
    """

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._boxes: list[CheckBox] = []
        self._indented: list[QVBoxLayout] = []

    def show_sources(self, sources: Sequence[FoundSource], ticked: Sequence[bool]) -> None:
        """Replace the check boxes: one for each source, checked as in `ticked`."""
        self._clear()
        self._boxes = []
        self._indented = []
        for source, on in zip(sources, ticked, strict=True):
            self._append(self._row(source, on))
        self.measure()

    @property
    def ticked(self) -> list[bool]:
        """For each row, whether its box is ticked."""
        return [box.isChecked() for box in self._boxes]

    def focus_row(self, row: int) -> None:
        if self._boxes:
            self._boxes[row].setFocus()

    def _row(self, source: FoundSource, on: bool) -> QWidget:
        box = CheckBox(source_title(source))
        box.setChecked(on)
        box.setAccessibleDescription(f"{source_amount(source)}, {source.path}")
        set_tip(box, source.path)
        box.toggled.connect(self.changed)
        self._boxes.append(box)
        row = QWidget()
        below = column_of(self._details(source))
        column_of(box, below, spacing=0, parent=row)
        self._indented.append(below)
        return row

    def measure(self) -> None:
        """Align the details of each row with the label of its check box."""
        for layout in self._indented:
            layout.setContentsMargins(margins(indent(), 0, 0, 0))


class SourceChoices(SourceRows):
    """A list of folders and exports, each with a button to choose it.

    Signals: chosen: the Path of a folder or export.
    """

    chosen = Signal(object)

    def __init__(self, verb: str, named: str) -> None:
        """`verb`: label of the buttons. `named`: their accessible name, a marked sentence with `{place}`."""
        super().__init__()
        self._verb = verb
        self._named = named

    def show_sources(self, sources: Sequence[FoundSource]) -> None:
        self._clear()
        for source in sources:
            self._append(self._row(source))

    def _row(self, source: FoundSource) -> QWidget:
        button = push_button(self._verb, name=tr(self._named, place=source_title(source)))
        button.setAccessibleDescription(f"{source_amount(source)}, {source.path}")
        set_tip(button, source.path)
        button.clicked.connect(lambda _checked: self.chosen.emit(Path(source.path)))
        words = column_of(label(source_title(source), wrap=True), self._details(source), spacing=1)
        row = QWidget()
        row_of((words, 1), button, spacing=12, parent=row)
        return row


class SessionChooserButtons(QWidget):
    """The buttons that ask for folders with sessions, and for exports, with the desktop's own dialogs.

    Signals: chosen: list of the paths.
    """

    chosen = Signal(object)

    def __init__(self, remark: str = "") -> None:
        """`remark`: text after the buttons."""
        super().__init__()
        self.folder, self.exports = QPushButton(tr("Add a folder…")), QPushButton(tr("Add an export…"))
        self.folder.setAccessibleName(tr("Add a folder with sessions"))  # unlike the settings' button for notes
        self.folder.clicked.connect(self._choose_folder)
        self.exports.clicked.connect(self._choose_exports)
        set_tip(self.exports, tr("The zip or JSON file that ChatGPT or Claude let you download"))
        flow = FlowLayout(8, self)
        for button in (self.folder, self.exports):
            flow.addWidget(button)
        if remark:
            flow.addWidget(label(remark, "meta"))
        self.setFocusProxy(self.folder)

    @Slot()
    def _choose_folder(self) -> None:
        name = QFileDialog.getExistingDirectory(self, tr("Add a folder with sessions"), str(Path.home()))
        if name:
            self.chosen.emit([name])

    @Slot()
    def _choose_exports(self) -> None:
        kinds = " ".join(f"*{ending}" for ending in EXPORTS)
        names, _ = QFileDialog.getOpenFileNames(
            self, tr("Add exports"), str(Path.home()), tr("Exported conversations ({endings})", endings=kinds)
        )
        if names:
            self.chosen.emit(names)
