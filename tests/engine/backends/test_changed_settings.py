"""Changed settings of an open memory: ranking, thresholds, cached answers."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from engine.backends.builtin import BuiltinMemory
from engine.settings import Settings
from engine.settings.search_settings import HybridSettings, QuerySettings, ResultCacheSettings, TemporalDecaySettings

SLOW = TemporalDecaySettings(enabled=True, half_life_by_path={"**": 1.0})
NEVER = TemporalDecaySettings(enabled=True, evergreen=("**",))


def apply_query_settings(memory: BuiltinMemory, **query) -> None:
    memory.apply_query_settings(Settings(query=QuerySettings(**query)))


def scores(memory: BuiltinMemory) -> dict[str, float]:
    return {result.path: result.score for result in memory.search("irrigation timer, tomatoes", min_score=0).results}


def test_changed_hybrid_weights_apply_to_next_query(memory):
    before = scores(memory)
    assert memory.search("irrigation timer").mode == "hybrid"
    apply_query_settings(memory, hybrid=HybridSettings(enabled=False))
    assert memory.search("irrigation timer").mode == "vector"
    assert memory.status().custom["searchMode"] == "vector"
    apply_query_settings(memory, hybrid=HybridSettings(vector_weight=1.0, text_weight=0.0))
    assert scores(memory) != before
    apply_query_settings(memory)
    assert scores(memory) == before


def test_changed_ageing_applies_to_next_query(memory):
    apply_query_settings(memory, hybrid=HybridSettings(temporal_decay=NEVER))
    fresh = scores(memory)["daily/2026-02-08.md"]
    apply_query_settings(memory, hybrid=HybridSettings(temporal_decay=SLOW))
    assert scores(memory)["daily/2026-02-08.md"] < fresh / 2


def test_reversed_ageing_patterns_apply_to_next_query(memory):
    """The first matching pattern applies, so reversing two patterns changes the settings."""
    days = {"daily/**": 1.0, "**": 0.0}
    apply_query_settings(
        memory, hybrid=HybridSettings(temporal_decay=TemporalDecaySettings(enabled=True, half_life_by_path=days))
    )
    aged = scores(memory)["daily/2026-02-08.md"]
    turned = dict(reversed(days.items()))
    decay = TemporalDecaySettings(enabled=True, half_life_by_path=turned)
    apply_query_settings(memory, hybrid=HybridSettings(temporal_decay=decay))
    assert scores(memory)["daily/2026-02-08.md"] > aged


def test_result_cache_follows_changed_settings(memory):
    memory.search("irrigation")
    apply_query_settings(memory, cache=ResultCacheSettings(enabled=False))
    assert memory.search("irrigation").age is None
    assert memory.search("irrigation").age is None
    apply_query_settings(memory)
    memory.search("irrigation")
    assert memory.search("irrigation").age is not None


def test_running_search_keeps_its_settings(memory, provider, monkeypatch):
    begun, go_on = threading.Event(), threading.Event()
    embed = provider.embed_query

    def late(text: str, **options) -> np.ndarray:
        begun.set()
        assert go_on.wait(60)
        return embed(text, **options)

    monkeypatch.setattr(provider, "embed_query", late)
    with ThreadPoolExecutor(1) as pool:
        under_way = pool.submit(memory.search, "a pressure gauge", min_score=0)
        assert begun.wait(60)
        apply_query_settings(memory, hybrid=HybridSettings(enabled=False))
        go_on.set()
        assert under_way.result(60).mode == "hybrid"
    assert memory.search("a pressure gauge", min_score=0).mode == "vector"


def test_status_listener_notified(memory):
    received = []
    memory.add_status_listener(lambda: received.append(True))
    apply_query_settings(memory)
    assert received
