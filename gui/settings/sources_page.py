"""The page of what is indexed: folders, vaults and sessions, and patterns with what they match."""

from pathlib import Path
from typing import Any

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QWidget

from engine import SettingChange, tr
from gui.core.jobs import Jobs
from gui.settings.fields import Field
from gui.settings.match_card import MatchCard
from gui.settings.model import SettingsModel
from gui.settings.option_row import OptionRow
from gui.settings.options_page import OptionsPage
from gui.settings.page_layout import OptionPlacement
from gui.settings.paths_field import PathsField
from gui.settings.sessions_field import SessionsField
from gui.sources.wording import short_path
from gui.widgets.labels import breakable, label

_SHOWN_BELOW = "extra_paths"


class SourcesPage(OptionsPage):
    """Its card follows what is typed, before anything is kept."""

    def __init__(self, model: SettingsModel, jobs: Jobs, parent: QWidget | None = None) -> None:
        self._jobs = jobs
        self._typed: dict[str, Any] = {}
        self.card = MatchCard(jobs)
        self._paths: PathsField | None = None
        self._sessions: SessionsField | None = None
        super().__init__("sources", model, parent=parent)
        folder = breakable(short_path(str(model.folder), str(Path.home())))
        self._where = label(tr("The folder that is open: {folder}", folder=folder), wrap=True)
        self.column.insertWidget(1, self._where)
        model.changed.connect(self._forget_typed)
        model.loaded.connect(self._show_match)
        self._show_match()

    def make_row(self, placed: OptionPlacement) -> OptionRow:
        row = OptionRow(placed, self.model, self._field(placed))
        row.typing.connect(lambda value, key=placed.key: self._take_typed(key, value))
        return row

    def _field(self, placed: OptionPlacement) -> Field | None:
        if placed.key == "extra_paths":
            self._paths = PathsField(placed.option, placed.title, self._jobs)
            self._paths.look(self.model.folder)
            return self._paths
        if placed.key == "sessions.folders":
            self._sessions = SessionsField(placed.option, placed.title, self._jobs)
            return self._sessions
        return None

    def add_row(self, row: OptionRow) -> None:
        super().add_row(row)
        if row.placed.key == _SHOWN_BELOW:
            self.add_widget(self.card)

    @property
    def ready(self) -> bool:
        looking = any(field is not None and not field.ready for field in (self._paths, self._sessions))
        return super().ready and self.card.ready and not looking

    def stop(self) -> None:
        self.card.stop()
        if self._sessions is not None:
            self._sessions.stop()

    # --- what they match --------------------------------------------------------------------------------------------

    def _take_typed(self, key: str, value: Any) -> None:
        self._typed[key] = value
        self._show_match()

    @Slot(str)
    def _forget_typed(self, key: str) -> None:
        self._typed.pop(key, None)
        self._show_match()

    @Slot()
    def _show_match(self) -> None:
        shown = self.model.shown
        typed = [SettingChange(key, "workspace", value) for key, value in self._typed.items()]
        self.card.show_match(self.model.folder, shown.changed(typed).settings, self.model.now)
