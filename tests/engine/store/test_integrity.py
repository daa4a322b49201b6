from pathlib import Path

from engine.store import integrity
from engine.store.connection import READERS
from tests.helpers.rows import new_file, open_store


def test_other_writes_are_not_damage(tmp_path: Path) -> None:
    store = open_store(tmp_path)

    def write(times: int) -> None:
        for number in range(times):
            with store.write() as writer:
                words = " ".join(f"w{number * index % 997}" for index in range(400))
                writer.replace_file(new_file(f"{number % 7}.md", words))

    def damage() -> str:
        with store.read() as snapshot:
            return integrity.damage(snapshot)

    write(5)
    for _ in range(READERS):
        with store.read() as snapshot:
            fts = snapshot.tables.fts
            snapshot.connection.execute(f"SELECT count(*) FROM {fts} WHERE {fts} MATCH 'text'").fetchall()
    write(60)  # until FTS5 has merged the segments that were searched
    assert [damage() for _ in range(READERS)] == [""] * READERS
    store.close()
