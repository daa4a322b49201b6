from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.records import WrittenNote
from engine.store.user_data import UnseenNotes, UserData


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "user.sqlite"


@pytest.fixture
def user(path: Path) -> Iterator[UserData]:
    data = UserData(path)
    yield data
    data.close()


def note(number: int) -> WrittenNote:
    return WrittenNote(path=f"memory/{number}.md", session="sessions/a/1", written=float(number), digest="d")


def test_unseen_note_reported_after_restart(user: UserData, path: Path) -> None:
    UnseenNotes(user).add(note(1))
    UnseenNotes(user).add(note(2))
    later = UserData(path)
    notes = UnseenNotes(later)
    assert notes.all() == (note(2), note(1))
    notes.mark_seen(("memory/2.md", "memory/9.md"))
    assert UnseenNotes(user).all() == (note(1),)
    later.close()


def test_only_the_newest_50_unseen_notes_are_stored(user: UserData) -> None:
    for number in range(52):
        UnseenNotes(user).add(note(number))
    assert UnseenNotes(user).all() == tuple(note(number) for number in range(51, 1, -1))


def test_unsavable_notes_not_reported(path: Path) -> None:
    data = UserData(path, read_only=True)
    notes = UnseenNotes(data)
    notes.add(note(1))
    notes.mark_seen(("memory/1.md",))
    assert notes.all() == ()
    data.close()
