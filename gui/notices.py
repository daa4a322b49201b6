"""The banner of this window: what is wrong with the index or a sync, and what a person is asked before a rebuild."""

from functools import partial

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QWidget

from engine import EmbeddingEstimate
from gui.widgets.engines import Instead, engine_name
from gui.widgets.message import Action, Banner
from gui.widgets.pricing import embed_words, estimate_words
from gui.workspace import Workspace


class Notices(Banner):
    """Its actions steer the workspace.

    Signals:
        settings_wanted: the person wants to change what makes a provider fail.
    """

    settings_wanted = Signal()

    def __init__(self, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._workspace = workspace
        workspace.sync_failed.connect(self.tell_failed_sync)

    @Slot(str, bool)
    def tell_index_problem(self, sentence: str, mendable: bool) -> None:
        mend = (Action("Rebuild index…", self.ask_rebuild),) if mendable else ()
        self.say(sentence, "degraded", *mend, key="index")

    @Slot(str, bool)
    def tell_failed_sync(self, sentence: str, of_provider: bool) -> None:
        settings = (self._to_settings,) if of_provider else ()
        self.say(sentence, "degraded", Action("Try again", self._workspace.sync), *settings, key="sync")

    @Slot()
    def take_back_failed_sync(self) -> None:
        """A later sync went well."""
        self.clear("sync")

    @Slot(str)
    def tell_provider_problem(self, reason: str) -> None:
        """The provider of the settings cannot even begin; an empty reason takes it back."""
        if reason:
            self.say(f"Only words are searched. {reason}", "degraded", self._to_settings, key="provider")
        else:
            self.clear("provider")

    @Slot(object)
    def tell_engine_replaced(self, instead: Instead | None) -> None:
        """Another engine answers in place of the chosen one; None takes it back."""
        if instead is None:
            self.clear("engine")
            return
        name = engine_name(instead.chosen)
        self.say(
            f"{name} did not answer. {instead.reason} The built-in index answers until it does.",
            "degraded",
            Action("Try again now", self._workspace.try_again),
            key="engine",
        )

    @property
    def _to_settings(self) -> Action:
        return Action("Settings…", self.settings_wanted.emit)

    @Slot()
    def ask_rebuild(self) -> None:
        """Ask before the whole index is made again."""
        self.say(
            "Rebuild the whole index? Searching goes on with the present one until the new one is ready.",
            "working",
            Action("Rebuild", partial(self._workspace.sync, force=True)),
            Action("Keep it", self.clear),
            key="rebuild",
        )

    @Slot(object)
    def ask_to_embed(self, estimate: EmbeddingEstimate | None) -> None:
        """Ask before embedding that costs money or much time; None takes the question back."""
        if estimate is None:
            self.clear("awaiting")
            return
        self.say(
            f"{estimate_words(estimate)} Until then only words are searched.",
            "working",
            Action(embed_words(estimate), partial(self._workspace.sync, approve=estimate)),
            Action("Not now", partial(self.clear, "awaiting")),
            key="awaiting",
        )

    def complain(self, sentence: str) -> None:
        """Say something that went wrong, whatever it was."""
        self.say(sentence, "degraded")
