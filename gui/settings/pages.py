"""The pages of the settings dialog, each made when it is first shown."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QPushButton, QWidget

from engine import MemorySearchManager, Settings, marked, tr
from gui.core.capabilities import TITLES, MissingFeatures
from gui.core.jobs import Jobs
from gui.settings.embedding_page import EmbeddingPage
from gui.settings.engine_page import EnginePage
from gui.settings.model import SettingsModel
from gui.settings.options_page import OptionsPage
from gui.settings.page_layout import FORMS, PAGES, SettingsPage, options_on
from gui.settings.sources_page import SourcesPage
from gui.settings.stored_models_page import StoredModelsPage
from gui.settings.system_switch import SystemSwitch
from gui.settings.wording import NAMES, sent_words
from gui.widgets.labels import breakable, label
from gui.widgets.message import Action, MessagePage

PageMaker = Callable[[SettingsModel], QWidget]
"""Creates a page of another part of the window; it has `take_focus`, `ready` and `stop`."""

_NEED_MODELS: tuple[SettingsPage, ...] = ("embedding", "stored")
_ALONE: tuple[SettingsPage, ...] = (*FORMS, "stored")
"""Pages that show the settings in use, not those of the file."""
_KEYS = marked("API keys are stored in the environment or in this system's keychain, never in the settings file.")


class PrivacyPage(OptionsPage):
    """Signals:
    page_wanted: name of another page.
    """

    page_wanted = Signal(str)

    def __init__(self, model: SettingsModel, parent: QWidget | None = None) -> None:
        self._sent = label("", wrap=True)
        choose = QPushButton(tr("Choose the model for searching by meaning"))
        choose.setProperty("role", "link")
        choose.setAutoDefault(True)  # Enter presses the one that has the keys, on every platform
        choose.clicked.connect(lambda: self.page_wanted.emit("embedding"))
        above = (self._sent, label(tr(_KEYS), "meta", wrap=True), choose)
        super().__init__("privacy", model, above=above, parent=parent)
        model.loaded.connect(self._tell)
        self._tell()

    @Slot()
    def _tell(self) -> None:
        settings = self.model.now
        self._sent.setText(breakable(f"{tr(NAMES[settings.provider])}: {sent_words(settings)}"))


class Pages(QObject):
    """Signals: saved: of a page with a form, with the approved estimate, None for none. purged: vectors were deleted.
    page_wanted: name of a page to open. save_button: QPushButton of a page just created, for the footer."""

    saved = Signal(object)
    purged = Signal()
    page_wanted = Signal(str)
    save_button = Signal(object)

    def __init__(
        self,
        jobs: Jobs,
        config: Path | None,
        model: SettingsModel,
        makers: Mapping[SettingsPage, PageMaker],
        switches: Sequence[SystemSwitch],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._jobs = jobs
        self._config = config
        self._model = model
        self._makers = makers
        self._switches = switches
        self._folder = Path()
        self._settings = Settings()
        self._manager: MemorySearchManager | None = None
        self._lacks: MissingFeatures = {}
        self._made: dict[SettingsPage, Any] = {}
        self._lack: MessagePage | None = None
        self.names: tuple[SettingsPage, ...] = tuple(
            name for name in PAGES if name in makers or name in _ALONE or options_on(name)
        )
        """Those that there is something on, in the order of the list."""

    # --- requests of the dialog -------------------------------------------------------------------------------------

    def page(self, name: SettingsPage) -> QWidget:
        """The page, or one that says why the engine in use doesn't support it."""
        if self.lacks_models and name in _NEED_MODELS:
            return self._capabilities()
        if name not in self._made:
            self._made[name] = self._make(name)
            self._begin(name)
        page: QWidget = self._made[name]
        return page

    def stands_alone(self, name: SettingsPage) -> bool:
        """Whether the page can be shown before the file was read."""
        return name in _ALONE

    @property
    def lacks_models(self) -> bool:
        return "models" in self._lacks

    @property
    def ready(self) -> bool:
        return all(getattr(page, "ready", True) for page in self._made.values())

    def renew(self, folder: Path, settings: Settings, manager: MemorySearchManager | None) -> None:
        """These are the settings in force in the workspace, and this is its memory."""
        self._folder, self._settings, self._manager = folder, settings, manager
        self._lacks = {} if manager is None else manager.lacks
        for name in self._made:
            self._begin(name)

    def show_unsupported(self, lacks: MissingFeatures) -> None:
        self._lacks = lacks

    def refresh(self, name: SettingsPage) -> None:
        """Look again at what depends on the index."""
        page = None if self.lacks_models and name in _NEED_MODELS else self._made.get(name)
        if isinstance(page, StoredModelsPage):
            page.begin(self._manager)
        elif isinstance(page, EmbeddingPage):
            page.refresh()

    def show_buttons(self, name: SettingsPage | None) -> None:
        """Of the page that is shown, None for one without a name."""
        for form in FORMS:
            if form in self._made:
                lacking = self.lacks_models and name in _NEED_MODELS
                self._made[form].save_button.setVisible(form == name and not lacking)

    def stop(self) -> None:
        """Nobody waits for an answer any more."""
        for page in self._made.values():
            if hasattr(page, "stop"):
                page.stop()

    # --- creation ---------------------------------------------------------------------------------------------------

    def _make(self, name: SettingsPage) -> QWidget:
        if name in self._makers:
            return self._makers[name](self._model)
        match name:
            case "embedding":
                embedding = EmbeddingPage(self._jobs, self._config)
                return self._form(embedding, embedding.save_button)
            case "engine":
                engine = EnginePage(self._jobs, self._config)
                return self._form(engine, engine.save_button)
            case "stored":
                stored = StoredModelsPage(self._jobs)
                stored.purged.connect(self.purged)
                return stored
            case "sources":
                return SourcesPage(self._model, self._jobs)
            case "privacy":
                privacy = PrivacyPage(self._model)
                privacy.page_wanted.connect(self.page_wanted)
                return privacy
            case _:
                mine = [switch for switch in self._switches if switch.placed.page == name]
                return OptionsPage(name, self._model, switches=mine)

    def _form(self, page: EmbeddingPage | EnginePage, button: QPushButton) -> QWidget:
        page.saved.connect(self._saved)
        self.save_button.emit(button)
        return page

    def _begin(self, name: SettingsPage) -> None:
        page = self._made[name]
        if isinstance(page, EnginePage):
            page.begin(self._folder, self._settings)
        elif isinstance(page, EmbeddingPage):
            page.begin(self._folder, self._settings, None if self.lacks_models else self._manager)

    def _capabilities(self) -> MessagePage:
        if self._lack is None:
            self._lack = MessagePage()
        to_engine = Action(tr("Choose another engine…"), partial(self.page_wanted.emit, "engine"))
        title, why = TITLES["models"], self._lacks["models"]
        self._lack.say(tr(title), tr(why), to_engine)
        return self._lack

    @Slot()
    @Slot(object)
    def _saved(self, agreed: object = None) -> None:
        self.saved.emit(agreed)
