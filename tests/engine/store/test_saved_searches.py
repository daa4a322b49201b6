"""Recent and saved searches: kept whole, bounded, without secrets, and gone when they are to be."""

import json
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.base.errors import IndexReadOnly, StoreError
from engine.records import Passage, QueryRecord, SavedSearch
from engine.store.saved_searches import SavedSearches
from engine.store.user_data import UserData
from tests.helpers.older_user_data import at_version

WHOLE = QueryRecord(
    text="valve",
    sources=("sessions",),
    days=30,
    path="sessions/claude/a",
    path_name="Fix the valve",
    within=QueryRecord(like=Passage(path="a.md", start_line=3, end_line=9, text="brass", message=2)),
    half_life_days=90.0,
    diverse=True,
    order="date",
)


@pytest.fixture
def user(tmp_path: Path) -> Iterator[UserData]:
    user = UserData(tmp_path / "user.sqlite")
    yield user
    user.close()


@pytest.fixture
def kept(user: UserData) -> SavedSearches:
    return SavedSearches(user)


def ask(text: str, **changes) -> QueryRecord:
    return QueryRecord(text=text, **changes)


def asked(kept: SavedSearches) -> list[str]:
    return [search.query.text for search in kept.recent()]


def names(kept: SavedSearches) -> list[str]:
    return [search.name for search in kept.saved()]


def test_saved_searches_survive_a_restart(kept: SavedSearches, user: UserData, tmp_path: Path) -> None:
    kept.note(WHOLE)
    kept.save(SavedSearch(name="Valves", query=WHOLE, used=5.0))
    user.close()
    again = UserData(tmp_path / "user.sqlite")
    assert [search.query for search in SavedSearches(again).recent()] == [WHOLE]
    assert SavedSearches(again).saved() == (SavedSearch(name="Valves", query=WHOLE, used=5.0),)
    again.close()


def test_each_query_once_newest_first(kept: SavedSearches) -> None:
    for text in ("timer", "hose", "timer"):
        kept.note(ask(text))
    kept.note(ask("timer", days=7))
    recent = kept.recent()
    assert [(search.query.text, search.query.days) for search in recent] == [
        ("timer", 7),
        ("timer", None),
        ("hose", None),
    ]
    assert recent[0].asked >= recent[1].asked


def test_history_drops_beginnings_of_a_query(kept: SavedSearches) -> None:
    for text in ("hose", "tim", "timer", "tim"):
        kept.note(ask(text))
    assert asked(kept) == ["tim", "timer", "hose"]
    kept.note(ask("time", days=7))
    assert asked(kept) == ["time", "tim", "timer", "hose"]
    kept.note(QueryRecord(like=Passage(path="a.md", start_line=1, end_line=2)))
    kept.note(ask("a", like=Passage(path="a.md", start_line=1, end_line=2)))
    assert asked(kept)[:3] == ["a", "", "time"]


def test_history_limited(kept: SavedSearches) -> None:
    for number in range(203):
        kept.note(ask(f"{number} valves"))
    assert asked(kept) == [f"{number} valves" for number in range(202, 2, -1)]


def test_forget_one_or_all_purges_file(kept: SavedSearches, user: UserData, tmp_path: Path) -> None:
    for text in ("timer", "zebrafinch"):
        kept.note(ask(text))
    kept.forget_recent(ask("zebrafinch"))
    assert asked(kept) == ["timer"]
    user.close()  # reading an open database would drop its locks
    assert not _copies(tmp_path, b"zebrafinch")
    again = UserData(tmp_path / "user.sqlite")
    kept = SavedSearches(again)
    kept.forget_recent()
    assert asked(kept) == []
    again.close()
    assert not _copies(tmp_path, b"timer")


def test_restored_history_keeps_times_and_newer_queries(kept: SavedSearches) -> None:
    for text in ("timer", "hose"):
        kept.note(ask(text))
    removed = kept.recent()
    kept.forget_recent()
    for text in ("valve", "timer"):
        kept.note(ask(text))
    newer = kept.recent()
    kept.restore_recent(removed)
    assert kept.recent() == (*newer, next(search for search in removed if search.query.text == "hose"))


def _copies(folder: Path, text: bytes) -> list[Path]:
    """The files of the database that contain a text."""
    files = list(folder.glob("user.sqlite*"))
    assert files
    return [file for file in files if text in file.read_bytes()]


@pytest.mark.parametrize(
    "query",
    [
        ask("why does sk-proj-Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MGFiY2RlZg fail"),
        QueryRecord(like=Passage(path="a", start_line=1, end_line=1, text="ghp_16C7e42F292c6912E7710c838347Ae178B4a")),
        ask("x", within=ask("password: hunter2hunter2A!")),
    ],
)
def test_secret_query_not_saved(kept: SavedSearches, query: QueryRecord) -> None:
    kept.note(query)
    assert kept.recent() == ()
    with pytest.raises(StoreError, match="can't be saved"):
        kept.save(SavedSearch(name="Mine", query=query, used=1.0))
    assert kept.saved() == ()


def test_a_name_with_a_secret_is_none(kept: SavedSearches) -> None:
    key = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
    with pytest.raises(StoreError, match="can't be saved"):
        kept.save(SavedSearch(name=f"Where is {key}", query=ask("x"), used=1.0))
    kept.save(SavedSearch(name="Mine", query=ask("x"), used=1.0))
    with pytest.raises(StoreError, match="can't be saved"):
        kept.rename("Mine", key)
    assert names(kept) == ["Mine"]


