"""Below an option: where its value comes from, the way back, its default, what a change takes, and its key."""

from functools import partial
from typing import Any

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QActionGroup
from PySide6.QtWidgets import QMenu, QPushButton, QWidget

from engine import SavedIn, SettingChange, SettingsConsequences
from gui.settings.marking import mark
from gui.settings.model import SettingsModel
from gui.settings.places import Placed
from gui.settings.values import value_words
from gui.widgets.flow_layout import FlowLayout
from gui.widgets.labels import breakable, label

HOLDS: dict[str, str] = {
    "built-in": "Default",
    "defaults": "Set for all folders",
    "workspace": "Set for this folder",
}
WAITS = "not applied yet"
_LAYERS: tuple[tuple[SavedIn, str], ...] = (("defaults", "For all folders"), ("workspace", "Only for this folder"))
_JOINED = ("extra_paths",)
"""Lists of which the folder's own and those of all folders hold together."""
_LONGEST = 40


def effect_words(effect: SettingsConsequences | None) -> str:
    """What changing an option may lead to; empty for nothing."""
    if effect is None:
        return ""
    if effect.index_anew:
        return "takes a new index"
    return "uses another index" if effect.other_index else "changes what is indexed"


def value_of(placed: Placed, model: SettingsModel) -> Any:
    """The option's value, of a list that is joined only what the layer in force has itself."""
    shown, key = model.shown, placed.key
    if key in _JOINED:
        layer = shown.layer_of(key)
        return tuple(shown.get(key, "defaults" if layer == "defaults" else "workspace") or ())
    return shown.in_force(key)


class OptionFoot(QWidget):
    """Shows what the model has when it is told to."""

    def __init__(self, placed: Placed, model: SettingsModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._placed = placed
        self._model = model
        option = placed.option
        self.origin = _link()
        self.origin.setToolTip("For which folders this holds")
        self.origin.clicked.connect(self._choose_layer)
        self.reset = _link()
        self.reset.clicked.connect(partial(model.reset, placed.key))
        self._default = label(breakable(f"Default: {value_words(option, option.default)}"), "meta")
        self._effect = label("", "degraded")
        self._waits = label(WAITS, "degraded")
        self._key = label(placed.key, "meta")
        self._key.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        flow = FlowLayout(10, self)
        for widget in (self.origin, self.reset, self._default, self._effect, self._waits, self._key):
            flow.addWidget(widget)

    def show_option(self) -> None:
        """As the model has it now."""
        model, option, title = self._model, self._placed.option, self._placed.title
        shown = model.shown
        layer = shown.layer_of(option.key)
        self.origin.setText(HOLDS[layer])
        self.origin.setAccessibleName(f"{title}: {HOLDS[layer]}")
        below = value_words(option, shown.without_own(option.key) if layer == "workspace" else option.default)
        self.reset.setText(f"Reset to {below if len(below) <= _LONGEST else below[: _LONGEST - 1] + '…'}")
        self.reset.setAccessibleName(f"Reset {title} to {below}")
        self.reset.setVisible(layer != "built-in")
        self._default.setVisible(layer != "built-in")
        self._effect.setText(effect_words(model.effect_of(option.key)))
        self._effect.setVisible(bool(self._effect.text()))
        self._waits.setVisible(model.waits(option.key))

    @property
    def description(self) -> str:
        """The same for those who hear it."""
        option = self._placed.option
        said = f"{self.origin.text()}. Default: {value_words(option, option.default)}."
        return f"{said} A change {self._effect.text()}." if self._effect.text() else said

    def mark(self, words: str) -> None:
        """Show where these words of a search are."""
        mark(self._key, self._placed.key, words)

    # --- what is changed --------------------------------------------------------------------------------------------

    @Slot()
    def _choose_layer(self) -> None:
        menu = self.layer_menu()
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(self.origin.mapToGlobal(self.origin.rect().bottomLeft()))

    def layer_menu(self) -> QMenu:
        """Where the option is set, and where it could be; made when it is wanted, since there are many rows."""
        layer = self._model.shown.layer_of(self._placed.key)
        menu = QMenu(self)
        group = QActionGroup(menu)
        for name, words in _LAYERS:
            action = menu.addAction(words)
            action.setCheckable(True)
            action.setChecked(layer == name)
            action.setEnabled(name == "defaults" or not self._placed.option.for_all)
            action.triggered.connect(partial(self._move, name))
            group.addAction(action)
        menu.addSeparator()
        reset = menu.addAction(self.reset.text())
        reset.setEnabled(layer != "built-in")
        reset.triggered.connect(lambda _checked: self._model.reset(self._placed.key))
        return menu

    def _move(self, to: SavedIn, _checked: bool = False) -> None:
        """Keep the value that is in force in that layer, and in no narrower one."""
        key = self._placed.key
        if self._model.shown.layer_of(key) == to:
            return
        changes = [SettingChange(key, to, value_of(self._placed, self._model))]
        if to == "defaults":
            changes.append(SettingChange(key, "workspace", None))
        self._model.put(*changes)


def _link() -> QPushButton:
    button = QPushButton()
    button.setProperty("role", "link")
    button.setAutoDefault(True)  # Enter presses the one that has the keys, on every platform
    return button
