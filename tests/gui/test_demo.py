import time
from pathlib import Path

import engine
from gui.app.application import Demo


def test_demo_is_dated_copy_and_removed_on_close():
    demo = Demo()
    notes = list(demo.workspace.rglob("*.md"))
    assert 40 <= len(notes) <= 80
    assert not (demo.workspace / "dates.toml").exists()
    assert len({round(note.stat().st_mtime) for note in notes}) > len(notes) // 2
    assert max(note.stat().st_mtime for note in notes) < time.time() + 366 * 86_400
    assert [sessions.name for sessions in demo.session_folders] == [
        "chatgpt",
        "claude-code",
        "codex",
        "gemini",
        "openclaw",
    ]
    assert all(any(path.is_file() for path in sessions.rglob("*")) for sessions in demo.session_folders)
    folder = demo.workspace.parent
    assert all(sessions.is_relative_to(folder) for sessions in demo.session_folders)
    (demo.store / "x").mkdir(parents=True)
    demo.close()
    assert not folder.exists()
    demo.close()


def test_demo_takes_only_options_of_window_from_own_settings(tmp_path: Path):
    own = tmp_path / "own.toml"
    text = f"""[defaults]
provider = "openai"
backend = "lancedb"
extra_paths = ['{tmp_path}']
lancedb.uri = '{tmp_path}'
sessions.folders = ['{tmp_path}']
window.theme = "dark"
window.keys = {{"file.wrap" = ["Alt+W"]}}
"""
    own.write_text(text, "utf-8")
    demo = Demo(own)
    settings = engine.load_settings(demo.workspace, config=demo.config)
    assert (settings.window.theme, settings.window.keys) == ("dark", {"file.wrap": ("Alt+W",)})
    assert (settings.provider, settings.backend, settings.extra_paths) == ("embedded", "builtin", ())
    assert settings.sessions.folders == tuple(map(str, demo.session_folders))
    assert settings.store.path == str(demo.store)
    assert "sessions" in settings.sources
    engine.save_setting("sessions.folders", (), workspace=demo.workspace, config=demo.config)
    demo.close()
    assert own.read_text("utf-8") == text
    assert list(tmp_path.iterdir()) == [own]


def test_demo_ignores_unreadable_settings(tmp_path: Path):
    own = tmp_path / "own.toml"
    own.write_text("[defaults\n", "utf-8")
    demo = Demo(own)
    assert engine.load_settings(demo.workspace, config=demo.config).sessions.folders
    demo.close()
