"""Why one result was found, and why there: the score as a bar, its parts in sentences, every number in a table."""

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QVBoxLayout, QWidget

from engine import MemorySearchResult, ResultExplanation, SearchOutcome, number, reasons_of, tr
from gui.explanation import wording
from gui.explanation.score_bar import ScoreBar
from gui.explanation.section import Section
from gui.explanation.tables import FigureTable
from gui.explanation.term_bars import RangeBar, TermBars
from gui.widgets.elided import ElidedLabel
from gui.widgets.icons import IconButton
from gui.widgets.labels import label

_SPACING = 14


class ResultView(QWidget):
    """Everything about the selected result."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._title = ElidedLabel()
        self._title.setProperty("role", "strong")
        self._path = ElidedLabel(mode=Qt.TextElideMode.ElideLeft)
        self._path.setProperty("role", "meta")
        self._place = label(role="meta", wrap=True)
        self._bar = ScoreBar()
        self._terms, self._range = TermBars(), RangeBar()
        self._sections = {
            "words": Section(tr("Words"), self._terms),
            "meaning": Section(tr("Meaning"), self._range),
            "mixture": Section(tr("Together")),
            "age": Section(tr("Age")),
            "place": Section(tr("Variety")),
            "threshold": Section(tr("Threshold")),
        }
        self._fold = IconButton("chevron-right", tr("Show all figures"), tr("All figures"))
        self._fold.setCheckable(True)
        self._fold.toggled.connect(self._show_figures)
        self._figures = FigureTable()
        self._figures.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(_SPACING)
        head = QVBoxLayout()
        head.setSpacing(2)
        for widget in (self._title, self._path, self._place):
            head.addWidget(widget)
        column.addLayout(head)
        column.addWidget(self._bar)
        for section in self._sections.values():
            column.addWidget(section)
        column.addWidget(self._fold, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self._figures)

    def show_reason(self, result: MemorySearchResult, reason: ResultExplanation, outcome: SearchOutcome) -> None:
        heading = " › ".join(result.heading) or result.title
        self._title.setText(heading)
        self._path.setText(result.citation)
        self._place.setText(wording.place(reason, outcome))
        self._bar.show_shares(wording.shares(reason, result))
        said: dict[str, str] = {of.part: of.detail or of.sentence for of in reasons_of(reason)}
        parts = wording.parts(reason)
        self._terms.show_parts(parts)
        self._terms.setVisible(bool(reason.full_bm25 and parts))
        measured = reason.cosine is not None and reason.cosine_low is not None and reason.cosine_high is not None
        if reason.cosine is not None and reason.cosine_low is not None and reason.cosine_high is not None:
            self._range.show_range(reason.cosine_low, reason.cosine_high, reason.cosine)
        self._range.setVisible(measured)
        values = {
            "words": number(reason.text_score, ".2f") if reason.full_bm25 else "",
            "meaning": "" if reason.vector_score is None else number(reason.vector_score, ".2f"),
            "mixture": number(reason.fresh_score, ".2f"),
            "age": f"× {number(reason.decay, '.2f')}" if reason.date is not None else "",
            "place": number(reason.rank),
            "threshold": number(reason.min_score, "g"),
        }
        for name, section in self._sections.items():
            section.show_part(values[name], said.get(name, ""))
        self._figures.show_records(wording.figures(reason))
        self.setAccessibleName(tr("Why {heading} was found", heading=heading))

    @Slot(bool)
    def _show_figures(self, shown: bool) -> None:
        self._fold.set_icon("chevron-down" if shown else "chevron-right")
        self._fold.set_accessible(tr("Hide the figures") if shown else tr("Show all figures"))
        self._figures.setVisible(shown)
