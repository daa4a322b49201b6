"""The second page of the first start: shows what would be indexed, before any file is read."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from engine import PreviewFolder, PreviewKind, WorkspacePreview, number, tr, tr_count, tr_reason
from gui.style.typography import FontSized, Resized
from gui.text.formatting import short_path, size_text
from gui.text.plain_text import set_tip
from gui.text.status_texts import INDEXED_ELSEWHERE, rule_text, skipped_count
from gui.widgets.accessibility import LastInTabOrder, mark_position
from gui.widgets.buttons import push_button
from gui.widgets.form_controls import Chip
from gui.widgets.labels import ElidedLabel, breakable, label
from gui.widgets.layouts import FlowLayout, PageStack, column_of, column_page, keeping_focus, row_of, scrolling_column
from gui.widgets.table import Column, IssuesTable, RecordsTable

_WIDTH = 760
_TYPING_MS = 300
_WAITING_MS = 400
"""Time after which a new preview is announced; a faster one would only make the text flicker."""
_MIN_ROWS = 5
"""Rows of the table and its header; with less room, the page scrolls."""
_DETAIL_ROWS = 2
"""Rows of the table of skipped files that its detail takes."""
_RULES_NAMED = 3


def is_empty(preview: WorkspacePreview) -> bool:
    """Return whether there is nothing to choose from: neither files, skipped ones included, nor sessions."""
    return not (preview.files or preview.kinds or preview.skipped or preview.session_files)


def indexed_text(preview: WorkspacePreview) -> str:
    """Return a sentence on the number and size of the files that would be indexed."""
    if is_empty(preview):
        return tr("This folder is empty. Choose a folder that contains notes.")
    if not (preview.files or preview.kinds or preview.skipped):
        return tr("This folder is empty.")
    if not preview.files:
        return tr("No file in this folder would be indexed.")
    size = size_text(preview.bytes)
    if preview.layout == "openclaw":
        return tr_count(
            "{count:,} file, {size}: MEMORY.md and the folder memory, as an assistant's workspace keeps them.",
            "{count:,} files, {size}: MEMORY.md and the folder memory, as an assistant's workspace keeps them.",
            preview.files,
            size=size,
        )
    if preview.program == "obsidian":
        return tr_count(
            "Obsidian vault: {count:,} file, {size} in this folder and the folders inside it.",
            "Obsidian vault: {count:,} files, {size} in this folder and the folders inside it.",
            preview.files,
            size=size,
        )
    if preview.program == "logseq":
        return tr_count(
            "Logseq graph: {count:,} file, {size} in this folder and the folders inside it.",
            "Logseq graph: {count:,} files, {size} in this folder and the folders inside it.",
            preview.files,
            size=size,
        )
    return tr_count(
        "{count:,} file, {size} in this folder and the folders inside it.",
        "{count:,} files, {size} in this folder and the folders inside it.",
        preview.files,
        size=size,
    )


def session_files_text(preview: WorkspacePreview) -> str:
    """Return a sentence about the session files to index; empty if there are none."""
    if not preview.session_files:
        return ""
    return tr_count(
        "Plus {count:,} AI session file, {size}.",
        "Plus {count:,} AI session files, {size}.",
        preview.session_files,
        size=size_text(preview.session_bytes),
    )


def skipped_text(preview: WorkspacePreview) -> str:
    """Return a sentence about the rules that skip files, most frequent first; the table has every file."""
    rules = Counter(issue.rule for issue in preview.skipped).most_common()
    if not rules:
        return tr("No files are skipped.")
    named = ", ".join(rule_text(rule) for rule, _ in rules[:_RULES_NAMED])
    rest = len(rules) - _RULES_NAMED
    if rest <= 0:
        return tr_count("Reason: {rules}.", "Reasons: {rules}.", len(rules), rules=named)
    return tr_count("Reasons: {rules} and {count:,} more.", "Reasons: {rules} and {count:,} more.", rest, rules=named)


def sessions_only_text(preview: WorkspacePreview) -> str:
    """Return the number of sessions to index, and how many other workspaces have already."""
    elsewhere = [tr_reason(issue.detail) for issue in preview.skipped if issue.rule == INDEXED_ELSEWHERE]
    if not preview.session_files:
        return " ".join((tr("No session would be indexed."), *elsewhere))
    count, size = preview.session_files, size_text(preview.session_bytes)
    own = tr_count("{count:,} AI session file, {size}.", "{count:,} AI session files, {size}.", count, size=size)
    return " ".join((own, *elsewhere))


def _shown(path: Path) -> str:
    return short_path(str(path), str(Path.home()))


def storage_text(index_folder: str, *, sessions_only: bool = False) -> str:
    """Return a sentence on where the index is stored."""
    if sessions_only:
        return tr("Nothing is ever written to the session files. The index is stored in {folder}.", folder=index_folder)
    return tr("Indexing writes nothing to your folder. The index is stored in {folder}.", folder=index_folder)


def _columns() -> tuple[Column[PreviewFolder], ...]:
    return (
        Column[PreviewFolder](tr("Folder"), 0, lambda row: row.path, lambda row: _folder_name(row.path)),
        Column[PreviewFolder](tr("Files"), 14, lambda row: row.files, lambda row: number(row.files), figures=True),
        Column[PreviewFolder](tr("Size"), 14, lambda row: row.bytes, lambda row: size_text(row.bytes), figures=True),
    )


def _folder_name(path: str) -> str:
    return tr("(files directly in this folder)") if path == "." else path


class KindChips(QWidget):
    """A chip for each kind of file in a folder, with the number of files; a click includes or excludes the kind.

    Signal: changed: the user chose other extensions.
    """

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._chips: dict[str, Chip] = {}
        self._chip_area = QWidget()
        self._flow = FlowLayout(8, self._chip_area)
        mark_position(self._chip_area)
        self._missing = label("", "meta", wrap=True)
        self._missing.hide()
        column_of(self._chip_area, self._missing, spacing=8, parent=self)
        self.extensions: tuple[str, ...] = ()
        """Extensions to index, also those that no file has."""

    def begin(self, extensions: Sequence[str]) -> None:
        """Set the file extensions that are included at first."""
        self.extensions = tuple(extensions)
        for ending, chip in self._chips.items():
            chip.setChecked(ending in extensions)

    def show_kinds(self, kinds: Sequence[PreviewKind]) -> None:
        """Show a chip for each kind; existing chips keep their positions."""
        numbers = {kind.extension: kind.files for kind in kinds if kind.extension}
        for ending in self._chips.keys() - numbers.keys():
            self._chips[ending].hide()
        for ending, count in numbers.items():
            if ending not in self._chips:
                self._chips[ending] = self._chip(ending)
            chip = self._chips[ending]
            chip.setText(tr("{ending} {count:,}", ending=ending, count=count))
            chip_text = tr_count(
                "Index {count:,} {ending} file", "Index {count:,} {ending} files", count, ending=ending
            )
            chip.setAccessibleName(chip_text)
            set_tip(chip, chip_text)
            chip.show()
        missing = dict.fromkeys(tr_reason(kind.missing) for kind in kinds if kind.missing)
        self._missing.setText(breakable("\n".join(missing)))
        self._missing.setVisible(bool(missing))
        self.updateGeometry()

    def _chip(self, ending: str) -> Chip:
        chip = Chip(ending)
        chip.setChecked(ending in self.extensions)
        chip.clicked.connect(lambda on, ending=ending: self._clicked(ending, on))
        end = LastInTabOrder(self._chip_area)
        self._flow.addWidget(chip)
        end.append(chip)
        return chip

    def _clicked(self, ending: str, on: bool) -> None:
        if not any(chip.isChecked() for chip in self._chips.values() if not chip.isHidden()):
            self._chips[ending].setChecked(True)  # something must be indexed
            return
        others = tuple(known for known in self.extensions if known != ending)
        self.extensions = (*others, ending) if on else others
        self.changed.emit()


class PreviewPage(Resized, FontSized, QFrame):
    """Shows what would be indexed in one folder; the user can change file types and patterns.

    Signals:
        changed: extensions or patterns differ; update the preview.
        back_requested: return to the previous page.
    """

    changed = Signal()
    back_requested = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setProperty("role", "page")
        self._was_shown = self._sessions_only = False
        self._title = label("", "title", wrap=True)
        self._path = ElidedLabel(mode=Qt.TextElideMode.ElideMiddle)
        self._path.setProperty("role", "meta")
        self._sum = label("", "strong", wrap=True)
        self._sessions = label("", wrap=True)
        self._problem = label("", "degraded", wrap=True)
        self._storage_label = label("", "meta", wrap=True)
        self._typing_timer = QTimer(self, singleShot=True, interval=_TYPING_MS)
        self._typing_timer.timeout.connect(self.changed)
        self._waiting_timer = QTimer(self, singleShot=True, interval=_WAITING_MS)
        self._waiting_timer.timeout.connect(self._announce_waiting)

        self._column = column = QVBoxLayout()
        column.setContentsMargins(0, 24, 0, 10)
        column.setSpacing(10)
        self._scroll = scrolling_column(column, _WIDTH, self)
        column.addWidget(self._title)
        column.addWidget(self._path)
        column.addSpacing(6)
        column.addWidget(self._sum)
        column.addWidget(self._sessions)
        self._file_widgets = self._options(), self._table_chips(), self._tables()
        """The widgets that are hidden without files to choose from."""
        for widget in self._file_widgets:
            column.addWidget(widget, int(widget is self._stack))
        column.addWidget(self._problem)
        column.addWidget(self._storage_label)
        column.addStretch(0)
        self._whole = whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        self._foot = self._footer()
        whole.addWidget(self._scroll, 1)
        whole.addWidget(self._foot)
        self._scroll.viewport().installEventFilter(self)
        self._fit_least()

    def _options(self) -> QWidget:
        self._kinds = KindChips()
        self._kinds.changed.connect(self.changed)
        self._exclude = QLineEdit()
        self._exclude.setPlaceholderText(tr("Exclude, such as drafts/**, *.bak.md"))
        self._exclude.setAccessibleName(tr("Patterns of files and folders to leave out, separated by commas"))
        set_tip(self._exclude, tr("Patterns of files and folders to leave out, separated by commas"))
        self._exclude.textEdited.connect(self._typing_timer.start)
        row = row_of(spacing=8)
        self._kinds_label = label(tr("Files"))
        row.addWidget(self._kinds_label, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self._kinds, 1)
        both = QWidget()
        column_of(row, self._exclude, spacing=8, parent=both)
        return both

    def _tables(self) -> QWidget:
        self._folders = RecordsTable(_columns(), lambda row: row.path)
        self._folders.setAccessibleName(tr("Folders that would be indexed"))
        self._folders.sortByColumn(1, Qt.SortOrder.DescendingOrder)
        self._skipped = IssuesTable()
        self._skipped.setAccessibleName(tr("Files that would be skipped, and the rules that skip them"))
        skipped = QWidget()
        column_of((self._skipped, 1), self._skipped.detail, parent=skipped)
        self._stack = PageStack()
        # The page would scroll for the preferred height of the tables.
        for table in (self._stack, self._skipped):
            table.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)
        self._stack.addWidget(self._folders)
        self._stack.addWidget(skipped)
        self._show_table(0)
        return self._stack

    def _table_chips(self) -> QWidget:
        """Return the row with the chips that select a table."""
        self._show_folders, self._show_skipped = Chip(tr("Files to index")), Chip(tr("Skipped"))
        self._rules = ElidedLabel()
        self._rules.setProperty("role", "meta")
        both = QWidget()
        chips = row_of(spacing=8, margins=(0, 4, 0, 0), parent=both)
        for index, chip in enumerate((self._show_folders, self._show_skipped)):
            chip.clicked.connect(lambda _=False, index=index: self._show_table(index))
            chips.addWidget(chip)
        chips.addSpacing(4)
        chips.addWidget(self._rules, 1)
        return both

    def _footer(self) -> QWidget:
        """Return the row of buttons."""
        self.accept_button = push_button(tr("Index this folder"), role="primary")
        self.other_button = QPushButton(tr("Choose another…"))
        self._back = push_button(tr("Back"), self.back_requested.emit)
        for button in (self.accept_button, self.other_button, self._back):
            button.setAutoDefault(True)  # Enter presses the focused button on every platform
        row = row_of(self.accept_button, self.other_button, self._back, None, spacing=8, margins=(0, 0, 0, 8))
        return column_page(row, _WIDTH)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.back_requested.emit()
        else:
            super().keyPressEvent(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Align the footer with the column above, which may have a scroll bar."""
        if event.type() == QEvent.Type.Resize:
            self._align_footer()
        return super().eventFilter(watched, event)

    def _align_footer(self) -> None:
        below = self._whole.indexOf(self._foot) >= 0
        bar = self._scroll.width() - self._scroll.viewport().width() if below else 0
        self._foot.setContentsMargins(bar, 0, bar, 0)  # the column leaves as much room at its other side

    def measure(self) -> None:
        QTimer.singleShot(0, self, self._fit_tables)  # once the tables have the new font

    def _fit_least(self) -> None:
        """Give the tables the height of a few rows, and the label of the chips their height."""
        self._stack.setMinimumHeight(_MIN_ROWS * self._folders.verticalHeader().defaultSectionSize())
        self._kinds_label.setMinimumHeight(Chip("").sizeHint().height())

    @Slot()
    def _fit_tables(self) -> None:
        """Make the tables at most as high as their header and their rows."""
        self._fit_least()
        table = self._folders
        rows = max(table.model().rowCount(), self._skipped.model().rowCount() + _DETAIL_ROWS)
        height = table.horizontalHeader().sizeHint().height() + rows * table.verticalHeader().defaultSectionSize()
        self._stack.setMaximumHeight(max(self._stack.minimumHeight(), height + 2 * table.frameWidth()))
        self.fit()

    def fit(self) -> None:
        """Place the buttons right after the text if all of it fits the page, else at the bottom of the page."""
        middle = self._column.parentWidget()
        assert middle is not None
        was_below = self._whole.indexOf(self._foot) >= 0
        height = self._column.totalHeightForWidth(min(self.width(), middle.maximumWidth()))
        if was_below:
            height += self._foot.sizeHint().height()
        if not self._stack.isHidden():
            height += self._stack.maximumHeight()  # the layout counts nothing, since it ignores the preferred height
        below = height > self.height()
        if below == was_below:
            return
        layout = cast("QHBoxLayout", self._foot.layout())
        with keeping_focus(self._foot):
            if below:
                self._whole.addWidget(self._foot)
                layout.unsetContentsMargins()
            else:
                self._column.insertWidget(self._column.count() - 1, self._foot)
                layout.setContentsMargins(0, 0, 0, 0)  # the page around it has them
            self._foot.show()
        for side in (0, 2):
            layout.setStretch(side, int(below))
        self._align_footer()

    # --- display ----------------------------------------------------------------------------------------------------

    def begin(
        self, folder: Path, extensions: Sequence[str], exclude: Sequence[str], *, sessions_only: bool = False
    ) -> None:
        """Show a folder with its current settings; `sessions_only`: index only sessions, no notes."""
        self._waiting_timer.stop()
        self._was_shown, self._sessions_only = False, sessions_only
        self._show_details(True)
        self._title.setText(tr("Past sessions") if sessions_only else breakable(folder.name or str(folder)))
        self._path.setText(_shown(folder))
        self._path.setVisible(not sessions_only)
        self.accept_button.setText(tr("Index these sessions") if sessions_only else tr("Index this folder"))
        self.other_button.setVisible(not sessions_only)
        self._kinds.begin(extensions)
        self._exclude.setText(", ".join(exclude))
        self._show_table(0)

    def show_waiting(self) -> None:
        """Show that a new preview is being made; the tables of the old one stay visible."""
        if self._was_shown:
            self._waiting_timer.start()
        else:
            self._announce_waiting()
            self.setFocus()  # no button, which an early Enter would press
        self._problem.hide()
        self.accept_button.setEnabled(False)

    @Slot()
    def _announce_waiting(self) -> None:
        self._sum.setText(tr("Looking at the sessions…") if self._sessions_only else tr("Looking at the folder…"))

    def show_preview(self, preview: WorkspacePreview, index_folder: Path) -> None:
        self._waiting_timer.stop()
        first, self._was_shown = not self._was_shown, True
        self._show_details(self._sessions_only or not is_empty(preview), bool(preview.kinds or preview.skipped))
        self.accept_button.setVisible(True)
        self._sum.setText(sessions_only_text(preview) if self._sessions_only else indexed_text(preview))
        self._sessions.setText(session_files_text(preview))
        self._sessions.setVisible(bool(self._sessions.text()) and not self._sessions_only)
        self._rules.setText(skipped_text(preview))
        self._kinds.show_kinds(preview.kinds)
        self._kinds.setVisible(bool(preview.kinds))
        self._kinds_label.setVisible(any(kind.extension for kind in preview.kinds))
        self._storage_label.setText(breakable(storage_text(_shown(index_folder), sessions_only=self._sessions_only)))
        self._show_folders.setText(tr("{count:,} to index", count=preview.files))
        self._show_skipped.setText(tr_count("{count:,} skipped", "{count:,} skipped", skipped_count(preview.skipped)))
        self._folders.show_records(preview.folders)
        self._skipped.show_records(preview.skipped)
        self._fit_tables()
        self._problem.hide()
        files = 0 if self._sessions_only else preview.files
        self.accept_button.setEnabled(files + preview.session_files > 0)
        if first:
            self._show_table(0 if preview.folders or not preview.skipped else 1)
            (self.accept_button if self.accept_button.isEnabled() else self._leaving_button).setFocus()

    def show_problem(self, sentence: str) -> None:
        """Show why the folder can't be indexed, in place of a preview."""
        self._waiting_timer.stop()
        self._problem.setText(breakable(sentence))
        self._problem.show()
        self.accept_button.setEnabled(False)
        if not self._was_shown:
            self._sum.setText(tr("This folder cannot be indexed. Choose another one."))
            self._show_details(False)
            self._leaving_button.setFocus()
        else:
            self._sum.clear()

    @property
    def _leaving_button(self) -> QPushButton:
        """The button that leaves the page of a folder that can't be indexed."""
        return self._back if self._sessions_only else self.other_button

    def _show_details(self, shown: bool, files: bool = True) -> None:
        """Show or hide what follows the summary; `files`: whether there are files to choose from."""
        for widget in self._file_widgets:
            widget.setVisible(shown and files and not self._sessions_only)
        self._sessions.setVisible(shown and not self._sessions_only)
        self._storage_label.setVisible(shown)
        self.accept_button.setVisible(shown)
        self.fit()

    @property
    def extensions(self) -> tuple[str, ...]:
        """The extensions of further types of files that the user has chosen."""
        return self._kinds.extensions

    @property
    def exclude(self) -> tuple[str, ...]:
        """The patterns of files to exclude that the user has entered."""
        return tuple(part.strip() for part in self._exclude.text().split(",") if part.strip())

    def _show_table(self, number: int) -> None:
        self._stack.setCurrentIndex(number)
        self._show_folders.setChecked(number == 0)
        self._show_skipped.setChecked(number == 1)
