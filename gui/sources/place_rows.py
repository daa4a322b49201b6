"""Rows of places: a box to tick for each, or a button that chooses one."""

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QEvent, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from engine import FoundPlace, tr
from gui.sources.wording import place_amount, place_title, short_path
from gui.widgets.check_box import CheckBox
from gui.widgets.checkable import indent
from gui.widgets.labels import breakable, label
from gui.widgets.mirrored import margins
from gui.widgets.plain_text import set_tip
from gui.widgets.tab_order import LastInTabOrder


class PlaceRows(QWidget):
    """Places one below the other; `show_places` replaces them all."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._home = str(Path.home())
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(10)

    def _clear(self) -> None:
        while (item := self._column.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()

    def _append(self, row: QWidget) -> None:
        end = LastInTabOrder(self)
        self._column.addWidget(row)
        end.take(row)
        row.show()  # immediately, not at the next layout: a box in it may get the focus

    def _details(self, place: FoundPlace) -> QLabel:
        words = f"{place_amount(place)}  ·  {short_path(place.path, self._home)}"
        return label(breakable(words), "meta", wrap=True)


class PlaceBoxes(PlaceRows):
    """Signals: `changed`, when a box was ticked or not any more."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._boxes: list[CheckBox] = []
        self._indented: list[QVBoxLayout] = []

    def show_places(self, places: Sequence[FoundPlace], ticked: Sequence[bool]) -> None:
        self._clear()
        self._boxes = []
        self._indented = []
        for place, on in zip(places, ticked, strict=True):
            self._append(self._row(place, on))
        self._indent()

    @property
    def ticked(self) -> list[bool]:
        """In the order of the places."""
        return [box.isChecked() for box in self._boxes]

    def focus_first(self) -> None:
        if self._boxes:
            self._boxes[0].setFocus()

    def _row(self, place: FoundPlace, on: bool) -> QWidget:
        box = CheckBox(place_title(place))
        box.setChecked(on)
        box.setAccessibleDescription(f"{place_amount(place)}, {place.path}")
        set_tip(box, place.path)
        box.toggled.connect(self.changed)
        self._boxes.append(box)
        row = QWidget()
        column = QVBoxLayout(row)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(box)
        below = QVBoxLayout()
        below.addWidget(self._details(place))
        column.addLayout(below)
        self._indented.append(below)
        return row

    def _indent(self) -> None:
        """Put the details below the words of their box."""
        for layout in self._indented:
            layout.setContentsMargins(margins(indent(), 0, 0, 0))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._indent()


class PlaceChoices(PlaceRows):
    """Signals: `chosen`, with the Path of a place."""

    chosen = Signal(object)

    def __init__(self, verb: str, named: str, parent: QWidget | None = None) -> None:
        """`verb`: label of the buttons; `named`: a marked sentence with `{place}`, as accessible name."""
        super().__init__(parent)
        self._verb = verb
        self._named = named

    def show_places(self, places: Sequence[FoundPlace]) -> None:
        self._clear()
        for place in places:
            self._append(self._row(place))

    def _row(self, place: FoundPlace) -> QWidget:
        button = QPushButton(self._verb)
        button.setAutoDefault(True)
        button.setAccessibleName(tr(self._named, place=place_title(place)))
        button.setAccessibleDescription(f"{place_amount(place)}, {place.path}")
        set_tip(button, place.path)
        button.clicked.connect(lambda _checked: self.chosen.emit(Path(place.path)))
        words = QVBoxLayout()
        words.setSpacing(1)
        words.addWidget(label(place_title(place), wrap=True))
        words.addWidget(self._details(place))
        row = QWidget()
        line = QHBoxLayout(row)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(12)
        line.addLayout(words, 1)
        line.addWidget(button)
        return row
