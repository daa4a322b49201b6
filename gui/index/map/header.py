"""The line above the map: what it shows, how it is coloured, and its modes."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QWidget

from engine import tr
from gui.index.map.groups import KINDS, Kind
from gui.index.map.wording import COLOURS
from gui.widgets.combo import ComboBox
from gui.widgets.elided import ElidedLabel
from gui.widgets.labels import label
from gui.widgets.plain_text import set_tip

_FEWEST_LETTERS = 16


class MapHeader(QWidget):
    """Signals:
    kind_chosen: Kind by which the points are coloured.
    lasso_wanted: whether dragging is to draw a loop.
    fit_wanted: show all points.
    """

    kind_chosen = Signal(str)
    lasso_wanted = Signal(bool)
    fit_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._subtitle = ElidedLabel(fewest=_FEWEST_LETTERS)
        self._subtitle.setProperty("role", "meta")
        self.colour = ComboBox(tr("Colour the points by"))
        for kind in KINDS:
            self.colour.addItem(tr(COLOURS[kind]), kind)
        self.colour.setMinimumContentsLength(0)
        self.colour.setSizeAdjustPolicy(ComboBox.SizeAdjustPolicy.AdjustToContents)
        self.colour.currentIndexChanged.connect(lambda _: self.kind_chosen.emit(self.kind))
        self.lasso = self._button(
            tr("Lasso"), tr("Draw a loop around points to list them (or hold Shift while you drag)")
        )
        self.lasso.setCheckable(True)
        self.lasso.toggled.connect(self.lasso_wanted)
        self.fit = self._button(tr("Fit"), tr("Show all points (0)"))
        self.fit.clicked.connect(self.fit_wanted)
        self.enlarge = self._button(tr("Enlarge"), tr("Show the map on a page of its own"))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        row.addWidget(label(tr("Map"), "strong"))
        row.addWidget(self._subtitle, 1)
        row.addWidget(self.colour)
        for button in (self.lasso, self.fit, self.enlarge):
            row.addWidget(button)

    @staticmethod
    def _button(words: str, tip: str) -> QPushButton:
        button = QPushButton(words)
        button.setAutoDefault(True)
        set_tip(button, tip)
        return button

    @property
    def kind(self) -> Kind:
        kind: Kind = self.colour.currentData()
        return kind

    def say(self, subtitle: str, tip: str = "") -> None:
        self._subtitle.setText(subtitle)
        self._subtitle.set_tip(tip)

    def set_usable(self, usable: bool) -> None:
        """Whether there are points."""
        for part in (self.colour, self.lasso, self.fit):
            part.setEnabled(usable)
