"""Decides whether sessions have grown enough since they were indexed to sync immediately.

An agent writes a line every few seconds, and a single line is no reason to sync. Smaller growth is indexed by the next
sync for any reason. A database is changed in place, so each batch of changes to it counts; finding the changed rows is
cheap.
"""

import os
from collections.abc import Callable, Iterable, Mapping

from engine.base.errors import PathRefused
from engine.corpus.safe_open import open_binary
from engine.corpus.transcripts.file_rules import may_be_transcript
from engine.corpus.transcripts.modified_time import is_compressed, is_database, transcript_of
from engine.corpus.transcripts.stores import Store
from engine.settings.options import SessionDeltaSettings

_BLOCK = 64 * 1024


class SessionGrowth:
    """Judges changes in the folders with sessions."""

    def __init__(
        self, stores: Iterable[Store], limits: SessionDeltaSettings, indexed_sizes: Callable[[], Mapping[str, int]]
    ) -> None:
        """`indexed_sizes`: bytes of every transcript when it was last indexed, by its stable name."""
        self._stores = [(os.path.realpath(store.path), store.name) for store in stores]
        self._limits = limits
        self._indexed_sizes = indexed_sizes
        self._links: set[str] = set()
        """Links that were added since. They are listed as long as they exist."""

    def call_for_sync(self, paths: Iterable[str]) -> bool:
        """Whether any of these files has grown enough, shrunk or been deleted, or is or was a link."""
        sizes = self._indexed_sizes()
        return any(self._is_due(path, sizes.get(self._name(transcript_of(path)))) for path in paths)

    def _name(self, path: str) -> str:
        for root, name in self._stores:
            if path.startswith(os.path.join(root, "")):
                return f"{name}/{os.path.relpath(path, root).replace(os.sep, '/')}"
            if path == root:
                return f"{name}/{os.path.basename(path)}"
        return ""

    def _is_due(self, path: str, indexed: int | None) -> bool:
        if os.path.islink(path):
            self._links.add(path)
            return True
        if path in self._links:
            self._links.discard(path)
            return True
        try:
            with open_binary(path) as file:
                if is_database(transcript_of(path)):
                    return True
                size = os.fstat(file.fileno()).st_size
                if is_compressed(path):
                    return size != indexed and may_be_transcript(path)
                # A transcript that shrank was replaced: it counts from its beginning.
                start = 0 if indexed is None or size < indexed else indexed
                limits = self._limits
                if size == start:
                    return False
                if size - start >= limits.delta_bytes or limits.delta_messages <= 0:
                    return may_be_transcript(path)
                file.seek(start)
                lines = sum(block.count(b"\n") for block in iter(lambda: file.read(_BLOCK), b""))
                return lines >= limits.delta_messages and may_be_transcript(path)
        except (OSError, PathRefused):
            # A folder represents files added to and removed from it; a deleted transcript must not be found any more.
            return indexed is not None or os.path.isdir(path)
