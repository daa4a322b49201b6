"""What looks into the index of the open memory, and for a file of another workspace into that one's."""

from typing import TYPE_CHECKING, Any

import msgspec

from engine.base.cancellation import CancelToken
from engine.base.errors import Unsupported
from engine.records import ChunkDetail, FileChunks

if TYPE_CHECKING:
    from engine.memory.contract import MemorySearchManager
    from engine.memory.insight import IndexInsight
    from engine.workspaces.multi_workspace_memory import Everywhere

_replace = msgspec.structs.replace


class InsightEverywhere:
    """An `IndexInsight`: that of the open memory in everything but what is defined here. Thread-safe.

    Raises besides what `Everywhere.home_of` raises, and `Unsupported` where the index of that workspace cannot be
    looked into.
    """

    def __init__(self, here: "IndexInsight", everywhere: "Everywhere") -> None:
        self._here = here
        self._everywhere = everywhere

    def __getattr__(self, name: str) -> Any:
        return getattr(self._here, name)

    def chunks_of(self, path: str, cancel: CancelToken | None = None) -> FileChunks | None:
        found = self._everywhere.at(path, lambda memory, there: _inside(memory).chunks_of(there, cancel))
        return None if found is None else _replace(found, path=path)

    def chunk(self, path: str, id_: int, cancel: CancelToken | None = None) -> ChunkDetail | None:
        found = self._everywhere.at(path, lambda memory, there: _inside(memory).chunk(there, id_, cancel))
        return None if found is None else _replace(found, path=path)


def _inside(memory: "MemorySearchManager") -> "IndexInsight":
    insight = memory.insight
    if insight is None:
        raise Unsupported(memory.lacks["insight"])
    return insight
