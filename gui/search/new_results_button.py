"""Says how many results have come in above the place that was kept, and leads there."""

from collections.abc import Hashable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractScrollArea, QPushButton

from engine import tr_count

_TOP = 8


class NewResultsButton(QPushButton):
    """Floats at the top of a list; hidden while there is nothing to say."""

    def __init__(self, over: QAbstractScrollArea) -> None:
        super().__init__(over)
        self._over = over
        self._overtaken: frozenset[Hashable] = frozenset()
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # Home does the same
        self.setProperty("role", "primary")
        self.hide()

    def tell(self, before: frozenset[Hashable], now: frozenset[Hashable]) -> None:
        """`before` and `now`: the rows above what is seen. Counts new ones and those that have overtaken it."""
        self._overtaken = (self._overtaken & now) | (now - before)
        more = sum(1 for key in self._overtaken if isinstance(key, tuple) and key[0] == "result")
        if more:
            self.setText(tr_count("{count:,} more result above", "{count:,} more results above", more))
            self.place()
        self.setVisible(more > 0)

    def forget(self) -> None:
        """The person has been above."""
        self._overtaken = frozenset()
        self.hide()

    def place(self) -> None:
        """Stand in the middle of the list's upper edge."""
        self.adjustSize()
        self.move((self._over.viewport().width() - self.width()) // 2, _TOP)
