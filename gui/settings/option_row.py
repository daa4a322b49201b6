"""One option as a row: its name, its field, what it does, where its value comes from, and the way back."""

from functools import partial
from typing import Any

from PySide6.QtCore import QEvent, QSignalBlocker, Qt, Signal, Slot
from PySide6.QtGui import QActionGroup
from PySide6.QtWidgets import QFrame, QLabel, QMenu, QPushButton, QVBoxLayout, QWidget

from engine import SavedIn, SettingChange, SettingsConsequences
from gui.settings.fields import Field, LinesField, field_for
from gui.settings.marking import marked
from gui.settings.model import SettingsModel
from gui.settings.places import Placed
from gui.settings.values import value_words
from gui.widgets.announcing import announce
from gui.widgets.flow_layout import FlowLayout
from gui.widgets.labels import breakable, label

HOLDS: dict[str, str] = {
    "built-in": "Default",
    "defaults": "Set for all folders",
    "workspace": "Set for this folder",
}
_LAYERS: tuple[tuple[SavedIn, str], ...] = (("defaults", "For all folders"), ("workspace", "Only for this folder"))
_JOINED = ("extra_paths",)
"""Lists of which the folder's own and those of all folders hold together."""
WAITS = "not applied yet"


def effect_words(effect: SettingsConsequences | None) -> str:
    """What changing an option may lead to; empty for nothing."""
    if effect is None:
        return ""
    if effect.index_anew:
        return "takes a new index"
    return "uses another index" if effect.other_index else "changes what is indexed"


