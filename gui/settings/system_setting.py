"""A setting that the system stores and other programs may change (such as start at login), and its row."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from PySide6.QtCore import QEvent, QObject, Qt, Signal, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QFrame, QPushButton, QWidget

from engine import marked, tr
from gui.core.jobs import JobOwner, Jobs, JobSlot
from gui.settings.fields import SwitchField
from gui.settings.option_pages import OptionPlacement, mark
from gui.settings.value_formatting import value_text
from gui.text.right_to_left import margins
from gui.widgets.accessibility import announce
from gui.widgets.labels import breakable, label
from gui.widgets.layouts import FlowLayout, column_of


class SystemState(Protocol):
    """Protocol to read and write a setting stored by the system. Both methods raise OSError on failure."""

    def is_on(self) -> bool: ...

    def set_on(self, on: bool) -> None: ...


class SystemSwitch(JobOwner, QObject):
    """A boolean system setting with its last known value; read and written off the GUI thread.

    Signals:
        changed: it was read again.
        refused: one sentence, on a read or write error.
    """

    changed = Signal()
    refused = Signal(str)

    def __init__(
        self, placed: OptionPlacement, after: str, refusal: str, state: SystemState, jobs: Jobs, parent: QObject
    ) -> None:
        """`placed`: its page and group. `after`: key of the option that precedes it.

        `refusal`: a marked sentence with {reason}, for a failed change.
        """
        super().__init__(parent)
        self.placed = placed
        self.after = after
        self.on = False
        self._refusal = refusal
        self._state = state
        self._job = JobSlot(self, jobs)

    def refresh(self) -> None:
        """Read the current value, unless it is being read or written already."""
        if not self._job.busy:
            self._job.read(lambda _: self._state.is_on(), self._show, self._unreadable)

    def switch(self, on: bool) -> None:
        def work(_: object) -> bool:
            self._state.set_on(on)
            return self._state.is_on()

        self._job.save(work, self._show, self._refused)

    def _show(self, on: bool) -> None:
        self.on = on
        self.changed.emit()

    def _unreadable(self, sentence: str) -> None:
        self.refused.emit(sentence)
        self._show(False)

    def _refused(self, sentence: str) -> None:
        """Show one error for a failed change, and read the actual value again."""
        self._job.read(lambda _: self._state.is_on(), self._show, lambda _: self._show(False))
        self.refused.emit(tr(self._refusal, reason=sentence))


def with_switches(
    options: Iterable[OptionPlacement], switches: Sequence[SystemSwitch]
) -> Iterator[tuple[OptionPlacement, SystemSwitch | None]]:
    """Yield the options, each followed by the switches to place after it."""
    for placed in options:
        yield placed, None
        yield from ((switch.placed, switch) for switch in switches if switch.after == placed.key)


# --- Its row among the options -------------------------------------------------------------------------------------

_HERE = marked("Set on this machine")
_DEFAULT = marked("Default")
_STORED_BY_SYSTEM = marked("stored by the system")


class SystemRow(QFrame):
    """A row of a system setting, which is read again when the row is shown and when the window is activated."""

    def __init__(self, switch: SystemSwitch) -> None:
        super().__init__()
        self._switch = switch
        self._words = ""
        placed = self.placed = switch.placed
        self.field = SwitchField(placed.option, placed.title)
        self.field.entered.connect(self._entered)
        self._help = label(placed.help, "meta", wrap=True)
        self._problem = label("", "degraded", wrap=True)
        self._problem.hide()
        self._origin = label("", "meta")
        self._origin.setContentsMargins(margins(1, 0, 4, 0))  # in line with the links of other rows
        usual = value_text(placed.option, placed.option.default)
        self.reset = QPushButton(tr("Reset to {value}", value=usual))
        self.reset.setProperty("role", "link")
        self.reset.setProperty("flush", True)
        self.reset.setAccessibleName(tr("Reset {option} to {value}", option=placed.title, value=usual))
        self.reset.clicked.connect(self._reset_value)
        self._default = label(tr("Default: {value}", value=usual), "meta")
        foot = QWidget()
        flow = FlowLayout(10, foot)
        for part in (self._origin, self.reset, self._default, label(tr(_STORED_BY_SYSTEM), "meta")):
            flow.addWidget(part)
        column_of(self.field, self._problem, self._help, foot, spacing=3, margins=(0, 6, 0, 8), parent=self)
        switch.changed.connect(self._show_state)
        switch.refused.connect(self._show_error)
        self._show_state()

    @Slot()
    def _show_state(self) -> None:
        on, option = self._switch.on, self.placed.option
        self.field.show_value(on)
        as_usual = on == option.default
        self._origin.setText(tr(_DEFAULT if as_usual else _HERE))
        self.reset.setVisible(not as_usual)
        self._default.setVisible(not as_usual)
        usual = value_text(option, option.default)
        description = tr("{origin}. Default: {value}.", origin=self._origin.text(), value=usual)
        self.field.describe(f"{self.placed.help} {description}")

    @Slot(str)
    def _show_error(self, sentence: str) -> None:
        if sentence:
            announce(self, sentence)
        self._problem.setText(breakable(sentence))
        self._problem.setVisible(bool(sentence))

    @Slot(object)
    def _entered(self, on: bool) -> None:
        self._show_error("")
        self._switch.switch(on)

    @Slot()
    def _reset_value(self) -> None:
        self.take_focus()  # the undo button disappears
        self._entered(self.placed.option.default)

    def mark(self, words: str) -> None:
        """Highlight the words of a search; an empty text removes the highlights."""
        self._words = words
        mark(self._help, self.placed.help, words)

    def take_focus(self) -> None:
        self.show()  # now, instead of at the next layout
        self.field.setFocus(Qt.FocusReason.OtherFocusReason)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._show_error("")
        self._switch.refresh()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.ActivationChange and self.isActiveWindow() and self.isVisible():
            self._switch.refresh()
        elif event.type() == QEvent.Type.PaletteChange and self._words:
            self.mark(self._words)
