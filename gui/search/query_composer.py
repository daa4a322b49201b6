"""Composes the query from the box and the controls around it, and restores a query there."""

from PySide6.QtCore import QObject, Signal

from gui.search.filters import Filters
from gui.search.query import Query, is_searchable
from gui.search.ranking import Ranking, RankingMenu
from gui.search.scope import SearchScope
from gui.widgets.query_box import QueryBox


class QueryComposer(QObject):
    """The text of the box, the chips, the order's menu, and the lines above the results."""

    query_changed = Signal(str)
    """Another query was entered, or none."""

    def __init__(
        self, box: QueryBox, filters: Filters, ranking: RankingMenu, narrowing: SearchScope, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._box = box
        self._filters = filters
        self._ranking = ranking
        self._narrowing = narrowing
        self._asked = ""

    @property
    def has_changed(self) -> bool:
        """The text of the box differs from the last query."""
        return self._box.query != self._asked

    def question(self, text: str) -> Query:
        """This text with all selected options."""
        chosen, ranking = self._filters, self._ranking.ranking
        return Query(
            text,
            chosen.sources,
            chosen.days,
            chosen.scope,
            like=self._narrowing.like,
            within=self._narrowing.within,
            half_life_days=ranking.half_life_days,
            diverse=ranking.diverse,
            everywhere=chosen.everywhere,
        )

    def due(self) -> Query | None:
        """The current query; without text yet, the query that will be its scope."""
        question = self.question(self._box.query)
        if is_searchable(question.text) or question.like is not None:
            return question
        return question.within

    def take(self) -> Query | None:
        """The current query, to be run now."""
        self._note(self._box.query)
        return self.due()

    def put(self, text: str) -> None:
        """Enter this text in the box without searching."""
        if text != self._box.query:
            self._asked = text
            self._box.show_text(text)
            self.query_changed.emit(text)

    def show(self, question: Query) -> None:
        """Select all these options, without searching."""
        self._filters.choose(question.sources, question.days, question.scope)
        self._filters.choose_everywhere(question.everywhere)
        if question.half_life_days is not None and question.diverse is not None:
            self._ranking.show(Ranking(question.half_life_days, question.diverse))
        self._narrowing.show(question)
        self.put(question.text)

    def _note(self, text: str) -> None:
        if text != self._asked:
            self._asked = text
            self.query_changed.emit(text)
