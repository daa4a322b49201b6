"""The page that says what is in the index."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QGridLayout, QVBoxLayout

from engine import CancelToken, IndexInsight, IndexOverview
from gui.index.page import IndexPage
from gui.jobs import Jobs
from gui.widgets.labels import label
from gui.widgets.wording import grouped


class OverviewPage(IndexPage):
    """Cards with a figure each."""

    def __init__(self, jobs: Jobs) -> None:
        super().__init__(jobs)
        self._problem = label("", "muted", wrap=True)
        self._problem.hide()
        self._figures = {name: label("", "figure") for name in ("files", "chunks", "vectors")}
        cards = QGridLayout()
        cards.setSpacing(12)
        for column, (name, figure) in enumerate(self._figures.items()):
            card = QFrame()
            card.setProperty("role", "card")
            inside = QVBoxLayout(card)
            inside.setContentsMargins(14, 12, 14, 12)
            inside.addWidget(figure)
            inside.addWidget(label(name, "meta"))
            cards.addWidget(card, 0, column)
        page = QVBoxLayout(self)
        page.setContentsMargins(16, 12, 16, 12)
        page.addLayout(cards)
        page.addWidget(self._problem)
        page.addStretch(1)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)

    def read(self, insight: IndexInsight, cancel: CancelToken) -> IndexOverview:
        return insight.overview(cancel)

    def show_read(self, found: IndexOverview) -> None:
        self._problem.hide()
        for name, figure in self._figures.items():
            figure.setText(grouped(sum(getattr(folder, name) for folder in found.folders)))

    def show_problem(self, sentence: str) -> None:
        self._problem.setText(sentence)
        self._problem.show()

    def clear(self) -> None:
        for figure in self._figures.values():
            figure.setText("–")
