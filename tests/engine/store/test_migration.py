"""An index in a format from before the first release."""

import os
from pathlib import Path

import pytest

from engine.backends import builtin
from engine.backends.builtin import BuiltinMemory
from engine.base.errors import IndexReadOnly
from engine.settings import Settings
from engine.settings.options import StoreSettings
from engine.store.index import IndexStore
from engine.store.index_paths import IndexFiles
from engine.store.index_schema import FIRST_INDEX_FORMAT, stored_dates
from tests.helpers.fake_provider import FakeProvider, selection_of
from tests.helpers.rows import new_file, open_store


def make_older(store: IndexStore) -> None:
    with store.write() as writer:
        writer.connection.execute(f"ALTER TABLE {writer.tables.sessions} DROP COLUMN pauses")
        writer.connection.pragma("user_version", FIRST_INDEX_FORMAT - 1)


def test_earlier_format_replaced_without_new_vectors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    provider = FakeProvider()
    monkeypatch.setattr(builtin, "select_provider", lambda *_, **__: selection_of(provider))
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "garden.md").write_text("# Garden\n\nSow the carrots. #spring\n")
    settings = Settings(store=StoreSettings(path=str(tmp_path / "data")))
    memory = BuiltinMemory(notes, settings, executor=None, background=False)
    memory.sync()
    make_older(memory.store)
    memory.close()
    embedded = list(provider.embedded)
    assert embedded
    again = BuiltinMemory(notes, settings, executor=None, background=False)
    try:
        assert "1 vectors were recovered" in again.store.recovered
        assert again.sync().error == ""
        assert [result.path for result in again.search("tag:spring").results] == ["garden.md"]
        assert provider.embedded == embedded
    finally:
        again.close()


def test_unwritable_old_index_refused_with_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = IndexFiles(tmp_path / "index")
    store = IndexStore(files)
    make_older(store)
    store.close()
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(IndexReadOnly, match="older version"):
        IndexStore(files)


def test_format_11_gets_index_of_chunk_rows(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    with store.write() as writer:
        added, _ = writer.replace_file(new_file("a.md", "alpha"))
        writer.connection.execute(f"DROP INDEX {writer.tables.chunks}_row")
        writer.connection.pragma("user_version", 11)
    store.close()
    store = open_store(tmp_path)
    with store.read() as snapshot:
        assert [id_ for id_, _ in snapshot.files_of_chunks(added)] == added
        plan = snapshot.connection.execute(
            f"EXPLAIN QUERY PLAN SELECT hash FROM {snapshot.tables.chunk_rows} WHERE id = 1"
        )
        assert "COVERING" in plan.fetchall()[0][-1]
    store.close()


def test_format_12_gets_earlier_dates(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    with store.write() as writer:
        writer.connection.execute(f"ALTER TABLE {writer.tables.front_matter} DROP COLUMN earlier")
        writer.connection.execute(f"INSERT INTO {writer.tables.front_matter} VALUES (1, '', 86400.0, 0)")
        writer.connection.pragma("user_version", 12)
    store.close()
    store = open_store(tmp_path)
    with store.read() as snapshot:
        rows = snapshot.connection.execute(f"SELECT dated, earlier FROM {snapshot.tables.front_matter}").fetchall()
    assert [stored_dates(*row) for row in rows] == [(86400.0,)]
    store.close()
