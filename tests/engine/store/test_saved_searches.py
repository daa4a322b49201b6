"""Recent and saved searches: stored completely, limited in number, without secrets, and deleted on request."""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.base.errors import IndexReadOnly, StoreError
from engine.records import Passage, QueryRecord, RecentSearch, SavedSearch
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
def saved_searches(user: UserData) -> SavedSearches:
    return SavedSearches(user)


def ask(text: str, **changes) -> QueryRecord:
    return QueryRecord(text=text, **changes)


def recent_queries(saved_searches: SavedSearches) -> list[str]:
    return [search.query.text for search in saved_searches.recent()]


def names(saved_searches: SavedSearches) -> list[str]:
    return [search.name for search in saved_searches.saved()]


def test_saved_searches_survive_a_restart(saved_searches: SavedSearches, user: UserData, tmp_path: Path) -> None:
    saved_searches.add_recent(WHOLE)
    saved_searches.save(SavedSearch(name="Valves", query=WHOLE, last_used=5.0))
    user.close()
    again = UserData(tmp_path / "user.sqlite")
    assert [search.query for search in SavedSearches(again).recent()] == [WHOLE]
    assert SavedSearches(again).saved() == (SavedSearch(name="Valves", query=WHOLE, last_used=5.0),)
    again.close()


def test_each_query_once_newest_first(saved_searches: SavedSearches) -> None:
    for text in ("timer", "hose", "timer"):
        saved_searches.add_recent(ask(text))
    saved_searches.add_recent(ask("timer", days=7))
    recent = saved_searches.recent()
    assert [(search.query.text, search.query.days) for search in recent] == [
        ("timer", 7),
        ("timer", None),
        ("hose", None),
    ]
    assert recent[0].searched >= recent[1].searched


def test_history_drops_beginnings_of_a_query(saved_searches: SavedSearches) -> None:
    for text in ("hose", "tim", "timer", "tim"):
        saved_searches.add_recent(ask(text))
    assert recent_queries(saved_searches) == ["tim", "timer", "hose"]
    saved_searches.add_recent(ask("time", days=7))
    assert recent_queries(saved_searches) == ["time", "tim", "timer", "hose"]
    saved_searches.add_recent(QueryRecord(like=Passage(path="a.md", start_line=1, end_line=2)))
    saved_searches.add_recent(ask("a", like=Passage(path="a.md", start_line=1, end_line=2)))
    assert recent_queries(saved_searches)[:3] == ["a", "", "time"]


def test_history_limited(saved_searches: SavedSearches) -> None:
    for number in range(203):
        saved_searches.add_recent(ask(f"{number} valves"))
    assert recent_queries(saved_searches) == [f"{number} valves" for number in range(202, 2, -1)]


def test_forget_one_or_all_purges_file(saved_searches: SavedSearches, user: UserData, tmp_path: Path) -> None:
    for text in ("timer", "zebrafinch"):
        saved_searches.add_recent(ask(text))
    saved_searches.forget_recent(ask("zebrafinch"))
    assert recent_queries(saved_searches) == ["timer"]
    user.close()  # reading an open database would drop its locks
    assert not _copies(tmp_path, b"zebrafinch")
    again = UserData(tmp_path / "user.sqlite")
    saved_searches = SavedSearches(again)
    saved_searches.forget_recent()
    assert recent_queries(saved_searches) == []
    again.close()
    assert not _copies(tmp_path, b"timer")


def test_restored_history_keeps_times_and_newer_queries(saved_searches: SavedSearches) -> None:
    for text in ("timer", "hose"):
        saved_searches.add_recent(ask(text))
    removed = saved_searches.recent()
    saved_searches.forget_recent()
    for text in ("valve", "timer"):
        saved_searches.add_recent(ask(text))
    newer = saved_searches.recent()
    saved_searches.restore_recent(removed)
    assert saved_searches.recent() == (*newer, next(search for search in removed if search.query.text == "hose"))


def _copies(folder: Path, text: bytes) -> list[Path]:
    """Return the files of the database that contain a text."""
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
def test_secret_query_not_saved(saved_searches: SavedSearches, query: QueryRecord) -> None:
    saved_searches.add_recent(query)
    assert saved_searches.recent() == ()
    with pytest.raises(StoreError, match="can't be saved"):
        saved_searches.save(SavedSearch(name="Mine", query=query, last_used=1.0))
    assert saved_searches.saved() == ()


def test_name_with_secret_is_rejected(saved_searches: SavedSearches) -> None:
    key = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
    with pytest.raises(StoreError, match="can't be saved"):
        saved_searches.save(SavedSearch(name=f"Where is {key}", query=ask("x"), last_used=1.0))
    saved_searches.save(SavedSearch(name="Mine", query=ask("x"), last_used=1.0))
    with pytest.raises(StoreError, match="can't be saved"):
        saved_searches.rename("Mine", key)
    assert names(saved_searches) == ["Mine"]


def test_saved_search_is_renamed_moved_to_top_and_forgotten(saved_searches: SavedSearches) -> None:
    saved_searches.save(SavedSearch(name=" Two \n words ", query=ask("one"), last_used=1.0))
    saved_searches.save(SavedSearch(name="Other", query=ask("two"), last_used=2.0))
    assert names(saved_searches) == ["Other", "Two words"]
    saved_searches.touch("Two words")
    assert names(saved_searches) == ["Two words", "Other"]
    saved_searches.rename("Two words", "Three")
    assert names(saved_searches) == ["Three", "Other"]
    saved_searches.rename("Three", "Other")
    assert [(search.name, search.query.text) for search in saved_searches.saved()] == [("Other", "one")]
    saved_searches.rename("nowhere", "Other")
    saved_searches.save(SavedSearch(name="Other", query=ask("three"), last_used=3.0))
    [search] = saved_searches.saved()
    assert search.query.text == "three"
    saved_searches.delete("Other")
    assert saved_searches.saved() == ()
    saved_searches.save(search)
    assert saved_searches.saved() == (search,)


