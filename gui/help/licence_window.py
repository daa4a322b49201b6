"""A window with a searchable list of all components, and the licence of the selected one."""

from PySide6.QtCore import QSize, Qt, Slot
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QPlainTextEdit, QSplitter, QWidget

from engine import tr, tr_count
from gui.help.licences import UNKNOWN, Component
from gui.style.stylesheet import scaled
from gui.style.typography import fixed_font
from gui.widgets.labels import breakable, label
from gui.widgets.layouts import column_of
from gui.widgets.query_box import SearchField
from gui.widgets.table import Column, RecordsTable

_WIDTH, _HEIGHT = 720, 520
_SEPARATOR = "\n\n" + "─" * 40 + "\n\n"


class LicenceWindow(QWidget):
    """The window that lists all components.

    A search finds those whose name, licence, description or texts contain every typed word.
    """

    def __init__(self) -> None:
        super().__init__()
        self._components: tuple[Component, ...] = ()
        self.box = SearchField(tr("Search names and texts of licences"), tr("Search licences"))
        self._count = label(tr("Reading installed packages…"), "meta", wrap=True)
        columns = (
            Column[Component](tr("Name"), 30, lambda component: component.name),
            Column[Component](tr("Version"), 13, lambda component: component.version),
            Column[Component](tr("Licence"), 0, _licence),
        )
        self.table = RecordsTable[Component](columns, lambda component: tr(component.about))
        self.table.sortByColumn(0, Qt.SortOrder.AscendingOrder)
        self.table.setAccessibleName(tr("Components"))
        self._about = label("", wrap=True)
        self._about.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setFont(fixed_font())
        self.text.setTabChangesFocus(True)
        self.text.setAccessibleName(tr("Text of the licence"))
        below = QWidget()
        column_of(self._about, (self.text, 1), margins=(0, 6, 0, 0), parent=below)
        both = QSplitter(Qt.Orientation.Vertical)
        both.setChildrenCollapsible(False)
        both.addWidget(self.table)
        both.addWidget(below)
        both.setSizes([_HEIGHT * 2 // 5, _HEIGHT * 3 // 5])
        column_of(self.box, self._count, (both, 1), spacing=8, parent=self)
        self.box.textChanged.connect(self._search)
        self.box.list_requested.connect(self.table.setFocus)
        self.table.chosen.connect(self._show)

    def sizeHint(self) -> QSize:
        return QSize(scaled(_WIDTH), scaled(_HEIGHT))

    def take_focus(self) -> None:
        self.box.setFocus(Qt.FocusReason.OtherFocusReason)

    def show_components(self, components: tuple[Component, ...]) -> None:
        self._components = components
        self._search(self.box.text())

    def show_problem(self, sentence: str) -> None:
        self._count.setText(breakable(sentence))

    @Slot(str)
    def _search(self, typed: str) -> None:
        words = typed.casefold().split()
        components = tuple(component for component in self._components if _has_all(component, words))
        self.table.show_records(components)
        if self._components:
            self._count.setText(_count_text(len(components), len(self._components) if words else None))
        self._show(self.table.current)

    @Slot(object)
    def _show(self, component: Component | None) -> None:
        self._about.setText(breakable(tr(component.about)) if component else "")
        self._about.setVisible(bool(component and component.about))
        self.text.setPlainText(
            "" if component is None else _SEPARATOR.join(component.texts) or tr("No licence text is included.")
        )
        for word in self.box.text().split():
            if self.text.find(word):  # the first word in the text itself, not only in its name
                cursor = self.text.textCursor()
                self.text.centerCursor()
                self.text.setTextCursor(cursor)
                return
        self.text.moveCursor(QTextCursor.MoveOperation.Start)


def _licence(component: Component) -> str:
    return tr(UNKNOWN) if component.licence == UNKNOWN else component.licence


def _count_text(count: int, of_all: int | None) -> str:
    if of_all is None:
        return tr_count("{count:,} component", "{count:,} components", count)
    return tr_count("{count:,} component of {all}", "{count:,} components of {all}", count, all=of_all)


def _has_all(component: Component, words: list[str]) -> bool:
    if not words:
        return True
    whole = "\n".join((component.name, component.version, component.licence, component.about, *component.texts))
    folded = whole.casefold()
    return all(word in folded for word in words)
