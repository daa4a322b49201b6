"""Health checks find and repair defects of an index, and change nothing else."""

from collections.abc import Callable
from pathlib import Path

import apsw
import numpy as np
import pytest

from engine.backends.builtin import BuiltinMemory
from engine.base.cancellation import CancelToken
from engine.base.errors import Cancelled, IndexBusy
from engine.insight.health import database, sources
from engine.records import HealthProgress, WatcherStatus
from engine.store import vector_matrix_engine
from engine.store.index import KEYWORDS_TO_PURGE, IndexStore
from tests.helpers.fake_provider import FakeProvider, PaidProvider
from tests.helpers.health import findings, inconsistencies, wrong

OpenMemory = Callable[..., BuiltinMemory]


@pytest.fixture
def memory(open_memory: OpenMemory) -> BuiltinMemory:
    memory = open_memory()
    assert memory.sync().error == ""
    return memory


def execute(memory: BuiltinMemory, statement: str, values: tuple = ()) -> None:
    with memory.store.write() as writer:
        writer.connection.execute(statement, values)
        writer.advance_stamp()


def content(memory: BuiltinMemory) -> dict[str, list[tuple]]:
    """Return all rows of the tables that a repair must preserve."""
    with memory.store.read() as view:
        tables = (view.tables.files, view.tables.chunks, "models", "embedding_cache")
        return {name: list(view.connection.execute(f"SELECT * FROM {name} ORDER BY 1")) for name in tables}


def found_by(memory: BuiltinMemory, words: str) -> set[str]:
    return {result.path for result in memory.search(words, mode="keyword", min_score=0).results}


def test_sound_index_all_fine_with_details(memory: BuiltinMemory) -> None:
    found = findings(memory, probe=True, deep=True)
    assert {id_ for id_, finding in found.items() if finding.state != "fine"} == set()
    assert all(finding.detail and not finding.repair for finding in found.values())
    assert found["keywords"].detail == "The keyword index contains all 4 passages."
    assert found["keyword-words"].detail.startswith("4 passages re-analysed")
    assert found["vector-agreement"].detail == "4 re-embedded passages match their stored vectors."
    assert memory.insight.repair().done == ()


@pytest.mark.parametrize(
    ("statement", "id_", "detail"),
    [
        (
            "DELETE FROM chunks_fts_1 WHERE rowid = 2",
            "keywords",
            "1 passage can't be found by words. Rows without a passage: 0.",
        ),
        (
            "INSERT INTO chunks_fts_1 (rowid, words) VALUES (99, 'ghost')",
            "keywords",
            "0 passages can't be found by words. Rows without a passage: 1.",
        ),
    ],
)
def test_rows_of_the_keyword_index_are_made_again(memory: BuiltinMemory, statement: str, id_: str, detail: str) -> None:
    before = content(memory)
    execute(memory, statement)
    finding = findings(memory)[id_]
    assert (finding.state, finding.detail, finding.count, bool(finding.repair)) == ("degraded", detail, 1, True)
    assert memory.insight.repair([id_]).problem == ""
    assert inconsistencies(memory) == []
    assert content(memory) == before
    assert found_by(memory, "ghost") == set()
    assert found_by(memory, "gauge") == {"people/ines.md"}


@pytest.mark.parametrize(
    ("content", "reason", "advice"),
    [
        (bytes(range(256)), "control characters", "exclude it"),
        ("Grüße ohne Marke\x01".encode("utf-16-le"), "isn't text", "save it as UTF-8"),
        (bytes(99), "control characters", "exclude it"),
    ],
)
def test_failed_file_is_one_finding_with_advice(
    memory: BuiltinMemory, workspace: Path, content: bytes, reason: str, advice: str
) -> None:
    (workspace / "bad.md").write_bytes(content)
    memory.sync()
    memory.sync()
    found = findings(memory)
    [id_] = wrong(memory)
    assert (id_, found[id_].name, found[id_].count, found[id_].repair) == ("failed-file:bad.md", "bad.md", 1, "")
    assert reason in found[id_].detail
    assert advice in found[id_].advice
    (workspace / "bad.md").write_text("Now it is text.")
    memory.sync()
    assert wrong(memory) == set()


