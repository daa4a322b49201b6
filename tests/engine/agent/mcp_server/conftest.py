from pathlib import Path

import pytest

from tests.helpers.mcp_process import Served

SECRET = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz012345"
NOTES = {
    "MEMORY.md": "# Memory\n\nThe alarm code is on the back of the calendar.\n",
    "memory/greenhouse.md": "# Greenhouse\n\n## Watering\n\nThe irrigation timer skipped Tuesday; the valve sticks.\n",
    "memory/2026-02-08.md": "# Sunday\n\nTomatoes limp, calendar full.\n",
}
SESSION = f"""\
{{"type":"user","uuid":"u1","sessionId":"s1","cwd":"/src","timestamp":"2026-02-11T20:52:00Z",\
"message":{{"role":"user","content":"Why does the relay lose ticks? My key is {SECRET}"}}}}
{{"type":"assistant","uuid":"a1","parentUuid":"u1","sessionId":"s1","timestamp":"2026-02-11T20:53:00Z",\
"message":{{"role":"assistant","content":[{{"type":"text","text":"It debounces at 40 ms."}}]}}}}
"""


@pytest.fixture
def served(tmp_path: Path) -> Served:
    """Create a workspace in OpenClaw's layout and a folder of sessions; keyword search only."""
    notes, sessions = tmp_path / "notes", tmp_path / "sessions"
    for name, text in NOTES.items():
        (notes / name).parent.mkdir(parents=True, exist_ok=True)
        (notes / name).write_text(text, "utf-8")
    (sessions / "src").mkdir(parents=True)
    (sessions / "src" / "s1.jsonl").write_text(SESSION, "utf-8")
    config = tmp_path / "settings.toml"
    config.write_text(
        f'[defaults]\nprovider = "none"\nstore.path = "{(tmp_path / "data").as_posix()}"\n'
        f'[defaults.sessions]\nfolders = ["{sessions.as_posix()}"]\n',
        "utf-8",
    )
    return Served(notes, config)
