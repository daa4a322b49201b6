"""Routes requests from one panel to another, such as to save a session as a note, and from panels to the workspace.

The search panel's ranking settings, saved searches and history belong to the workspace.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import Slot

import engine
from engine import CancelToken, SearchRemedy, Settings, marked, tr
from gui.agent_edits.panel import EditsPanel
from gui.controllers.folders import FolderController
from gui.controllers.navigation import ResultOpener
from gui.controllers.settings import SettingsController
from gui.conversation.panel import ConversationPanel
from gui.core.status_feed import StatusEvents
from gui.core.window_context import Controller, WindowContext
from gui.core.workspace import OpenWorkspace
from gui.diagnostics.panel import DiagnosticsPanel
from gui.index.panel import IndexPanel
from gui.remember.controller import NewNoteNotice, RememberController, Trash
from gui.search.panel import SearchPanel
from gui.search.ranking_menu import Ranking
from gui.sessions.panel import SessionsPanel
from gui.sessions.session_figures import FiguresDialog
from gui.shell.dock import Dock
from gui.shell.views import Views
from gui.sources.first_run_panel import FirstRunPanel

_LONGEST_NAME = 4
"""Maximum number of words of a query that may be the name of a file."""
_NO_NAME = frozenset('":()')
"""Characters of operators, which few names of files contain."""


class PanelActions(Controller):
    """Connects the signals of panels with the panels that handle them."""

    def __init__(
        self,
        context: WindowContext,
        views: Views,
        dock: Dock,
        first_run: FirstRunPanel,
        folders: FolderController,
        settings: SettingsController,
    ) -> None:
        super().__init__(context)
        self._views = views
        self._dock = dock
        self._first_run = first_run
        self._folders = folders
        self._settings = settings
        self._connect_explanation(views.search, dock)
        views.made.when(SessionsPanel, self._connect_sessions)
        views.made.when(EditsPanel, lambda edits: edits.folder_requested.connect(folders.add_sessions))
        views.made.when(IndexPanel, self._connect_index)
        dock.made.when(DiagnosticsPanel, self._connect_diagnostics)
        views.search.body.missing_file_requested.connect(self.explain_missing)
        views.search.view.start_lists.map_requested.connect(self._show_map)

    def _connect_explanation(self, search: SearchPanel, dock: Dock) -> None:
        search.answer_changed.connect(dock.explanation.show_answer)
        search.view.list.current_changed.connect(dock.explanation.show_result)
        search.view.list.why_requested.connect(dock.show_explanation)
        search.controller.variants.remedy_requested.connect(self._run_remedy)
        dock.explanation.requested.connect(search.controller.explain)
        dock.explanation.weak_requested.connect(search.controller.variants.show_weak)

    def _connect_sessions(self, sessions: SessionsPanel) -> None:
        sessions.listed.folder_requested.connect(self._folders.add_sessions)
        sessions.listed.tools_requested.connect(self._folders.index_tools)
        sessions.listed.engine_requested.connect(partial(self._run_action, "engine"))
        sessions.actions.figures.triggered.connect(lambda: self._show_figures(sessions))

    def _show_figures(self, sessions: SessionsPanel) -> None:
        opened = self._workspace.current
        if opened is not None:
            listed = sessions.view.list.listed_sessions()
            dialog = FiguresDialog(self._jobs, listed, opened.settings.sessions.prices, self._window)
            dialog.chosen.connect(sessions.filter_by)
            dialog.finished.connect(dialog.deleteLater)
            dialog.open()

    def _connect_index(self, index: IndexPanel) -> None:
        index.action_requested.connect(self._run_action)
        index.files_requested.connect(self.show_files)

    def _connect_diagnostics(self, diagnostics: DiagnosticsPanel) -> None:
        diagnostics.action_requested.connect(self._run_action)
        diagnostics.setting_requested.connect(self._settings.show_option)
        diagnostics.add_requested.connect(self._folders.add_extra_path)
        diagnostics.why.type_requested.connect(self._folders.add_extension)
        diagnostics.refresh_requested.connect(self._workspace.feed.refresh)

    @Slot(str)
    def show_files(self, which: str) -> None:
        """Show the failed or the skipped files in the diagnostics."""
        self._dock.show_diagnostics()
        self._dock.diagnostics.show_files(which)

    @Slot()
    def _show_map(self) -> None:
        self._views.open_page("index", "map")

    @Slot()
    def focus_explainer(self) -> None:
        """Focus the field that explains why a file isn't found."""
        self._dock.show_diagnostics()
        self._dock.diagnostics.focus_explainer()

    @Slot(str)
    def explain_missing(self, query: str) -> None:
        """Explain why no file with the name that is searched is found; typing replaces it by another name."""
        words = query.split()
        is_plain = not _NO_NAME.intersection(query) and not query.lstrip().startswith(("#", "-"))
        if 0 < len(words) <= _LONGEST_NAME and is_plain:
            self.explain_file(query)
            self._dock.diagnostics.why.edit.selectAll()
        else:
            self.focus_explainer()

    def explain_file(self, path: str) -> None:
        """Explain whether and why a file is found."""
        self.focus_explainer()
        self._dock.diagnostics.why.enter_path(path)

    @Slot()
    def explain(self) -> None:
        """Show or hide the explanation of scores; in another view, switch to the search first."""
        if self._views.current == "search":
            self._dock.toggle_explanation()
        else:
            self._views.switch("search")
            self._dock.show_explanation()

    def search_within(self) -> None:
        """Limit the next query to the current results."""
        self._views.switch("search")
        self._views.search.controller.search_within()

    @Slot(str)
    def _run_action(self, action: str) -> None:
        status = self._workspace.status
        if action == "rebuild":
            self._banner.confirm_rebuild()
        elif action in ("settings", "engine"):
            self._settings.show_page("engine" if action == "engine" else "embedding")
        elif action == "restore-data":
            self._workspace.restore_data()
        elif action == "retry":
            self._banner.sync_again()
        elif action == "try-again":
            self._banner.try_engine_again()
        elif action == "embed":
            self._banner.confirm_embedding(None if status is None else status.awaiting_approval)
        else:
            self._workspace.sync()

    @Slot(object)
    def _run_remedy(self, remedy: SearchRemedy) -> None:
        """Run the remedy of an empty answer."""
        match remedy.name:
            case "folder":
                self._first_run.choose()
            case "add-sessions":
                self._folders.add_sessions()
            case "excluded" if remedy.extension:
                self._folders.add_extension(remedy.extension)
            case "excluded":
                self.explain_file(remedy.path)
            case "tools":
                self._folders.index_tools()
            case "skipped" if remedy.stage != "index":
                self._settings.show_page("sources")
            case "skipped":
                status = self._workspace.status
                self.show_files("failed" if status is not None and status.failed_files else "skipped")
            case _:
                self._run_action(remedy.name)


