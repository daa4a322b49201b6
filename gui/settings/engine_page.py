"""The form to choose the search engine; the choice is tested before it is saved.

Its button is in the footer of the dialog.
"""

from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QButtonGroup, QFileDialog, QGridLayout, QLineEdit, QWidget

import engine
from engine import CancelToken, Settings, marked, tr
from gui.core.jobs import Jobs
from gui.settings.engine_and_model_choice import ENGINES, EngineChoice, switch_text
from gui.settings.fields import CheckRow
from gui.settings.option_row import FormPage, section_head
from gui.text.plain_text import set_tip
from gui.text.right_to_left import margins
from gui.widgets.buttons import push_button
from gui.widgets.form_controls import ComboBox, RadioButton, indent
from gui.widgets.labels import breakable, label
from gui.widgets.layouts import column_of, row_of

TESTING = marked("Testing…")
_SEARCH_MODES = (
    ("search", marked("By words")),
    ("vsearch", marked("By meaning, with a model of qmd")),
    ("query", marked("Both, re-ranked by a model")),
)


class EngineForm(QWidget):
    """The fields for the search engine and its options.

    Signals: changed: the current EngineChoice, after a change by the user.
    """

    changed = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._backend = ENGINES[0].name
        self._buttons: dict[str, RadioButton] = {}
        self._fields: dict[str, QWidget] = {}
        self._group = QButtonGroup(self)
        column = column_of(spacing=14, parent=self)
        self._make_fields()
        for choice in ENGINES:
            button = self._buttons[choice.name] = RadioButton(tr(choice.title))
            button.setAccessibleDescription(f"{tr(choice.description)} {tr(choice.needs)}")
            button.clicked.connect(lambda _=False, name=choice.name: self._choose(name))
            self._group.addButton(button)
            sentences = (label(tr(words), "meta", wrap=True) for words in (choice.description, choice.needs))
            below = column_of(*sentences, spacing=2, margins=margins(indent(), 0, 0, 0))
            if choice.name in self._fields:
                below.addWidget(self._fields[choice.name])
            column.addLayout(column_of(button, below, spacing=2))

    def _make_fields(self) -> None:
        self._command = self._line(tr("Command"), tr("qmd, or its path"))
        self._search = ComboBox(tr("qmd search mode"))
        for name, words in _SEARCH_MODES:
            self._search.addItem(tr(words), name)
        self._search.activated.connect(self._emit_changed)
        self._uri = self._line(tr("Location of the LanceDB table"), tr("On this machine, in your data folder"))
        set_tip(self._uri, tr("A folder, s3://bucket/path or db://database"))
        self._table = self._line(tr("Name of the LanceDB table"), tr("The folder's name"))
        self._machine = self._line(tr("This machine's name"), tr("The machine's own name"))
        set_tip(self._machine, tr("Name of this machine, shown with your notes to others who share the table"))
        browse = push_button(tr("Browse…"), self._browse, name=tr("Browse for the folder of the table"))
        location = QWidget()
        row_of((self._uri, 1), browse, spacing=8, parent=location)
        self._fields["qmd"] = _grid((tr("Command"), self._command), (tr("Search"), self._search))
        self._fields["lancedb"] = _grid(
            (tr("Location"), location), (tr("Table"), self._table), (tr("Machine"), self._machine)
        )

    def _line(self, name: str, hint: str) -> QLineEdit:
        line_edit = QLineEdit()
        line_edit.setAccessibleName(name)
        line_edit.setPlaceholderText(hint)
        line_edit.textEdited.connect(self._emit_changed)
        return line_edit

    # --- display ----------------------------------------------------------------------------------------------------

    @property
    def choice(self) -> EngineChoice:
        """The current choice of the fields."""
        return EngineChoice(
            backend=self._backend,
            command=self._command.text().strip() or "qmd",
            search_mode=self._search.currentData() or "search",
            uri=self._uri.text().strip(),
            table=self._table.text().strip(),
            machine=self._machine.text().strip(),
        )

    def show_choice(self, choice: EngineChoice) -> None:
        self._command.setText("" if choice.command == "qmd" else choice.command)
        self._search.choose(choice.search_mode)
        for field, text in ((self._uri, choice.uri), (self._table, choice.table), (self._machine, choice.machine)):
            field.setText(text)
        self._show_backend(choice.backend)

    def _show_backend(self, name: str) -> None:
        self._backend = name
        for other, button in self._buttons.items():
            button.setChecked(other == name)
        for other, fields in self._fields.items():
            fields.setVisible(other == name)

    def focus_first(self) -> None:
        """Focus the radio button of the chosen engine."""
        self._buttons[self._backend].setFocus(Qt.FocusReason.TabFocusReason)

    # --- input ------------------------------------------------------------------------------------------------------

    def _choose(self, name: str) -> None:
        if name != self._backend:
            self._show_backend(name)
            self._emit_changed()

    @Slot()
    def _emit_changed(self) -> None:
        self.changed.emit(self.choice)

    @Slot()
    def _browse(self) -> None:
        folder = QFileDialog.getExistingDirectory(self, tr("Choose the folder of the table"), self._uri.text())
        if folder:
            self._uri.setText(folder)
            self._emit_changed()


