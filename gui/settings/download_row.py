"""A model of the hub that is missing on this machine: downloaded on request, with progress."""

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

import engine
from engine import CancelToken, ModelFetchProgress, Settings, marked, tr
from gui.core.job_slot import JobSlot
from gui.core.jobs import Jobs
from gui.widgets.formatting import size_text
from gui.widgets.labels import breakable, label
from gui.widgets.sync_bar import ProgressLine

_FULL = 1000
STOPPED = marked("Stopped. The download will resume where it stopped.")


class DownloadRow(QWidget):
    """Hidden unless a model is missing. The download stops with the dialog, and resumes the next time.

    Signals: fetched: the model is available.
    """

    fetched = Signal()
    _came = Signal(object)

    def __init__(self, jobs: Jobs, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._jobs = jobs
        self._settings: Settings | None = None
        self._looking, self._fetching = JobSlot(self), JobSlot(self)
        self._state = label("", "meta", wrap=True)
        self._progress = ProgressLine()
        self._button = QPushButton(tr("Fetch it"))
        self._button.clicked.connect(self._pressed)
        self._came.connect(self._show_progress)
        row = QHBoxLayout()
        row.setSpacing(12)
        row.addWidget(self._button)
        row.addWidget(self._progress)
        row.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addWidget(self._state)
        column.addLayout(row)
        self.hide()

    @property
    def ready(self) -> bool:
        """Nothing is being looked for or fetched."""
        return not (self._looking.busy or self._fetching.busy)

    def look(self, settings: Settings) -> None:
        """See whether the model of these settings has to be fetched."""
        if settings == self._settings and self._fetching.busy:
            return
        self.stop()
        self._settings = settings
        self._looking.put(self._jobs.read(lambda _: engine.missing_model(settings), self._show))

    def stop(self) -> None:
        """Nobody waits for the model any more."""
        self._looking.cancel()
        self._fetching.cancel()

    def _show(self, missing: str) -> None:
        self._looking.done()
        self.setVisible(bool(missing))
        self._state.setText(breakable(tr("{model} is not on this machine yet.", model=missing)))
        self._show_fetching(on=False)

    def _show_fetching(self, *, on: bool) -> None:
        self._progress.setVisible(on)
        self._button.setText(tr("Stop") if on else tr("Fetch it"))
        self._button.setAccessibleName(tr("Stop fetching the model") if on else tr("Fetch the model from the hub"))

    @Slot()
    def _pressed(self) -> None:
        settings = self._settings
        if self._fetching.busy:
            self._fetching.cancel()
            self._state.setText(tr(STOPPED))
            self._show_fetching(on=False)
            return
        if settings is None:
            return
        self._state.setText(tr("Asking the hub…"))
        self._progress.setValue(0)
        self._show_fetching(on=True)

        def work(token: CancelToken) -> None:
            engine.fetch_model(settings, progress=self._came.emit, cancel=token)

        self._fetching.put(self._jobs.write(work, self._done, self._failed))

    @Slot(object)
    def _show_progress(self, step: ModelFetchProgress) -> None:
        if self._fetching.busy:
            self._progress.setValue(round(_FULL * step.received / step.total) if step.total else 0)
            said = tr("{part} of {whole} have come.", part=size_text(step.received), whole=size_text(step.total))
            self._state.setText(said)

    def _done(self, _: None) -> None:
        self._fetching.done()
        self.hide()
        self.fetched.emit()

    def _failed(self, sentence: str) -> None:
        self._fetching.done()
        self._state.setText(breakable(sentence))
        self._show_fetching(on=False)
