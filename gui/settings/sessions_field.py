"""Stores with sessions of AI agents: those that are listed and those that this computer has, with a box for each."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QPushButton, QWidget

from engine import CancelToken, FileIssue, Option, marked, tr
from gui.core.job_slot import JobSlot
from gui.core.jobs import Jobs
from gui.settings.fields import Field
from gui.sources.choice import Choice, Source, look_beside, measure
from gui.sources.file_dialogs import ask_for_exports, ask_for_folder
from gui.sources.place_rows import PlaceBoxes
from gui.sources.sessions_page import LOOKING, NOTHING
from gui.sources.wording import issue_lines
from gui.widgets.flow_layout import FlowLayout
from gui.widgets.labels import breakable, label
from gui.widgets.plain_text import set_tip
from gui.widgets.tab_order import put_behind, stop_before, stops

OTHERS = marked("Nothing in a store is read before it is listed, and nothing is ever written there.")


class SessionsField(Field):
    """The value is a tuple of folders and exports, as the settings write them."""

    def __init__(self, option: Option, title: str, jobs: Jobs, parent: QWidget | None = None) -> None:
        super().__init__(option, title, parent)
        self._jobs = jobs
        self._choice: Choice | None = None
        self._looking = JobSlot(self)
        self._state = label(tr(LOOKING), "meta", wrap=True)
        self._boxes = PlaceBoxes()
        self._boxes.changed.connect(self._tick)
        self._problem = label("", "degraded", wrap=True)
        self._problem.hide()
        self._adders = (QPushButton(tr("Add a folder…")), QPushButton(tr("Add an export…")))
        for button, run in zip(self._adders, (self._choose_folder, self._choose_exports), strict=True):
            button.setAutoDefault(True)  # Enter presses the one that has the keys, on every platform
            button.clicked.connect(run)
        set_tip(self._adders[1], tr("The zip or JSON file that ChatGPT or Claude let you download"))
        buttons = QWidget()
        flow = FlowLayout(8, buttons)
        for button in self._adders:
            flow.addWidget(button)
        self.setFocusProxy(self._adders[0])
        self._column.addWidget(label(tr(OTHERS), "meta", wrap=True))
        for widget in (self._state, self._boxes, buttons, self._problem):
            self._column.addWidget(widget)

    @property
    def ready(self) -> bool:
        """Nothing is being looked at."""
        return not self._looking.busy

    def stop(self) -> None:
        """Nobody waits for an answer any more."""
        self._looking.cancel()

    def show_value(self, value: Any) -> None:
        before = self._value if self._choice is not None else None
        super().show_value(value)
        if before is None or tuple(before) != tuple(value):
            self._look(value)

    def _look(self, listed: Sequence[str]) -> None:
        """Once what is listed is not what the boxes show."""
        if self._choice is not None and set(self._choice.folders) == set(listed):
            return
        self._start(lambda token: look_beside(listed, token), self._take)

    def _start(self, work: Callable[[CancelToken], Any], done: Callable[[Any], None]) -> None:
        self._looking.put(self._jobs.read(work, done, self._fail))

    def _take(self, choice: Choice) -> None:
        self._looking.done()
        self._choice = choice
        places = [source.place for source in choice.sources]
        self._boxes.show_places(places, [source.ticked for source in choice.sources])
        put_behind(stop_before(self._adders[0]), stops(self._boxes))
        self._state.setText(tr(NOTHING))
        self._state.setVisible(not choice.sources)
        self._tell(choice.issues)

    def _fail(self, sentence: str) -> None:
        self._looking.done()
        self._state.hide()
        self._problem.setText(breakable(sentence))
        self._problem.show()

    def _tell(self, issues: Sequence[FileIssue]) -> None:
        self._problem.setText(breakable(issue_lines(issues, str(Path.home()))))
        self._problem.setVisible(bool(issues))

    # --- what is chosen ---------------------------------------------------------------------------------------------

    @Slot()
    def _tick(self) -> None:
        if self._choice is not None:
            self._choice = self._choice.tick(self._boxes.ticked)
            self.entered.emit(self._choice.folders)

    @Slot()
    def _choose_folder(self) -> None:
        self._add(ask_for_folder(self))

    @Slot()
    def _choose_exports(self) -> None:
        self._add(ask_for_exports(self))

    def _add(self, names: Sequence[str]) -> None:
        if names and self._choice is not None:
            wanted = [os.path.realpath(name) for name in names]
            self._start(lambda token: measure(wanted, token), self._take_added)

    def _take_added(self, added: tuple[list[Source], list[FileIssue]]) -> None:
        self._looking.done()
        if self._choice is not None:
            self._take(self._choice.add(*added))
            self.entered.emit(self._choice.folders)
