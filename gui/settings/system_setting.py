"""A setting that the system stores and other programs may change (such as start at login), and the base of rows."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from PySide6.QtCore import QEvent, QObject, Qt, Signal, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from engine import marked, tr
from gui.core.jobs import JobOwner, Jobs, JobSlot
from gui.settings.fields import SwitchField
from gui.settings.option_pages import OptionPlacement, mark
from gui.settings.value_formatting import value_text
from gui.text.right_to_left import margins
from gui.widgets.accessibility import announce
from gui.widgets.buttons import push_button
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


# --- The rows of settings, and that of a system setting --------------------------------------------------------------

_HERE = marked("Set on this machine")
_DEFAULT = marked("Default")
_STORED_BY_SYSTEM = marked("stored by the system")


class SettingRow(QFrame):
    """Base class of the rows of settings: title and help with the words of a search, and an error about the value."""

    def __init__(self, placed: OptionPlacement, parent: QWidget | None = None, *, titled: bool = True) -> None:
        """`titled`: show the title; the check box of a switch has it, too."""
        super().__init__(parent)
        self.placed = placed
        self._query = self._announced = ""
        self._title = label(placed.title, "strong", wrap=True, parent=self)
        self._help = label(placed.help, "meta", wrap=True, parent=self)
        self._problem = label("", "degraded", wrap=True, parent=self)
        self._title.setVisible(titled)
        self._problem.hide()

    def _arrange(self, control: QWidget) -> QVBoxLayout:
        """Lay out the row, and return its column, to which others can be added; `control` gets its focus."""
        self._control = control
        widgets = self._title, control, self._problem, self._help
        return column_of(*widgets, spacing=3, margins=(0, 6, 0, 8), parent=self)

    @Slot(str)
    def show_error(self, sentence: str) -> None:
        """Show an error about the value or the typed text, which stays."""
        if sentence and sentence != self._announced:
            announce(self, sentence)
        self._announced = sentence
        self._problem.setText(breakable(sentence))
        self._problem.setVisible(bool(sentence))

    def mark(self, query: str) -> None:
        """Highlight the words of a search; an empty text removes the highlights."""
        self._query = query
        mark(self._title, self.placed.title, query)
        mark(self._help, self.placed.help, query)

    def take_focus(self) -> None:
        self.show()  # now, instead of at the next layout
        self._control.setFocus(Qt.FocusReason.OtherFocusReason)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and self._query:
            self.mark(self._query)


class SystemRow(SettingRow):
    """A row of a system setting, which is read again when the row is shown and when the window is activated."""

    def __init__(self, switch: SystemSwitch) -> None:
        placed = switch.placed
        super().__init__(placed, titled=False)
        self._switch = switch
        self.field = SwitchField(placed.option, placed.title)
        self.field.entered.connect(self._entered)
        self._origin = label("", "meta")
        self._origin.setContentsMargins(margins(1, 0, 4, 0))  # in line with the links of other rows
        usual = value_text(placed.option, placed.option.default)
        name = tr("Reset {option} to {value}", option=placed.title, value=usual)
        self.reset = push_button(tr("Reset to {value}", value=usual), self._reset_value, role="flush", name=name)
        self._default = label(tr("Default: {value}", value=usual), "meta")
        foot = QWidget()
        flow = FlowLayout(10, foot)
        for part in (self._origin, self.reset, self._default, label(tr(_STORED_BY_SYSTEM), "meta")):
            flow.addWidget(part)
        self._arrange(self.field).addWidget(foot)
        switch.changed.connect(self._show_state)
        switch.refused.connect(self.show_error)
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

    @Slot(object)
    def _entered(self, on: bool) -> None:
        self.show_error("")
        self._switch.switch(on)

    @Slot()
    def _reset_value(self) -> None:
        self.take_focus()  # the undo button disappears
        self._entered(self.placed.option.default)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.show_error("")
        self._switch.refresh()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.ActivationChange and self.isActiveWindow() and self.isVisible():
            self._switch.refresh()
