"""The matrix's file: written after enough changes, and used whatever its age."""

from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from engine.backends import builtin
from engine.backends.builtin import BuiltinMemory
from engine.records import WatcherStatus
from engine.settings import Settings
from engine.settings.options import StoreSettings
from engine.settings.search_settings import VectorSettings
from engine.store import vector_matrix_engine
from engine.store.vector_matrix import QuantisedMatrix
from tests.helpers.fake_provider import FakeProvider, selection_of

OpenIndex = Callable[[], BuiltinMemory]


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    for number, text in enumerate(("The ferry leaves at noon.", "Paint the old boat.", "Feed the cat.")):
        (folder / f"{number}.md").write_text(f"{text}\n", "utf-8")
    return folder


@pytest.fixture
def open_index(notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenIndex]:
    monkeypatch.setattr(builtin, "select_provider", lambda *_, **__: selection_of(FakeProvider()))
    monkeypatch.setattr(vector_matrix_engine, "WORTH_SAVING", 3)
    settings = Settings()
    store = StoreSettings(path=str(tmp_path / "data"), vector=VectorSettings(engine="numpy"))
    memories: list[BuiltinMemory] = []

    def open_() -> BuiltinMemory:
        for memory in memories:
            memory.close()
        memories.append(
            BuiltinMemory(notes, msgspec.structs.replace(settings, store=store), executor=None, background=False)
        )
        return memories[-1]

    yield open_
    for memory in memories:
        memory.close()


def nearest(memory: BuiltinMemory, query: str) -> str:
    best = memory.search(query, min_score=0).results[0]
    assert best.vector_score is not None
    return best.path


@pytest.fixture
def added(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Record the ids whose vectors were added to a matrix, in order."""
    ids_: list[int] = []
    add = QuantisedMatrix.add
    monkeypatch.setattr(QuantisedMatrix, "add", lambda self, ids, vectors: (ids_.extend(ids), add(self, ids, vectors)))
    return ids_


def test_outdated_file_is_updated(open_index: OpenIndex, notes: Path, added: list[int]) -> None:
    memory = open_index()
    memory.sync()
    file = memory.store.files.matrix
    before = file.read_bytes()
    (notes / "1.md").unlink()
    (notes / "3.md").write_text("Sow the late carrots.\n", "utf-8")
    memory.sync()
    assert file.read_bytes() == before
    added.clear()
    memory = open_index()
    assert nearest(memory, "late carrots") == "3.md"
    assert nearest(memory, "ferry at noon") == "0.md"
    assert len(added) == 1
    assert memory.search("paint the boat", min_score=0).total == 3


def test_matrix_file_rewritten_after_enough_changes(open_index: OpenIndex, notes: Path) -> None:
    memory = open_index()
    memory.sync()
    before = memory.store.files.matrix.read_bytes()
    for number in range(4):
        (notes / f"new-{number}.md").write_text(f"Another thought, number {number}.\n", "utf-8")
    memory.sync()
    assert memory.store.files.matrix.read_bytes() != before


def test_a_file_that_is_ahead_of_the_index_is_not_trusted(open_index: OpenIndex, notes: Path, added: list[int]) -> None:
    """Simulates a power failure: the file was written, but the last commits were lost, so their ids are used again."""
    memory = open_index()
    memory.sync()
    memory.close()
    database = memory.store.files.database
    before = database.read_bytes()
    memory = open_index()
    for number in range(4):
        (notes / f"lost-{number}.md").write_text(f"A thought that gets lost, number {number}.\n", "utf-8")
    memory.sync()
    memory.close()
    database.write_bytes(before)
    added.clear()
    assert nearest(open_index(), "ferry at noon") == "0.md"
    assert len(added) == 3


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Record the paths of the matrix files that were read, in order."""
    paths: list[Path] = []
    load = QuantisedMatrix.load
    monkeypatch.setattr(QuantisedMatrix, "load", lambda path, **options: paths.append(path) or load(path, **options))
    return paths


def test_command_reads_no_matrix_of_unchanged_index(open_index: OpenIndex, notes: Path, loaded: list[Path]) -> None:
    open_index().sync()
    loaded.clear()
    memory = open_index()
    memory.sync()
    assert not loaded
    (notes / "3.md").write_text("Sow the late carrots.\n", "utf-8")
    memory.sync()
    assert loaded == [memory.store.files.matrix]
    assert nearest(memory, "late carrots") == "3.md"


def test_open_program_reads_matrix_of_unchanged_index(
    open_index: OpenIndex, loaded: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    open_index().sync()
    loaded.clear()
    memory = open_index()
    monkeypatch.setattr(memory.indexing, "watcher_status", WatcherStatus)
    memory.sync()
    assert loaded == [memory.store.files.matrix]


@pytest.mark.parametrize("damage", [lambda whole: whole[:-1], lambda whole: b"X" + whole[1:], lambda whole: whole[:20]])
def test_command_rewrites_a_damaged_matrix_file(open_index: OpenIndex, damage: Callable[[bytes], bytes]) -> None:
    memory = open_index()
    memory.sync()
    file = memory.store.files.matrix
    whole = file.read_bytes()
    file.write_bytes(damage(whole))
    open_index().sync()
    assert file.read_bytes() == whole