def test_many_failed_files_share_a_finding(memory: BuiltinMemory, workspace: Path) -> None:
    for number in range(25):
        (workspace / f"bad{number:02}.md").write_bytes(bytes(99))
    memory.sync()
    found = findings(memory)
    assert sum(found[id_].count for id_ in wrong(memory)) == 25
    assert found["failed-files"].detail == "6 more files could not be read."


def test_new_file_is_counted_without_the_failed_one(memory: BuiltinMemory, workspace: Path) -> None:
    (workspace / "bad.md").write_bytes(bytes(99))
    memory.sync()
    (workspace / "new.md").write_text("# New\n")
    notes = findings(memory)["notes"]
    assert (notes.count, notes.detail) == (1, "1 new, 0 changed, 0 deleted since the last update.")


@pytest.mark.parametrize("kept", ["", "she lent us the pressure barge ines"])
def test_rows_with_wrong_words_are_reported(memory: BuiltinMemory, kept: str) -> None:
    before = content(memory)
    [result] = [r for r in memory.search("gauge", mode="keyword").results if r.path == "people/ines.md"]
    with memory.store.read() as view:
        query = f"SELECT c.id FROM {view.tables.chunks} c JOIN {view.tables.files} f ON f.id = file_id WHERE path = ?"
        id_ = view.connection.execute(query, (result.path,)).get
    with memory.store.write() as writer:
        writer.connection.execute("DELETE FROM chunks_fts_1 WHERE rowid = ?", (id_,))
        writer.connection.execute("INSERT INTO chunks_fts_1 (rowid, words) VALUES (?, ?)", (id_, kept))
    assert wrong(memory) == {"keyword-words"}
    memory.insight.repair(["keyword-words"])
    assert wrong(memory) == set()
    assert content(memory) == before
    assert found_by(memory, "gauge") == {"people/ines.md"}


def test_repair_keeps_compounds_of_short_notes(memory: BuiltinMemory, workspace: Path) -> None:
    (workspace / "todo.md").write_text("Stromrechnung bezahlen\n", "utf-8")
    (workspace / "haus.md").write_text("# Haus\n\nDas Dach ist nicht dicht, und der Keller ist feucht.\n", "utf-8")
    memory.sync()
    assert wrong(memory) == set()
    execute(memory, "DELETE FROM chunks_fts_1")
    memory.insight.repair(["keywords"])
    assert wrong(memory) == set()
    assert found_by(memory, "Rechnung") == {"todo.md"}


def test_orphaned_chunks_removed_and_file_reindexed(memory: BuiltinMemory) -> None:
    execute(memory, "DELETE FROM files_1 WHERE path = 'shopping.md'")
    assert wrong(memory) == {"chunks", "notes"}
    memory.insight.repair(["chunks"])
    assert wrong(memory) == {"notes"}
    vectors = content(memory)["embedding_cache"]
    assert len(vectors) == 4
    assert memory.insight.repair(["notes"]).done == ("The index was brought up to date with the notes.",)
    assert wrong(memory) == set()
    assert content(memory)["embedding_cache"] == vectors


def test_orphaned_rows_ignored_by_keyword_check(memory: BuiltinMemory) -> None:
    execute(memory, "DELETE FROM chunks_fts_1")
    execute(memory, "DELETE FROM files_1 WHERE path = 'shopping.md'")
    assert findings(memory)["keywords"].count == 3
    memory.insight.repair(["keywords"])
    assert wrong(memory) == {"chunks", "notes"}
    memory.insight.repair()
    assert wrong(memory) == set()


def test_repair_deletes_rows_of_sessions_and_tags_without_file(memory: BuiltinMemory) -> None:
    execute(memory, "INSERT INTO tags_1 VALUES ('left', 99)")
    assert "1 orphaned session or tag row" in findings(memory)["chunks"].detail
    memory.insight.repair(["chunks"])
    assert wrong(memory) == set()


def _half(number: float, dims: int = 64) -> bytes:
    return np.full(dims, number, "<f2").tobytes()


def test_search_leaves_out_vectors_of_wrong_length(memory: BuiltinMemory) -> None:
    execute(memory, "UPDATE embedding_cache SET vector = ?", (b"\0",))
    outcome = memory.search("gauge", min_score=0)
    assert {result.vector_score for result in outcome.results} == {None}


