"""The list of known workspaces, the state of each, and forgetting one."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.base.errors import IndexBusy
from engine.memory.memory_interface import MemorySearchManager
from engine.settings.saving import save_setting
from engine.store.connection import WriterLock
from engine.store.index_paths import index_files
from engine.workspaces.known_workspaces import forget_workspace, known_workspaces, unique_names, workspace_state

Open = Callable[[str], MemorySearchManager]


def names(data: Path, config: Path | None = None) -> list[str]:
    return [one.name for one in known_workspaces(config=config, store_path=str(data))]


def test_opened_workspace_is_known(folders: dict[str, Path], tmp_path: Path) -> None:
    known = known_workspaces(store_path=str(tmp_path / "data"))
    assert [(one.name, one.folder, one.present) for one in known] == [
        (name, str(folders[name]), True) for name in ("boat", "garden", "work")
    ]
    assert all(one.index_bytes > 10_000 for one in known)


def test_workspace_in_settings_is_known(folders: dict[str, Path], tmp_path: Path) -> None:
    config = tmp_path / "settings.toml"
    config.write_text("version = 1\n")
    save_setting("query.min_score", 0.5, tmp_path / "diary", config)
    known = {one.name: one for one in known_workspaces(config=config, store_path=str(tmp_path / "data"))}
    assert known.keys() == {"boat", "diary", "garden", "work"}
    assert (known["diary"].present, known["diary"].index_bytes) == (False, 0)


def test_missing_workspace_reported(folders: dict[str, Path], tmp_path: Path) -> None:
    shutil.rmtree(folders["boat"])
    known = {one.name: one for one in known_workspaces(store_path=str(tmp_path / "data"))}
    assert [known[name].present for name in ("boat", "garden")] == [False, True]
    assert known["boat"].index_bytes


def test_known_workspace_has_state_of_its_index(folders: dict[str, Path], tmp_path: Path) -> None:
    state = workspace_state(folders["garden"], store_path=str(tmp_path / "data"))
    assert (state.files, state.chunks, state.pending_vectors, state.problem) == (1, 1, 0, "")
    assert state.last_sync is not None
    assert state.last_sync.files_indexed == 1
    never = workspace_state(tmp_path / "diary", store_path=str(tmp_path / "data"))
    assert (never.files, never.last_sync, never.problem) == (0, None, "")


def test_last_sync_of_open_workspace_shown(folders: dict[str, Path], tmp_path: Path, open_: Open) -> None:
    """It is in the write-ahead log of its database as long as that is open."""
    (folders["garden"] / "new.md").write_text("# New\n\nA rake.\n")
    memory = open_(str(folders["garden"]))
    memory.sync()
    state = workspace_state(folders["garden"], store_path=str(tmp_path / "data"))
    assert state.last_sync is not None
    assert state.last_sync == memory.status().last_sync


def test_a_broken_index_is_a_sentence(folders: dict[str, Path], tmp_path: Path) -> None:
    database = index_files(folders["garden"], str(tmp_path / "data")).database
    database.write_bytes(b"nothing" * 4000)
    assert workspace_state(folders["garden"], store_path=str(tmp_path / "data")).problem.endswith(".")


@pytest.mark.parametrize(
    ("folders", "wanted"),
    [
        (["/a/notes", "/b/work"], ["notes", "work"]),
        (["/a/notes", "/b/notes"], ["notes (a)", "notes (b)"]),
        (["/a/x/notes", "/b/x/notes", "/c/notes"], ["notes (a › x)", "notes (b › x)", "notes (c)"]),
        (["/notes", "/b/notes"], ["notes", "notes (b)"]),
        (["/"], ["root"]),
    ],
)
def test_same_names_distinguished(folders: list[str], wanted: list[str]) -> None:
    assert list(unique_names(folders).values()) == wanted


def test_forgetting_leaves_the_index_and_the_notes(folders: dict[str, Path], tmp_path: Path, open_: Open) -> None:
    data = tmp_path / "data"
    assert forget_workspace(folders["boat"], store_path=str(data)) == 0
    assert names(data) == ["garden", "work"]
    assert (folders["boat"] / "note.md").exists()
    assert index_files(folders["boat"], str(data)).database.exists()
    open_(str(folders["boat"]))
    assert names(data) == ["boat", "garden", "work"]


def test_index_deleted_only_on_request(folders: dict[str, Path], tmp_path: Path) -> None:
    data = tmp_path / "data"
    size = next(one.index_bytes for one in known_workspaces(store_path=str(data)) if one.name == "boat")
    assert forget_workspace(folders["boat"], store_path=str(data), remove_index=True) == size
    files = index_files(folders["boat"], str(data))
    assert (files.database.exists(), files.user.exists()) == (False, True)
    assert (folders["boat"] / "note.md").exists()


def test_index_with_an_active_writer_is_not_removed(folders: dict[str, Path], tmp_path: Path) -> None:
    data = tmp_path / "data"
    files = index_files(folders["boat"], str(data))
    lock = WriterLock(files.lock)
    assert lock.acquire()
    try:
        with pytest.raises(IndexBusy):
            forget_workspace(folders["boat"], store_path=str(data), remove_index=True)
    finally:
        lock.close()
    assert files.database.exists()
    assert "boat" in names(data)
