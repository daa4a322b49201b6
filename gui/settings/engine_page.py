"""The page on which a person chooses what keeps and searches the index: tried out before anything is saved.

Its button stands in the foot of the dialog.
"""

from pathlib import Path

from PySide6.QtCore import QTimer, Signal, Slot
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

import engine
from engine import CancelToken, Settings, marked, tr
from gui.job_slot import JobSlot
from gui.jobs import Jobs
from gui.settings.engine_choice import EngineChoice, switch_words
from gui.settings.engine_form import EngineForm
from gui.style import set_role
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
        self._trial, self._saving = JobSlot(self), JobSlot(self)
        self._form = EngineForm()
        self._form.changed.connect(self._changed)
        self._test = QPushButton(tr("Test"))
        self._test.setAccessibleName(tr("Test the engine that is chosen"))
        self._test.clicked.connect(self._try)
        self._tested = label("", "meta", wrap=True)
        self._switch = label("", wrap=True)
        self._problem = label("", "degraded", wrap=True)
        self.save_button = QPushButton(tr("Save"))
        self.save_button.setProperty("role", "primary")
        self.save_button.clicked.connect(self._save)
        for button in (self._test, self.save_button):
            button.setAutoDefault(True)
        column = QVBoxLayout()
        column.setContentsMargins(0, 20, 0, 16)
        column.setSpacing(14)
        column.addWidget(label(tr("What keeps the index and searches it"), "title", wrap=True))
        column.addWidget(self._form)
        trial = QHBoxLayout()
        trial.setSpacing(12)
        trial.addWidget(self._test)
        trial.addWidget(self._tested, 1)
        column.addLayout(trial)
        column.addWidget(self._switch)
        column.addWidget(self._problem)
        column.addStretch(1)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        self._scroll = scrolling_column(column, _WIDTH)
        whole.addWidget(self._scroll)

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
        self._trial.cancel()
        self._saving.cancel()

    @Slot(object)
    def _changed(self, choice: EngineChoice) -> None:
        self._trial.cancel()
        self._tested.clear()
        self._problem.hide()
        self._switch.setText(breakable(switch_words(choice, self._before)))
        self._show_save()

    def _show_save(self) -> None:
        self.save_button.setEnabled(self._form.choice != self._before and not self._saving.busy)

    # --- trying it --------------------------------------------------------------------------------------------------

    @Slot()
    def _try(self) -> None:
        choice, before, folder = self._form.choice, self._settings, self._folder
        set_role(self._tested, "meta")
        self._say_tested(tr(TESTING))
        self._trial.put(
            self._jobs.read(
                lambda token: engine.try_backend(folder, choice.applied_to(before), cancel=token),
                self._show_tried,
                self._show_failed,
            )
        )

    def _show_tried(self, found: str) -> None:
        self._trial.done()
        self._say_tested(breakable(found))

    def _show_failed(self, sentence: str) -> None:
        self._trial.done()
        set_role(self._tested, "degraded")
        self._say_tested(breakable(sentence))

    def _say_tested(self, words: str) -> None:
        """Where it can be read: in a low dialog it stands below the fields."""
        self._tested.setText(words)
        QTimer.singleShot(0, self._tested, lambda: self._scroll.ensureWidgetVisible(self._tested))

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