@pytest.mark.parametrize(
    ("vector", "fault"),
    [
        (b"\0", "have the wrong length"),
        (_half(0), "are all zeros"),
        (_half(float("nan")), "contain invalid numbers"),
        (_half(float("inf")), "contain invalid numbers"),
        (_half(1), "are not of length 1"),
    ],
)
def test_invalid_vectors_are_deleted_and_embedded_again(
    memory: BuiltinMemory, provider: FakeProvider, vector: bytes, fault: str
) -> None:
    before = content(memory)["embedding_cache"]
    execute(memory, "UPDATE embedding_cache SET vector = ? WHERE id = 1", (vector,))
    assert findings(memory)["vectors"].detail == f"Of 4 vectors, 1 {fault}."
    provider.embedded.clear()
    memory.insight.repair(["vectors"])
    assert wrong(memory) == {"meaning"}
    assert provider.embedded == []
    memory.insight.repair(["meaning"])
    assert wrong(memory) == set()
    assert len(provider.embedded) == 1
    assert {row[2]: row[3] for row in content(memory)["embedding_cache"]} == {row[2]: row[3] for row in before}


def test_repair_does_not_embed_without_approval(open_memory: OpenMemory) -> None:
    paid = PaidProvider()
    paid.price = 10_000.0
    memory = open_memory(use=paid)
    memory.sync()
    assert paid.embedded == []
    finding = findings(memory)["meaning"]
    assert (finding.repair, finding.count) == ("", 4)
    assert "waits for your approval" in finding.detail
    memory.insight.repair()
    assert paid.embedded == []


def test_deep_check_finds_changed_model(memory: BuiltinMemory, provider: FakeProvider) -> None:
    before = provider.vectors_of
    provider.vectors_of = lambda texts: np.roll(before(texts), 1, axis=1)  # type: ignore[method-assign]
    assert wrong(memory) == set()
    found = findings(memory, deep=True)["vector-agreement"]
    assert (found.state, found.count) == ("degraded", 4)


def test_deep_health_check_sends_no_text(open_memory: OpenMemory) -> None:
    paid = PaidProvider()
    memory = open_memory(use=paid)
    memory.sync(approve=True)
    paid.embedded.clear()
    assert findings(memory, deep=True)["vector-agreement"].state == "fine"
    assert (paid.embedded, paid.questions) == ([], [])


@pytest.mark.parametrize("damage", ["checksum", "rows", "codes"])
@pytest.mark.usefixtures("saved_matrix")
def test_saved_matrix_compared_and_rewritten(open_memory: OpenMemory, damage: str) -> None:
    memory = open_memory(engine="numpy")
    memory.sync()
    path = memory.store.files.matrix
    assert "holds 4 vectors and agrees" in findings(memory)["matrix"].detail
    if damage == "checksum":
        path.write_bytes(path.read_bytes()[:-1] + b"\x55")
    elif damage == "rows":
        with memory.store.write() as writer:  # bypasses the code that updates the stamp
            writer.connection.execute("DELETE FROM embedding_cache WHERE id = 1")
    else:
        with memory.store.write() as writer:
            other = "(SELECT vector FROM embedding_cache WHERE id = 2)"
            writer.connection.execute(f"UPDATE embedding_cache SET vector = {other} WHERE id = 1")
    assert "matrix" in wrong(memory)
    assert memory.insight.repair(["matrix"]).done == ("The vector matrix was rewritten from the stored vectors.",)
    assert "matrix" not in wrong(memory)


def test_a_matrix_of_an_older_moment_is_fine(open_memory: OpenMemory, workspace: Path, monkeypatch) -> None:
    monkeypatch.setattr(vector_matrix_engine, "WORTH_SAVING", 4)
    memory = open_memory(engine="numpy")
    memory.sync()
    (workspace / "later.md").write_text("Parsnips, sown late.\n")
    memory.sync()
    assert findings(memory)["matrix"].detail.endswith("; the database has 1 more.")


def test_sqlite_vec_table_is_updated(open_memory: OpenMemory) -> None:
    pytest.importorskip("sqlite_vec")
    memory = open_memory(engine="sqlite-vec")
    memory.sync()
    assert findings(memory)["vector-table"].detail == "The vector table has a row for each passage with a vector."
    with memory.store.write() as writer:  # bypasses the code that updates the stamp
        writer.connection.execute("DELETE FROM embedding_cache WHERE id = 2")
    detail = "The rows of the vector table don't match the passages that have a vector."
    assert findings(memory)["vector-table"].detail == detail
    execute(memory, "DELETE FROM embedding_cache WHERE id = 1")
    assert "vector-table" in wrong(memory)
    memory.insight.repair(["vector-table"])
    assert wrong(memory) == {"meaning"}


