"""The page on which a person chooses what keeps and searches the index: tried out before anything is saved.

Its button stands in the foot of the dialog.
"""

from pathlib import Path

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QFrame, QPushButton, QVBoxLayout, QWidget

import engine
from engine import CancelToken, Settings, marked, tr
from gui.core.job_slot import JobSlot
from gui.core.jobs import Jobs
from gui.settings.check_row import CheckRow
from gui.settings.engine_choice import EngineChoice, switch_words
from gui.settings.engine_form import EngineForm
from gui.widgets.labels import breakable, label
from gui.widgets.scrolling import scrolling_column

_WIDTH = 620
TESTING = marked("Trying…")


class EnginePage(QFrame):
    """Signals:
    saved: other settings are in the file.
    """

    saved = Signal()

    def __init__(self, jobs: Jobs, config: Path | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "page")
        self._jobs = jobs
        self._config = config
        self._folder = Path()
        self._settings = Settings()
        self._before = EngineChoice.of(self._settings)
        self._saving = JobSlot(self)
        self._form = EngineForm()
        self._form.changed.connect(self._changed)
        self._trial = CheckRow(jobs, tr("Test the engine that is chosen"), tr(TESTING))
        self._trial.wanted.connect(self._try)
        self._switch = label("", wrap=True)
        self._problem = label("", "degraded", wrap=True)
        self.save_button = QPushButton(tr("Save"))
        self.save_button.setProperty("role", "primary")
        self.save_button.clicked.connect(self._save)
        self.save_button.setAutoDefault(True)
        column = QVBoxLayout()
        column.setContentsMargins(0, 20, 0, 16)
        column.setSpacing(14)
        column.addWidget(label(tr("What keeps the index and searches it"), "title", wrap=True))
        column.addWidget(self._form)
        column.addWidget(self._trial)
        column.addWidget(self._switch)
        column.addWidget(self._problem)
        column.addStretch(1)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        scroller = scrolling_column(column, _WIDTH)
        whole.addWidget(scroller)
        self._trial.stand_in(scroller)

    @property
    def ready(self) -> bool:
        """Nothing is being tried or saved."""
        return not (self._trial.busy or self._saving.busy)

    def begin(self, folder: Path, settings: Settings) -> None:
        """Show the settings that are in force in a workspace."""
        self._folder, self._settings = folder, settings
        self._before = EngineChoice.of(settings)
        self._form.show_choice(self._before)
        self._changed(self._before)

    def take_focus(self) -> None:
        self._form.focus_first()

    def stop(self) -> None:
        """Nobody waits for an answer any more."""
        self._trial.clear()
        self._saving.cancel()

    @Slot(object)
    def _changed(self, choice: EngineChoice) -> None:
        self._trial.clear()
        self._problem.hide()
        self._switch.setText(breakable(switch_words(choice, self._before)))
        self._show_save()

    def _show_save(self) -> None:
        self.save_button.setEnabled(self._form.choice != self._before and not self._saving.busy)

    # --- trying it --------------------------------------------------------------------------------------------------

    @Slot()
    def _try(self) -> None:
        choice, before, folder = self._form.choice, self._settings, self._folder
        self._trial.run(
            lambda token: engine.try_backend(folder, choice.applied_to(before), cancel=token),
            lambda found: (found, True),
        )

    # --- changing it ------------------------------------------------------------------------------------------------

    @Slot()
    def _save(self) -> None:
        changes = self._form.choice.changes(self._before)
        folder, config, seen = self._folder, self._config, self._settings

        def work(_: CancelToken) -> None:
            engine.save_settings(changes, workspace=folder, config=config, seen=seen)

        self._saving.put(self._jobs.write(work, self._saved, self._not_saved))
        self.save_button.setEnabled(False)

    def _saved(self, _: None) -> None:
        self._saving.done()
        self.saved.emit()

    def _not_saved(self, sentence: str) -> None:
        self._saving.done()
        self._problem.setText(breakable(sentence))
        self._problem.show()
        self._show_save()
