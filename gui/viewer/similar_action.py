"""More like this: the selection or, without one, the found part."""

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from engine import LAST_LINE, Passage, beginning_of
from gui.commands.binding import key_action
from gui.commands.commands import LIKE
from gui.core.capabilities import Gate
from gui.core.jobs import Jobs
from gui.viewer.rendered_view import RenderedView
from gui.viewer.source_view import SourceView
from gui.viewer.view_target import ViewTarget

_MOST_LINES = 200
"""Of a longer selection the beginning counts: nothing is like a whole book."""
_MOST_LETTERS = 4000
_FIRST_LINES = 3
_PARAGRAPH, _LINE_END = "\u2029", "\u2028"


class SimilarAction(QObject):
    """The action, in the menus of both pages and by a key anywhere in the panel.

    Signals: wanted: a `Passage` and its first words. said: why it is impossible.
    """

    wanted = Signal(object, str)
    said = Signal(str)

    def __init__(self, jobs: Jobs, source: SourceView, rendered: RenderedView, panel: QWidget) -> None:
        super().__init__(panel)
        self._jobs = jobs
        self._source = source
        self._rendered = rendered
        self._target: ViewTarget | None = None
        self.action = key_action(panel, LIKE)
        self.action.triggered.connect(self._want)
        self.gate = Gate(self.action, "alike")
        source.addAction(self.action)
        rendered.addAction(self.action)
        self.set_target(None)

    def set_target(self, target: ViewTarget | None) -> None:
        """What is read from now on."""
        self._target = target
        self.gate.allow(target is not None)

    def _want(self) -> None:
        target, lines = self._target, self._source.lines
        if target is None or lines is None:
            return
        if self._rendered.isVisible():
            text = self._rendered.textCursor().selectedText().replace(_PARAGRAPH, "\n").replace(_LINE_END, "\n")
            if text.strip():
                # A page does not know its lines: the engine finds the text in the file.
                text = beginning_of(text, _MOST_LETTERS)
                self._tell(Passage(path=target.name, start_line=1, end_line=LAST_LINE, text=text))
                return
        ends = None if self._rendered.isVisible() else self._source.selection.ends
        if ends is None:
            line = self._source.current_line()
            first, last = target.part or (line, line)
            passage = Passage(path=target.name, start_line=first, end_line=last)
            self._read(
                lambda: lines.whole(first, min(last, first + _FIRST_LINES)), lambda text: self._tell(passage, text)
            )
            return
        begin, end = ends
        end = min(end, (begin[0] + _MOST_LINES, 0))
        on = {"start_line": begin[0], "end_line": max(begin[0], end[0] - (end[1] == 0))}
        self._read(
            lambda: beginning_of(lines.between(begin, end), _MOST_LETTERS),
            lambda text: self._tell(Passage(path=target.name, text=text, **on)),
        )

    def _read(self, read: Callable[[], str], then: Callable[[str], None]) -> None:
        self._jobs.read(lambda _: read(), then, self.said.emit)

    def _tell(self, passage: Passage, words: str = "") -> None:
        self.wanted.emit(passage, words or passage.text)
