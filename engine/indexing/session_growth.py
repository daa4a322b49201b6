"""Decides whether sessions have grown enough since they were indexed to sync immediately.

An agent writes a line every few seconds, and a single line is no reason to sync. Smaller growth is indexed by the next
sync for any reason. A database is changed in place, so each batch of changes to it counts; finding the changed rows is
cheap. A file that belongs to a transcript changes rarely, and counts as well.
"""

import os
from collections.abc import Callable, Iterable, Mapping

from engine.base.errors import PathRefused
from engine.corpus.safe_open import open_binary
from engine.corpus.transcripts.registry import is_database, may_be_transcript, owner_of_part
from engine.corpus.transcripts.session_stores import Store, transcript_at
from engine.corpus.transcripts.transcript_files import is_compressed, transcript_of
from engine.settings.options import SessionDeltaSettings

_BLOCK = 64 * 1024


class SessionGrowth:
    """Decides whether changes of transcripts are large enough to sync immediately."""

    def __init__(
        self, stores: Iterable[Store], limits: SessionDeltaSettings, indexed_sizes: Callable[[], Mapping[str, int]]
    ) -> None:
        """`indexed_sizes` returns the size in bytes of each transcript when it was last indexed, by its stable name."""
        self._stores = [(os.path.realpath(store.path), store) for store in stores]
        self._limits = limits
        self._indexed_sizes = indexed_sizes
        self._links: set[str] = set()
        """Paths of symbolic links added since the start."""

    def call_for_sync(self, paths: Iterable[str]) -> bool:
        """Whether any of these files has grown enough, shrunk, been deleted, or is or was a symbolic link."""
        sizes = self._indexed_sizes()
        names = {path: transcript_at(transcript_of(path), self._stores)[0] for path in paths}
        return any(self._is_due(path, sizes.get(name)) for path, name in names.items())

    def _is_due(self, path: str, indexed: int | None) -> bool:
        if os.path.islink(path):
            self._links.add(path)
            return True
        if path in self._links:
            self._links.discard(path)
            return True
        if owner := owner_of_part(path):
            return os.path.exists(owner)
        try:
            with open_binary(path) as file:
                if is_database(transcript_of(path)):
                    return True
                size = os.fstat(file.fileno()).st_size
                if not size:
                    return bool(indexed)
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
