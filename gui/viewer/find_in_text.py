"""Finding in the shown text: the words of the query, or what stands in the find bar while that is open."""

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QApplication

from engine import tr
from gui.core.jobs import Jobs
from gui.viewer.find_bar import FindBar
from gui.viewer.find_messages import FindMessages
from gui.viewer.match_navigator import MatchNavigator


class FindInText(QObject):
    """The find bar and the steps through the hits, tied together.

    Signals:
        closed: a person wants no find bar any more.
        notice: a sentence about a step that went round the end or found nothing.
    """

    closed = Signal()
    notice = Signal(str)

    def __init__(self, jobs: Jobs, parent: QObject, words: FindMessages) -> None:
        super().__init__(parent)
        self.bar = FindBar(tr(words.find))
        self.bar.hide()
        self.hits = MatchNavigator(jobs, self, words)
        self.bar.needle_changed.connect(self.hits.find)
        self.bar.step_requested.connect(self.step)
        self.bar.closed.connect(self.closed)
        self.hits.counted.connect(self.bar.count.setText)
        self.hits.notice.connect(self.notice)

    @property
    def open(self) -> bool:
        """Whether the find bar is there."""
        return not self.bar.isHidden()

    def step(self, forward: bool) -> None:
        """Go to the next hit, or to the one before."""
        self.hits.step(forward=forward)

    def close(self) -> bool:
        """Take the bar away and mark its matches no more; returns whether it had the keys."""
        focus = QApplication.focusWidget()
        had_focus = focus is not None and self.bar.isAncestorOf(focus)
        self.bar.hide()
        self.hits.find("")
        return had_focus
