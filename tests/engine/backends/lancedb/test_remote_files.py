"""Files of other machines are read from the table and marked by their name."""

import json
from pathlib import Path

import pytest

from engine.agent.memory_access import AgentAccess
from engine.agent.memory_tools import memory_get
from engine.base.errors import PathRefused, Unsupported
from engine.settings import Settings
from engine.settings.options import SessionSettings
from tests.helpers.shared_tables import rows_of

NOTE = "# Hose\n\nThe irrigation hose.\n\n" + "\n".join(f"{line}. part of the long hose note" for line in range(200))
SECRET = "ghp_" + "a1B2c3D4" * 5


@pytest.fixture
def shed(machine):
    """Open a machine without notes; another one has a note and a session."""
    folder = Path(machine("desk", notes={"tools/hose.md": NOTE}).status().workspace_dir).parent / "agents/main/sessions"
    folder.mkdir(parents=True)
    head = {"type": "session", "id": "s1", "cwd": "/home/ada/boat", "timestamp": "2026-03-01T10:00:00.000Z"}
    message = {"role": "user", "content": [{"type": "text", "text": f"The varnish peels off. My token is {SECRET}"}]}
    line = {"type": "message", "id": "m1", "timestamp": "2026-03-01T10:01:00.000Z", "message": message}
    (folder / "boat.jsonl").write_text(f"{json.dumps(head)}\n{json.dumps(line)}\n")
    desk = machine("desk", sessions=SessionSettings(folders=(str(folder),)))
    assert not desk.sync().error
    return machine("shed")


def test_remote_note_is_read_whole_and_in_part(shed) -> None:
    (found,) = {hit.path for hit in shed.search("irrigation").results}

    assert found == "//desk/tools/hose.md"
    assert shed.read_file(found).text == NOTE
    part = shed.read_file(found, start=5, lines=2)
    assert (part.text, part.next_from) == ("0. part of the long hose note\n1. part of the long hose note", 7)
    with shed.open_file(found) as text:
        assert text.line_count == 204
        assert text.line(3) == "The irrigation hose."


def test_a_session_is_found_and_read_without_its_secrets(shed, tmp_path) -> None:
    (hit,) = shed.search("varnish").results

    assert hit.path == "//desk/sessions/main/boat.jsonl"
    assert (hit.source, hit.message is not None and hit.message.role) == ("sessions", "user")
    assert "The varnish peels off." in shed.read_file(hit.path).text.split("\n")[1]
    assert SECRET not in shed.read_file(hit.path).text + str(rows_of(str(tmp_path / "shared")))
    with pytest.raises(Unsupported, match="on the machine “desk”"):
        shed.read_session(hit.path)
    with pytest.raises(Unsupported, match="on the machine “desk”"):
        shed.raw_lines(hit.path, [2])


def test_remote_name_reads_no_local_file(shed) -> None:
    with pytest.raises(Unsupported, match="can't be opened"):
        shed.locate("//desk/tools/hose.md")
    for path in ("//desk/tools/other.md", "//shed/tools/hose.md", "//desk/../../etc/passwd", "//", "/etc/passwd"):
        with pytest.raises(PathRefused):
            shed.read_file(path)
        with pytest.raises(PathRefused):
            shed.open_file(path)


def test_agent_reads_remote_note_by_result_name(shed) -> None:
    own, group = (AgentAccess(lambda: shed, Settings(), session_key=key) for key in (None, "agent:a:group:1"))

    assert memory_get(own, "//desk/tools/hose.md#L3").text.startswith("The irrigation hose.")
    assert "varnish" in memory_get(own, "//desk/sessions/main/boat.jsonl").text
    assert memory_get(group, "//desk/tools/hose.md", 3, 1).text.startswith("The irrigation hose.")
    for path in ("//desk/sessions/main/boat.jsonl", "//desk/sessions/main/boat.jsonl#L2", "//desk/MEMORY.md"):
        assert memory_get(group, path).disabled
