"""Opening, reading and writing the index, and recovery if its file is damaged."""

import itertools
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import apsw
import pytest

from engine.base.cancellation import CancelToken
from engine.base.errors import Cancelled, Closed, DiskFull, IndexCorrupt, IndexTooNew
from engine.store import index_schema, integrity, sessions, stored_models
from engine.store.index import IndexStore
from engine.store.index_paths import index_files
from engine.store.snapshot import Snapshot
from engine.store.writer import NewFile, NewSession
from tests.helpers.rows import new_file, open_store


def matches(snapshot: Snapshot, word: str) -> list[int]:
    fts = snapshot.tables.fts
    return [id_ for (id_,) in snapshot.connection.execute(f"SELECT rowid FROM {fts} WHERE {fts} MATCH ?", (word,))]


def session_row(path: str, messages: int) -> NewFile:
    session = NewSession(path, "codex", "s", "", "", "", None, None, messages, 9)
    return NewFile("sessions", path, "", 1, 9, "", "", "", "", (), session)


def test_a_file_replaced_is_found_by_its_new_words_only(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    with store.write() as writer:
        writer.replace_file(new_file("a.md", "alpha beta"))
    with store.write() as writer:
        added, removed = writer.replace_file(new_file("a.md", "gamma"))
    with store.read() as snapshot:
        assert matches(snapshot, "alpha") == []
        assert matches(snapshot, "gamma") == added
        assert list(snapshot.chunks([*added, *removed])) == added
        assert [(c.source, c.files, c.chunks) for c in snapshot.source_counts()] == [("memory", 1, 1)]
    store.close()


def test_copy_of_a_file_has_its_rows_in_every_table() -> None:
    connection = apsw.Connection(":memory:")
    for migrate in index_schema.INDEX_MIGRATIONS:
        migrate(connection)
    old, new = index_schema.Tables(1), index_schema.Tables(2)
    index_schema.create_generation(connection, new, first_chunk_id=9)
    cells = {"TEXT": "x", "BLOB": b"x", "INTEGER": 1, "REAL": 1.0}
    names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    copied: list[str] = []
    for name in names:
        columns = [(column, kind) for _, column, kind, *_ in connection.execute(f"PRAGMA table_info({name})")]
        if name == old.files or (name.endswith("_1") and "file_id" in dict(columns)):
            copied.append(name.removesuffix("1") + "2")
            row = [cells[kind] for _, kind in columns]
            connection.execute(f"INSERT INTO {name} VALUES ({', '.join('?' * len(row))})", row)
    assert new.links in copied
    assert index_schema.copy_file(connection, old, new, 1) == [9]
    assert [connection.execute(f"SELECT count(*) FROM {name}").get for name in copied] == [1] * len(copied)


def test_listed_session_does_not_replace_indexed_one(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    rows = [session_row("sessions/a.jsonl", messages) for messages in (1, 2)]
    with store.write() as writer:
        writer.replace_file(rows[0])
        writer.add_unread_sessions([rows[1], session_row("sessions/b.jsonl", 3), session_row("sessions/c.jsonl", 4)])
    with store.write() as writer:
        writer.add_unread_sessions([])
        writer.add_unread_sessions([session_row("sessions/d.jsonl", 5)])
    with store.read() as snapshot:
        listed = {one.path: one.messages for one in sessions.sessions(snapshot)}
    store.close()
    assert listed == {f"sessions/{name}.jsonl": count for name, count in zip("abcd", (1, 3, 4, 5), strict=True)}


def test_chunk_ids_are_never_used_twice(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    seen: list[int] = []
    with store.write() as writer:
        seen += writer.replace_file(new_file("a.md", "one", "two"))[0]
        writer.remove_file("memory", "a.md")
        seen += writer.replace_file(new_file("a.md", "one"))[0]
        tables = writer.begin_generation("next")
    with store.write(tables) as writer:
        seen += writer.replace_file(new_file("a.md", "one", "two"))[0]
    with store.write() as writer:
        seen += writer.replace_file(new_file("b.md", "while the rebuild runs"))[0]
    store.close()
    # The last one belongs to the old generation, which is dropped with its ids: only the new one's must be fresh.
    assert len(set(seen[:-1])) == len(seen) - 1


def test_a_failed_transaction_leaves_nothing(tmp_path: Path) -> None:
    store = open_store(tmp_path)

    def fail_half_way() -> None:
        with store.write() as writer:
            writer.replace_file(new_file("a.md", "alpha"))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail_half_way()
    with store.read() as snapshot:
        assert snapshot.files("memory") == {}
    store.close()


def test_readers_see_old_generation_until_publish(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    with store.write() as writer:
        writer.replace_file(new_file("a.md", "old words"))
        tables = writer.begin_generation("rules 2")
    with store.write(tables) as writer:
        writer.replace_file(new_file("a.md", "new words"))
    with store.read() as snapshot:
        assert (bool(matches(snapshot, "old")), bool(matches(snapshot, "new"))) == (True, False)
    with store.write(tables) as writer:
        writer.publish(tables, "rules 2")
    with store.write() as writer:
        writer.discard_other_generations()
        assert writer.generations() == [writer.generation]
    with store.read() as snapshot:
        assert (bool(matches(snapshot, "old")), bool(matches(snapshot, "new"))) == (False, True)
        assert snapshot.generations() == [tables.generation]
    store.close()


def published_anew(store: IndexStore, texts: int) -> None:
    """An index of one file, with the tables of the previous generation."""
    with store.write() as writer:
        writer.replace_file(new_file("a.md", *(f"old text {number}" for number in range(texts))))
        tables = writer.begin_generation("rules 2")
    with store.write(tables) as writer:
        writer.replace_file(new_file("a.md", "new text"))
        writer.publish(tables, "rules 2")


def left_over(store: IndexStore) -> list[str]:
    with store.read() as snapshot:
        query = "SELECT name FROM sqlite_schema WHERE name GLOB 'chunks*_1*' OR name GLOB 'files_1*' OR name GLOB 'd*'"
        assert snapshot.connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return [name for (name,) in snapshot.connection.execute(query)]


def test_old_generation_removed_in_resumable_steps(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(index_schema, "_STEP_SECONDS", 0)
    store = open_store(tmp_path)
    published_anew(store, 300)
    with store.write() as writer:
        writer.discard_other_generations()
        assert writer.generations() == [writer.generation]
    token, steps = CancelToken(), itertools.count(1)
    shrink = index_schema.delete_discarded_rows

    def stop_half_way(connection: apsw.Connection) -> bool:
        if next(steps) == 100:
            token.cancel()
        return shrink(connection)

    monkeypatch.setattr(index_schema, "delete_discarded_rows", stop_half_way)
    with pytest.raises(Cancelled):
        store.delete_discarded_tables(token)
    assert left_over(store)
    store.close()

    store = open_store(tmp_path)
    store.delete_discarded_tables()
    assert next(steps) > 200
    assert left_over(store) == []
    with store.read() as snapshot:
        assert matches(snapshot, "new")
    store.close()


def test_reused_table_number_removable_again(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    for rules in ("rules 2", "rules 3", "rules 4"):
        with store.write() as writer:
            writer.begin_generation(rules)
    with store.write() as writer:
        writer.discard_other_generations()
    store.delete_discarded_tables()
    with store.read() as snapshot:
        assert (snapshot.generations(), snapshot.has_discarded_tables()) == ([1], False)
    store.close()


def test_killed_rebuild_resumed_only_under_same_rules(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    with store.write() as writer:
        tables = writer.begin_generation("rules 2")
    with store.write(tables) as writer:
        writer.replace_file(new_file("a.md", "kept"))
    store.close()

    store = open_store(tmp_path)
    with store.write() as writer:
        tables = writer.begin_generation("rules 2")
    with store.read(tables=tables) as snapshot:
        assert list(snapshot.files("memory")) == ["a.md"]
    with store.write() as writer:
        tables = writer.begin_generation("rules 3")
    with store.read(tables=tables) as snapshot:
        assert snapshot.files("memory") == {}
    store.close()


def test_first_passage_of_each_file_is_embedded_first(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    with store.write() as writer:
        writer.replace_file(new_file("old.md", "old 1", "old 2", mtime_ns=1))
        writer.replace_file(new_file("new.md", "new 1", "new 2", "new 3", mtime_ns=2))
        model = writer.ensure_model("fake", "m", "", 2).id
        order = [text.text for text in writer.texts(list(writer.chunks_to_embed(model).values()))]
    assert order == ["new 1", "old 1", "new 2", "new 3", "old 2"]
    store.close()


def test_rows_of_many_chunks_come_in_order_of_ids(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    with store.write() as writer:
        ids, _ = writer.replace_file(new_file("a.md", *map(str, range(450))))
    mixed = [*reversed(ids), ids[-1] + 1]
    with store.read() as snapshot:
        found = [
            list(snapshot.chunks(mixed)),
            [text.text for text in snapshot.texts(mixed)],
            [id_ for id_, _ in snapshot.files_of_chunks(mixed)],
            [id_ for id_, *_ in snapshot.titles(mixed)],
            [*snapshot.files_of_chunks(()), *snapshot.texts(())],
        ]
    assert found == [mixed[:-1], list(map(str, reversed(range(450)))), mixed[:-1], mixed[:-1], []]
    store.close()


def test_spread_chunks_has_one_of_each_part(tmp_path: Path) -> None:
    """Parts are of chunk ids, which may be unused or without a vector."""
    store = open_store(tmp_path)
    with store.write() as writer:
        ids = [id_ for number in range(40) for id_ in writer.replace_file(new_file(f"{number}.md", f"{number}"))[0]]
        model = writer.ensure_model("fake", "m", "", 2)
        embedded = writer.texts(ids[1:])
        writer.store_vectors(model.id, [(text.hash, b"\0\0\0\0") for text in embedded])
    with store.read() as snapshot:
        assert stored_models.spread_chunks(snapshot, model, 10) == [ids[1], *ids[4::4]]
        assert stored_models.spread_chunks(snapshot, model, 100) == ids[1:]
    with store.write() as writer:
        for number in range(2, 38):
            writer.remove_file("memory", f"{number}.md")
    with store.read() as snapshot:
        assert stored_models.spread_chunks(snapshot, model, 2) == [ids[1], ids[38]]
        assert stored_models.spread_chunks(snapshot, model, 10) == [ids[1], ids[38], ids[39]]
    store.close()


def test_eviction_oldest_first_never_in_use(tmp_path: Path, monkeypatch) -> None:
    store = open_store(tmp_path)
    clock = iter(range(100, 200))
    monkeypatch.setattr("engine.store.writer.time.time", lambda: next(clock))
    with store.write() as writer:
        for name in ("first", "second", "stays"):
            writer.replace_file(new_file(f"{name}.md", name))
        model = writer.ensure_model("fake", "m", "", 2).id
        texts = writer.texts(list(writer.chunks_to_embed(model).values()))
        writer.store_vectors(model, [(text.hash, b"\0\0\0\0") for text in texts])
        writer.remove_file("memory", "second.md")
        writer.remove_file("memory", "first.md")
        assert writer.evict(2) == 1
        left = {text for (text,) in writer.connection.execute("SELECT hash FROM embedding_cache")}
        assert {t.text for t in texts if t.hash in left} == {"first", "stays"}
        # Surplus remains, but the last one is in use.
        assert writer.evict(0) == 1
        assert writer.cache_entries() == 1
    store.close()


def test_a_cancelled_read_is_interrupted_in_the_statement(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    token = CancelToken()
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
    timer = threading.Timer(0.03, token.cancel)
    timer.start()
    with pytest.raises(Cancelled), store.read(token) as snapshot:
        snapshot.connection.execute(endless).fetchall()
    timer.join()
    with store.read() as snapshot:
        assert snapshot.generation == 1
    store.close()


def test_full_disk_gives_one_sentence_and_keeps_data(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    with store.write() as writer:
        writer.replace_file(new_file("a.md", "kept"))
        pages = writer.connection.pragma("page_count")
        writer.connection.pragma("max_page_count", pages + 2)
    with pytest.raises(DiskFull, match="disk is full"), store.write() as writer:
        writer.replace_file(new_file("b.md", "x" * 1_000_000))
    with store.read() as snapshot:
        assert list(snapshot.files("memory")) == ["a.md"]
    store.close()


def test_newer_index_refused_untouched(tmp_path: Path) -> None:
    """Neither the file changes nor a log that a killed program left."""
    store = open_store(tmp_path)
    database = store.files.database
    store.close()
    connection = apsw.Connection(str(database))
    connection.pragma("user_version", 99)
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    connection.close()
    files = [database, database.with_name(f"{database.name}-wal")]
    before = [file.read_bytes() for file in files]
    with pytest.raises(IndexTooNew, match="newer version"):
        open_store(tmp_path)
    assert [file.read_bytes() for file in files] == before


def interrupted_creation(database: Path, aside: Path) -> None:
    """Leave the file and the journal of a program that ended while it created the index."""
    connection = apsw.Connection(str(aside))
    connection.pragma("synchronous", 0)
    connection.execute("CREATE TABLE kept (text); BEGIN; CREATE TABLE other (text)")
    connection.cache_flush()
    for ending in ("", "-journal"):
        database.with_name(database.name + ending).write_bytes(aside.with_name(aside.name + ending).read_bytes())
    connection.close(True)


def test_new_index_can_shrink_and_opening_it_writes_nothing(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    with store.read() as snapshot:
        assert snapshot.connection.pragma("auto_vacuum") == 2
    store.close()
    before = store.files.database.read_bytes()
    open_store(tmp_path).close()
    assert store.files.database.read_bytes() == before


def test_interrupted_creation_undone(tmp_path: Path) -> None:
    files = index_files(tmp_path / "notes", str(tmp_path / "data"))
    files.prepare()
    interrupted_creation(files.database, tmp_path / "aside.sqlite")
    store = IndexStore(files)
    assert store.read_only == ""
    with store.write() as writer:
        writer.replace_file(new_file("a.md", "words"))
    store.close()


def test_damaged_index_is_moved_with_its_journal(tmp_path: Path) -> None:
    files = index_files(tmp_path / "notes", str(tmp_path / "data"))
    files.prepare()
    interrupted_creation(files.database, tmp_path / "aside.sqlite")
    aside = integrity.set_aside(files.database)
    assert {path.name for path in files.folder.iterdir()} == {aside.name, f"{aside.name}-journal"}


@pytest.mark.parametrize("damage", ["not a database", "torn header"])
def test_damaged_index_replaced(tmp_path: Path, damage: str) -> None:
    store = open_store(tmp_path)
    with store.write() as writer:
        writer.replace_file(new_file("a.md", "words"))
    database = store.files.database
    store.close()
    content = database.read_bytes()
    database.write_bytes(b"no database at all" * 500 if damage == "not a database" else b"\0" * 100 + content[100:])
    store = open_store(tmp_path)
    assert "set aside" in store.recovered
    assert len(list(database.parent.glob("index.sqlite.damaged-*"))) == 1
    with store.read() as snapshot:
        assert snapshot.files("memory") == {}
    store.close()


def test_vectors_survive_damage_to_other_pages(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    vector = bytes(range(200)) * 2
    with store.write() as writer:
        texts = [f"text number {number} " * 40 for number in range(300)]
        writer.replace_file(new_file("a.md", *texts))
        model = writer.ensure_model("fake", "m", "", 200).id
        writer.store_vectors(
            model, [(t.hash, vector) for t in writer.texts(list(writer.chunks_to_embed(model).values())[:300])]
        )
        root = writer.connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'chunks_1'").get
        page = writer.connection.pragma("page_size")
    database = store.files.database
    store.close()
    content = bytearray(database.read_bytes())
    content[(root - 1) * page : root * page] = b"\xff" * page
    database.write_bytes(content)

    store = open_store(tmp_path)
    with pytest.raises(IndexCorrupt) as caught, store.read() as snapshot:
        snapshot.chunks(list(range(1, 301)))
    store.repair(caught.value)
    assert "300 vectors were recovered" in store.recovered
    with store.write() as writer:
        writer.replace_file(new_file("a.md", *texts))
        assert writer.pending_vectors(writer.stored_model("fake", "m", "")) == 0
    store.close()


def test_single_writer_lock_released_on_death(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    script = (
        "import sys; from filelock import FileLock; lock = FileLock(sys.argv[1]); lock.acquire();"
        "print('held', flush=True); sys.stdin.read()"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", script, str(store.files.lock)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    assert holder.stdout.readline().strip() == "held"
    assert not store.try_lock()
    assert store.locked_elsewhere()
    holder.kill()
    holder.communicate()
    assert not store.locked_elsewhere()
    assert store.try_lock()
    store.unlock()
    store.close()


def test_after_close_reads_and_writes_are_refused(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    store.close()
    store.close()
    with pytest.raises(Closed), store.read():
        pass
    with pytest.raises(Closed), store.write():
        pass


def test_a_copy_of_the_index_passes_sqlites_own_check(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    for round_ in range(5):
        with store.write() as writer:
            for number in range(20):
                writer.replace_file(new_file(f"{number}.md", f"round {round_} text {number}"))
        with store.write() as writer:
            writer.remove_file("memory", f"{round_}.md")
    store.vacuum()
    database = store.files.database
    store.close()
    copy = tmp_path / "copy.sqlite"
    shutil.copy(database, copy)
    connection = apsw.Connection(str(copy))
    assert connection.pragma("integrity_check") == "ok"
    connection.close()


def test_reader_pool_serves_more_threads(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    with store.write() as writer:
        writer.replace_file(new_file("a.md", "words"))
    counts: list[int] = []

    def read(store: IndexStore) -> None:
        for _ in range(20):
            with store.read() as snapshot:
                counts.append(snapshot.chunk_count())

    threads = [threading.Thread(target=read, args=(store,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    store.close()
    assert counts == [1] * 160


def test_wal_stays_short_with_constant_readers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.store.index._LONGEST_LOG", 2_000_000)
    store = open_store(tmp_path)
    ended, begun = threading.Event(), threading.Barrier(3)

    def read() -> None:
        begun.wait()
        while not ended.is_set():
            with store.read() as snapshot:
                ended.wait(0.002)
                snapshot.chunk_count()

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    begun.wait()
    lengths = []
    for _ in range(40):
        with store.write() as writer:
            writer.connection.execute("INSERT OR REPLACE INTO meta VALUES ('large', zeroblob(1000000))")
        lengths.append(store.sizes().wal)
    ended.set()
    for reader in readers:
        reader.join()
    store.close()
    assert min(lengths[20:]) < 2_000_000