@pytest.mark.parametrize("name", ["", " \n", "x" * 201])
def test_empty_or_long_name_is_refused(saved_searches: SavedSearches, name: str) -> None:
    with pytest.raises(StoreError, match="name"):
        saved_searches.save(SavedSearch(name=name, query=ask("one"), last_used=1.0))
    saved_searches.save(SavedSearch(name="One", query=ask("one"), last_used=1.0))
    with pytest.raises(StoreError, match="name"):
        saved_searches.rename("One", name)
    assert names(saved_searches) == ["One"]


def test_unknown_fields_dropped_missing_defaulted(saved_searches: SavedSearches, tmp_path: Path) -> None:
    saved_searches.save(SavedSearch(name="Now", query=WHOLE, last_used=3.0))
    later = json.dumps({"text": "timer", "mood": "calm", "within": {"text": "hose", "depth": [1]}})
    connection = apsw.Connection(str(tmp_path / "user.sqlite"))
    for name, text in (("Later", later), ("Earlier", '{"text":"timer"}'), ("Broken", '{"days":"soon"}')):
        connection.execute("INSERT INTO saved_searches VALUES (?, 1, ?)", (name, text))
        connection.execute("INSERT INTO recent_searches (searched, query) VALUES (1, ?)", (text,))
    found = {search.name: search.query for search in saved_searches.saved()}
    assert found == {"Now": WHOLE, "Later": ask("timer", within=ask("hose")), "Earlier": ask("timer")}
    assert recent_queries(saved_searches) == ["timer", "timer"]
    saved_searches.rename("Later", "Renamed")
    [(text,)] = connection.execute("SELECT query FROM saved_searches WHERE name = 'Renamed'").fetchall()
    assert json.loads(text)["mood"] == "calm"
    saved_searches.add_recent(ask("timer"))
    [(left,)] = connection.execute("SELECT count(*) FROM recent_searches").fetchall()
    connection.close()
    assert left == 3  # the broken one, the one within the limit, and the new one


def test_unsavable_reported(tmp_path: Path) -> None:
    user = UserData(tmp_path / "user.sqlite", read_only=True)
    saved_searches = SavedSearches(user)
    saved_searches.add_recent(ask("timer"))
    saved_searches.touch("x")
    saved_searches.forget_recent()
    assert (saved_searches.recent(), saved_searches.saved()) == ((), ())
    for act in (
        lambda: saved_searches.save(SavedSearch(name="One", query=ask("one"), last_used=1.0)),
        lambda: saved_searches.rename("One", "Two"),
        lambda: saved_searches.delete("One"),
    ):
        with pytest.raises(IndexReadOnly, match="cannot be written"):
            act()
    user.close()


queries = st.recursive(
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


@given(queries)
def test_stored_search_equals_query(store: SavedSearches, query: QueryRecord) -> None:
    search = SavedSearch(name="Mine", query=query, last_used=2.0)
    store.save(search)
    assert store.saved() == (search,)


def write_with_former_names(path: Path, recent: str, saved: str, count: int = 8) -> None:
    """Store a recent and a saved search like the version of the program that knew so many migrations."""
    with at_version(count):
        user = UserData(path)
        with user.writing() as connection:
            query = '{"text":%s,"everywhere":true}'
            connection.execute(
                "INSERT INTO recent_searches (asked, question) VALUES (7, ?)", (query % json.dumps(recent),)
            )
            connection.execute("INSERT INTO saved_searches VALUES ('Mine', 5, ?)", (query % json.dumps(saved),))
        user.close()


def test_searches_with_former_names_are_read(tmp_path: Path) -> None:
    text = 'the key "everywhere": true'
    write_with_former_names(tmp_path / "user.sqlite", text, text)
    with contextlib.closing(UserData(tmp_path / "user.sqlite")) as user:
        query = QueryRecord(text=text, all_workspaces=True)
        assert SavedSearches(user).saved() == (SavedSearch(name="Mine", query=query, last_used=5),)
        assert SavedSearches(user).recent() == (RecentSearch(query=query, searched=7),)


def test_forgotten_purged_from_migration_copy(tmp_path: Path) -> None:
    path = tmp_path / "user.sqlite"
    write_with_former_names(path, "the quagga song", "dodo", 5)
    user = UserData(path)
    saved_searches = SavedSearches(user)
    [copy] = tmp_path.glob("*.before-*")
    assert b"quagga" in copy.read_bytes()
    saved_searches.forget_recent(saved_searches.recent()[0].query)
    user.close()
    assert [file.name for file in tmp_path.iterdir() if b"quagga" in file.read_bytes()] == []
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted(
        ["user.sqlite", copy.name, *(backup.name for backup in tmp_path.glob("*.backup-*"))]
    )
    assert b"dodo" in copy.read_bytes()


def test_query_with_lone_surrogate_is_not_saved(saved_searches: SavedSearches) -> None:
    saved_searches.add_recent(ask("whole"))
    saved_searches.add_recent(ask("half \ud83d"))
    assert recent_queries(saved_searches) == ["whole"]
    with pytest.raises(StoreError, match="can't be saved"):
        saved_searches.save(SavedSearch(name="Half", query=ask("half \ud83d"), last_used=1.0))
    saved_searches.save(SavedSearch(name="A \ud83d", query=ask("whole"), last_used=1.0))
    assert names(saved_searches) == ["A �"]
