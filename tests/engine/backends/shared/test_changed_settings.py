"""Changed settings of an open memory, on every backend."""

import msgspec

from engine.memory.memory_interface import MemorySearchManager
from engine.settings import Settings
from engine.settings.search_settings import QuerySettings
from tests.engine.backends.shared.open_backends import Bench


def _most(number: int) -> Settings:
    """Return settings that limit the number of results."""
    limits = msgspec.structs.replace(Settings().qmd.limits, max_results=number, timeout_ms=600_000)
    qmd = msgspec.structs.replace(Settings().qmd, limits=limits)
    return Settings(query=QuerySettings(max_results=number), qmd=qmd)


def _found(memory: MemorySearchManager) -> int:
    return len(memory.search("irrigation").results)


def test_changed_settings_apply_to_next_query(opened: Bench):
    memory = opened.ready()
    assert _found(memory) == 3
    memory.apply_query_settings(_most(1))
    assert _found(memory) == 1
    assert len(memory.search("irrigation", max_results=2).results) == 2, "a limit in the request overrides the settings"
    memory.apply_query_settings(_most(2))
    assert _found(memory) == 2
