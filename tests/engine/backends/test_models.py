"""Vectors of several models: switching back is free, unused ones are dropped, one model can be deleted."""

import time
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray

from engine.base.errors import IndexBusy
from engine.settings import Settings
from engine.settings.options import CacheSettings
from tests.helpers.fake_provider import FakeProvider
from tests.helpers.health import inconsistencies

DEFAULTS = Settings()


@pytest.fixture
def other() -> FakeProvider:
    return FakeProvider(32, id="other", model="bag")


def vectors(memory) -> dict[str, int]:
    return {info.provider: info.vectors for info in memory.stored_models()}


class Shifted(FakeProvider):
    """Another model with vectors of the same length."""

    def vectors_of(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.roll(super().vectors_of(texts), 7, axis=1)


@pytest.mark.parametrize("engine", ["numpy", "sqlite-vec"])
def test_models_with_vectors_of_one_length_do_not_mix(open_memory, tmp_path: Path, provider, engine) -> None:
    vector = msgspec.structs.replace(DEFAULTS.store.vector, engine=engine)
    store = msgspec.structs.replace(DEFAULTS.store, path=str(tmp_path / "data"), vector=vector)
    shifted = Shifted(id="shifted")
    for use in (provider, shifted, provider, shifted):
        memory = open_memory(use=use, store=store)
        memory.sync()
        assert memory.status().vector.engine == engine
        with memory.store.read() as snapshot:
            model = snapshot.stored_model(use.id, use.model, use.key)
            for id_ in snapshot.vector_chunk_ids(model.id):
                (chunk,) = snapshot.texts([id_])
                found, cosines = memory.vectors.search(snapshot, model, use.embed_query(chunk.text), 1)
                assert (found.tolist(), cosines.tolist()) == ([id_], [pytest.approx(1, abs=0.02)])
        memory.close()


def test_switching_back_sends_nothing(open_memory, provider, other) -> None:
    for use, sent in ((provider, 4), (other, 4), (provider, 0), (other, 0)):
        before = len(use.embedded)
        memory = open_memory(use=use)
        report = memory.sync()
        assert (len(use.embedded) - before, report.vectors_pending) == (sent, 0)
        found = memory.search("watering timer")
        assert (found.provider, found.mode) == (use.id, "hybrid")
        assert memory.status().vector.dims == use.dims
        memory.close()


@pytest.mark.parametrize("engine", ["numpy", "sqlite-vec"])
def test_two_models_in_one_start_do_not_mix(open_memory, tmp_path: Path, provider, other, engine) -> None:
    vector = msgspec.structs.replace(DEFAULTS.store.vector, engine=engine)
    store = msgspec.structs.replace(DEFAULTS.store, path=str(tmp_path / "data"), vector=vector)
    memory = open_memory(instead=other, store=store)
    memory.sync()
    best = memory.search("pressure gauge").results[0].path
    (tmp_path / "notes/lamp.md").write_text("A brass lamp.\n")

    def fail(texts: Sequence[str]) -> None:
        from engine.base.errors import ProviderError

        raise ProviderError("No more.")

    provider.before = fail
    memory.sync()
    assert memory.status().provider == "other"
    assert memory.search("pressure gauge").results[0].path == best
    provider.before = lambda texts: None
    assert memory.probe_embedding().ok
    assert memory.search("pressure gauge").results[0].path == best
    memory.sync()
    assert memory.search("brass lamp").results[0].vector_score == 1.0


def test_status_counts_vectors_per_model(open_memory, provider, other) -> None:
    memory = open_memory()
    memory.sync()
    memory.close()
    memory = open_memory(use=other)
    memory.sync()
    cache = memory.status().cache
    assert (cache.entries, cache.bytes) == (8, 4 * 64 * 2 + 4 * 32 * 2)
    assert cache.models == memory.stored_models()
    assert {info.provider: (info.bytes, info.dims, info.active) for info in cache.models} == {
        "fake": (512, 64, False),
        "other": (256, 32, True),
    }


def test_deleting_a_model_keeps_the_others(open_memory, provider, other) -> None:
    memory = open_memory()
    memory.sync()
    memory.close()
    memory = open_memory(use=other)
    memory.sync()
    assert memory.purge_model("fake", "bag-of-words", "") == 4
    assert memory.purge_model("fake", "bag-of-words", "") == 0
    assert vectors(memory) == {"other": 4}
    assert memory.status().cache.entries == 4
    assert memory.search("watering timer").mode == "hybrid"
    assert inconsistencies(memory) == []


@pytest.mark.parametrize("engine", ["numpy", "sqlite-vec"])
def test_deleting_model_in_use_reembeds(open_memory, tmp_path: Path, provider, engine) -> None:
    vector = msgspec.structs.replace(DEFAULTS.store.vector, engine=engine)
    memory = open_memory(store=msgspec.structs.replace(DEFAULTS.store, path=str(tmp_path / "data"), vector=vector))
    memory.sync()
    assert memory.search("watering timer").mode == "hybrid"
    assert memory.purge_model("fake", "bag-of-words", "") == 4
    status = memory.status()
    assert (status.pending_vectors, status.vector.rows) == (4, 0)
    assert memory.search("watering timer").mode == "keyword"
    assert memory.sync().vectors_embedded == 4
    assert memory.search("watering timer").mode == "hybrid"


def test_nothing_is_deleted_while_a_sync_runs(open_memory, provider) -> None:
    memory = open_memory()
    problems: list[str] = []

    def purge(texts: Sequence[str]) -> None:
        try:
            memory.purge_model("fake", "bag-of-words", "")
        except IndexBusy as error:
            problems.append(str(error))

    provider.before = purge
    assert memory.sync().vectors_pending == 0
    assert problems == ["The index is being updated: stop the update, or wait until it has finished."]


def test_disabled_cache_drops_vectors_of_removed_text(open_memory, workspace: Path, provider, other) -> None:
    off = CacheSettings(enabled=False)
    memory = open_memory(cache=off)
    memory.sync()
    memory.close()
    memory = open_memory(use=other, cache=off)
    memory.sync()
    assert vectors(memory) == {"fake": 4, "other": 4}, "vectors of indexed texts stay cached"
    (workspace / "shopping.md").write_text("# Shopping\n\nA copper kettle.\n")
    (workspace / "people/ines.md").unlink()
    memory.sync()
    assert vectors(memory) == {"fake": 2, "other": 3}


def test_least_used_vectors_evicted_first(open_memory, workspace: Path, provider, other, monkeypatch) -> None:
    clock = [1000.0]
    monkeypatch.setattr(time, "time", lambda: clock[0])

    def remove(memory, name: str) -> None:
        clock[0] += 100
        (workspace / name).unlink()
        memory.sync()

    keep = CacheSettings(max_entries=6)
    memory = open_memory()
    memory.sync()
    remove(memory, "people/ines.md")
    memory.close()
    memory = open_memory(use=other)
    memory.sync()
    remove(memory, "shopping.md")
    assert vectors(memory) == {"fake": 4, "other": 3}
    memory.close()
    memory = open_memory(use=other, cache=keep)
    memory.sync()
    assert vectors(memory) == {"fake": 3, "other": 3}, "the least recently used vector was evicted"
    # Restored text is in use again: when it is removed again, its vector is the most recently used.
    (workspace / "lists.md").write_text("# Shopping\n\nIrrigation hose 16 mm, two T-pieces, spare timer batteries.\n")
    before = len(other.embedded)
    memory.sync()
    assert len(other.embedded) == before
    remove(memory, "greenhouse.md")
    remove(memory, "lists.md")
    memory.close()
    memory = open_memory(use=other, cache=CacheSettings(max_entries=4))
    memory.sync()
    assert vectors(memory) == {"fake": 2, "other": 2}, "vectors of the last used and of the indexed text"
    (workspace / "again.md").write_text("# Shopping\n\nIrrigation hose 16 mm, two T-pieces, spare timer batteries.\n")
    memory.sync()
    assert len(other.embedded) == before


@pytest.mark.parametrize("engine", ["numpy", "sqlite-vec"])
def test_changed_dimensions_work_after_deletion(open_memory, provider, tmp_path: Path, engine) -> None:
    vector = msgspec.structs.replace(DEFAULTS.store.vector, engine=engine)
    store = msgspec.structs.replace(DEFAULTS.store, path=str(tmp_path / "data"), vector=vector)
    open_memory(use=provider, store=store).sync()
    changed = FakeProvider(32)
    memory = open_memory(use=changed, store=store)
    (tmp_path / "notes/lamp.md").write_text("A brass lamp.\n")
    assert "delete the model's vectors" in memory.sync().error
    assert changed.embedded == [], "no text was sent in vain"
    (name,) = memory.stored_models()
    memory.purge_model(name.provider, name.model, name.key)
    report = memory.sync()
    assert (report.error, report.vectors_pending) == ("", 0)
    assert [model.dims for model in memory.stored_models()] == [32]
    found = memory.search("watering timer")
    assert (found.mode, found.results[0].path) == ("hybrid", "greenhouse.md")