def test_unused_vector_table_removed(open_memory: OpenMemory) -> None:
    pytest.importorskip("sqlite_vec")
    plain = open_memory(engine="numpy")
    memory = open_memory(engine="sqlite-vec")
    memory.sync()
    memory.close()
    assert wrong(plain) == {"vector-table"}
    plain.insight.repair(["vector-table"])
    assert wrong(plain) == set()


def test_tables_of_an_older_generation_are_dropped(memory: BuiltinMemory) -> None:
    before = content(memory)
    with memory.store.write() as writer:
        writer.begin_generation("of no use")
        writer.set_meta("building", None)
    assert wrong(memory) == {"generations"}
    memory.insight.repair(["generations"])
    assert wrong(memory) <= {"space"}
    assert content(memory) == before


def test_health_check_ignores_rebuild_in_progress(memory: BuiltinMemory) -> None:
    with memory.store.write() as writer:
        writer.begin_generation("of somebody")
    assert findings(memory)["generations"].state == "fine"


def test_free_space_is_given_back(memory: BuiltinMemory) -> None:
    before = content(memory)
    execute(memory, "CREATE TABLE big (x)")
    execute(memory, "INSERT INTO big VALUES (zeroblob(4000000))")
    memory.store.make_durable()  # into the file itself, from the write-ahead log
    execute(memory, "DROP TABLE big")
    assert "space" in wrong(memory)
    [done] = memory.insight.repair(["space"]).done
    assert "The size of the index file changed from 4" in done
    assert wrong(memory) == set()
    assert content(memory) == before


def test_words_of_removed_notes_purged(memory: BuiltinMemory, workspace: Path) -> None:
    with memory.store.write() as writer:
        writer.set_meta(KEYWORDS_TO_PURGE, 1)
    assert wrong(memory) == {"removed-words"}
    memory.insight.repair(["removed-words"])
    assert wrong(memory) == set()


def _damage(database: Path, table: str) -> None:
    """Overwrite the end of the first page of a table or index, where its rows are; the file must not be open."""
    connection = apsw.Connection(str(database))
    page, size = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (table,)).get, 8192
    connection.close()
    with database.open("r+b") as file:
        file.seek(page * size - 64)
        file.write(b"\x55" * 64)


def test_a_damaged_file_is_rebuilt_and_its_vectors_survive(open_memory: OpenMemory, provider: FakeProvider) -> None:
    memory = open_memory()
    memory.sync()
    vectors = {row[2]: row[3] for row in content(memory)["embedding_cache"]}
    database = memory.store.files.database
    memory.close()
    _damage(database, "chunks_1_hash")
    memory = open_memory()
    found = findings(memory)
    assert (found["database"].state, found["database"].repair) == ("failed", "Rebuild")
    assert "keywords" not in found  # the content of a damaged file isn't checked
    provider.embedded.clear()
    done = memory.insight.repair(["database"]).done
    assert "4 vectors were recovered" in done[0]
    assert wrong(memory) == set()
    assert provider.embedded == []
    assert {row[2]: row[3] for row in content(memory)["embedding_cache"]} == vectors
    assert found_by(memory, "gauge") == {"people/ines.md"}


def test_damaged_user_data_reported_and_untouched(open_memory: OpenMemory) -> None:
    memory = open_memory()
    path = memory.store.files.user
    memory.close()
    path.write_bytes(b"no database at all" * 1000)
    before = path.read_bytes()
    memory = open_memory()
    found = findings(memory)["user-data"]
    assert (found.state, found.repair) == ("failed", "")
    assert "no usable backup" in found.detail
    memory.insight.repair()
    memory.close()
    assert path.read_bytes() == before


def test_files_that_changed_are_counted_and_updated(memory: BuiltinMemory, workspace: Path) -> None:
    (workspace / "later.md").write_text("Parsnips.\n")
    (workspace / "shopping.md").unlink()
    finding = findings(memory)["notes"]
    assert (finding.detail, finding.count) == ("1 new, 0 changed, 1 deleted since the last update.", 2)
    memory.insight.repair(["notes"])
    assert wrong(memory) == set()


