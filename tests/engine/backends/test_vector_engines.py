"""Selection of the vector engine; switching changes no answer and embeds nothing."""

import os
import signal
from collections.abc import Callable, Sequence
from pathlib import Path

import apsw
import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray

from engine.backends.builtin import BuiltinMemory
from engine.base.cancellation import CancelToken
from engine.base.errors import Cancelled
from engine.embedding.provider_interface import normalised
from engine.settings import Settings
from engine.settings.options import StoreSettings
from engine.settings.search_settings import VectorSettings
from engine.store import sqlite_vec_engine, vectors
from engine.store.index import IndexStore
from tests.engine.backends.conftest import OpenMemory
from tests.helpers.command_line import python
from tests.helpers.fake_provider import FakeProvider
from tests.helpers.health import inconsistencies

_KILLED = """
import os, signal, sys
from pathlib import Path
from engine.backends import builtin
from engine.settings import Settings
from engine.embedding.provider_interface import normalised
from engine.settings.options import StoreSettings
from engine.store import sqlite_vec_engine, vectors
from engine.store.index import IndexStore
from tests.helpers.fake_provider import FakeProvider, selection_of

notes, data, limit, writes = sys.argv[1:]
vectors._COMPARED_IN_5_MS, sqlite_vec_engine._ROWS_PER_BATCH = int(limit), 8
builtin.select_provider = lambda *_, **__: selection_of(FakeProvider())
memory = builtin.BuiltinMemory(Path(notes), Settings(store=StoreSettings(path=data)), executor=None, background=False)
write, update_engine, left = IndexStore.write, vectors.VectorIndex.update_engine, [-1]

def counted(store, tables=None):
    left[0] -= 1
    if not left[0]:
        os.kill(os.getpid(), signal.SIGKILL)
    return write(store, tables)

def update_and_die(index, *args, **options):
    left[0] = int(writes)
    update_engine(index, *args, **options)

IndexStore.write, vectors.VectorIndex.update_engine = counted, update_and_die
memory.sync()
memory.close()
"""


