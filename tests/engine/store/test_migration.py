"""An index as the version before sessions made it, brought to the one of today."""

import os
from pathlib import Path

import apsw
import pytest

from engine.backends import builtin
from engine.backends.builtin import BuiltinMemory
from engine.base.errors import IndexReadOnly
from engine.settings import Settings
from engine.settings.options import SessionSettings, StoreSettings
from engine.store.index import IndexStore
from engine.store.index_paths import IndexFiles, index_files
from tests.helpers.fake_provider import FakeProvider, selection_of

# Written out, since what makes tables today makes others.
SHARED = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
INSERT INTO meta VALUES ('generation', 1), ('identity', 'abc'), ('fingerprint', 'of old');
CREATE TABLE models (id INTEGER PRIMARY KEY, provider TEXT NOT NULL, model TEXT NOT NULL, provider_key TEXT NOT NULL,
    dims INTEGER NOT NULL, UNIQUE (provider, model, provider_key));
CREATE TABLE embedding_cache (id INTEGER PRIMARY KEY, model_id INTEGER NOT NULL REFERENCES models (id),
    hash BLOB NOT NULL, vector BLOB NOT NULL, used INTEGER NOT NULL, UNIQUE (model_id, hash));
CREATE INDEX embedding_cache_hash ON embedding_cache (hash);
CREATE TABLE issues (kind TEXT NOT NULL, path TEXT NOT NULL, rule TEXT NOT NULL, detail TEXT NOT NULL);
"""
GENERATION = """
CREATE TABLE files_N (id INTEGER PRIMARY KEY, source TEXT NOT NULL, path TEXT NOT NULL, hash TEXT NOT NULL,
    mtime_ns INTEGER NOT NULL, size INTEGER NOT NULL, title TEXT NOT NULL, language TEXT NOT NULL,
    UNIQUE (source, path));
CREATE INDEX files_N_language ON files_N (language);
CREATE TABLE chunks_N (id INTEGER PRIMARY KEY AUTOINCREMENT, file_id INTEGER NOT NULL, start_line INTEGER NOT NULL,
    end_line INTEGER NOT NULL, hash BLOB NOT NULL, heading TEXT NOT NULL, text TEXT NOT NULL);
CREATE INDEX chunks_N_file ON chunks_N (file_id);
CREATE INDEX chunks_N_hash ON chunks_N (hash);
CREATE VIRTUAL TABLE chunks_fts_N USING fts5 (title, heading, name, words, stems,
    content='', contentless_delete=1, tokenize="ascii tokenchars '._-+#/@:'");
CREATE VIRTUAL TABLE chunks_terms_N USING fts5vocab (chunks_fts_N, 'col');
INSERT INTO files_N VALUES (1, 'memory', 'garden.md', 'h', 1, 1, 'Garden', 'english');
INSERT INTO chunks_N VALUES (7, 1, 1, 1, x'00', '', 'Sow the carrots.');
INSERT INTO chunks_fts_N (rowid, title, heading, name, words, stems)
    VALUES (7, 'garden', '', 'garden', 'sow the carrots', 'sow the carrot');
"""


def write_old_index(folder: Path, generations: tuple[int, ...]) -> None:
    folder.mkdir(parents=True)
    connection = apsw.Connection(str(folder / "index.sqlite"))
    connection.execute("PRAGMA auto_vacuum = 2")
    connection.execute("PRAGMA journal_mode = wal").fetchall()
    for script in (SHARED, *(GENERATION.replace("_N", f"_{number}") for number in generations)):
        connection.execute(script).fetchall()
    connection.execute("PRAGMA user_version = 1")
    connection.close()


@pytest.mark.parametrize("generations", [(1,), (1, 2)])
def test_an_index_without_sessions_answers_and_takes_sessions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, generations: tuple[int, ...]
) -> None:
    monkeypatch.setattr(builtin, "select_provider", lambda *_, **__: selection_of(FakeProvider()))
    notes, store = tmp_path / "notes", tmp_path / "store"
    notes.mkdir()
    store.mkdir()
    (notes / "garden.md").write_text("# Garden\n\nSow the carrots. #spring\n")
    line = '{"type": "user", "uuid": "u", "sessionId": "s", "message": {"content": "Which anchor chain?"}}\n'
    (store / "a.jsonl").write_text(line)
    files = index_files(notes.resolve(), str(tmp_path / "data"))
    write_old_index(files.folder, generations)
    settings = Settings(
        sessions=SessionSettings(folders=(str(store),)), store=StoreSettings(path=str(tmp_path / "data"))
    )
    memory = BuiltinMemory(notes, settings, executor=None, background=False)
    try:
        assert [result.path for result in memory.search("carrots").results] == ["garden.md"]
        assert memory.sessions() == ()
        assert memory.search("tag:spring").results == memory.search("role:user").results == ()
        assert [result.path for result in memory.search('"the carrots" -turnip', explain=True).results] == ["garden.md"]
        assert memory.search("garden", half_life_days=30).results[0].score == 1.0
        assert memory.insight.repair(["keyword-words"]).problem == ""
        assert [result.path for result in memory.search("carrots").results] == ["garden.md"]
        report = memory.sync()
        assert (report.error, report.full) == ("", True)  # by today's rules
        assert [result.path for result in memory.search("carrots").results] == ["garden.md"]
        assert [result.path for result in memory.search("anchor chain").results] == ["sessions/store/a.jsonl"]
        assert [result.path for result in memory.search("tag:spring").results] == ["garden.md"]
        assert [result.path for result in memory.search("role:user").results] == ["sessions/store/a.jsonl"]
        with memory.store.read() as snapshot:
            assert len(snapshot.generations()) == 1
    finally:
        memory.close()


def test_unwritable_old_index_refused_with_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_old_index(tmp_path / "index", (1,))
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(IndexReadOnly, match="older version"):
        IndexStore(IndexFiles(tmp_path / "index"))