class OptionRow(QFrame):
    """Shows what the model has, and hands it what a person enters.

    Signals:
        typing: a value that may still change, for who shows what it would do.
    """

    typing = Signal(object)

    def __init__(
        self, placed: Placed, model: SettingsModel, field: Field | None = None, parent: QWidget | None = None
    ) -> None:
        """`field` in place of the one that the option's kind has."""
        super().__init__(parent)
        self.placed = placed
        self._model = model
        self._words = self._said = ""
        option = placed.option
        self.field = field or field_for(option, placed.title)
        self.field.entered.connect(self._entered)
        self.field.typing.connect(self.typing)
        self.field.wrong.connect(self.complain)
        if isinstance(self.field, LinesField):
            self.field.undo_wanted.connect(model.undo)
        self._title = label(placed.title, "strong", wrap=True)
        self._help = label(option.help, "meta", wrap=True)
        self._problem = label("", "degraded", wrap=True)
        self._problem.hide()
        self._origin = self._link()
        self._origin.clicked.connect(self._choose_layer)
        self._reset = self._link()
        self._reset.clicked.connect(partial(model.reset, placed.key))
        self._default = label(breakable(f"Default: {value_words(option, option.default)}"), "meta")
        self._effect = label("", "degraded")
        self._waits = label(WAITS, "degraded")
        self._key = label(placed.key, "meta")
        self._key.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._lay_out()
        self.show_option()
        model.changed.connect(self._hear)
        model.loaded.connect(self.show_option)

    def _link(self) -> QPushButton:
        button = QPushButton()
        button.setProperty("role", "link")
        button.setAutoDefault(True)  # Enter presses the one that has the keys, on every platform
        return button

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 6, 0, 8)
        column.setSpacing(3)
        if self.placed.option.kind == "switch":
            self._title.hide()  # its box bears it
        column.addWidget(self._title)
        column.addWidget(self.field)
        column.addWidget(self._problem)
        column.addWidget(self._help)
        foot = QWidget()
        flow = FlowLayout(10, foot)
        for widget in (self._origin, self._reset, self._default, self._effect, self._waits, self._key):
            flow.addWidget(widget)
        column.addWidget(foot)

    # --- what is shown ----------------------------------------------------------------------------------------------

    @Slot(str)
    def _hear(self, key: str) -> None:
        if key == self.placed.key:
            self.show_option()

    @Slot()
    def show_option(self) -> None:
        """As the model has it now."""
        model, option = self._model, self.placed.option
        shown = model.shown
        layer = shown.layer_of(option.key)
        self.field.show_value(self._value_in(layer))
        self._origin.setText(HOLDS[layer])
        self._origin.setAccessibleName(f"{self.placed.title}: {HOLDS[layer]}")
        self._origin.setToolTip("For which folders this holds")
        below = shown.without_own(option.key) if layer == "workspace" else option.default
        self._reset.setText(f"Reset to {_short(value_words(option, below))}")
        self._reset.setAccessibleName(f"Reset {self.placed.title} to {value_words(option, below)}")
        self._reset.setVisible(layer != "built-in")
        self._default.setVisible(layer != "built-in")
        self._effect.setText(effect_words(model.effect_of(option.key)))
        self._effect.setVisible(bool(self._effect.text()))
        self._waits.setVisible(model.waits(option.key))
        said = [option.help, HOLDS[layer] + ".", f"{self._default.text()}.".replace("\u200b", "")]
        if self._effect.text():
            said.append(f"A change {self._effect.text()}.")
        self.field.describe(" ".join(said))

    def _value_in(self, layer: str) -> Any:
        shown, key = self._model.shown, self.placed.key
        if key in _JOINED:
            held = shown.get(key, "defaults" if layer == "defaults" else "workspace")
            return tuple(held or ())
        return shown.in_force(key)

    @Slot(str)
    def complain(self, sentence: str) -> None:
        """Say what is wrong with what stands there; nothing takes it back."""
        if sentence and sentence != self._said:
            announce(self, sentence)
        self._said = sentence
        self._problem.setText(breakable(sentence))
        self._problem.setVisible(bool(sentence))

    def mark(self, words: str) -> None:
        """Show where these words of a search are; none takes that back."""
        self._words = words
        for part, text in ((self._title, self.placed.title), (self._help, self.placed.option.help)):
            _mark(part, text, words)
        _mark(self._key, self.placed.key, words)

    def take_focus(self) -> None:
        self.show()  # at once, not when the layout gets round to it
        self.field.setFocus(Qt.FocusReason.OtherFocusReason)

    # --- what is changed --------------------------------------------------------------------------------------------

    @Slot(object)
    def _entered(self, value: Any) -> None:
        layer = self._model.shown.layer_of(self.placed.key)
        usual = "workspace" if self.placed.page == "sources" else "defaults"
        self._model.set(self.placed.key, value, usual if layer == "built-in" else layer)

    @Slot()
    def _choose_layer(self) -> None:
        menu = self.layer_menu()
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(self._origin.mapToGlobal(self._origin.rect().bottomLeft()))

    def layer_menu(self) -> QMenu:
        """Where the option is set, and where it could be; made when it is wanted, since there are many rows."""
        shown, key = self._model.shown, self.placed.key
        layer = shown.layer_of(key)
        menu = QMenu(self)
        group = QActionGroup(menu)
        for name, words in _LAYERS:
            action = menu.addAction(words)
            action.setCheckable(True)
            action.setChecked(layer == name)
            action.setEnabled(name == "defaults" or not self.placed.option.for_all)
            action.triggered.connect(partial(self._move, name))
            group.addAction(action)
        menu.addSeparator()
        reset = menu.addAction(self._reset.text())
        reset.setEnabled(layer != "built-in")
        reset.triggered.connect(lambda _checked: self._model.reset(key))
        return menu

    def _move(self, to: SavedIn, _checked: bool = False) -> None:
        """Keep the value that is in force in that layer, and in no narrower one."""
        shown, key = self._model.shown, self.placed.key
        if shown.layer_of(key) == to:
            return
        changes = [SettingChange(key, to, _plain(self._value_in(shown.layer_of(key))))]
        if to == "defaults":
            changes.append(SettingChange(key, "workspace", None))
        self._model.put(*changes)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and self._words:
            with QSignalBlocker(self):
                self.mark(self._words)


def _mark(part: QLabel, text: str, words: str) -> None:
    if words:
        part.setTextFormat(Qt.TextFormat.RichText)
        part.setText(marked(text, words, part.palette()))
    else:
        part.setTextFormat(Qt.TextFormat.PlainText)
        part.setText(text)


def _short(words: str) -> str:
    return words if len(words) <= 40 else words[:39] + "…"


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
