import time

from gui.demo import Demo


def test_the_demo_is_a_copy_with_its_own_dates_and_leaves_nothing():
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
