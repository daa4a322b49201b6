"""The page of indexed sources: folders, vaults, sessions and file patterns, with the files that these match."""

import os
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QTimer, Slot
from PySide6.QtWidgets import QFileDialog, QFrame, QPushButton, QWidget

import engine
from engine import (
    CancelToken,
    FileIssue,
    FoundSources,
    MemorySearchManager,
    Option,
    SettingChange,
    Settings,
    WorkspacePreview,
    files_covered,
    marked,
    tr,
    tr_count,
    tr_reason,
)
from gui.core.jobs import Jobs, JobSlot
from gui.settings.edited_options import SettingsModel
from gui.settings.fields import Field
from gui.settings.option_pages import OptionPlacement
from gui.settings.option_row import OptionRow, OptionsPage
from gui.sources.folder_rows import SessionChooserButtons, SourceCheckBoxes, SourceChoices, issue_lines
from gui.sources.index_preview import KindChips
from gui.sources.sessions_page import LOOKING, NOTHING, Choice, Source, find_other_sources, measure
from gui.text.formatting import short_path, size_text
from gui.text.plain_text import set_tip
from gui.widgets.accessibility import insert_after, stop_before, stops
from gui.widgets.buttons import push_button
from gui.widgets.labels import breakable, label
from gui.widgets.layouts import FlowLayout, clear_layout, column_of, row_of
from gui.widgets.table import IssuesTable

_TYPING_MS = 250
_NAMED = 3
_RULES = 5
_TABLE_ROWS = 6
_LONGEST_NAME = 48
"""Maximum number of characters of a path in a sentence."""
_COUNTING = marked("Looking at the folder…")


@dataclass(frozen=True)
class Match:
    """The files that changed settings would index, and those that the current settings index."""

    requested: WorkspacePreview
    now: WorkspacePreview


def match_text(match: Match) -> str:
    """Describe the number of matching files: "412 notes, 3.1 MB; 12 fewer than now"."""
    requested, now = match.requested, match.now
    if requested.files:
        size = size_text(requested.bytes)
        words = tr_count("{count:,} note, {size}", "{count:,} notes, {size}", requested.files, size=size)
    else:
        words = tr("No note is indexed")
    more = requested.files - now.files
    if more > 0:
        words += "; " + tr("{count:,} more than are indexed now", count=more)
    elif more < 0:
        words += "; " + tr("{count:,} fewer than are indexed now", count=-more)
    return f"{words}."


def first_names(preview: WorkspacePreview) -> str:
    """Return the names of the first files; empty if there are none."""
    if not preview.first:
        return ""
    rest, names = preview.files - len(preview.first), ", ".join(map(_end_of, preview.first))
    if rest <= 0:
        return f"{names}."
    return tr_count("{names} and {count:,} more note.", "{names} and {count:,} more notes.", rest, names=names)


def _end_of(path: str) -> str:
    """Return a path without its beginning if it is long: a few such paths would fill the page."""
    return path if len(path) <= _LONGEST_NAME else f"\N{HORIZONTAL ELLIPSIS}{path[-_LONGEST_NAME:]}"


def rule_lines(skipped: Iterable[FileIssue]) -> str:
    """Return a line for each rule that skips files: examples, and the reason."""
    by_rule: dict[tuple[str, str], list[tuple[int, str]]] = defaultdict(list)
    for issue in skipped:
        count, name, reason = _counted(issue)
        by_rule[issue.rule, reason].append((count, name))
    rules = sorted(by_rule.items(), key=lambda found: -sum(count for count, _ in found[1]))
    lines = []
    for (_, detail), files in rules[:_RULES]:
        names = [name for _, name in sorted(files, key=lambda file: -file[0])]
        rest, first = len(names) - _NAMED, ", ".join(map(_end_of, names[:_NAMED]))
        subject = tr("{names} and {count:,} more", names=first, count=rest) if rest > 0 else first
        lines.append(f"{subject}: {tr_reason(detail)}")
    if len(rules) > _RULES:
        rest = len(rules) - _RULES
        lines.append(tr_count("{count:,} more reason below.", "{count:,} more reasons below.", rest))
    return "\n".join(lines)


def _counted(issue: FileIssue) -> tuple[int, str, str]:
    """Return the number of files that an issue covers, their name with this number, and the reason without it.

    The counts of all extensions ("895 files; only .md files are indexed.") thus get one line.
    """
    count = files_covered(issue.detail)
    _, counted, reason = issue.detail.partition("; only ")
    if not counted:
        return count, issue.path, issue.detail
    return count, tr("{name} ({count:,})", name=issue.path, count=count), f"Only {reason}"


