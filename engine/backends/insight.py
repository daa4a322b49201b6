"""The inside of an open memory's index, for whoever wants to see it: one method for each matter."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from engine.control import CancelToken
from engine.settings import Settings

if TYPE_CHECKING:
    from engine.backends.updates import Updates
    from engine.embedding.registry import Selection
    from engine.insight.duplicates import Progress, TextState
    from engine.insight.overview import Overviews
    from engine.records import ChunkDetail, DuplicateReport, FileChunks, IndexOverview
    from engine.store.index import IndexStore
    from engine.store.models import ModelName
    from engine.store.user_data import UserData
    from engine.store.vectors import VectorIndex


class IndexInsight:
    """Thread-safe. Each method loads what it needs itself, since most programs never ask. All raise the store's errors,
    `Closed` after the memory was closed, and `Cancelled` when their token fires."""

    def __init__(
        self,
        workspace: Path,
        settings: Settings,
        store: "IndexStore",
        vectors: "VectorIndex",
        user: "UserData",
        updates: "Updates",
        selection: "Callable[[], Selection]",
    ) -> None:
        """`selection`: the provider in use, as the status shows it; waits a moment at most."""
        self._workspace = workspace
        self._settings = settings
        self._store = store
        self._vectors = vectors
        self._user = user
        self._updates = updates
        self._selection = selection
        self._duplicates: tuple[TextState, DuplicateReport] | None = None
        self._overviews: Overviews | None = None

    def overview(self, cancel: CancelToken | None = None) -> "IndexOverview":
        """What is in the index, counted; at once where nothing has changed since the last time."""
        from engine.insight.overview import Overviews

        if self._overviews is None:
            self._overviews = Overviews(self._store, self._user)
        return self._overviews.now(self._model(), cancel)

    def chunks_of(self, path: str, cancel: CancelToken | None = None) -> "FileChunks | None":
        """The chunks of the file with this stable name; None for one that is not indexed."""
        from engine.corpus.guard import PathGuard
        from engine.insight.chunk_rows import file_chunks

        model = self._model()
        guard = PathGuard(self._workspace, self._settings)
        with self._store.read(cancel) as snapshot:
            return file_chunks(snapshot, path, model, guard.locate)

    def chunk(self, id_: int, cancel: CancelToken | None = None) -> "ChunkDetail | None":
        """Everything about one chunk; None for one that has gone since."""
        from engine.insight.chunk_rows import chunk_detail

        model = self._model()
        with self._store.read(cancel) as snapshot:
            return chunk_detail(snapshot, id_, model)

    def duplicates(
        self, cancel: CancelToken | None = None, progress: "Progress | None" = None
    ) -> "DuplicateReport":
        """Notes that share text; some seconds for 10,000 notes, and at once while no text has changed since."""
        from engine.insight.duplicates import find_duplicates, text_state

        with self._store.read(cancel) as snapshot:
            state = text_state(snapshot)
        known = self._duplicates
        if known is not None and known[0] == state:
            return known[1]
        report = find_duplicates(self._store, cancel, progress)
        self._duplicates = state, report
        return report

    def _model(self) -> "ModelName | None":
        """Whose vectors are searched with; None where words alone are."""
        from engine.sync.estimating import name_of

        provider = self._selection().provider
        return None if provider is None else name_of(provider)