@pytest.fixture
def up_to(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Return a function that limits the table in `auto` mode to so many chunks of the fake provider's model."""
    return lambda chunks: monkeypatch.setattr(vectors, "_COMPARED_IN_5_MS", limit_of(chunks))


def limit_of(chunks: int) -> int:
    return chunks * (FakeProvider().dims + vectors._OVERHEAD)


def write_notes(workspace: Path, numbers: range) -> None:
    for number in numbers:
        (workspace / f"n{number}.md").write_text(f"Note number {number} tells of pump {number % 7} and valve.\n")


def answers(memory: BuiltinMemory) -> list[tuple[str, float]]:
    found = memory.search("the irrigation timer of pump 3", max_results=50, min_score=0)
    return [(result.citation, result.score) for result in found.results]


def engine_of(memory: BuiltinMemory) -> str:
    return memory.status().vector.engine


def tables(memory: BuiltinMemory) -> int:
    with memory.store.read() as snapshot:
        query = "SELECT count(*) FROM sqlite_schema WHERE name GLOB 'chunks_vec*'"
        return int(snapshot.connection.execute(query).get)


def test_auto_small_index_uses_table_and_explains(open_memory: OpenMemory) -> None:
    memory = open_memory()
    memory.sync()
    vector = memory.status().vector
    assert (vector.requested, vector.engine, vector.available, vector.rows) == ("auto", "sqlite-vec", True, 4)
    assert (vector.switches_at, f"{vector.switches_at:,}" in vector.reason) == (7142, True)
    assert memory.vectors._matrix._matrix is None
    assert not memory.store.files.matrix.exists()


def test_auto_switches_with_size_without_embedding(
    open_memory: OpenMemory, workspace: Path, provider: FakeProvider, up_to
) -> None:
    up_to(20)
    write_notes(workspace, range(12))  # 16 chunks: the limit for creating a table
    memory = open_memory()
    memory.sync()
    assert (engine_of(memory), memory.status().vector.switches_at) == ("sqlite-vec", 20)
    write_notes(workspace, range(12, 16))
    memory.sync()
    assert engine_of(memory) == "sqlite-vec"
    write_notes(workspace, range(16, 17))
    before = len(provider.embedded)
    memory.sync()
    status = memory.status().vector
    assert (status.engine, status.switches_at, len(provider.embedded) - before) == ("numpy", 16, 1)
    assert tables(memory) == 0
    assert inconsistencies(memory) == []

    def remove(number: int) -> None:
        (workspace / f"n{number}.md").unlink()
        memory.sync()

    for number in range(4):
        remove(number)
        assert engine_of(memory) == "numpy"
    remove(4)
    assert engine_of(memory) == "sqlite-vec"
    assert len(provider.embedded) == before + 1
    assert len(answers(memory)) == 16
    assert inconsistencies(memory) == []


@pytest.mark.parametrize("engine", ["auto", "sqlite-vec"])
def test_engines_give_the_same_fifty_results(open_memory: OpenMemory, workspace: Path, engine, monkeypatch) -> None:
    write_notes(workspace, range(300))
    memory = open_memory(engine="numpy")
    memory.sync()
    expected = answers(memory)
    memory.close()
    memory = open_memory(engine=engine)
    assert memory.status().vector.reason == "The next update fills the table of sqlite-vec."
    assert answers(memory) == expected
    memory.sync()
    assert engine_of(memory) == "sqlite-vec"
    assert answers(memory) == expected
    hybrid = [result.citation for result in memory.search("valve of note 17", max_results=50, min_score=0).results]
    monkeypatch.setattr(sqlite_vec_engine.Vec0Engine, "search", lambda *_: None)
    memory.apply_query_settings(Settings())  # clears cached answers
    assert [r.citation for r in memory.search("valve of note 17", max_results=50, min_score=0).results] == hybrid


def test_cancel_within_the_table_keeps_it(open_memory: OpenMemory, workspace: Path, monkeypatch, caplog) -> None:
    write_notes(workspace, range(40))
    memory = open_memory(engine="sqlite-vec")
    memory.sync()
    token = CancelToken()

    def interrupted(*_, **__):
        token.cancel()
        raise apsw.SQLError("chunks iter error")  # from vec0, in place of InterruptError

    monkeypatch.setattr(sqlite_vec_engine, "nearest", interrupted)
    with pytest.raises(Cancelled):
        memory.search("valve of note 17", cancel=token)
    monkeypatch.undo()
    assert engine_of(memory) == "sqlite-vec"
    assert not caplog.records


@pytest.mark.parametrize("towards", ["sqlite-vec", "numpy"])
def test_search_while_the_engine_switches_is_complete(
    open_memory: OpenMemory, workspace: Path, monkeypatch: pytest.MonkeyPatch, up_to, towards: str
) -> None:
    write_notes(workspace, range(40))
    memory = open_memory(engine="numpy" if towards == "sqlite-vec" else "auto")
    memory.sync()
    expected = answers(memory)
    memory.close()
    if towards == "numpy":
        up_to(20)
    memory = open_memory()
    monkeypatch.setattr(sqlite_vec_engine, "_ROWS_PER_BATCH", 8)
    seen, write = [], IndexStore.write

    def look_first(store: IndexStore, *args):
        memory.apply_query_settings(Settings())
        seen.append(answers(memory))
        return write(store, *args)

    monkeypatch.setattr(IndexStore, "write", look_first)
    memory.sync()
    assert len(seen) > 2
    assert all(found == expected for found in seen)
    assert engine_of(memory) == towards
    assert answers(memory) == expected


@pytest.mark.skipif(os.name == "nt", reason="needs SIGKILL")
@pytest.mark.parametrize(
    ("towards", "writes"), [*(("sqlite-vec", n) for n in range(1, 9)), *(("numpy", n) for n in range(1, 4))]
)
def test_switch_killed_at_any_write_is_resumed(
    open_memory: OpenMemory, workspace: Path, tmp_path: Path, provider: FakeProvider, up_to, writes: int, towards: str
) -> None:
    write_notes(workspace, range(40))
    memory = open_memory(engine="numpy" if towards == "sqlite-vec" else "auto")
    memory.sync()
    expected = answers(memory)
    memory.close()
    limit = 20 if towards == "numpy" else 1000
    up_to(limit)
    child = python(_KILLED, str(workspace), str(tmp_path / "data"), str(limit_of(limit)), str(writes))
    assert child.returncode == -signal.SIGKILL, child.stderr
    provider.embedded.clear()
    memory = open_memory()
    assert answers(memory) == expected
    memory.sync()
    assert (engine_of(memory), provider.embedded) == (towards, [])
    assert answers(memory) == expected
    assert bool(tables(memory)) == (towards == "sqlite-vec")
    assert inconsistencies(memory) == []


def test_a_large_update_leaves_the_outgrown_table(open_memory: OpenMemory, workspace: Path, provider, up_to) -> None:
    up_to(20)
    memory = open_memory()
    memory.sync()
    write_notes(workspace, range(60))
    seen = set()
    provider.before = lambda texts: seen.add(len(answers(memory)) and engine_of(memory))
    memory.sync()
    assert "numpy" in seen
    assert (engine_of(memory), len(answers(memory)), tables(memory)) == ("numpy", 50, 0)


@pytest.mark.parametrize("engine", ["numpy", "sqlite-vec", "auto"])
def test_new_chunk_with_embedded_text_is_found_by_meaning(
    open_memory: OpenMemory, workspace: Path, engine: str
) -> None:
    (workspace / "one.md").write_text("Pumps and valves.\n")
    memory = open_memory(engine=engine)
    memory.sync()
    for copy in ("two.md", "three.md"):
        assert answers(memory)
        (workspace / copy).write_text("Pumps and valves.\n")
        memory.sync(reason="watch")
    found = memory.search("pumps and valves", min_score=0).results
    assert {result.path for result in found[:3]} == {"one.md", "two.md", "three.md"}


@pytest.mark.parametrize("engine", ["auto", "sqlite-vec"])
def test_extension_that_does_not_load_is_reported(open_memory: OpenMemory, tmp_path: Path, engine) -> None:
    wrong = VectorSettings(engine=engine, extension_path=str(tmp_path / "vec0.so"))
    memory = open_memory(store=StoreSettings(path=str(tmp_path / "data"), vector=wrong))
    memory.sync()
    memory.close()
    memory = open_memory(store=StoreSettings(path=str(tmp_path / "data"), vector=wrong))
    vector = memory.status().vector  # before any search
    assert (vector.engine, vector.available) == ("numpy", False)
    assert vector.load_error == f"sqlite-vec could not be loaded from {tmp_path / 'vec0.so'}: there is no such file."
    assert "compared in memory" in vector.reason
    assert len(answers(memory)) == 4


def test_a_table_that_vanished_is_filled_again(open_memory: OpenMemory, provider: FakeProvider) -> None:
    memory = open_memory()
    memory.sync()
    expected = answers(memory)
    with memory.store.write() as writer:
        writer.connection.execute("DROP TABLE chunks_vec_vector_chunks00")
    memory.close()
    memory = open_memory()
    assert answers(memory) == expected
    assert memory.sync().error == ""
    assert answers(memory) == expected
    memory.close()
    memory = open_memory()
    memory.sync()
    assert answers(memory) == expected
    assert len(provider.embedded) == 4


def test_table_that_breaks_while_open_is_shown(open_memory: OpenMemory) -> None:
    memory = open_memory()
    memory.sync()
    expected = answers(memory)
    assert engine_of(memory) == "sqlite-vec"
    with memory.store.write() as writer:
        writer.connection.execute("DROP TABLE chunks_vec_vector_chunks00")
    memory.apply_query_settings(Settings())  # clears cached answers
    assert answers(memory) == expected
    vector = memory.status().vector
    assert (vector.engine, vector.reason) == ("numpy", "The next update fills the table of sqlite-vec.")
    memory.sync()
    assert engine_of(memory) == "sqlite-vec"


def test_table_of_an_older_version_is_filled_again(open_memory: OpenMemory) -> None:
    memory = open_memory(engine="sqlite-vec")
    memory.sync()
    expected = answers(memory)
    with memory.store.write() as writer:
        writer.connection.execute("DROP TABLE chunks_vec")
        writer.connection.execute(
            "CREATE VIRTUAL TABLE chunks_vec USING vec0(embedding float[64] distance_metric=cosine)"
        )
        writer.set_meta("vec0", f"model 1, generation {writer.generation}, stamp {writer.stamp}")
    memory.close()
    memory = open_memory(engine="sqlite-vec")
    assert engine_of(memory) == "numpy"
    assert answers(memory) == expected
    memory.sync()
    assert engine_of(memory) == "sqlite-vec"
    assert answers(memory) == expected


def test_longer_components_than_before_get_other_codes(open_memory: OpenMemory, workspace: Path) -> None:
    provider, peak = FakeProvider(512), np.eye(512, dtype=np.float32)[5]

    def even_but_for_peaks(texts: Sequence[str]) -> NDArray[np.float32]:
        random = np.random.default_rng([len(text) for text in texts])
        return normalised([peak if "peak" in text else random.standard_normal(512) for text in texts])

    provider.vectors_of = even_but_for_peaks  # type: ignore[method-assign]
    memory = open_memory(use=provider)
    memory.sync()

    def scale() -> int:
        with memory.store.read() as snapshot:
            return int(str(snapshot.meta("vec0")).split()[2].rstrip(","))

    before = scale()
    (workspace / "high.md").write_text("A peak.\n")
    memory.sync()
    assert (engine_of(memory), scale() < before, len(provider.embedded)) == ("sqlite-vec", True, 5)
    assert memory.search("peak", min_score=0).results[0].path == "high.md"
    again = scale()
    (workspace / "higher.md").write_text("Another peak.\n")
    memory.sync()
    assert scale() == again
    assert inconsistencies(memory) == []


def test_explicit_engine_ignores_the_size(open_memory: OpenMemory, workspace: Path, up_to) -> None:
    up_to(1)
    for engine in ("sqlite-vec", "numpy"):
        memory = open_memory(engine=engine)
        memory.sync()
        vector = memory.status().vector
        assert (vector.engine, vector.reason, vector.switches_at) == (engine, "Chosen in the settings.", None)
        memory.close()


def test_status_record_of_vectors_is_complete_json(open_memory: OpenMemory) -> None:
    memory = open_memory()
    memory.sync()
    vector = msgspec.to_builtins(memory.status())["vector"]
    assert {"requested", "engine", "reason", "switchesAt", "available", "loadError"} <= vector.keys()
