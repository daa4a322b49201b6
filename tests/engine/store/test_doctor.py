"""The doctor finds what does not agree, and repairs it without touching the rest."""

from pathlib import Path

import pytest

from engine.store import doctor
from engine.store.connection import READERS
from engine.store.index import IndexStore
from tests.helpers.rows import new_file, open_store


@pytest.fixture
def store(tmp_path: Path):
    store = open_store(tmp_path)
    with store.write() as writer:
        for name in ("a.md", "b.md"):
            writer.replace_file(new_file(name, f"text of {name}", f"more of {name}"))
        model = writer.ensure_model("fake", "m", "", 2).id
        writer.store_vectors(model, [(text.hash, b"\0\0\0\0") for text in writer.texts([1, 2, 3, 4])])
    yield store
    store.close()


def problems(store: IndexStore) -> list[str]:
    return [finding.problem for finding in doctor.check(store) if finding.problem]


def test_what_others_wrote_since_a_connection_searched_is_no_damage(store: IndexStore) -> None:
    def write(times: int) -> None:
        for number in range(times):
            with store.write() as writer:
                words = " ".join(f"w{number * place % 997}" for place in range(400))
                writer.replace_file(new_file(f"{number % 7}.md", words))

    write(5)
    for _ in range(READERS):
        with store.read() as snapshot:
            fts = snapshot.tables.fts
            snapshot.connection.execute(f"SELECT count(*) FROM {fts} WHERE {fts} MATCH 'text'").fetchall()
    write(60)  # until FTS5 has merged what the searches found
    assert [problems(store) for _ in range(READERS)] == [[]] * READERS


def test_a_sound_index_has_no_problems(store: IndexStore) -> None:
    assert problems(store) == []
    assert doctor.repair(store) == []


@pytest.mark.parametrize(
    ("damage", "complaint"),
    [
        ("DELETE FROM chunks_fts_1 WHERE rowid = 2", "1 chunks cannot be found by words"),
        ("DELETE FROM chunks_1 WHERE id = 2", "1 rows belong to no chunk"),
        ("DELETE FROM files_1 WHERE path = 'a.md'", "2 chunks belong to no file"),
        ("UPDATE embedding_cache SET vector = x'00' WHERE id = 1", "1 vectors have the wrong length"),
    ],
)
def test_what_does_not_agree_is_found_and_mended(store: IndexStore, damage: str, complaint: str) -> None:
    with store.write() as writer:
        writer.connection.execute(damage)
    assert any(complaint in problem for problem in problems(store))
    assert doctor.repair(store)
    left = problems(store)
    with store.read() as snapshot:
        to_be_rebuilt = snapshot.meta("fingerprint") == "to be rebuilt"
    # The rows of the keyword index can only come from the notes, by the next sync.
    assert left == [] or to_be_rebuilt
