"""What was found on this computer: workspaces and vaults to choose, sessions to tick."""

from pathlib import Path

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

import engine
from engine import CancelToken, FoundPlaces, marked, tr
from gui.core.jobs import Job, Jobs
from gui.sources.place_rows import PlaceBoxes, PlaceChoices
from gui.sources.wording import issue_lines
from gui.widgets.labels import breakable, label

LOOKING = marked("Looking for notes and sessions of AI agents on this computer…")
NOTHING = marked("No sessions of AI agents were found on this machine.")
CONSENT = marked(
    "Tick what to index along with your notes. Nothing in them is read before you say so on the next page, and nothing "
    "is ever written there."
)


class FoundSection(QWidget):
    """Nothing is looked for before `look()`.

    Signals:
        place_chosen: Path of a workspace or a vault.
        looked: what was found is shown, or why nothing is.
    """

    place_chosen = Signal(object)
    looked = Signal()

    def __init__(self, jobs: Jobs, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._jobs = jobs
        self._job: Job | None = None
        self._found: FoundPlaces | None = None
        self._state = label("", "meta", wrap=True)
        self._steer = QPushButton()
        self._steer.setProperty("role", "link")
        self._steer.clicked.connect(self._stop_or_look)
        self._notes_title = label(tr("Notes on this computer"), "section")
        self._notes = PlaceChoices(tr("Choose"), marked("Choose {place}"))
        self._notes.chosen.connect(self.place_chosen)
        self._sessions_title = label(tr("Past sessions on this computer"), "section")
        self._consent = label(tr(CONSENT), "meta", wrap=True)
        self._sessions = PlaceBoxes()
        self._issues = label("", "degraded", wrap=True)

        line = QHBoxLayout()
        line.setSpacing(8)
        line.addWidget(self._state, 1)
        line.addWidget(self._steer)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(10)
        column.addWidget(self._notes_title)
        column.addWidget(self._notes)
        column.addSpacing(8)
        column.addWidget(self._sessions_title)
        column.addWidget(self._consent)
        column.addWidget(self._sessions)
        column.addLayout(line)
        column.addWidget(self._issues)
        self._show_state("")

    @property
    def looking(self) -> bool:
        return self._job is not None

    @property
    def ticked(self) -> tuple[str, ...]:
        """Paths of the session folders to index."""
        return tuple(place.path for place, on in zip(self._session_places(), self._sessions.ticked, strict=True) if on)

    def look(self) -> None:
        """Look for places, unless that has been done."""
        if self._found is None and self._job is None:
            self._show_state(tr(LOOKING), tr("Stop"))
            self._job = self._jobs.read(_find, self._show, self._fail)

    @Slot()
    def forget_ticks(self) -> None:
        """They were taken over."""
        self._sessions.show_places(self._session_places(), [False] * len(self._session_places()))

    def _session_places(self) -> list[engine.FoundPlace]:
        found = self._found.places if self._found else ()
        return [place for place in found if place.kind == "sessions"]

    @Slot()
    def _stop_or_look(self) -> None:
        if self._job is None:
            self.look()
            return
        self._job.cancel()
        self._job = None
        self._show_state(tr("Nothing more was looked for."), tr("Look again"))
        self.looked.emit()

    def _show(self, found: FoundPlaces) -> None:
        self._job = None
        self._found = found
        self._notes.show_places([place for place in found.places if place.kind != "sessions"])
        self.forget_ticks()
        self._issues.setText(breakable(issue_lines(found.issues, str(Path.home()))))
        self._show_state("" if self._session_places() else tr(NOTHING))
        self.looked.emit()

    def _fail(self, sentence: str) -> None:
        self._job = None
        self._show_state(sentence, tr("Look again"))
        self.looked.emit()

    def _show_state(self, sentence: str, steer: str = "") -> None:
        """What there is to see, with a sentence where there is nothing, and the button that goes with it."""
        found = self._found.places if self._found else ()
        notes = any(place.kind != "sessions" for place in found)
        sessions = bool(self._session_places())
        self._notes_title.setVisible(notes)
        self._notes.setVisible(notes)
        self._sessions_title.setVisible(sessions)
        self._consent.setVisible(sessions)
        self._sessions.setVisible(sessions)
        self._state.setText(breakable(sentence))
        self._state.setVisible(bool(sentence))
        self._steer.setText(steer)
        self._steer.setVisible(bool(steer))
        self._issues.setVisible(bool(self._issues.text()))


def _find(token: CancelToken) -> FoundPlaces:
    return engine.find_places(cancel=token)
