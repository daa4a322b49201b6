"""Decides by name which files a query may find or read."""

from collections.abc import Callable

from engine.corpus.path_guard import PathGuard
from engine.records import Source
from engine.search.search_context import SearchContext
from engine.store.snapshot import Snapshot


def files_to_search(snapshot: Snapshot, guard: PathGuard, work: SearchContext) -> list[int] | None:
    """Ids of the files to search in; None for all."""
    # Until the next sync the index may contain files that the settings exclude by now: they must not be opened.
    under = snapshot.meta("names")
    if under == guard.rules and not work.request.filter.active:
        return None
    found = work.request.filter.files(snapshot)
    refused = guard.refused((name for _, name in found), under)
    files = [id_ for id_, name in found if name not in refused]
    work.stages.add("filters", snapshot.file_count(), len(files), unit="files")
    return files


def hidden(snapshot: Snapshot, guard: PathGuard, work: SearchContext) -> Callable[[str, Source], bool]:
    """Return a function that says whether a file must not be read: it is private in a shared session, or excluded by
    now."""
    under = snapshot.meta("names")

    def is_hidden(path: str, source: Source) -> bool:
        return work.request.filter.hides(path, source) or bool(guard.refused((path,), under))

    return is_hidden