class MatchCard(QFrame):
    """A card with the number of notes that the settings match, the first of them, and the files that rules skip.

    Updated while the user types; the previous result stays until the next one.
    """

    def __init__(self, jobs: Jobs) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self._requested: tuple[Path, Settings, Settings] | None = None
        self._lookup_job = JobSlot(self, jobs)
        self._typing_timer = QTimer(self, singleShot=True, interval=_TYPING_MS)
        self._typing_timer.timeout.connect(self._search)
        self._sum = label(tr(_COUNTING), "strong", wrap=True)
        self.kinds = KindChips()
        self._first_notes = label("", "meta", wrap=True)
        self._rules = label("", "meta", wrap=True)
        self._table = IssuesTable()
        self._table.setAccessibleName(tr("Skipped files, and the rules that skip them"))
        self._excluded_title = label(tr("Not indexed"), "section")
        excluded = self._excluded_title, self._rules, self._table
        counted = self._sum, self.kinds, self._first_notes
        column_of(*counted, *excluded, spacing=6, margins=(14, 12, 14, 12), parent=self)
        for widget in excluded:
            widget.hide()
        self._table.setFixedHeight(_TABLE_ROWS * 26)

    @property
    def ready(self) -> bool:
        """Whether the shown result is up to date."""
        return not (self._typing_timer.isActive() or self._lookup_job.busy)

    def stop(self) -> None:
        """Cancel running requests, since the dialog was closed."""
        self._typing_timer.stop()
        self._lookup_job.cancel()

    def show_match(self, folder: Path, requested: Settings, now: Settings) -> None:
        """After a short pause, find what `requested` would index instead of `now`."""
        if (folder, requested, now) != self._requested:
            self._requested = folder, requested, now
            self._lookup_job.cancel()
            self._typing_timer.start()

    def _search(self) -> None:
        if self._requested is None:
            return
        folder, requested, now = self._requested

        def work(token: CancelToken) -> Match:
            first = engine.preview_workspace(folder, requested, cancel=token)
            return Match(first, first if requested == now else engine.preview_workspace(folder, now, cancel=token))

        self._lookup_job.read(work, self._show, self._fail)

    def _show(self, match: Match) -> None:
        skipped = match.requested.skipped
        self._sum.setText(match_text(match))
        self._first_notes.setText(breakable(first_names(match.requested)))
        self._rules.setText(breakable(rule_lines(skipped)))
        self._show_kinds(match.requested)
        self._table.show_records(skipped)
        for widget in (self._excluded_title, self._rules):
            widget.setVisible(bool(skipped))
        self._table.setVisible(len(skipped) > _NAMED)
        self.setAccessibleName(f"{match_text(match)} {first_names(match.requested)}")

    def _show_kinds(self, preview: WorkspacePreview) -> None:
        if self._requested is not None:
            self.kinds.begin(self._requested[1].extensions)
        self.kinds.show_kinds(preview.kinds)

    def _fail(self, sentence: str) -> None:
        self._sum.setText(breakable(sentence))
        for text in (self._first_notes, self._rules):
            text.clear()
        for widget in (self._excluded_title, self._rules, self._table):
            widget.hide()


_SHOWN_BELOW = "extra_paths"


NONE = marked("No extra folders.")
OFFERED = marked("Notes on this machine that could be added:")


OTHERS = marked("Session folders are read only after you add them, and never changed.")


