"""Facts as rows: stored completely, found again, and removed permanently when deleted."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from engine.base.errors import IndexReadOnly
from engine.records import Fact
from engine.store import user_data
from engine.store.facts import StoredFacts
from engine.store.stored_models import ModelName
from engine.store.user_data import UserData
from tests.helpers.older_user_data import at_version

MODEL = ModelName("embedded", "use", "1")
SECRETIVE = "Zitronenbaum"


def make(id_: str, text: str = "I prefer tea.", **changes: Any) -> Fact:
    values: dict[str, Any] = {
        "category": "preference",
        "importance": 0.7,
        "created": 1.0,
        "changed": 1.0,
        "origin": "user",
    }
    return Fact(id=id_, text=text, **{**values, **changes})


@pytest.fixture
def user(tmp_path: Path) -> Iterator[UserData]:
    data = UserData(tmp_path / "user.sqlite")
    yield data
    data.close()


@pytest.fixture
def rows(user: UserData) -> StoredFacts:
    return StoredFacts(user)


def test_stored_fact_is_unchanged(rows: StoredFacts) -> None:
    whole = make(
        "a", "Tee 🍵", pending=True, session_key="agent:main", forgotten=5.0, forgotten_by="agent", origin="capture"
    )
    rows.save(whole, make("b", created=2.0))
    assert rows.all() == (make("b", created=2.0), whole)


def test_text_change_drops_vector_category_does_not(rows: StoredFacts) -> None:
    rows.save(make("a"))
    rows.save_vectors(MODEL, [("a", "I prefer tea.", b"12")])
    rows.save(make("a", category="other"))
    assert rows.vectors(MODEL) == {"a": b"12"}
    assert rows.vectors(ModelName("embedded", "use", "2")) == {}
    rows.save(make("a", "I prefer coffee."))
    assert rows.vectors(MODEL) == {}


def test_late_vector_not_stored(rows: StoredFacts) -> None:
    rows.save(make("a", "new"))
    rows.save_vectors(MODEL, [("a", "old", b"12"), ("gone", "new", b"34"), ("a", "new", b"56")])
    assert rows.vectors(MODEL) == {"a": b"56"}


def test_stamp_changes_on_any_write(rows: StoredFacts, user: UserData, tmp_path: Path) -> None:
    before = rows.stamp()
    assert rows.stamp() == before
    rows.save(make("a"))
    mine = rows.stamp()
    assert mine != before
    elsewhere = UserData(tmp_path / "user.sqlite")
    StoredFacts(elsewhere).save(make("b"))
    elsewhere.close()
    assert rows.stamp() != mine
    assert {fact.id for fact in rows.all()} == {"a", "b"}


def test_erased_fact_in_no_file(tmp_path: Path) -> None:
    path = tmp_path / "user.sqlite"
    with contextlib.closing(UserData(path)) as data:
        StoredFacts(data).save(make("a", SECRETIVE), make("b", "kept"))
        StoredFacts(data).save_vectors(MODEL, [("a", SECRETIVE, b"vector-of-it")])
    # The next version of the program leaves a copy with all of it aside.
    newest = len(user_data.USER_MIGRATIONS)
    with at_version(newest, later=[lambda connection: None]), contextlib.closing(UserData(path)) as data:
        (before,) = tmp_path.glob("user.sqlite.before-*")
        assert SECRETIVE.encode() in before.read_bytes()
        os.utime(before, (5.0, 5.0))
        path.with_name("user.sqlite.backup-2026-01-01").write_bytes(b"half a copy of Zitronenbaum " * 500)
        StoredFacts(data).erase(["a"])
        assert before.stat().st_mtime == 5.0, "the newest usable backup is restored first"
        assert [fact.id for fact in StoredFacts(data).all()] == ["b"]
        for file in tmp_path.iterdir():
            content = file.read_bytes()
            assert SECRETIVE.encode() not in content, file
            assert b"vector-of-it" not in content, file
    copy = apsw.Connection(str(before))
    assert copy.execute("SELECT id FROM facts").fetchall() == [("b",)]
    copy.close()


def test_expired_facts_erased_only(rows: StoredFacts) -> None:
    rows.save(make("old", forgotten=10.0), make("new", forgotten=30.0), make("kept"))
    rows.erase_old(20.0)
    assert {fact.id for fact in rows.all()} == {"new", "kept"}


def test_changed_text_purged_after_settling(rows: StoredFacts, tmp_path: Path) -> None:
    rows.save(make("a", SECRETIVE))
    rows.save(make("a", "other"))
    rows.purge_old_texts()
    assert not any(SECRETIVE.encode() in file.read_bytes() for file in tmp_path.iterdir())


def test_read_only_facts_say_why(tmp_path: Path) -> None:
    with contextlib.closing(UserData(tmp_path / "user.sqlite")) as data:
        StoredFacts(data).save(make("a"))
        data.empty_log()
    with contextlib.closing(UserData(tmp_path / "user.sqlite", read_only=True)) as data:
        rows = StoredFacts(data)
        assert [fact.id for fact in rows.all()] == ["a"]
        rows.save_vectors(MODEL, [("a", "I prefer tea.", b"12")])
        rows.erase_old(99.0)
        assert "cannot be written" in rows.read_only_reason
        with pytest.raises(IndexReadOnly, match="cannot be written"):
            rows.save(make("b"))
        with pytest.raises(IndexReadOnly):
            rows.erase(["a"])


def test_old_facts_survive_migration(tmp_path: Path) -> None:
    path = tmp_path / "user.sqlite"
    facts = [make(str(number), f"fact {number}", created=float(number)) for number in range(50)]
    with contextlib.closing(UserData(path)) as data:
        StoredFacts(data).save(*facts)
    later = [lambda connection: connection.execute("CREATE TABLE x (y)")]
    with at_version(len(user_data.USER_MIGRATIONS), later), contextlib.closing(UserData(path)) as data:
        assert StoredFacts(data).all() == tuple(reversed(facts))


def test_facts_with_former_names_are_read(tmp_path: Path) -> None:
    path = tmp_path / "user.sqlite"
    with at_version(8), contextlib.closing(UserData(path)) as data, data.writing() as connection:
        values = "'I prefer tea.', 'preference', 0.7, 1, 1, 'person', '', 1, 5, 'person'"
        connection.execute(f"INSERT INTO facts VALUES ('a', {values})")
    with contextlib.closing(UserData(path)) as data:
        assert StoredFacts(data).all() == (make("a", pending=True, forgotten=5.0, forgotten_by="user"),)