def _grid(*rows: tuple[str, QWidget]) -> QWidget:
    """Return a widget with the fields in a column, each with its label at the left."""
    widget = QWidget()
    grid = QGridLayout(widget)
    grid.setContentsMargins(0, 8, 0, 0)
    grid.setHorizontalSpacing(16)
    grid.setVerticalSpacing(8)
    grid.setColumnStretch(1, 1)
    for number, (words, field) in enumerate(rows):
        grid.addWidget(label(words, "muted"), number, 0, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        grid.addWidget(field, number, 1)
    return widget


class EnginePage(FormPage):
    """The choice of the engine, a part of the advanced page."""

    def __init__(self, jobs: Jobs, config: Path | None = None) -> None:
        super().__init__(jobs, config)
        self._before = EngineChoice.of(self._settings)
        self._form = EngineForm()
        self._form.changed.connect(self._changed)
        self._trial = CheckRow(jobs, tr("Test the engine that is chosen"), tr(TESTING))
        self._trial.button.clicked.connect(self._try)
        self._switch = label("", wrap=True)
        column_of(
            section_head(marked("Search engine")),
            self._form,
            self._trial,
            self._switch,
            self._problem,
            spacing=14,
            margins=(0, 0, 0, 8),
            parent=self,
        )
        self.set_scroller = self._trial.set_scroller

    @property
    def ready(self) -> bool:
        """Whether no test or save is running."""
        return not (self._trial.busy or self._save_job.busy)

    def begin(self, folder: Path, settings: Settings) -> None:
        """Show the current settings of a workspace; an unsaved choice stays while the same one is opened again."""
        choice = self._form.choice if self.unsaved and folder == self._folder else EngineChoice.of(settings)
        self._folder, self._settings = folder, settings
        self._before = EngineChoice.of(settings)
        self._form.show_choice(choice)
        self._changed(choice)

    def take_focus(self) -> None:
        self._form.focus_first()

    def stop(self) -> None:
        """Cancel a running test, since the dialog was closed."""
        self._form.show_choice(self._before)
        self._changed(self._before)
        self._save_job.cancel()

    @Slot(object)
    def _changed(self, choice: EngineChoice) -> None:
        self._trial.clear()
        self._problem.hide()
        self._switch.setText(breakable(switch_text(choice, self._before)))
        self._show_save()

    @property
    def unsaved(self) -> bool:
        """Whether the choice differs from the settings in use."""
        return self._form.choice != self._before

    # --- test -------------------------------------------------------------------------------------------------------

    @Slot()
    def _try(self) -> None:
        choice, before, folder = self._form.choice, self._settings, self._folder
        self._trial.run(
            lambda token: engine.try_backend(folder, choice.applied_to(before), cancel=token),
            lambda found: (found, True),
        )

    # --- changes ----------------------------------------------------------------------------------------------------

    @Slot()
    def _save(self) -> None:
        choice = self._form.choice
        changes = choice.changes(self._before)
        folder, config, before = self._folder, self._config, self._settings

        def work(_: CancelToken) -> None:
            engine.save_settings(changes, workspace=folder, config=config, seen=before)

        self._run_save(work, partial(self._saved, choice))

    def _saved(self, choice: EngineChoice, _: None) -> None:
        self._before = choice
        self.saved.emit(None)