class SessionsField(Field):
    """A field for the session folders; its value is a tuple of folders and exports, as written in the settings."""

    def __init__(self, option: Option, title: str, jobs: Jobs, manager: MemorySearchManager | None) -> None:
        super().__init__(option, title)
        self.manager = manager
        self._choice: Choice | None = None
        self._lookup_job = JobSlot(self, jobs)
        self._state = label(tr(LOOKING), "meta", wrap=True)
        self._boxes = SourceCheckBoxes()
        self._boxes.changed.connect(self._tick)
        self._problem = label("", "degraded", wrap=True)
        self._problem.hide()
        self._chooser_buttons = SessionChooserButtons()
        self._chooser_buttons.chosen.connect(self._add)
        self.setFocusProxy(self._chooser_buttons)
        self._column.addWidget(label(tr(OTHERS), "meta", wrap=True))
        for widget in (self._state, self._boxes, self._chooser_buttons, self._problem):
            self._column.addWidget(widget)

    @property
    def ready(self) -> bool:
        """Whether no lookup is running."""
        return not self._lookup_job.busy

    def stop(self) -> None:
        """Cancel running requests, since the dialog was closed."""
        self._lookup_job.cancel()

    def show_value(self, value: Any) -> None:
        before = self._value if self._choice is not None else None
        super().show_value(value)
        if before is None or tuple(before) != tuple(value):
            self._update_boxes(value)

    def _update_boxes(self, listed: Sequence[str]) -> None:
        """Update the check boxes if `listed`, the saved paths, has changed."""
        if self._choice is not None and set(self._choice.folders) == set(listed):
            return
        manager = self.manager
        self._lookup_job.read(lambda token: find_other_sources(listed, manager, token), self._set_choice, self._fail)

    def _set_choice(self, choice: Choice) -> None:
        self._choice = choice
        sources = [source.found for source in choice.sources]
        self._boxes.show_sources(sources, [source.ticked for source in choice.sources])
        insert_after(stop_before(self._chooser_buttons.folder), stops(self._boxes))
        self._state.setText(tr(NOTHING))
        self._state.setVisible(not choice.sources)
        self._show_issues(choice.issues)

    def _fail(self, sentence: str) -> None:
        self._state.hide()
        self._problem.setText(breakable(sentence))
        self._problem.show()

    def _show_issues(self, issues: Sequence[FileIssue]) -> None:
        self._problem.setText(breakable(issue_lines(issues, str(Path.home()))))
        self._problem.setVisible(bool(issues))

    # --- selection --------------------------------------------------------------------------------------------------

    @Slot()
    def _tick(self) -> None:
        if self._choice is not None:
            self._choice = self._choice.tick(self._boxes.ticked)
            self.entered.emit(self._choice.folders)

    @Slot(object)
    def _add(self, names: Sequence[str]) -> None:
        if self._choice is not None:
            requested = [os.path.realpath(name) for name in names]
            self._lookup_job.read(lambda token: measure(requested, token), self._add_sources, self._fail)

    def _add_sources(self, added: tuple[list[Source], list[FileIssue]]) -> None:
        if self._choice is not None:
            self._set_choice(self._choice.add(*added))
            self.entered.emit(self._choice.folders)


class PathsField(Field):
    """A field for extra paths; its value is a tuple of paths, as written in the settings."""

    def __init__(self, option: Option, title: str, jobs: Jobs) -> None:
        super().__init__(option, title)
        self._home = str(Path.home())
        self._found: FoundSources | None = None
        self._folder = ""
        self._lookup_job = JobSlot(self, jobs)
        self._rows = column_of(spacing=2)
        self._add_folder = push_button(tr("Add a folder…"), self._choose_folder)
        self._add_files = push_button(tr("Add files…"), self._choose_files)
        self.setFocusProxy(self._add_folder)
        buttons = QWidget()
        flow = FlowLayout(8, buttons)
        flow.addWidget(self._add_folder)
        flow.addWidget(self._add_files)
        self._offer = label(tr(OFFERED), "meta", wrap=True)
        self._sources = SourceChoices(tr("Add"), marked("Add {place}"))
        self._sources.chosen.connect(lambda path: self._add([str(path)]))
        self._column.addLayout(self._rows)
        self._column.addWidget(buttons)
        for widget in (self._offer, self._sources):
            self._column.addWidget(widget)
            widget.hide()

    @property
    def ready(self) -> bool:
        """Whether no search for vaults is running."""
        return not self._lookup_job.busy

    def find_offers(self, folder: Path) -> None:
        """Search this machine for vaults and workspaces to offer, other than `folder`."""
        self._folder = str(folder)
        if self._found is None:
            self._lookup_job.read(lambda token: engine.find_sources(cancel=token), self._set_found)

    def _set_found(self, sources: FoundSources) -> None:
        self._found = sources
        self._show_offers()

    def show_value(self, value: Any) -> None:
        super().show_value(value)
        self._fill(value)
        self._show_offers()

    def _fill(self, paths: Sequence[str]) -> None:
        clear_layout(self._rows)
        buttons = [self._add_row(path) for path in paths]
        if not paths:
            self._rows.addWidget(label(tr(NONE), "meta"))
        insert_after(stop_before(self._add_folder), buttons)

    def _add_row(self, path: str) -> QPushButton:
        """Add a row for a path; returns its button."""
        row = QWidget()
        path_label = label(breakable(short_path(path, self._home)), wrap=True)
        set_tip(path_label, path)
        remove = push_button(
            tr("Remove"), partial(self._remove, path), role="link", name=tr("Remove {path}", path=path)
        )
        row_of((path_label, 1), remove, spacing=8, parent=row)
        self._rows.addWidget(row)
        return remove

    def _show_offers(self) -> None:
        sources = () if self._found is None else self._found.sources
        # `Path.expanduser` raises for an unknown user.
        named = {os.path.normcase(os.path.realpath(os.path.expanduser(path))) for path in self._value}  # noqa: PTH111
        named.add(os.path.normcase(os.path.realpath(self._folder)))
        offered = [
            source for source in sources if source.kind != "sessions" and os.path.normcase(source.path) not in named
        ]
        self._sources.show_sources(offered)
        for widget in (self._offer, self._sources):
            widget.setVisible(bool(offered))

    # --- selection --------------------------------------------------------------------------------------------------

    @Slot()
    def _choose_folder(self) -> None:
        name = QFileDialog.getExistingDirectory(self, tr("Add a folder"), str(Path.home()))
        self._add([name] if name else [])

    @Slot()
    def _choose_files(self) -> None:
        names, _ = QFileDialog.getOpenFileNames(self, tr("Add files"), str(Path.home()))
        self._add(names)

    def _add(self, names: Sequence[str]) -> None:
        requested = tuple(dict.fromkeys((*self._value, *map(os.path.normpath, names))))
        if requested != tuple(self._value):
            self.entered.emit(requested)

    def _remove(self, path: str) -> None:
        self._add_folder.setFocus()  # else the focus would be lost with the removed row
        self.entered.emit(tuple(other for other in self._value if other != path))


