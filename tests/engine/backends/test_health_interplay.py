"""Checks and repairs during other operations on an open index: no deadlock, and no half-done work."""

import contextlib
import threading
from collections.abc import Callable

import pytest

from engine.backends.builtin import BuiltinMemory
from engine.base.cancellation import CancelToken
from engine.base.errors import Cancelled, IndexCorrupt
from engine.insight.health import vectors
from engine.records import HealthProgress
from engine.store.connection import READERS
from tests.helpers.fake_provider import FakeProvider

OpenMemory = Callable[..., BuiltinMemory]
_TIMEOUT = 20.0


pytestmark = pytest.mark.usefixtures("saved_matrix")


@pytest.mark.parametrize("engine", ["numpy", "sqlite-vec"])
def test_each_read_holds_only_one_connection(open_memory: OpenMemory, engine: str) -> None:
    # Taking a second reader while holding the first one would deadlock with closing the index.
    memory = open_memory()
    memory.sync()
    memory.close()
    memory = open_memory(engine=engine)
    memory.sync()
    found: list[str] = []
    with contextlib.ExitStack() as others:
        for _ in range(READERS - 1):
            others.enter_context(memory.store.read())
        looking = threading.Thread(target=lambda: found.extend(each.id for each in memory.insight.health()))
        looking.start()
        looking.join(_TIMEOUT)
        ended = not looking.is_alive()
    looking.join()
    assert ended
    assert "vector-table" in found


def test_closing_ends_a_repair(open_memory: OpenMemory) -> None:
    memory = open_memory()
    memory.sync()
    token, closing = CancelToken(), threading.Thread(target=memory.close)
    cancelled = threading.Event()
    token.on_cancel(cancelled.set)

    def tell(progress: HealthProgress) -> None:
        if progress.step.startswith("Checking") and closing.ident is None:
            closing.start()
            assert cancelled.wait(_TIMEOUT)

    with pytest.raises(Cancelled):
        memory.insight.repair(["chunks", "keywords"], token, progress=tell)
    closing.join()


@pytest.mark.parametrize("occasion", ["sync", "repair"])
def test_matrix_is_written_during_a_repair(
    open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch, occasion: str
) -> None:
    memory = open_memory(engine="numpy")
    if occasion == "repair":
        memory.sync()
        memory.store.files.matrix.unlink()
    durable, ended = memory.store.make_durable, []

    def while_another_search_finds_damage() -> None:
        mending = threading.Thread(target=memory.store.repair, args=(IndexCorrupt("It looks damaged."),), daemon=True)
        mending.start()
        mending.join(_TIMEOUT)
        ended.append(not mending.is_alive())
        if ended[-1]:
            durable()

    monkeypatch.setattr(memory.store, "make_durable", while_another_search_finds_damage)
    if occasion == "sync":
        memory.sync()
    else:
        memory.insight.repair(["matrix"])
    assert ended == [True]
    assert memory.store.files.matrix.exists()


def test_interrupted_delete_leaves_no_old_vectors(
    open_memory: OpenMemory, provider: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = open_memory(engine="numpy")
    memory.sync()
    assert memory.store.files.matrix.exists()
    with memory.store.write() as writer:
        writer.connection.execute("UPDATE embedding_cache SET vector = zeroblob(length(vector))")
        writer.advance_stamp()
    monkeypatch.setattr(vectors, "_DELETED_PER_BATCH", 1)
    token, steps = CancelToken(), []

    def tell(progress: HealthProgress) -> None:
        if progress.step == "Deleting vectors":
            steps.append(progress.done)
            if len(steps) == 3:
                token.cancel()

    with pytest.raises(Cancelled):
        memory.insight.repair(["vectors"], token, progress=tell)
    assert not memory.store.files.matrix.exists()
