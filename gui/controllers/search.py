"""Connects the search panel with data stored for a workspace: ranking settings, saved searches and history."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Slot

import engine
from engine import CancelToken, SavedSearch, Settings, marked, tr
from gui.core.window_context import WindowContext
from gui.core.workspace import Opened
from gui.search.panel import SearchPanel
from gui.search.ranking_menu import Ranking
from gui.widgets.message_banner import Action

_DEMO = marked("The demo saves nothing. Start Mnemoscope without --demo to have your own notes ranked like this.")


class SearchSettingsController(QObject):
    """Passes settings, saved searches and history between the search panel and the workspace."""

    def __init__(
        self,
        context: WindowContext,
        search: SearchPanel,
    ) -> None:
        super().__init__(context.window)
        workspace = self._workspace = context.workspace
        self._search = search
        self._ranking = search.ranking
        self._saved = search.controller.saved_searches.store
        self._banner = context.notices
        self._jobs = context.jobs
        self._config = context.paths.config
        self._remembers = context.remembers
        self._folder: Path | None = None
        self._settings = Settings()
        workspace.opened.connect(self._begin)
        workspace.settings_changed.connect(self._take_settings)
        self._ranking.default_requested.connect(self._save_ranking)
        search.controller.saved_searches.forgotten.connect(self._offer_undo)
        self._saved.failed.connect(self._banner.complain)

    @Slot(object)
    def _begin(self, opened: Opened) -> None:
        hybrid = opened.settings.query.hybrid
        usual = Ranking(hybrid.temporal_decay.days_in_force, hybrid.mmr.enabled)
        self._ranking.set_default(usual, reset=opened.folder != self._folder)
        self._folder, self._settings = opened.folder, opened.settings
        # A screenshot of the user's notes saves nothing; a demo is deleted with everything it saves.
        passing = not self._remembers and not self._workspace.store_path
        self._saved.notes = opened.settings.window.keep_searches and not passing

    @Slot(object)
    def _take_settings(self, opened: Opened) -> None:
        """Apply settings of the open workspace to the search panel; repeat the search if they affect the results."""
        ranking, before = self._ranking.ranking, self._settings
        self._begin(opened)
        if self._ranking.ranking != ranking:
            self._ranking.changed.emit()
        elif engine.answering_as(before, opened.settings) != before:
            self._search.refresh()

    @Slot(bool)
    def record_history(self, recorded: bool) -> None:
        """Turn recording of the search history on or off, also for later starts."""
        self._saved.notes = recorded
        opened = self._workspace.current
        if opened is not None and self._remembers:
            self._jobs.write(
                lambda _: engine.save_setting("window.keep_searches", recorded, opened.folder, self._config),
                lambda _: None,
                self._banner.complain,
            )

    @Slot(object)
    def _offer_undo(self, search: SavedSearch) -> None:
        undo = Action(tr("Undo"), partial(self._saved.put_back, search))
        self._banner.show_message(
            tr("The saved search “{name}” was removed.", name=search.name), "off", undo, key="saved-search"
        )

    @Slot(object)
    def _save_ranking(self, ranking: Ranking) -> None:
        """Save a ranking as the default of this workspace."""
        opened = self._workspace.current
        if opened is None:
            return
        if not self._remembers:
            self._banner.complain(tr(_DEMO))
            return
        decay = "query.hybrid.temporal_decay"
        values: dict[str, object] = {
            f"{decay}.enabled": bool(ranking.half_life_days),
            "query.hybrid.mmr.enabled": ranking.diverse,
        }
        if ranking.half_life_days:
            values[f"{decay}.half_life_days"] = int(ranking.half_life_days)

        def work(_: CancelToken) -> Settings:
            engine.save_settings(values, workspace=opened.folder, config=self._config)
            return engine.load_settings(opened.folder, config=self._config)

        self._jobs.write(work, self._report_saved(opened, ranking), self._banner.complain)

    def _report_saved(self, opened: Opened, ranking: Ranking) -> Callable[[Settings], None]:
        def report(settings: Settings) -> None:
            current = self._workspace.current
            if current is not None and current.manager is opened.manager:
                self._workspace.take_settings(settings, opened.folder)
                how = " ".join(ranking.sentences) or tr(
                    "Neither the age nor the similarity of results changes their order."
                )
                until = tr("This order now applies to {workspace}.", workspace=opened.folder.name)
                self._banner.show_message(f"{how} {until}", "fine", key="ranking")

        return report
