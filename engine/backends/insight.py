"""The inside of an open memory's index, for whoever wants to see it: one method for each matter."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from engine.control import CancelToken
from engine.settings import Settings

if TYPE_CHECKING:
    from engine.backends.updates import Updates
    from engine.embedding.registry import Selection
    from engine.records import IndexOverview
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

    def overview(self, cancel: CancelToken | None = None) -> "IndexOverview":
        """What is in the index, counted."""
        from engine.insight.overview import overview

        model = self._model()
        with self._store.read(cancel) as snapshot:
            return overview(snapshot, model)

    def _model(self) -> "ModelName | None":
        """Whose vectors are searched with; None where words alone are."""
        from engine.sync.estimating import name_of

        provider = self._selection().provider
        return None if provider is None else name_of(provider)
