"""Changes in folders of notes and sessions that call for an update, and those that don't."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from engine.indexing.folder_watch import FolderWatch
from engine.settings import Settings
from engine.settings.options import SessionSettings

CHAT = Path(__file__).parents[1] / "corpus/transcripts/fixtures/chatgpt/conversations.json"
Watching = Callable[..., "Reports"]


class Reports:
    """The reports of a `FolderWatch`."""

    def __init__(self, watch: FolderWatch) -> None:
        self._watch = watch
        self._changed: list[frozenset[str] | None] = []
        self._requested: list[str] = []
        watch.start(self._changed.append, self._requested.append)

    def after(self, change: Callable[[], object]) -> tuple[set[str] | None, list[str]]:
        """Return the names of reported files (None for notes) and the reasons of requested syncs after a change."""
        self._changed.clear()
        self._requested.clear()
        change()
        assert self._watch.flush(60)
        if None in self._changed:
            return None, self._requested
        return {Path(path).name for paths in self._changed if paths for path in paths}, self._requested


@pytest.fixture
def watching(tmp_path: Path) -> Iterator[Watching]:
    """Return a function that watches notes, and these folders or databases of sessions."""
    started: list[FolderWatch] = []
    (tmp_path / "notes").mkdir()

    def watch(*sessions: Path) -> Reports:
        sync = msgspec.structs.replace(Settings().sync, watch_debounce_ms=0)
        settings = Settings(sync=sync, sessions=SessionSettings(folders=tuple(map(str, sessions))))
        started.append(FolderWatch(tmp_path / "notes", settings, dict, lambda job: job()))
        return Reports(started[-1])

    yield watch
    for each in started:
        each.close()


def write(path: Path, text: str = "{}\n") -> Callable[[], object]:
    """Return a function that writes a file in one step."""

    def put() -> None:
        aside = path.parent.parent / "aside"
        aside.write_text(text)
        aside.replace(path)

    return put


def test_saved_conversation_with_any_name_calls_for_a_sync(watching: Watching, tmp_path: Path) -> None:
    folder = tmp_path / "sync" / "saved"
    folder.mkdir(parents=True)
    reports = watching(folder)
    assert reports.after(write(folder / "My chat.json", CHAT.read_text())) == ({"My chat.json"}, ["session-delta"])
    assert reports.after(write(folder / "package.json", json.dumps({"name": "boats"}))) == ({"package.json"}, [])
    assert reports.after(write(folder / "photo.png")) == (set(), [])
    assert reports.after(write(folder / "a.jsonl")) == ({"a.jsonl"}, ["session-delta"])


def test_other_files_in_the_folder_of_an_agent_are_no_change(watching: Watching, tmp_path: Path) -> None:
    folder = tmp_path / ".claude" / "projects"
    folder.mkdir(parents=True)
    reports = watching(folder)
    assert reports.after(write(folder / "options.yaml.json", CHAT.read_text())) == (set(), [])
    assert reports.after(write(folder / "1.jsonl")) == ({"1.jsonl"}, ["session-delta"])


def test_only_the_database_of_a_store_and_its_wal_are_changes(watching: Watching, tmp_path: Path) -> None:
    folder = tmp_path / "share" / "opencode"
    folder.mkdir(parents=True)
    database = folder / "opencode.db"
    database.write_text("x")
    reports = watching(database)
    assert reports.after(write(folder / "other.db")) == (set(), [])
    assert reports.after(write(folder / "a.jsonl")) == (set(), [])
    for name in ("opencode.db", "opencode.db-wal"):
        assert reports.after(write(folder / name)) == ({name}, ["session-delta"])


def test_added_and_removed_link_among_notes_is_a_change(watching: Watching, tmp_path: Path) -> None:
    reports, notes = watching(), tmp_path / "notes"
    assert reports.after(write(notes / "photo.heic")) == (set(), [])
    assert reports.after(write(notes / "boat.md")) == (None, ["watch"])
    link = notes / "link.heic"
    assert reports.after(lambda: link.symlink_to(tmp_path)) == (None, ["watch"])
    assert reports.after(link.unlink) == (None, ["watch"])
    assert reports.after(write(link)) == (set(), [])
