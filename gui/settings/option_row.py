"""A row of one option (its name, field, description and status), and the page of such rows."""

from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, cast

from PySide6.QtCore import QEvent, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QActionGroup, QEnterEvent
from PySide6.QtWidgets import QApplication, QFrame, QMenu, QScrollArea, QWidget

from engine import (
    Option,
    SavedIn,
    SettingChange,
    Settings,
    SettingsConsequences,
    current_language,
    marked,
    shortened,
    system_language,
    tr,
)
from gui.core.jobs import Jobs, JobSlot, OnDone, Work
from gui.settings.edited_options import SettingsModel
from gui.settings.fields import ChoiceField, ChoicesField, Field, LineField, LinesField, SwitchField
from gui.settings.option_pages import PAGES, OptionPlacement, SettingsPage, mark, options_on, with_marks
from gui.settings.system_setting import SettingRow, SystemRow, SystemSwitch, with_switches
from gui.settings.value_formatting import value_text
from gui.widgets.accessibility import LastInTabOrder, announce
from gui.widgets.buttons import push_button
from gui.widgets.labels import breakable, label, line
from gui.widgets.layouts import FlowLayout, add_shown, column_of, lay_out_now, scrolling_column

# --- The line below an option: source of its value, undo, default, effect of a change, and key -----------------------

LAYER_NAMES: dict[str, str] = {
    "built-in": marked("Default"),
    "defaults": marked("Global"),
    "workspace": marked("Set for the open folder"),
}
PENDING = marked("change not applied yet")
_LAYERS: tuple[tuple[SavedIn, str], ...] = (
    ("defaults", marked("For all folders")),
    ("workspace", marked("Only for the open folder")),
)
_JOINED = ("extra_paths",)
"""Lists that combine the values of the folder and of all folders."""
_LONGEST = 40


def effect_text(effect: SettingsConsequences | None) -> tuple[str, str]:
    """Describe the effect of changing an option, in a few words and as a sentence; both empty for none."""
    if effect is None:
        return "", ""
    if effect.full_rebuild:
        return tr("rebuilds the index"), tr("Changing this option rebuilds the index.")
    if effect.other_index:
        return tr("switches to another index"), tr("Changing this option switches to another index.")
    return tr("changes which files are indexed"), tr("Changing this option affects which files are indexed.")


def value_of(placed: OptionPlacement, model: SettingsModel) -> Any:
    """Return the option's value; of a combined list, only the items of the layer that sets it."""
    layers, key = model.layers, placed.key
    if key in _JOINED:
        layer = layers.layer_of(key)
        return tuple(layers.get(key, "defaults" if layer == "defaults" else "workspace") or ())
    return layers.effective(key)


