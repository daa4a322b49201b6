"""Sessions that are synchronised from other machines, in results of `qmd`."""

import json
import sys

import pytest

from engine.settings.options import SessionSettings

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the fake is a POSIX script")


@pytest.fixture
def memory(open_qmd, fake, tmp_path, data):
    """Open a memory with a session of this machine and one of a laptop, both of which `qmd` finds."""
    for name in ("here", "laptop"):
        folder = tmp_path / "sync" / name
        folder.mkdir(parents=True)
        about = {"type": "user", "uuid": name, "sessionId": name, "timestamp": "2026-02-01T10:00:00Z"}
        message = {"role": "user", "content": f"Ring the bell {name}."}
        (folder / f"{name}.jsonl").write_text(json.dumps({**about, "message": message}) + "\n")
    sessions = SessionSettings(folders=(str(tmp_path / "sync"),), machines=(f"laptop={tmp_path / 'sync/laptop'}",))
    fake.does('print("[1/1] x (x)"); print("Indexed: 4 new, 0 updated, 0 unchanged, 0 removed")')
    opened = open_qmd(str(fake.path), sources=("memory", "sessions"), sessions=sessions)
    assert opened.sync().error == ""
    rows = [
        {"score": 0.5, "file": f"qmd://sessions-notes/{export.name}", "line": 1, "title": "", "snippet": "the bell"}
        for export in (data() / "sessions").glob("*.md")
    ]
    assert len(rows) == 2
    fake.does(f"print({json.dumps(rows)!r})")
    return opened


def test_session_of_another_machine_is_named_and_found_by_it(memory):
    assert {session.title: session.machine for session in memory.sessions()} == {
        "Ring the bell here.": "",
        "Ring the bell laptop.": "laptop",
    }
    machines = {result.title: result.message.machine for result in memory.search("bell").results}
    assert machines == {"Ring the bell here.": "", "Ring the bell laptop.": "laptop"}
    (found,) = memory.search("bell machine:Laptop").results
    assert found.message.machine == "laptop"
    assert memory.read_session(found.path).summary.machine == "laptop"
