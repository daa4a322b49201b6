"""The page of models with stored vectors: their disk space, and deleting one."""

from functools import partial

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from engine import CancelToken, MemorySearchManager, StoredModelInfo, marked, tr, tr_count
from gui.core.jobs import Jobs, JobSlot
from gui.settings.wording import stored_words
from gui.widgets.labels import breakable, label, line
from gui.widgets.scrolling import scrolling_column

_WIDTH = 620
NOTHING = marked("Nothing has been embedded yet.")
INTRODUCTION = marked(
    "Vectors of every model that was used stay in the index, so that going back to it costs nothing. Delete those that "
    "you do not need any more."
)


class StoredModelsPage(QFrame):
    """Signals:
    purged: vectors were deleted.
    """

    purged = Signal()

    def __init__(self, jobs: Jobs, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "page")
        self._jobs = jobs
        self._manager: MemorySearchManager | None = None
        self._job = JobSlot(self)
        self._rows = QVBoxLayout()
        self._rows.setSpacing(10)
        self._problem = label("", "degraded", wrap=True)
        column = QVBoxLayout()
        column.setContentsMargins(0, 20, 0, 16)
        column.setSpacing(12)
        column.addWidget(label(tr("Cached embeddings"), "title", wrap=True))
        column.addWidget(label(tr(INTRODUCTION), "muted", wrap=True))
        column.addLayout(self._rows)
        column.addWidget(self._problem)
        column.addStretch(1)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(scrolling_column(column, _WIDTH))

    @property
    def ready(self) -> bool:
        """Nothing is being looked at or deleted."""
        return not self._job.busy

    def begin(self, manager: MemorySearchManager | None) -> None:
        """Show the stored models of the open memory."""
        self._manager = manager
        self._problem.clear()
        if manager is None:
            self._show(())
            return
        self._job.put(self._jobs.read(lambda _: manager.stored_models(), self._show, self._complain))

    def stop(self) -> None:
        """Nobody waits for an answer any more."""
        self._job.cancel()

    def _show(self, models: tuple[StoredModelInfo, ...]) -> None:
        self._job.done()
        while (item := self._rows.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        for model in models:
            self._rows.addWidget(_ModelRow(model, partial(self._purge, model)))
        if not models:
            self._rows.addWidget(label(tr(NOTHING), "muted"))

    def _purge(self, model: StoredModelInfo) -> None:
        manager = self._manager
        if manager is None:
            return

        def work(_: CancelToken) -> tuple[StoredModelInfo, ...]:
            manager.purge_model(model.provider, model.model, model.key)
            return manager.stored_models()

        self._problem.clear()
        self._job.put(self._jobs.write(work, self._purged, self._complain))

    def _purged(self, models: tuple[StoredModelInfo, ...]) -> None:
        self._show(models)
        self.purged.emit()

    def _complain(self, sentence: str) -> None:
        self._job.done()
        self._problem.setText(breakable(sentence))
        for row in self.findChildren(_ModelRow):
            row.refused()


class _ModelRow(QFrame):
    """One model; deleting asks for confirmation in place."""

    def __init__(self, model: StoredModelInfo, purge: "partial[None]") -> None:
        super().__init__()
        self._purge = purge
        self._delete = QPushButton(tr("Delete…"))
        self._delete.setAccessibleName(tr("Delete the vectors of {model}", model=model.model))
        self._delete.clicked.connect(self._ask)
        again = (
            tr("They are embedded again at the next update, and billed again if the model costs money.")
            if model.active
            else tr("Embedding them again starts from nothing.")
        )
        question = tr_count("Delete {count:,} vector?", "Delete {count:,} vectors?", model.vectors)
        self._question = label(f"{question} {again}", wrap=True)
        self._yes = QPushButton(tr("Delete"))
        self._yes.clicked.connect(self._confirmed)
        self._no = QPushButton(tr("Keep"))
        self._no.clicked.connect(self._keep)
        names = QVBoxLayout()
        names.setSpacing(2)
        names.addWidget(label(breakable(f"{model.provider} · {model.model}"), "strong", wrap=True))
        names.addWidget(label(stored_words(model), "meta", wrap=True))
        names.addWidget(self._question)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addLayout(names, 1)
        for button in (self._delete, self._yes, self._no):
            button.setAutoDefault(True)
            row.addWidget(button)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(10)
        column.addWidget(line())
        column.addLayout(row)
        self._keep()

    def _asking(self, on: bool) -> None:
        self._delete.setVisible(not on)
        for widget in (self._question, self._yes, self._no):
            widget.setVisible(on)

    @Slot()
    def _ask(self) -> None:
        self._yes.setEnabled(True)
        self._asking(True)
        self._no.setFocus()

    @Slot()
    def _keep(self) -> None:
        self._asking(False)
        self._delete.setFocus()

    def refused(self) -> None:
        """Deleting failed, and may be tried again."""
        self._yes.setEnabled(True)

    @Slot()
    def _confirmed(self) -> None:
        self._yes.setEnabled(False)
        self._purge()