class SourcesPage(OptionsPage):
    """The page of indexed sources; its card shows the effect while the user types, before anything is saved."""

    def __init__(
        self,
        model: SettingsModel,
        jobs: Jobs,
        parent: QWidget | None = None,
        manager: MemorySearchManager | None = None,
    ) -> None:
        self._jobs = jobs
        self._manager = manager
        self._typed: dict[str, Any] = {}
        self.card = MatchCard(jobs)
        self.card.kinds.changed.connect(self._choose_kinds)
        self._paths: PathsField | None = None
        self._sessions: SessionsField | None = None
        super().__init__("sources", model, parent)
        folder = breakable(short_path(str(model.folder), str(Path.home())))
        self._where = label(tr("The folder that is open: {folder}", folder=folder), wrap=True)
        self.column.insertWidget(1, self._where)
        model.changed.connect(self._forget_typed)
        model.loaded.connect(self._show_match)
        self._show_match()

    def make_row(self, placed: OptionPlacement) -> OptionRow:
        row = OptionRow(placed, self.model, self._field(placed), self.column.parentWidget())
        row.field.typing.connect(lambda value, key=placed.key: self._set_typed(key, value))
        return row

    def _field(self, placed: OptionPlacement) -> Field | None:
        if placed.key == "extra_paths":
            self._paths = PathsField(placed.option, placed.title, self._jobs)
            self._paths.find_offers(self.model.folder)
            return self._paths
        if placed.key == "sessions.folders":
            self._sessions = SessionsField(placed.option, placed.title, self._jobs, self._manager)
            return self._sessions
        return None

    def add_row(self, row: OptionRow) -> None:
        super().add_row(row)
        if row.placed.key == _SHOWN_BELOW:
            self.add_widget(self.card)

    def begin(self, manager: MemorySearchManager | None) -> None:
        """Use this memory, which the workspace has now."""
        self._manager = manager
        if self._sessions is not None:
            self._sessions.manager = manager

    @property
    def ready(self) -> bool:
        loading = any(field is not None and not field.ready for field in (self._paths, self._sessions))
        return super().ready and self.card.ready and not loading

    def stop(self) -> None:
        self.card.stop()
        if self._sessions is not None:
            self._sessions.stop()

    # --- matches ----------------------------------------------------------------------------------------------------

    def _set_typed(self, key: str, value: Any) -> None:
        self._typed[key] = value
        self._show_match()

    @Slot()
    def _choose_kinds(self) -> None:
        """Put the file extensions that the user chose in the card into the field."""
        self.rows["extensions"].field.entered.emit(self.card.kinds.extensions)

    @Slot(str)
    def _forget_typed(self, key: str) -> None:
        self._typed.pop(key, None)
        self._show_match()

    @Slot()
    def _show_match(self) -> None:
        layers = self.model.layers
        typed = [SettingChange(key, "workspace", value) for key, value in self._typed.items()]
        self.card.show_match(self.model.folder, layers.changed(typed).settings, self.model.current)
