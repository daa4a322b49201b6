"""The index of a workspace whose folder was renamed."""

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from engine.backends.opening import open_memory
from engine.memory.memory_interface import MemorySearchManager
from engine.settings import load_settings, settings_path
from engine.store.index_paths import index_files
from engine.store.user_data import UserData
from engine.store.workspace_record import adopt_renamed, record_workspace, recorded_workspaces

Open = Callable[[Path], MemorySearchManager]


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "pump.md").write_text("# Pump\n\nThe left valve leaks.\n")
    return folder


@pytest.fixture
def open_() -> Iterator[Open]:
    memories: list[MemorySearchManager] = []

    def open_one(folder: Path) -> MemorySearchManager:
        memories.append(open_memory(folder))
        return memories[-1]

    yield open_one
    for memory in memories:
        memory.close()


@pytest.fixture
def renamed(notes: Path, open_: Open) -> Path:
    """Folder of a workspace with a fact, renamed after its memory was closed."""
    memory = open_(notes)
    memory.sync()
    memory.facts.add("Ada prefers tea.")
    memory.close()
    return notes.rename(notes.with_name("renamed"))


def test_renamed_folder_keeps_index_and_facts(renamed: Path, open_: Open) -> None:
    memory = open_(renamed)
    assert [fact.text for fact in memory.facts.all()] == ["Ada prefers tea."]
    assert [result.path for result in memory.search("valve").results] == ["pump.md"]
    report = memory.sync()
    assert (report.files_indexed, report.files_unchanged) == (0, 1)
    noted = recorded_workspaces(index_files(renamed).folder.parent)
    assert [note.folder for note in noted] == [str(renamed.resolve())]


def test_renamed_folder_keeps_its_options(notes: Path, open_: Open) -> None:
    written = (
        f"# mine\n[workspace.'{notes}'] # of my notes\nextensions = ['.md', '.org']\n\n[defaults]\nmodel = 'x'\n\n"
        f'[workspace."{notes}".query] # last\nmin_score = 0.5\n'
    )
    settings_path().parent.mkdir(parents=True, exist_ok=True)
    settings_path().write_text(written)
    memory = open_(notes)
    memory.sync()
    memory.close()
    renamed = notes.rename(notes.with_name("re'named"))
    sentence = adopt_renamed(renamed, load_settings(renamed))
    assert sentence == f"{notes} was renamed: its options now apply to {renamed}."
    moved = written.replace(f"'{notes}'", f'"{renamed}"').replace(f'"{notes}"', f'"{renamed}"')
    assert settings_path().read_text() == moved
    assert load_settings(renamed).extensions == (".md", ".org")
    assert not adopt_renamed(renamed, load_settings(renamed))


def test_rename_back_keeps_facts(renamed: Path, open_: Open) -> None:
    open_(renamed).close()
    assert open_(renamed.rename(renamed.with_name("notes"))).facts.all()


def test_copy_of_open_folder_gets_own_index(renamed: Path, open_: Open) -> None:
    first = open_(renamed)
    again = renamed.rename(renamed.with_name("again"))
    assert not open_(again).facts.all()
    assert first.facts.all()


def test_folder_with_open_facts_gets_own_index(renamed: Path, open_: Open) -> None:
    with closing(UserData(index_files(renamed.with_name("notes")).user)):
        assert not open_(renamed).facts.all()


def test_forgotten_missing_folder_keeps_its_inode(renamed: Path) -> None:
    former = renamed.with_name("notes")
    record_workspace(index_files(former), former, forgotten=True)
    (noted,) = recorded_workspaces(index_files(former).folder.parent)
    assert (noted.forgotten, noted.inode) == (True, renamed.stat().st_ino)


@pytest.mark.parametrize("other", ["hose.md", "pump.md"])
def test_other_folder_with_same_inode_gets_own_index(renamed: Path, open_: Open, other: str) -> None:
    """A new folder often has the inode of a deleted one."""
    (renamed / other).write_text("# Pump\n\nThe left valve LEAKS.\n")
    if other != "pump.md":
        (renamed / "pump.md").unlink()
    assert not open_(renamed).facts.all()


def test_existing_former_folder_keeps_its_index(renamed: Path, open_: Open) -> None:
    renamed.with_name("notes").mkdir()
    assert not open_(renamed).facts.all()


def test_copy_on_another_disk_gets_own_index(renamed: Path, open_: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """The roots of two disks have the same inode, and a backup has files with the same size and time."""
    monkeypatch.setattr("os.path.ismount", lambda path: Path(path) == renamed)
    assert not open_(renamed).facts.all()