class RememberFeatures:
    """Connects the commands that save a session as a note, and opens the notes that were saved."""

    def __init__(
        self,
        context: WindowContext,
        views: Views,
        opener: ResultOpener,
        status_events: StatusEvents,
    ) -> None:
        trash = Trash(context)
        self.controller = RememberController(context, trash)
        self.unseen = NewNoteNotice(context, trash)
        remember = self.controller.remember
        views.made.when(SessionsPanel, lambda sessions: sessions.actions.remember_requested.connect(remember))
        views.made.when(ConversationPanel, lambda reader: reader.session_actions.remember_requested.connect(remember))
        status_events.changed.connect(self.unseen.check)
        self.controller.open_requested.connect(opener.open_path)
        self.unseen.open_requested.connect(opener.open_path)


_DEMO = marked("The demo saves nothing. Start Mnemoscope without --demo to have your own notes ranked like this.")


class SearchSettingsController(Controller):
    """Passes settings, saved searches and history between the search panel and the workspace."""

    def __init__(
        self,
        context: WindowContext,
        search: SearchPanel,
    ) -> None:
        super().__init__(context)
        self._search = search
        self._ranking = search.ranking
        self._saved = search.controller.saved_searches.store
        self._folder: Path | None = None
        self._settings = Settings()
        self._workspace.opened.connect(self._handle_opened)
        self._workspace.settings_changed.connect(self._take_settings)
        self._ranking.default_requested.connect(self._save_ranking)
        search.controller.saved_searches.forgotten.connect(self._offer_undo)
        self._saved.failed.connect(self._banner.show_error)

    @Slot(object)
    def _handle_opened(self, opened: OpenWorkspace) -> None:
        hybrid = opened.settings.query.hybrid
        usual = Ranking(hybrid.temporal_decay.effective_days, hybrid.mmr.enabled)
        self._ranking.set_default(usual, reset=opened.folder != self._folder)
        self._folder, self._settings = opened.folder, opened.settings
        # A screenshot of the user's notes saves nothing; a demo is deleted with everything it saves.
        passing = not self._remembers and not self._workspace.store_path
        self._saved.notes = opened.settings.window.search_history and not passing

    @Slot(object)
    def _take_settings(self, opened: OpenWorkspace) -> None:
        """Apply settings of the open workspace to the search panel; repeat the search if they affect the results."""
        ranking, before = self._ranking.ranking, self._settings
        self._handle_opened(opened)
        if self._ranking.ranking != ranking:
            self._ranking.changed.emit()
        elif engine.with_query_settings(before, opened.settings) != before:
            self._search.refresh()

    @Slot(bool)
    def record_history(self, recorded: bool) -> None:
        """Turn recording of the search history on or off, also for later starts."""
        self._saved.notes = recorded
        opened = self._workspace.current
        if opened is not None and self._remembers:
            self._jobs.save(
                lambda _: engine.save_setting("window.search_history", recorded, opened.folder, self._paths.config),
                lambda _: None,
                self._banner.show_error,
            )

    @Slot(str, object)
    def _offer_undo(self, removed: str, put_back: Callable[[], None]) -> None:
        self._banner.show_message(removed, "off", (tr("Undo"), put_back), key="saved-search")

    @Slot(object)
    def _save_ranking(self, ranking: Ranking) -> None:
        """Save a ranking as the default of this workspace."""
        opened = self._workspace.current
        if opened is None:
            return
        if not self._remembers:
            self._banner.show_error(tr(_DEMO))
            return
        decay = "query.hybrid.temporal_decay"
        values: dict[str, object] = {
            f"{decay}.enabled": bool(ranking.half_life_days),
            "query.hybrid.mmr.enabled": ranking.diverse,
        }
        if ranking.half_life_days:
            values[f"{decay}.half_life_days"] = int(ranking.half_life_days)

        def work(_: CancelToken) -> Settings:
            engine.save_settings(values, workspace=opened.folder, config=self._paths.config)
            return engine.load_settings(opened.folder, config=self._paths.config)

        self._jobs.save(work, self._report_saved(opened, ranking), self._banner.show_error)

    def _report_saved(self, opened: OpenWorkspace, ranking: Ranking) -> Callable[[Settings], None]:
        def report(settings: Settings) -> None:
            current = self._workspace.current
            if current is not None and current.manager is opened.manager:
                self._workspace.apply_settings(settings, opened.folder)
                how = " ".join(ranking.sentences) or tr(
                    "Neither the age nor the similarity of results changes their order."
                )
                until = tr("This order now applies to {workspace}.", workspace=opened.folder.name)
                self._banner.show_message(f"{how} {until}", "fine", key="ranking")

        return report