class OptionFooter(QWidget):
    """The text below an option: description, effect and source, and a menu of the layers."""

    def __init__(self, placed: OptionPlacement, model: SettingsModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._placed = placed
        self._model = model
        option = placed.option
        tip = tr("Whether this option applies to all folders or only to the open one")
        self.origin = push_button("", self._choose_layer, role="flush", tip=tip)
        self.reset = push_button("", partial(model.reset, placed.key), role="flush")
        self._default = label(breakable(tr("Default: {value}", value=value_text(option, option.default))), "meta")
        self._effect = label("", "degraded")
        self._pending = label(tr(PENDING), "degraded")
        self._key = label(placed.key, "meta")
        self._key.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        flow = FlowLayout(10, self)
        for widget in (self._effect, self._pending, self.origin, self.reset, self._default, self._key):
            flow.addWidget(widget)
        for widget in (self.origin, self._key):  # their space stays, so that nothing moves under the pointer
            policy = widget.sizePolicy()
            policy.setRetainSizeWhenHidden(True)
            widget.setSizePolicy(policy)
        self._detailed = False
        self.key_matches = False
        """Whether the key contains a word of the search."""

    def show_option(self) -> None:
        """Show the model's current value."""
        model, option, title = self._model, self._placed.option, self._placed.title
        layers = model.layers
        layer = layers.layer_of(option.key)
        self.origin.setText(tr(LAYER_NAMES[layer]))
        self.origin.setAccessibleName(f"{title}: {tr(LAYER_NAMES[layer])}")
        below = value_text(option, layers.inherited(option.key) if layer == "workspace" else option.default)
        self.reset.setText(tr("Reset to {value}", value=shortened(below, _LONGEST)))
        self.reset.setAccessibleName(tr("Reset {option} to {value}", option=title, value=below))
        self.reset.setVisible(layer != "built-in")
        self._default.setVisible(layer != "built-in")
        self._effect.setText(effect_text(model.effects.get(option.key))[0])
        self._effect.setVisible(bool(self._effect.text()))
        self._pending.setVisible(model.is_pending(option.key))
        self._show_details()

    def show_details(self, on: bool) -> None:
        """Set whether an unchanged option also shows its source and its key."""
        self._detailed = on
        self._show_details()

    @Slot()
    def _show_details(self) -> None:
        """Show the option's source and key while the pointer is over the row, or the focus in it."""
        changed = self._model.layers.layer_of(self._placed.key) != "built-in" or self._model.is_pending(
            self._placed.key
        )
        for widget in (self.origin, self._key):
            widget.setVisible(changed or self._detailed)

    @property
    def description(self) -> str:
        """The texts of the footer as an accessible description."""
        option = self._placed.option
        field_description = tr(
            "{origin}. Default: {value}.", origin=self.origin.text(), value=value_text(option, option.default)
        )
        return f"{field_description} {effect_text(self._model.effects.get(option.key))[1]}".rstrip()

    def mark(self, words: str) -> None:
        """Highlight the words of a search in the text."""
        mark(self._key, self._placed.key, words)
        self.key_matches = any(style for _, style in with_marks(self._placed.key, words, self.palette()))

    # --- changes ----------------------------------------------------------------------------------------------------

    @Slot()
    def _choose_layer(self) -> None:
        menu = self.layer_menu()
        menu.aboutToHide.connect(menu.deleteLater)
        corner = self.origin.rect().bottomLeft()
        if self.isRightToLeft():
            corner.setX(self.origin.width() - menu.sizeHint().width())
        menu.popup(self.origin.mapToGlobal(corner))

    def layer_menu(self) -> QMenu:
        """Return a menu of the layers in which the option is or could be set; created when it is opened."""
        layer = self._model.layers.layer_of(self._placed.key)
        menu = QMenu(self)
        group = QActionGroup(menu)
        for name, words in _LAYERS:
            action = menu.addAction(tr(words))
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
        """Move the current value to the layer `to`, and remove it from narrower layers."""
        key = self._placed.key
        if self._model.layers.layer_of(key) == to:
            return
        changes = [SettingChange(key, to, value_of(self._placed, self._model))]
        if to == "defaults":
            changes.append(SettingChange(key, "workspace", None))
        self._model.change(*changes)


# ---------------------------------------------------------------------------------------------------------------------


class LanguageField(ChoiceField):
    """The field for the window's language, which applies after a restart, since widgets are translated once.

    Signals: restart_requested: the user wants to restart the program: the language then.
    """

    restart_requested = Signal(str)

    def __init__(self, option: Option, title: str) -> None:
        super().__init__(option, title)
        self.later = label(tr("The language changes when the program restarts."), wrap=True)
        self.restart = push_button(
            tr("Restart now"), lambda: self.restart_requested.emit(self.box.currentData()), role="flush"
        )
        self._column.addWidget(self.later)
        self._column.addWidget(self.restart, 0, Qt.AlignmentFlag.AlignLeft)
        self.entered.connect(self._announce)

    def show_value(self, value: Any) -> None:
        super().show_value(value)
        for widget in (self.later, self.restart):
            widget.setVisible(self._is_other(value))

    def _is_other(self, language: str) -> bool:
        return (system_language() if language == "system" else language) != current_language()

    @Slot(object)
    def _announce(self, language: str) -> None:
        if self._is_other(language):
            announce(self, self.later.text())


class OptionRow(SettingRow):
    """A row that shows an option's value from the model, and passes the user's changes to the model."""

    def __init__(
        self, placed: OptionPlacement, model: SettingsModel, field: Field | None = None, parent: QWidget | None = None
    ) -> None:
        """`field` replaces the default field of the option's type."""
        super().__init__(placed, parent, titled=placed.option.kind != "switch")
        self._model = model
        self.field = field or field_for(placed.option, placed.title)
        self.field.entered.connect(self._entered)
        self.field.problem_changed.connect(self.show_error)
        if isinstance(self.field, LinesField):
            self.field.edit.undo_requested.connect(model.undo)
        if isinstance(self.field, LanguageField):
            self.field.restart_requested.connect(model.restart_requested)
        column = self._arrange(self.field)
        self.footer = OptionFooter(placed, model, self)  # now: its buttons come after the field in the tab order
        column.addWidget(self.footer)
        self.show_option()
        cast("QApplication", QApplication.instance()).focusChanged.connect(self._show_details)
        model.changed.connect(self._handle_change)
        model.loaded.connect(self.show_option)

    # --- display ----------------------------------------------------------------------------------------------------

    def _show_details(self) -> None:
        focus = QApplication.focusWidget()
        inside = focus is not None and self.isAncestorOf(focus)
        self.footer.show_details(self.underMouse() or inside or self.footer.key_matches)

    def enterEvent(self, event: QEnterEvent) -> None:
        super().enterEvent(event)
        self._show_details()

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._show_details()

    @Slot(str)
    def _handle_change(self, key: str) -> None:
        if key == self.placed.key:
            self.show_option()

    @Slot()
    def show_option(self) -> None:
        """Show the model's current value."""
        self.field.show_value(value_of(self.placed, self._model))
        self.footer.show_option()
        self.field.describe(f"{self.placed.help} {self.footer.description}")

    def mark(self, query: str) -> None:
        super().mark(query)
        self.footer.mark(query)
        self._show_details()

    # --- changes ----------------------------------------------------------------------------------------------------

    @Slot(object)
    def _entered(self, value: Any) -> None:
        layer = self._model.layers.layer_of(self.placed.key)
        usual = "workspace" if self.placed.page == "sources" else "defaults"
        self._model.set(self.placed.key, value, usual if layer == "built-in" else layer)


def field_for(option: Option, title: str) -> Field:
    """Return the field for an option of this type."""
    match option.kind:
        case "switch":
            return SwitchField(option, title)
        case "choice" if option.key == "window.language":
            return LanguageField(option, title)
        case "choice":
            return ChoiceField(option, title)
        case "choices":
            return ChoicesField(option, title)
        case "list" | "texts" | "numbers" | "lists":
            return LinesField(option, title)
        case _:
            return LineField(option, title)


WIDTH = 620


def section_head(title: str) -> QWidget:
    """Return the rule and the title, a marked text, that begin a section of a page."""
    head = QWidget()
    column_of(line(), label(tr(title), "group", wrap=True), spacing=8, margins=(0, 8, 0, 0), parent=head)
    return head


class DialogPage(QFrame):
    """A page of the dialog, or a part of one that has its own name."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rows: dict[str, OptionRow] = {}
        """Rows of options by key; empty for a page with a form."""

    @property
    def ready(self) -> bool:
        """Whether the page is complete, and nothing is being looked up, tested or saved."""
        return True

    def take_focus(self) -> None:
        """Give the keyboard focus to the first control, if there is one."""

    def show_row(self, key: str) -> None:
        """Scroll to an option in `rows`."""

    def show_error(self, key: str, sentence: str) -> None:
        """Show at an option why its value was not saved."""
        if key in self.rows:
            self.rows[key].show_error(sentence)

    def save_typed(self) -> None:
        """Save text that is being typed in a field, if it is valid."""
        for row in self.rows.values():
            row.field.commit()

    def stop(self) -> None:
        """Cancel running requests and drop unsaved values, since the dialog was closed."""


class FormPage(DialogPage):
    """A page with a form, or a part of one, which is tested and saved as a whole by a button in the dialog's footer.

    A subclass implements `unsaved`, `_save` and `_show_save`, which updates the button.

    Signals:
        saved: other settings are in the file: the approved EmbeddingEstimate, None for none.
        edited: the choice differs, or no longer differs, from the settings in use.
    """

    saved = Signal(object)
    edited = Signal()

    def __init__(self, jobs: Jobs, config: Path | None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._config = config
        self._folder = Path()
        self._settings = Settings()
        self._save_job = JobSlot(self, jobs)
        self._problem = label("", "degraded", wrap=True)
        self.save_button = push_button(tr("Save"), self._save, role="primary")

    @property
    def unsaved(self) -> bool:
        """Whether something in the form is not saved."""
        raise NotImplementedError

    def _save(self) -> None:
        raise NotImplementedError

    def _show_save(self) -> None:
        self.save_button.setEnabled(self.unsaved and not self._save_job.busy)
        self.edited.emit()

    def _run_save(self, work: Work, on_saved: OnDone) -> None:
        """Save in the background."""
        self._save_job.save(work, on_saved, self._not_saved)
        self.save_button.setEnabled(False)

    def _not_saved(self, sentence: str) -> None:
        self._show_error(sentence)
        self._show_save()

    def _show_error(self, sentence: str) -> None:
        self._problem.setText(breakable(sentence))
        self._problem.show()


class RowsPage(DialogPage):
    """A page of rows of settings; those after the first screenful follow in short steps."""

    _BATCH_SIZE = 2

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "page")
        self._due: list[tuple[OptionPlacement, SystemSwitch | None]] = []
        self._next_row_timer = QTimer(self, singleShot=True, interval=0)
        self._next_row_timer.timeout.connect(self._make_some)
        self.column = column_of(spacing=6, margins=(0, 20, 0, 16))
        # From the outside in: Qt applies the style sheet again to all widgets of a part that gets another parent.
        self.scroller: QScrollArea = scrolling_column(self.column, WIDTH, self)
        column_of(self.scroller, parent=self)
        self._list = column_of(spacing=6)

    def _begin(self, due: Iterable[tuple[OptionPlacement, SystemSwitch | None]]) -> None:
        """Begin to make these rows, with the switches of the system among them."""
        self._due = list(due)
        self._end = LastInTabOrder(self)
        self._make_some()

    @Slot()
    def _make_some(self) -> None:
        if self._due:
            self._make(self._BATCH_SIZE)
            self._next_row_timer.start()  # once more after the last ones, which the layout has shown by then

    def _make(self, number: int) -> None:
        """Create the next `number` rows."""
        now, self._due = self._due[:number], self._due[number:]
        for placed, switch in now:
            self._add(placed, switch)
        lay_out_now(self.scroller)

    def _add(self, placed: OptionPlacement, switch: SystemSwitch | None) -> None:
        """Make the row of an option or of a switch, and add it; for subclasses."""
        raise NotImplementedError

    def add_widget(self, widget: QWidget) -> None:
        add_shown(self._list, widget)
        self._end.append(widget)

    @property
    def ready(self) -> bool:
        """Whether all rows are created and shown."""
        return not self._next_row_timer.isActive()


class OptionsPage(RowsPage):
    """One page of options, created when first shown."""

    def __init__(
        self,
        page: SettingsPage,
        model: SettingsModel,
        parent: QWidget | None = None,
        *,
        above: Sequence[QWidget] = (),
        switches: Sequence[SystemSwitch] = (),
    ) -> None:
        """`above`: widgets between title and rows. `switches`: system settings; this page adds its own."""
        super().__init__(parent)
        self.model = model
        self._group = ""
        for widget in (label(tr(PAGES[page]), "title", wrap=True), *above):
            self.column.addWidget(widget)
        self.column.addLayout(self._list)
        self.column.addStretch(1)
        self._begin(with_switches(options_on(page), switches))

    def _add(self, placed: OptionPlacement, switch: SystemSwitch | None) -> None:
        if placed.group != self._group:
            self._group = placed.group
            add_shown(self._list, section_head(self._group))
        if switch is not None:
            self.add_widget(SystemRow(switch))
        else:
            self.add_row(self.make_row(placed))

    def add_row(self, row: OptionRow) -> None:
        """Add a row below the other options."""
        self.rows[row.placed.key] = row
        self.add_widget(row)

    def make_row(self, placed: OptionPlacement) -> OptionRow:
        return OptionRow(placed, self.model, parent=self.column.parentWidget())

    def take_focus(self) -> None:
        while self._due and not self.rows:
            self._make(self._BATCH_SIZE)
        next(iter(self.rows.values())).take_focus()

    def show_row(self, key: str) -> None:
        """Scroll to an option and focus its field."""
        self._make(len(self._due))
        row = self.rows[key]
        row.take_focus()
        self.scroller.ensureWidgetVisible(row)