def test_nothing_is_repaired_while_another_process_writes(memory: BuiltinMemory) -> None:
    execute(memory, "DELETE FROM chunks_fts_1 WHERE rowid = 2")
    other = IndexStore(memory.store.files)
    try:
        assert other.try_lock()
        assert wrong(memory) == {"keywords", "writing"}
        with pytest.raises(IndexBusy, match="Another program"):
            memory.insight.repair(["keywords"])
    finally:
        other.close()
    memory.insight.repair(["keywords"])
    assert wrong(memory) == set()


def test_nothing_is_repaired_while_an_update_runs(memory: BuiltinMemory) -> None:
    with memory.indexing.exclusive(), pytest.raises(IndexBusy, match="being updated"):
        memory.insight.repair(["keywords"])


def test_polling_watcher_reported(open_memory: OpenMemory) -> None:
    memory = open_memory(background=True)
    assert findings(memory)["watching"].name == "Watching"
    assert "watching" not in findings(open_memory())


def test_preview_counts_without_reading(memory: BuiltinMemory, provider: FakeProvider) -> None:
    assert {finding.state for finding in memory.insight.quick_check()} == {"fine"}
    execute(memory, "DELETE FROM chunks_fts_1")
    execute(memory, "DELETE FROM files_1 WHERE path = 'shopping.md'")
    assert {finding.id for finding in memory.insight.quick_check() if finding.state != "fine"} == {"keywords", "chunks"}


def test_network_drive_index_reported(memory: BuiltinMemory, monkeypatch) -> None:
    monkeypatch.setattr(database, "on_network_drive", lambda folder: folder == memory.store.files.folder)
    found = findings(memory)["index"]
    assert (found.state, found.repair) == ("degraded", "")
    assert "network drive" in found.detail
    assert "store.path" in found.advice


@pytest.mark.parametrize(
    ("mode", "error", "wanted", "state"),
    [
        ("native", None, True, "fine"),
        ("polling", None, True, "degraded"),
        ("polling", "Too many folders to watch.", True, "degraded"),
        ("off", None, True, "degraded"),
        ("off", None, False, "fine"),
    ],
)
def test_watcher_state_gives_the_state_of_the_finding(mode: str, error: str | None, wanted: bool, state: str) -> None:
    watcher = WatcherStatus(enabled=mode != "off", mode=mode, roots=(), last_change=None, error=error)
    found = sources.check_watcher(watcher, watching=wanted)
    assert found.state == state
    assert (error or "") in found.detail


@pytest.mark.parametrize("after", range(1, 12, 2))
def test_a_repair_that_is_cancelled_leaves_an_index_that_answers(
    memory: BuiltinMemory, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    from engine.insight.health import keywords

    monkeypatch.setattr(keywords, "_ROWS_PER_BATCH", 1)
    for id_ in (1, 2, 3):
        execute(memory, "DELETE FROM chunks_fts_1 WHERE rowid = ?", (id_,))
    token = CancelToken()
    seen: list[HealthProgress] = []

    def tell(progress: HealthProgress) -> None:
        seen.append(progress)
        if len(seen) == after:
            token.cancel()

    before = content(memory)
    try:
        memory.insight.repair(["keywords", "keyword-words"], token, progress=tell)
    except Cancelled:
        pass
    else:
        assert len(seen) < after
    assert content(memory) == before
    assert memory.store.try_lock()  # the lock is free again
    memory.store.unlock()
    memory.insight.repair()
    assert wrong(memory) == set()


def test_health_check_can_be_cancelled(memory: BuiltinMemory) -> None:
    token = CancelToken()
    looking = memory.insight.health(token)
    next(looking)
    token.cancel()
    with pytest.raises(Cancelled):
        list(looking)


def test_notes_are_never_written(memory: BuiltinMemory, workspace: Path) -> None:
    def state() -> dict[str, tuple[bytes, int]]:
        return {str(p): (p.read_bytes(), p.stat().st_mtime_ns) for p in workspace.rglob("*") if p.is_file()}

    before = state()
    execute(memory, "DELETE FROM files_1")
    execute(memory, "DELETE FROM chunks_fts_1 WHERE rowid = 2")
    memory.insight.repair()
    assert wrong(memory) == set()
    assert state() == before
