"""The banner at the top of the window: problems of the index or a sync, and questions before an expensive rebuild."""

from functools import partial

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QWidget

from engine import EmbeddingEstimate, UserDataStatus, tr
from gui.core.workspace import Workspace
from gui.text.formatting import embed_label, estimate_text
from gui.text.status_texts import FailedService, IndexRemedy, engine_name, why_no_update
from gui.widgets.message_banner import Banner
from gui.widgets.placeholder_page import Action


class WindowBanner(Banner):
    """The banner at the top of the window; its buttons act on the workspace.

    Signals:
        settings_requested: open the settings of a failing provider.
        engine_requested: choose another engine.
    """

    settings_requested = Signal()
    engine_requested = Signal()

    def __init__(self, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._workspace = workspace
        workspace.sync_failed.connect(self.show_failed_sync)
        workspace.engine_tried.connect(self.show_engine_tried)
        workspace.data_restored.connect(self.show_restored)
        workspace.data_not_restored.connect(self.show_error)

    @Slot(str, str)
    def show_index_problem(self, sentence: str, remedy: IndexRemedy) -> None:
        """Show why the index cannot be used, with a button for the remedy."""
        remedies: dict[IndexRemedy, tuple[Action, ...]] = {
            "retry": ((tr("Try again"), self.sync_again),),
            "rebuild": ((tr("Rebuild index…"), self.confirm_rebuild),),
            "sync": ((tr("Try again"), self._workspace.sync), self._to_engines),
        }
        self.show_message(sentence, "degraded", *remedies[remedy], key="index")

    @Slot(object)
    def show_user_data(self, status: UserDataStatus | None) -> None:
        """Show that facts, saved searches and history can't be read; None removes the message."""
        if status is None:
            self.clear("user-data")
        elif status.backup is None:
            self.show_message(status.problem, "degraded", key="user-data")
        else:
            restore = (tr("Restore backup"), self._workspace.restore_data)
            self.show_message(status.problem, "degraded", restore, key="user-data")

    @Slot(str)
    def show_restored(self, sentence: str) -> None:
        """Show that the backup was restored, and its origin."""
        self.show_message(sentence, "working", key="restored")

    @Slot(str, bool)
    def show_failed_sync(self, sentence: str, of_provider: bool) -> None:
        """Show why a sync failed; `of_provider` offers the settings of the embedding, too."""
        settings = (self._to_settings,) if of_provider else ()
        self.show_message(sentence, "degraded", (tr("Try again"), self.sync_again), *settings, key="sync")

    @Slot()
    def sync_again(self) -> None:
        """Sync. If the index could not be written, open the folder again first: this checks the rights to write."""
        status, opened = self._workspace.status, self._workspace.current
        if status is not None and opened is not None and why_no_update(status):
            self._workspace.open(opened.folder)
        else:
            self._workspace.sync()

    @Slot()
    def remove_failed_sync(self) -> None:
        """Remove the message about a failed sync, since a later one succeeded."""
        self.clear("sync")

    @Slot(str)
    def show_provider_problem(self, reason: str) -> None:
        """Show why the configured provider can't be used; an empty reason removes the message."""
        if reason:
            self.show_message(
                tr("No search by meaning. {reason}", reason=reason), "degraded", self._to_settings, key="provider"
            )
        else:
            self.clear("provider")

    @Slot(object)
    def show_engine_replaced(self, instead: FailedService | None) -> None:
        """Show that another engine answers in place of the chosen one; None removes the message."""
        if instead is None:
            self.clear("engine")
            return
        self._show_replaced(
            tr(
                "{engine} did not answer. {reason} Meanwhile, the built-in index answers.",
                engine=engine_name(instead.chosen),
                reason=instead.reason,
            ),
        )

    @Slot()
    def try_engine_again(self) -> None:
        """Try the chosen engine again, and show the result."""
        self.show_message(tr("Trying the search engine again…"), "working", key="engine")
        self._workspace.try_again()

    @Slot(object)
    def show_engine_tried(self, instead: FailedService | None) -> None:
        """Show which engine still answers as a fallback; None if the chosen one is back."""
        if instead is None:
            self.clear("engine")
        else:
            self._show_replaced(
                tr(
                    "{engine} still does not answer. {reason} Meanwhile, the built-in index answers.",
                    engine=engine_name(instead.chosen),
                    reason=instead.reason,
                ),
            )

    def _show_replaced(self, sentence: str) -> None:
        again = (tr("Try again now"), self.try_engine_again)
        self.show_message(sentence, "degraded", again, self._to_engines, key="engine")

    @property
    def _to_settings(self) -> Action:
        return (tr("Settings…"), self.settings_requested.emit)

    @property
    def _to_engines(self) -> Action:
        return (tr("Choose another engine…"), self.engine_requested.emit)

    @Slot()
    def confirm_rebuild(self) -> None:
        """Ask before the whole index is rebuilt."""
        self.show_message(
            tr("Rebuild the whole index? Searches use the current index until the new one is ready."),
            "working",
            (tr("Rebuild"), partial(self._workspace.sync, force=True)),
            (tr("Keep the index"), self.clear),
            key="rebuild",
        )

    @Slot(object)
    def confirm_embedding(self, estimate: EmbeddingEstimate | None) -> None:
        """Ask before embedding that costs money or much time; None removes the question."""
        if estimate is None:
            self.clear("awaiting")
            return
        self.show_message(
            tr("{estimate} Until then, there is no search by meaning.", estimate=estimate_text(estimate)),
            "working",
            (embed_label(estimate), partial(self._workspace.sync, approve=estimate)),
            (tr("Not now"), partial(self.clear, "awaiting")),
            key="awaiting",
        )

    def show_error(self, sentence: str) -> None:
        """Show an error message that has no other banner."""
        self.show_message(sentence, "degraded")
