"""Creates the pages of the settings dialog when they are first shown."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QFrame, QSizePolicy, QWidget

from engine import CancelToken, MemorySearchManager, Settings, StoredModelInfo, marked, tr, tr_count
from gui.core.capabilities import TITLES, why_missing
from gui.core.jobs import Jobs, JobSlot
from gui.settings.edited_options import SettingsModel
from gui.settings.embedding_page import EmbeddingPage
from gui.settings.engine_page import EnginePage
from gui.settings.option_pages import FORMS, PAGES, PARTS, SettingsPage, options_on, whole_page
from gui.settings.option_row import DialogPage, FormPage, OptionsPage, section_head
from gui.settings.sources_page import SourcesPage
from gui.settings.system_setting import SystemSwitch
from gui.settings.value_formatting import NAMES, sent_text, stored_text
from gui.text.status_texts import provider_label
from gui.widgets.accessibility import LastInTabOrder, mark_position
from gui.widgets.buttons import push_button
from gui.widgets.labels import breakable, label, line
from gui.widgets.layouts import clear_layout, column_of, discard, row_of
from gui.widgets.message_banner import MessagePage

NOTHING = marked("Nothing has been embedded yet.")
INTRODUCTION = marked(
    "The vectors of every model that you used stay in the index, so that you can return to it without embedding again. "
    "Delete those that you no longer need."
)


class StoredModelsPage(DialogPage):
    """A list of the models with stored vectors and their disk space, to delete the vectors of one.

    Signals:
        purged: vectors were deleted.
    """

    purged = Signal()

    def __init__(self, jobs: Jobs) -> None:
        super().__init__()
        self._manager: MemorySearchManager | None = None
        self._job = JobSlot(self, jobs)
        self._rows = column_of(spacing=10)
        self._problem = label("", "degraded", wrap=True)
        mark_position(self)
        column_of(
            section_head(marked("Cached embeddings")),
            label(tr(INTRODUCTION), "muted", wrap=True),
            self._rows,
            self._problem,
            spacing=10,
            parent=self,
        )

    @property
    def ready(self) -> bool:
        """Whether no lookup or deletion is running."""
        return not self._job.busy

    def begin(self, manager: MemorySearchManager | None) -> None:
        """Read and show the stored models of a memory."""
        self._manager = manager
        self._problem.clear()
        if manager is None:
            self._show(())
            return
        self._job.read(lambda _: manager.stored_models(), self._show, self._show_error)

    def stop(self) -> None:
        """Cancel running requests, since the dialog was closed."""
        self._job.cancel()

    def _show(self, models: tuple[StoredModelInfo, ...]) -> None:
        clear_layout(self._rows)
        end = LastInTabOrder(self)
        for model in models:
            row = _ModelRow(model, partial(self._purge, model))
            self._rows.addWidget(row)
            end.append(row)
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
        self._job.write(work, self._purged, self._show_error)

    def _purged(self, models: tuple[StoredModelInfo, ...]) -> None:
        self._show(models)
        self.purged.emit()

    def _show_error(self, sentence: str) -> None:
        self._problem.setText(breakable(sentence))
        for row in self.findChildren(_ModelRow):
            row.refused()


class _ModelRow(QFrame):
    """A row with one model; deleting asks for confirmation in the row."""

    def __init__(self, model: StoredModelInfo, purge: "partial[None]") -> None:
        super().__init__()
        self._purge = purge
        self._delete = push_button(
            tr("Delete…"), self._ask_confirmation, name=tr("Delete the vectors of {model}", model=model.model)
        )
        again = (
            tr("The passages are embedded again at the next update, and billed again if the model costs money.")
            if model.active
            else tr("If you use this model again, its passages must be embedded again.")
        )
        question = tr_count("Delete {count:,} vector?", "Delete {count:,} vectors?", model.vectors)
        self._question = label(f"{question} {again}", wrap=True)
        self._yes = push_button(tr("Delete"), self._confirmed)
        self._no = push_button(tr("Keep the vectors"), self._cancel_deletion)
        name = label(breakable(f"{provider_label(model.provider)} · {model.model}"), "strong", wrap=True)
        words = column_of(name, label(stored_text(model), "meta", wrap=True), self._question, spacing=2)
        row = row_of((words, 1), self._delete, self._yes, self._no, spacing=8)
        column_of(line(), row, spacing=10, parent=self)
        self._cancel_deletion()

    def _show_question(self, on: bool) -> None:
        self._delete.setVisible(not on)
        for widget in (self._question, self._yes, self._no):
            widget.setVisible(on)

    @Slot()
    def _ask_confirmation(self) -> None:
        self._yes.setEnabled(True)
        self._show_question(True)
        self._no.setFocus()

    @Slot()
    def _cancel_deletion(self) -> None:
        self._show_question(False)
        self._delete.setFocus()

    def refused(self) -> None:
        """Enable the button again, since deleting failed."""
        self._yes.setEnabled(True)

    @Slot()
    def _confirmed(self) -> None:
        self._yes.setEnabled(False)
        self._purge()


PageMaker = Callable[[SettingsModel, QWidget], DialogPage]
"""Creates a page of another part of the window."""

_NEED_MODELS: SettingsPage = "embedding"
_ALONE: SettingsPage = "embedding"
"""The page that shows the settings in use, which may differ from the file."""
_KEYS = marked("API keys are stored in the environment or in this system's keychain, never in the settings file.")


class PrivacyPage(OptionsPage):
    """The page of privacy options, with a text about the data that is sent, and its receivers.

    Signals:
        page_requested: name of another page.
    """

    page_requested = Signal(str)

    def __init__(self, model: SettingsModel, parent: QWidget) -> None:
        self._sent = label("", wrap=True)
        choose = push_button(
            tr("Choose the model for searching by meaning"), lambda: self.page_requested.emit("embedding"), role="flush"
        )
        choose.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)  # the focus frame is around the text
        above = (self._sent, label(tr(_KEYS), "meta", wrap=True), choose)
        super().__init__("privacy", model, parent, above=above)
        model.loaded.connect(self._show_sent)
        self._show_sent()

    @Slot()
    def _show_sent(self) -> None:
        settings = self.model.current
        self._sent.setText(breakable(f"{tr(NAMES[settings.provider])}: {sent_text(settings)}"))


class Pages(QObject):
    """Stores the pages of the dialog, each created when first shown.

    Signals:
        saved: a page with a form was saved, with the approved estimate, None for none.
        purged: vectors were deleted.
        page_requested: name of a page to open.
        save_button: QPushButton of a page just created, for the footer.
        edited: the choice of a form has changed.
    """

    saved = Signal(object)
    edited = Signal()
    purged = Signal()
    page_requested = Signal(str)
    save_button = Signal(object)

    def __init__(
        self,
        jobs: Jobs,
        config: Path | None,
        model: SettingsModel,
        makers: Mapping[SettingsPage, PageMaker],
        switches: Sequence[SystemSwitch],
        parent: QWidget,
    ) -> None:
        """`parent` contains the pages."""
        super().__init__(parent)
        self._parent = parent
        self._jobs = jobs
        self._config = config
        self._model = model
        self._makers = makers
        self._switches = switches
        self._folder = Path()
        self._settings = Settings()
        self._manager: MemorySearchManager | None = None
        self._pages: dict[SettingsPage, DialogPage] = {}
        self._models_message: MessagePage | None = None
        self.current: SettingsPage | None = None
        """The page whose buttons are shown; None for the search results, or before the file was read."""
        self.names: tuple[SettingsPage, ...] = tuple(
            name for name in PAGES if name not in PARTS and (name in makers or options_on(name))
        )
        """Names of the pages that have content, in the order of the list."""

    # --- requests of the dialog -------------------------------------------------------------------------------------

    def page(self, name: SettingsPage) -> QWidget:
        """Return a page or part, or a page that explains why the current engine doesn't support it."""
        whole = whole_page(name)
        if self._replaced(name):
            return self._capabilities()
        if whole not in self._pages:
            self._pages[whole] = self._make(whole)
            for made in (whole, *(part for part in PARTS if PARTS[part] == whole)):
                self._begin(made)
        return self._pages[name]

    def form(self, name: SettingsPage) -> FormPage | None:
        """Return a page with a form; None if it was not shown yet."""
        page = self._pages.get(name)
        return page if isinstance(page, FormPage) else None

    def needs_no_settings(self, name: SettingsPage) -> bool:
        """Return whether a page can be shown before the settings file was read."""
        return name == _ALONE

    @property
    def models_unsupported(self) -> bool:
        return self._manager is not None and bool(why_missing("models"))

    @property
    def unsaved(self) -> SettingsPage | None:
        """The name of the page whose form has unsaved changes; None if there is none."""
        usable = (name for name in FORMS if not self._replaced(name))
        return next((name for name in usable if (form := self.form(name)) is not None and form.unsaved), None)

    def _replaced(self, name: SettingsPage) -> bool:
        """Return whether an explanation replaces the page, since the current engine doesn't support it."""
        return self.models_unsupported and whole_page(name) == _NEED_MODELS

    @property
    def ready(self) -> bool:
        return all(page.ready for page in self._pages.values())

    def renew(self, folder: Path, settings: Settings, manager: MemorySearchManager | None) -> None:
        """Update the pages with the workspace's current settings and its memory."""
        self._folder, self._settings, self._manager = folder, settings, manager
        for name in self._pages:
            self._begin(name)

    def refresh(self, name: SettingsPage) -> None:
        """Update the parts of a page that depend on the index."""
        stored, page = self._pages.get("stored"), self._pages.get(name)
        if isinstance(page, EmbeddingPage) and isinstance(stored, StoredModelsPage) and not self.models_unsupported:
            stored.begin(self._manager)
            page.refresh()

    def show_buttons(self, name: SettingsPage | None) -> None:
        """Show the footer buttons of a page; None for the search results."""
        self.current = name
        self._show_buttons()

    @Slot()
    def _show_buttons(self) -> None:
        for name in FORMS:
            if (form := self.form(name)) is not None:
                whole = whole_page(name)
                # Next to options that are saved immediately, a disabled save button would confuse.
                form.save_button.setVisible(
                    self.current == whole and not self._replaced(name) and (whole == name or form.unsaved)
                )

    def stop(self) -> None:
        """Cancel running requests of all pages, since the dialog was closed."""
        for page in self._pages.values():
            page.stop()

    def drop(self) -> None:
        """Delete all pages, whose widgets each change of theme or text size would lay out again."""
        pages = {name: page for name, page in self._pages.items() if name not in PARTS}
        for name in FORMS:
            if (form := self.form(name)) is not None:
                form.save_button.deleteLater()
        self._pages.clear()
        self.current = None
        for page in pages.values():
            discard(page)

    # --- creation ---------------------------------------------------------------------------------------------------

    def _make(self, name: SettingsPage) -> DialogPage:
        if name in self._makers:
            return self._makers[name](self._model, self._parent)
        match name:
            case "embedding":
                stored = self._pages["stored"] = StoredModelsPage(self._jobs)
                stored.purged.connect(self.purged)
                return self._form(EmbeddingPage(self._jobs, self._config, stored, self._parent))
            case "advanced":
                engine = self._pages["engine"] = EnginePage(self._jobs, self._config)
                self._form(engine)
                advanced = OptionsPage(name, self._model, self._parent, above=(engine,))
                engine.set_scroller(advanced.scroller)
                return advanced
            case "sources":
                return SourcesPage(self._model, self._jobs, self._parent, self._manager)
            case "privacy":
                privacy = PrivacyPage(self._model, self._parent)
                privacy.page_requested.connect(self.page_requested)
                return privacy
            case _:
                switches = [switch for switch in self._switches if switch.placed.page == name]
                return OptionsPage(name, self._model, self._parent, switches=switches)

    def _form(self, page: FormPage) -> DialogPage:
        page.saved.connect(self.saved)
        page.edited.connect(self._show_buttons)
        page.edited.connect(self.edited)
        self.save_button.emit(page.save_button)
        return page

    def _begin(self, name: SettingsPage) -> None:
        page = self._pages[name]
        if isinstance(page, StoredModelsPage):
            page.begin(None if self.models_unsupported else self._manager)
        elif isinstance(page, SourcesPage):
            page.begin(self._manager)
        elif isinstance(page, EnginePage):
            page.begin(self._folder, self._settings)
        elif isinstance(page, EmbeddingPage):
            page.begin(self._folder, self._settings, None if self.models_unsupported else self._manager)

    def _capabilities(self) -> MessagePage:
        if self._models_message is None:
            self._models_message = MessagePage()
        to_engine = (tr("Choose another engine…"), partial(self.page_requested.emit, "engine"))
        title, reason = TITLES["models"], why_missing("models")
        self._models_message.show_message(tr(title), tr(reason), to_engine)
        return self._models_message
