"""A cache of a workspace's saved searches and search history for the window; changes are written in the background.

Functions convert a query to its saved form and back, and describe it in words.
"""

import time
from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from engine import MemorySearchManager, QueryRecord, RecentSearch, SavedSearch, SavedSearches, tr
from gui.core.jobs import Job, Jobs
from gui.search.filters import period_within
from gui.search.query import Query, Scope
from gui.search.ranking_menu import Ranking
from gui.search.result_rows import SortOrder
from gui.search.scope import citation, quoted, source_names


def to_record(query: Query, order: SortOrder = "relevance") -> QueryRecord:
    """Convert a query to the form in which it is saved, without the number of results."""
    return QueryRecord(
        text=query.text,
        sources=query.sources,
        days=query.days,
        path=query.scope.path if query.scope else "",
        path_name=query.scope.name if query.scope else "",
        like=query.like,
        within=to_record(query.within) if query.within else None,
        half_life_days=query.half_life_days,
        diverse=query.diverse,
        order=order,
        all_workspaces=query.all_workspaces,
    )


def to_query(query: QueryRecord) -> Query:
    return Query(
        query.text,
        query.sources,
        query.days,
        Scope(query.path, query.path_name) if query.path else None,
        like=query.like,
        within=to_query(query.within) if query.within else None,
        half_life_days=query.half_life_days,
        diverse=query.diverse,
        all_workspaces=query.all_workspaces,
    )


def title(query: QueryRecord) -> str:
    """Return the text of a saved query, without its filters."""
    if query.like is None:
        return query.text
    named = quoted(query.like.text) if query.like.text.strip() else citation(query.like)
    return tr("Similar to {passage}", passage=named)


def limits(query: QueryRecord) -> str:
    """Describe the filters and ranking options of a saved query in a few words; empty if there are none."""
    parts = [
        tr("only in “{name}”", name=query.path_name or query.path) if query.path else "",
        tr("within the results of “{query}”", query=title(query.within)) if query.within else "",
        source_names(query.sources),
        period_within(query.days) if query.days is not None else "",
        *Ranking(query.half_life_days or 0.0, bool(query.diverse)).words,
        tr("by date") if query.order == "date" else "",
        tr("all workspaces") if query.all_workspaces else "",
    ]
    return " · ".join(part for part in parts if part)


Act = Callable[[SavedSearches], None]
Contents = tuple[tuple[SavedSearch, ...], tuple[RecentSearch, ...]]


class SavedSearchStore(QObject):
    """Cache of the saved searches and the history; runs one job at a time, so that changes are written in order."""

    changed = Signal()
    """`saved` or `recent` has changed."""
    failed = Signal(str)
    """Why something was not saved, in one sentence."""

    def __init__(self, jobs: Jobs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._jobs = jobs
        self._storage: SavedSearches | None = None
        self._acts: list[Act] = []
        self._job: Job | None = None
        self.notes = True
        """Whether the search history is recorded."""
        self.saved: tuple[SavedSearch, ...] = ()
        """Last used first."""
        self.recent: tuple[RecentSearch, ...] = ()
        """Newest first."""

    @property
    def busy(self) -> bool:
        return self._job is not None

    def set_manager(self, manager: MemorySearchManager | None) -> None:
        """Load the saved searches and history of this memory; None empties both."""
        self._storage = None if manager is None else manager.saved_searches
        self._job = None
        self._acts.clear()
        self._show(((), ()))
        if manager is not None:
            self._enqueue(lambda _storage: None)

    def add_recent(self, query: QueryRecord) -> None:
        """Add a query to the history, if the history is on."""
        if self.notes:
            self._enqueue(lambda storage: storage.add_recent(query))

    def forget_recent(self, query: QueryRecord | None = None) -> None:
        """Remove a query from the history; None removes all."""
        self._enqueue(lambda storage: storage.forget_recent(query))

    def save(self, name: str, query: QueryRecord) -> None:
        """Save a query under a name, replacing a saved search with the same name."""
        self.restore(SavedSearch(name=name, query=query, last_used=time.time()))

    def restore(self, search: SavedSearch) -> None:
        """Restore a deleted search unchanged."""
        self._enqueue(lambda storage: storage.save(search))

    def restore_recent(self, searches: tuple[RecentSearch, ...]) -> None:
        """Restore removed entries of the history."""
        self._enqueue(lambda storage: storage.restore_recent(searches))

    def rename(self, name: str, new_name: str) -> None:
        self._enqueue(lambda storage: storage.rename(name, new_name))

    def delete(self, name: str) -> None:
        self._enqueue(lambda storage: storage.delete(name))

    def touch(self, name: str) -> None:
        """Set the saved search's time of last use to now."""
        self._enqueue(lambda storage: storage.touch(name))

    def name_of(self, query: QueryRecord | None) -> str:
        """Return the name under which this query is saved; empty if it is not."""
        return next((search.name for search in self.saved if search.query == query), "")

    def _enqueue(self, act: Act) -> None:
        if self._storage is not None:
            self._acts.append(act)
            self._run()

    def _run(self) -> None:
        storage = self._storage
        if self._job is not None or not self._acts or storage is None:
            return
        act = self._acts.pop(0)

        def work(_: object) -> Contents:
            act(storage)
            return storage.saved(), storage.recent()

        def on_done(contents: Contents) -> None:
            if self._job is job:
                self._job = None
                self._show(contents)
                self._run()

        def on_error(sentence: str) -> None:
            if self._job is job:
                self._job = None
                self.failed.emit(sentence)
                self._run()

        job = self._job = self._jobs.save(work, on_done, on_error)

    def _show(self, contents: Contents) -> None:
        if contents != (self.saved, self.recent):
            self.saved, self.recent = contents
            self.changed.emit()