def test_saving_renaming_running_and_forgetting(kept: SavedSearches) -> None:
    kept.save(SavedSearch(name=" Two \n words ", query=ask("one"), used=1.0))
    kept.save(SavedSearch(name="Other", query=ask("two"), used=2.0))
    assert names(kept) == ["Other", "Two words"]
    kept.touch("Two words")
    assert names(kept) == ["Two words", "Other"]
    kept.rename("Two words", "Three")
    assert names(kept) == ["Three", "Other"]
    kept.rename("Three", "Other")
    assert [(search.name, search.query.text) for search in kept.saved()] == [("Other", "one")]
    kept.rename("nowhere", "Other")
    kept.save(SavedSearch(name="Other", query=ask("three"), used=3.0))
    [search] = kept.saved()
    assert search.query.text == "three"
    kept.forget_saved("Other")
    assert kept.saved() == ()
    kept.save(search)
    assert kept.saved() == (search,)


@pytest.mark.parametrize("name", ["", " \n", "x" * 201])
def test_a_name_has_to_be_one(kept: SavedSearches, name: str) -> None:
    with pytest.raises(StoreError, match="name"):
        kept.save(SavedSearch(name=name, query=ask("one"), used=1.0))
    kept.save(SavedSearch(name="One", query=ask("one"), used=1.0))
    with pytest.raises(StoreError, match="name"):
        kept.rename("One", name)
    assert names(kept) == ["One"]


def test_unknown_fields_dropped_missing_defaulted(kept: SavedSearches, tmp_path: Path) -> None:
    kept.save(SavedSearch(name="Now", query=WHOLE, used=3.0))
    later = json.dumps({"text": "timer", "mood": "calm", "within": {"text": "hose", "depth": [1]}})
    connection = apsw.Connection(str(tmp_path / "user.sqlite"))
    for name, text in (("Later", later), ("Earlier", '{"text":"timer"}'), ("Broken", '{"days":"soon"}')):
        connection.execute("INSERT INTO saved_searches VALUES (?, 1, ?)", (name, text))
        connection.execute("INSERT INTO recent_searches (asked, question) VALUES (1, ?)", (text,))
    found = {search.name: search.query for search in kept.saved()}
    assert found == {"Now": WHOLE, "Later": ask("timer", within=ask("hose")), "Earlier": ask("timer")}
    assert asked(kept) == ["timer", "timer"]
    kept.rename("Later", "Renamed")
    [(text,)] = connection.execute("SELECT question FROM saved_searches WHERE name = 'Renamed'").fetchall()
    assert json.loads(text)["mood"] == "calm"
    kept.note(ask("timer"))
    [(left,)] = connection.execute("SELECT count(*) FROM recent_searches").fetchall()
    connection.close()
    assert left == 3  # the broken one, the one within, and the new one


def test_unsavable_reported(tmp_path: Path) -> None:
    user = UserData(tmp_path / "user.sqlite", read_only=True)
    kept = SavedSearches(user)
    kept.note(ask("timer"))
    kept.touch("x")
    kept.forget_recent()
    assert (kept.recent(), kept.saved()) == ((), ())
    for act in (
        lambda: kept.save(SavedSearch(name="One", query=ask("one"), used=1.0)),
        lambda: kept.rename("One", "Two"),
        lambda: kept.forget_saved("One"),
    ):
        with pytest.raises(IndexReadOnly, match="cannot be written"):
            act()
    user.close()


questions = st.recursive(
    st.builds(
        QueryRecord,
        text=st.text(),
        sources=st.none() | st.just(("memory",)) | st.just(("memory", "sessions")),
        days=st.none() | st.integers(0, 10_000),
        path=st.text(),
        half_life_days=st.none() | st.floats(0, 1e6),
        diverse=st.none() | st.booleans(),
        like=st.none() | st.builds(Passage, path=st.text(), start_line=st.integers(1), end_line=st.integers(1)),
    ),
    lambda inner: st.builds(QueryRecord, text=st.text(), within=inner),
    max_leaves=3,
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SavedSearches]:
    """Saved searches for many examples."""
    user = UserData(tmp_path_factory.mktemp("saved") / "user.sqlite")
    yield SavedSearches(user)
    user.close()


@given(questions)
def test_stored_search_equals_query(store: SavedSearches, query: QueryRecord) -> None:
    search = SavedSearch(name="Mine", query=query, used=2.0)
    store.save(search)
    assert store.saved() == (search,)


def test_forgotten_purged_from_migration_copy(tmp_path: Path) -> None:
    path = tmp_path / "user.sqlite"
    with at_version(5):
        user = UserData(path)
        SavedSearches(user).note(ask("the quagga song"))
        SavedSearches(user).save(SavedSearch(name="Kept", query=ask("dodo"), used=1.0))
        user.close()
    user = UserData(path)
    kept = SavedSearches(user)
    [copy] = tmp_path.glob("*.before-*")
    assert b"quagga" in copy.read_bytes()
    kept.forget_recent(kept.recent()[0].query)
    user.close()
    assert [file.name for file in tmp_path.iterdir() if b"quagga" in file.read_bytes()] == []
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted(
        ["user.sqlite", copy.name, *(backup.name for backup in tmp_path.glob("*.backup-*"))]
    )
    assert b"dodo" in copy.read_bytes()


def test_half_a_character_ends_nothing(kept: SavedSearches) -> None:
    kept.note(ask("whole"))
    kept.note(ask("half \ud83d"))
    assert asked(kept) == ["whole"]
    with pytest.raises(StoreError, match="can't be saved"):
        kept.save(SavedSearch(name="Half", query=ask("half \ud83d"), used=1.0))
    kept.save(SavedSearch(name="A \ud83d", query=ask("whole"), used=1.0))
    assert names(kept) == ["A �"]
