from pathlib import Path

import pytest
from PySide6.QtCore import QByteArray

from gui.core.window_state import WindowState, load_state, save_state, state_path


def test_saved_state_is_loaded():
    state = WindowState(list_width=420, dock_shown=False, wrap=False)
    state.set_geometry(QByteArray(b"\x01\xd9\xd0\xcb"))
    state.remember(Path("/notes/a"))
    save_state(state)
    assert load_state() == state
    assert load_state().geometry_bytes() == QByteArray(b"\x01\xd9\xd0\xcb")
    assert [path.name for path in state_path().parent.iterdir()] == ["window.json"]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"list_width": "wide"}', '{"wrap": "pink"}', "\ufeff{}", "null"])
def test_damaged_file_is_set_aside_and_state_is_default(text, caplog):
    state_path().parent.mkdir(parents=True)
    state_path().write_text(text, "utf-8")
    assert load_state() == WindowState()
    assert "window-damaged.json" in caplog.text
    assert state_path().with_name("window-damaged.json").read_text("utf-8") == text
    assert not state_path().exists()


def test_unknown_fields_in_file_are_ignored():
    state_path().parent.mkdir(parents=True)
    state_path().write_text('{"list_width": 333, "from_the_future": {"x": 1}}')
    assert load_state() == WindowState(list_width=333)


def test_unwritable_path_causes_no_error(tmp_path, caplog):
    (tmp_path / "file").write_text("x")
    save_state(WindowState(), tmp_path / "file" / "window.json")
    assert "could not be saved" in caplog.text


def test_invalid_geometry_is_ignored():
    assert WindowState(geometry="%%%").geometry_bytes().isEmpty()


def test_recent_folders_are_limited_unique_and_newest_first():
    state = WindowState()
    for number in range(12):
        state.remember(Path(f"/n/{number}"))
    state.remember(Path("/n/8"))
    assert state.recent[:3] == [str(Path(name)) for name in ("/n/8", "/n/11", "/n/10")]
    assert len(state.recent) == 8
    assert WindowState().recent == []
