"""Inspects the index of an open memory, with one method per view of the window."""

import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from engine.base.cancellation import CancelToken
from engine.memory.memory_context import MemoryContext
from engine.records import ChangedNote, FileUse
from engine.store.sessions import last_changes, uses_in_session, uses_of_files

if TYPE_CHECKING:
    from engine.embedding.provider_selection import Selection
    from engine.insight.duplicates import Progress, State
    from engine.insight.map_service import IndexMaps
    from engine.insight.note_links import NoteImages
    from engine.insight.overview import Overviews
    from engine.memory.health import Health
    from engine.memory.index_updates import IndexUpdates
    from engine.records import (
        ChunkDetail,
        DuplicateReport,
        FileChunks,
        HealthFinding,
        HealthProgress,
        HealthRepair,
        IndexMap,
        IndexOverview,
        LinkedText,
        MapPointDetail,
        MapPositions,
        MapProgress,
        MemorySearchResult,
        NoteLinks,
    )
    from engine.store.stored_models import ModelName
    from engine.store.vector_encoding import Vectors


class IndexInsight:
    """Inspects the index. Thread-safe. Methods import what they need, since most programs never call them.

    All methods raise the store's errors, `Closed` after the memory was closed, and `Cancelled` when their token fires.
    """

    def __init__(
        self,
        context: "MemoryContext",
        updates: "IndexUpdates",
        selection: "Callable[[], Selection]",
        cached_vector: "Callable[[str], Vectors | None]",
    ) -> None:
        """`selection` returns the provider in use, within half a second.

        `cached_vector` returns the cached vector of a recent query.
        """
        self._context = context
        self._store = context.store
        self._vectors = context.vectors
        self._user = context.user_data
        self._updates = updates
        self._selection = selection
        self._duplicates: tuple[State, DuplicateReport] | None = None
        self._overviews: Overviews | None = None
        self._guard = context.guard
        self._cached_vector = cached_vector
        self._lock = threading.Lock()
        self._cached_maps: IndexMaps | None = None

    def overview(self, cancel: CancelToken | None = None) -> "IndexOverview":
        """Return counts of the index's content; immediately if nothing has changed since the last call."""
        from engine.corpus.transcripts.session_stores import find_stores
        from engine.insight.overview import Overviews

        if self._overviews is None:
            stores = [store.name for store in find_stores(self._context.settings)]
            self._overviews = Overviews(self._store, self._user, stores)
        with self._store.detecting_damage():
            return self._overviews.current(self._model(), cancel)

    def chunks_of(self, path: str, cancel: CancelToken | None = None) -> "FileChunks | None":
        """Return the chunks of the file with this stable name; None if it is not indexed."""
        from engine.insight.chunk_inspection import file_chunks

        model = self._model()
        with self._store.read(cancel) as snapshot:
            return file_chunks(snapshot, path, model, self._guard)

    def chunk(self, path: str, id_: int, cancel: CancelToken | None = None) -> "ChunkDetail | None":
        """Return all details of one chunk of the file with this stable name; None if the chunk no longer exists."""
        from engine.insight.chunk_inspection import chunk_detail

        model = self._model()
        with self._store.read(cancel) as snapshot:
            return chunk_detail(snapshot, path, id_, model, self._guard)

    def word_counts(self, words: Sequence[str]) -> "tuple[int, Mapping[str, int]]":
        """Return the total number of chunks, and by folded word the number of chunks that contain it."""
        from engine.search.document_frequencies import Frequencies

        with self._store.read() as snapshot:
            counts = Frequencies().counts(snapshot)
            return snapshot.chunk_count(), {word: counts.chunks(word, "words") for word in words}

    def note_links(self, path: str, cancel: CancelToken | None = None) -> "NoteLinks":
        """Return the links to and from the note with this stable name."""
        from engine.insight.note_links import note_links

        with self._store.read(cancel) as snapshot:
            return note_links(snapshot, path, self._guard)

    def linked_text(
        self, target: str, anchor: str, note: str, cancel: CancelToken | None = None
    ) -> "LinkedText | None":
        """Return the part of a note that a link in `note` points to; None if no note has that name.

        `target`: a note's name or path, or the id of a Logseq block; empty for `note` itself. `anchor`: a heading, or
        `^` and a block's id.
        """
        from engine.insight.note_links import linked_text

        with self._store.read(cancel) as snapshot:
            return linked_text(snapshot, (target, anchor, note), self._guard, cancel)

    def images_of(self, note: str) -> "NoteImages":
        """Return the images that the note with this stable name may show."""
        from engine.insight.note_links import NoteImages

        return NoteImages(note, self._context.workspace, self._context.settings)

    def session_files(self, session: str, cancel: CancelToken | None = None) -> tuple[FileUse, ...]:
        """Return the files that a session's tool calls read or changed, in the order of the session."""
        with self._store.read(cancel) as snapshot:
            return tuple(uses_in_session(snapshot, session))

    def uses_of_file(self, path: str, cancel: CancelToken | None = None) -> tuple[FileUse, ...]:
        """Return the tool calls that read or changed a file, newest first. `path`: a value of the operator `file:`."""
        from engine.corpus.transcripts.tool_uses import file_matcher

        with self._store.read(cancel) as snapshot:
            return tuple(uses_of_files(snapshot, *file_matcher(path)))

    def recent_edits(self, limit: int, cancel: CancelToken | None = None) -> tuple[FileUse, ...]:
        """Return the last `limit` tool calls that edited, created or deleted a file, newest first."""
        with self._store.read(cancel) as snapshot:
            return tuple(last_changes(snapshot, limit))

    def changed_notes(self, limit: int, cancel: CancelToken | None = None) -> tuple[ChangedNote, ...]:
        """Return the `limit` notes that changed last, newest first; sessions if no note is indexed."""
        with self._store.read(cancel) as snapshot:
            latest = f"""SELECT path, title, mtime_ns FROM {snapshot.tables.files} WHERE source = ?
                         ORDER BY mtime_ns DESC, path LIMIT ?"""
            rows: list[tuple[str, str, int]] = list(snapshot.connection.execute(latest, ("memory", limit)))
            if not rows:
                rows = list(snapshot.connection.execute(latest, ("sessions", limit)))
            refused = self._guard.refused([path for path, *_ in rows], snapshot.meta("names"))
            return tuple(
                ChangedNote(path=path, title=title, modified=time / 1e9)
                for path, title, time in rows
                if path not in refused
            )

    def renamed_note(self, path: str, mtime_ns: int, size: int, cancel: CancelToken | None = None) -> str:
        """Return the name of the only note with this time and size, which was `path` before; empty if not known."""
        with self._store.read(cancel) as snapshot:
            same = f"SELECT path FROM {snapshot.tables.files} WHERE source = ? AND mtime_ns = ? AND size = ? LIMIT 2"
            names = [name for (name,) in snapshot.connection.execute(same, ("memory", mtime_ns, size))]
            refused = self._guard.refused(names, snapshot.meta("names"))
        return names[0] if len(names) == 1 and names[0] != path and not refused else ""

    def duplicates(self, cancel: CancelToken | None = None, progress: "Progress | None" = None) -> "DuplicateReport":
        """Find notes that share text.

        Takes some seconds for 10,000 notes, and is immediate while no text has changed.
        """
        from engine.insight.duplicates import find_duplicates, state_of

        model = self._model()
        with self._store.read(cancel) as snapshot:
            state = state_of(snapshot, model)
        known = self._duplicates
        if known is not None and known[0] == state:
            return known[1]
        with self._store.detecting_damage():
            report = find_duplicates(self._store, self._guard, cancel, progress, state[-1])
        self._duplicates = state, report
        return report

    def last_map(self, cancel: CancelToken | None = None) -> "IndexMap | None":
        """Return the last computed map, of this process or an earlier one, however old; None if there is none."""
        return self._maps().last(self._model(), cancel)

    def make_map(
        self,
        *,
        first: "Callable[[IndexMap], None] | None" = None,
        progress: "Callable[[MapProgress], None] | None" = None,
        cancel: CancelToken | None = None,
    ) -> "IndexMap":
        """Compute the map of all chunks with a vector; fast if nothing has changed.

        Takes about a second for 100,000 chunks, and some seconds for up to 20,000, which are laid out by neighbours.
        `first` receives a simpler map of several thousand chunks if there was none before; it is called on this thread,
        as is `progress`.
        """
        return self._maps().make(self._model(), first=first, progress=progress, cancel=cancel)

    def map_details(self, chunks: Sequence[int], cancel: CancelToken | None = None) -> "tuple[MapPointDetail, ...]":
        """Return details of map points, in the order of these chunk ids; chunks no longer in the index are left out."""
        return self._maps().details(chunks, cancel)

    def map_answer(
        self, query: str, results: "Sequence[MemorySearchResult]", cancel: CancelToken | None = None
    ) -> "MapPositions":
        """Return the positions of a recent query and its results on the last map. Sends nothing."""
        return self._maps().answer(self._model(), self._cached_vector(query), results, cancel)

    def _maps(self) -> "IndexMaps":
        from engine.insight.map_service import IndexMaps

        with self._lock:
            if self._cached_maps is None:
                self._cached_maps = IndexMaps(self._store, self._vectors, self._guard)
            return self._cached_maps

    def health(
        self,
        cancel: CancelToken | None = None,
        *,
        probe: bool = False,
        deep: bool = False,
        progress: "Callable[[HealthProgress], None] | None" = None,
    ) -> "Iterator[HealthFinding]":
        """Check that the index is intact and complete; yields findings one by one, over several seconds.

        `probe` embeds one word as a test; `deep` re-embeds and compares a few passages, for local providers only.
        """
        return self._health(cancel, progress).run_checks(probe=probe, deep=deep)

    def quick_check(self, cancel: CancelToken | None = None) -> "tuple[HealthFinding, ...]":
        """Return the findings of checks that only need counts; immediate."""
        return self._health(cancel, None).quick_check()

    def repair(
        self,
        ids: "Collection[str] | None" = None,
        cancel: CancelToken | None = None,
        *,
        progress: "Callable[[HealthProgress], None] | None" = None,
    ) -> "HealthRepair":
        """Repair the findings with these ids; None repairs all that can be and updates the index.

        Notes are never modified. Raises `IndexBusy` while another process writes the index.
        """
        return self._health(cancel, progress).repair(ids)

    def _health(self, cancel: CancelToken | None, progress: "Callable[[HealthProgress], None] | None") -> "Health":
        from engine.memory.health import Health

        notify = progress or (lambda _: None)
        return Health(self._context, self._updates, self._selection, cancel or CancelToken(), notify)

    def hidden_duplicates(self) -> frozenset[str]:
        """Return the keys of the duplicate groups that the user has hidden."""
        from engine.insight.duplicate_groups import hidden_groups

        return hidden_groups(self._user)

    def hide_duplicates(self, key: str, *, hidden: bool) -> None:
        """Hide a duplicate group, or show it again. Raises `IndexReadOnly` if this can't be saved."""
        from engine.insight.duplicate_groups import hide_group

        hide_group(self._user, key, hidden=hidden)

    def _model(self) -> "ModelName | None":
        """Return the model that searches use; None for keyword search only."""
        from engine.indexing.cost_estimate import name_of

        provider = self._selection().provider
        return None if provider is None else name_of(provider)
