"""A damaged index is replaced once for each damage, and nothing from the old file is used any more."""

import contextlib
import shutil
import threading
from pathlib import Path

import numpy as np
import pytest

from engine.base.errors import IndexCorrupt
from engine.settings.search_settings import VectorSettings
from engine.store import integrity
from engine.store.index import IndexStore
from engine.store.snapshot import Snapshot
from engine.store.stored_models import stored_models
from engine.store.vector_encoding import StoredModel, encode
from engine.store.vectors import VectorIndex
from tests.helpers.rows import new_file, open_store


def damage_of(store: IndexStore) -> IndexCorrupt:
    """Return the error that a reader gets from a really damaged file."""
    with contextlib.suppress(IndexCorrupt), store.write() as writer:
        writer.connection.execute("DELETE FROM meta")
    with pytest.raises(IndexCorrupt) as caught, store.read():
        pass
    return caught.value


def names(store: IndexStore) -> list[str]:
    with store.read() as snapshot:
        return list(snapshot.files("memory"))


def add(store: IndexStore, name: str) -> None:
    with store.write() as writer:
        writer.replace_file(new_file(name, f"text of {name}"))


def test_damage_found_twice_is_repaired_once(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    add(store, "a.md")
    first, same = damage_of(store), damage_of(store)
    store.repair(first)
    assert names(store) == []
    add(store, "b.md")
    store.repair(same)
    assert names(store) == ["b.md"]
    store.repair(damage_of(store))
    assert names(store) == []
    assert len(list(store.files.folder.glob("*.damaged-*"))) == 1, "older damaged files are deleted"
    store.close()


def test_model_with_dimensions_of_wrong_type_is_damage(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    with store.write() as writer:
        writer.ensure_model("openai", "m", "k", 4)
        writer.connection.execute("UPDATE models SET dims = '[['")
    for read in (
        lambda snapshot: snapshot.stored_model("openai", "m", "k"),
        lambda snapshot: stored_models(snapshot, None),
    ):
        with pytest.raises(IndexCorrupt, match="wrong type") as caught, store.read() as snapshot:
            read(snapshot)
    with contextlib.suppress(IndexCorrupt), store.write() as writer:
        writer.connection.execute("DELETE FROM meta WHERE key = 'generation'")
    assert store.repair(caught.value)
    with store.read() as snapshot:
        assert snapshot.stored_model("openai", "m", "k") is None
    store.close()


def test_intact_file_is_not_repaired(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    add(store, "a.md")
    with pytest.raises(IndexCorrupt) as caught, store.read():
        raise IndexCorrupt("a stale connection's idea")
    assert not store.repair(caught.value)
    assert (names(store), store.recovered) == (["a.md"], "")
    assert not list(store.files.folder.glob("*.damaged-*"))
    add(store, "b.md")
    store.close()


def test_others_read_and_write_while_the_file_is_checked(tmp_path: Path, monkeypatch) -> None:
    store = open_store(tmp_path)
    add(store, "a.md")
    check = integrity.damage

    def look_around(snapshot: Snapshot) -> str:
        add(store, "b.md")
        assert names(store) == ["a.md", "b.md"]
        return check(snapshot)

    monkeypatch.setattr(integrity, "damage", look_around)
    assert not store.repair(IndexCorrupt("damaged"))
    store.close()


def test_reader_waits_during_repair(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    add(store, "a.md")
    found: list[list[str]] = []
    with store._readers.emptied():
        reader = threading.Thread(target=lambda: found.append(names(store)))
        reader.start()
        reader.join(0.05)
        assert reader.is_alive()
    reader.join()
    assert found == [["a.md"]]
    store.close()


def test_second_process_uses_new_file(tmp_path: Path) -> None:
    one, other = open_store(tmp_path), open_store(tmp_path)
    add(one, "a.md")
    late = damage_of(other)
    one.repair(damage_of(one))
    add(one, "b.md")
    assert names(other) == ["b.md"]
    other.repair(late)
    assert names(one) == ["b.md"], "the new file stays"
    one.close()
    other.close()


def test_deleted_index_recreated(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    add(store, "a.md")
    shutil.rmtree(store.files.folder)
    assert store.try_lock()
    add(store, "b.md")
    store.unlock()
    store.close()
    store = open_store(tmp_path)
    assert names(store) == ["b.md"]
    store.close()


def test_index_without_meta_rows_is_set_aside(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    with store.write() as writer:
        writer.connection.execute("DELETE FROM meta")
    store.close()
    store = open_store(tmp_path)
    assert "set aside" in store.recovered
    store.close()


def test_vectors_in_memory_do_not_outlive_their_index(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    index = VectorIndex(store, VectorSettings())
    model = StoredModel.of(1, "fake", "m", "", 2)
    east, north = np.eye(2, dtype=np.float32)

    def nearest(order: list[np.ndarray]) -> list[int]:
        """Index two texts with these vectors, in this order, and return the nearest to "north"."""
        with store.write() as writer:
            writer.ensure_model("fake", "m", "", 2)
            writer.replace_file(new_file("a.md", *(f"text {vector}" for vector in order)))
            texts = writer.texts([1, 2])
            writer.store_vectors(1, zip((text.hash for text in texts), encode(np.stack(order)), strict=True))
            writer.advance_stamp()
        with store.read() as snapshot:
            found = index.search(snapshot, model, north, 1)[0].tolist()
        index.update_engine(model)
        return found

    assert nearest([east, north]) == [2]
    store.repair(damage_of(store))
    with store.write() as writer:
        writer.connection.execute("DELETE FROM embedding_cache")
    # Same ids, same stamp, other texts.
    assert nearest([north, east]) == [1]
    index = VectorIndex(store, VectorSettings())
    with store.read() as snapshot:
        assert index.search(snapshot, model, north, 1)[0].tolist() == [1]
    store.close()
