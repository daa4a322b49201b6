"""Tasks of Cline, Roo Code and Kilo Code, and Cline's newer sessions."""

import json
import os
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine import find_sources
from engine.base.cancellation import CancelToken
from engine.base.errors import Cancelled
from engine.corpus.transcripts.formats import DocumentFormat
from engine.corpus.transcripts.messages import Message
from engine.corpus.transcripts.parsers.cline import ClineTask
from engine.corpus.transcripts.parsers.cline_session import ClineSession
from engine.corpus.transcripts.session_stores import find_transcripts
from engine.corpus.transcripts.tool_uses import uses_of
from engine.settings import Settings
from engine.settings.options import SessionSettings
from tests.helpers.exports import read, read_first
from tests.helpers.transcripts import json_values, mangled, without_calls

FIXTURES = Path(__file__).parent / "fixtures" / "cline"
TASK = FIXTURES / "saoudrizwan.claude-dev" / "tasks" / "1765000000000" / "ui_messages.json"
ROO = FIXTURES / "rooveterinaryinc.roo-cline" / "tasks" / "0c1d2e3f-0000-4000-8000-000000000003" / "ui_messages.json"
SESSION = FIXTURES / "sessions" / "s1" / "s1.messages.json"
CLINE = ClineTask("cline")


def test_task_is_read() -> None:
    (conversation,) = read(CLINE, TASK)

    start = 1765000000.0
    messages = [
        ("user", "text", "Why does the hull leak?\n[image: PNG, 1 KB]", 1, 0, ""),
        ("assistant", "thinking", "Look at the hull.", 2, 2, ""),
        ("assistant", "text", "Let me look.", 3, 3, ""),
        ("assistant", "tool-call", "src\nseam", 4, 4, "searchFiles"),
        ("tool", "tool-result", "Found 1 result.", 4, 4, "searchFiles"),
        ("assistant", "tool-call", "hull.py\n-open\n+closed", 5, 5, "editedExistingFile"),
        ("assistant", "tool-call", "make", 6, 6, "command"),
        ("tool", "tool-result", "done", 7, 7, "command"),
        ("assistant", "tool-call", '{"q": 1}', 8, 8, "find"),
        ("tool", "tool-result", "a beam", 9, 9, "mcp"),
        ("assistant", "tool-call", "click 1,2", 10, 10, "browser"),
        ("tool", "tool-result", "http://localhost\nok", 11, 11, "browser"),
        ("assistant", "text", "Paint it?\n- Yes\n- No", 12, 12, ""),
        ("user", "text", "Yes", 13, 13, ""),
        ("user", "tool-call", "+blue", 14, 14, "edit"),
        ("system", "text", "No paint.", 15, 15, ""),
        ("assistant", "text", "It is tight.", 16, 17, ""),
    ]
    assert conversation.messages == tuple(
        Message(role, kind, text, ordinal, ordinal, "", start + seconds, tool)  # type: ignore[arg-type]
        for role, kind, text, ordinal, seconds, tool in messages
    )
    metadata = conversation.metadata
    assert (metadata.agent, metadata.id, metadata.opening) == ("cline", "1765000000000", "Why does the hull leak?")
    assert (metadata.project, metadata.started, metadata.ended) == ("C:\\ada\\my (old) boats", start, start + 17)
    assert conversation.unknown == {"hologram": 1}


def test_task_of_roo_code_names_folder_and_parent() -> None:
    (conversation,) = read(ClineTask("roo-code"), ROO)
    assert [(part.role, part.kind, part.text, part.tool) for part in conversation.messages] == [
        ("user", "text", "Build the boat", ""),
        ("assistant", "tool-call", "a.md\nb.md", "readFile"),
        ("assistant", "text", "Oak?\n- Oak\n- Pine", ""),
        ("system", "text", "So far: a boat.", ""),
        ("assistant", "tool-call", "keel", "codebaseSearch"),
        ("tool", "tool-result", "keel.py\nbeam", "codebaseSearch"),
        ("tool", "tool-result", "The mast stands.", "newTask"),
        ("assistant", "tool-call", "a.md\n-open\n+closed", "appliedDiff"),
        ("assistant", "tool-call", "b.md\n+blue", "appliedDiff"),
        ("assistant", "tool-call", "src\nsrc/hull", "listFilesTopLevel"),
    ]
    edits = [use for message in conversation.messages for use in uses_of(message) if use.kind == "edited"]
    assert [use.value for use in edits] == ["a.md", "b.md"]
    metadata = conversation.metadata
    assert (metadata.agent, metadata.project) == ("roo-code", "/home/ada/boats")
    assert (metadata.id, metadata.parent) == (ROO.parent.name, "0c1d2e3f-0000-4000-8000-000000000002")
    assert all(message.side for message in conversation.messages)


def test_session_of_newer_format_is_read() -> None:
    (conversation,) = read(ClineSession(), SESSION)

    start = 1787220000.0
    assert without_calls(conversation.messages) == (
        Message("user", "text", "Why does the hull leak?\n[file: /home/ada/boats/hull.py]", 1, 1, "m1", start),
        Message("system", "text", "<mode_notice>The user switched.</mode_notice>", 1, 1, "m1", start),
        Message("assistant", "thinking", "Look at the hull.", 2, 2, "m2", start + 1),
        Message("assistant", "text", "Let me look.", 2, 2, "m2", start + 1),
        Message("assistant", "tool-call", "hull.py", 2, 2, "m2", start + 1, "read_files"),
        Message("tool", "tool-result", "seam = None", 3, 3, "m3", start + 2, "read_files"),
        Message("assistant", "text", "A seam is open.", 4, 4, "m4", start + 3),
        Message("user", "text", "/review all of it", 5, 5, "m5", start + 4),
    )
    metadata = conversation.metadata
    assert (metadata.id, metadata.title, metadata.project, metadata.parent) == (
        "s1",
        "A leaking hull",
        "/home/ada/boats",
        "",
    )
    assert metadata.started == start - 1
    assert conversation.unknown == {"block hologram": 1}


def test_newer_tools_change_files_and_run_several_commands(tmp_path: Path) -> None:
    calls = (
        ("editor", {"path": "/boats/hull.py", "new_text": "seam = 1"}),
        ("run_commands", {"commands": ["make", {"command": "pytest", "args": ["-q", "hull"]}]}),
        ("read_files", {"files": [{"path": "/boats/hull.py", "start_line": 1}]}),
    )
    blocks = [{"type": "tool_use", "id": name, "name": name, "input": given} for name, given in calls]
    session = {**json.loads(SESSION.read_text()), "messages": [{"role": "assistant", "content": blocks}]}
    (tmp_path / "s2.messages.json").write_text(json.dumps(session))
    (conversation,) = read(ClineSession(), tmp_path / "s2.messages.json")
    assert [use for message in conversation.messages for use in uses_of(message)] == [
        ("edited", "/boats/hull.py"),
        ("command", "make"),
        ("command", "pytest -q hull"),
        ("read", "/boats/hull.py"),
    ]


def test_session_of_a_sub_agent_has_the_folder_of_its_parent(tmp_path: Path) -> None:
    shutil.copytree(SESSION.parent, tmp_path / "s1")
    child = tmp_path / "s1" / "helper.messages.json"
    child.write_text(json.dumps({**json.loads(SESSION.read_text()), "agent": "subagent", "sessionId": "s1__helper"}))
    (conversation,) = read(ClineSession(), child)
    metadata = conversation.metadata
    assert (metadata.id, metadata.parent, metadata.title, metadata.project) == (
        "s1__helper",
        "s1",
        "",
        "/home/ada/boats",
    )
    assert all(message.side for message in conversation.messages)


def test_new_title_counts_as_a_change(tmp_path: Path) -> None:
    shutil.copytree(SESSION.parent, tmp_path / "s1")
    os.utime(tmp_path / "s1" / "s1.json", (4e9, 4e9))
    files = find_transcripts(Settings(sessions=SessionSettings(folders=(str(tmp_path),)))).files
    assert [(Path(file.path).name, file.mtime_ns) for file in files] == [("s1.messages.json", 4 * 10**18)]


def test_cline_task_is_recognised_by_one_extension_only() -> None:
    for path, owner in ((TASK, "cline"), (ROO, "roo-code")):
        for agent in ("cline", "roo-code", "kilo-code"):
            assert ClineTask(agent).matches(str(path), path.read_bytes()) == (agent == owner)
    api = TASK.with_name("api_conversation_history.json")
    assert not CLINE.matches(str(api), api.read_bytes())
    assert not CLINE.matches("/x/ui_messages.json", b"[]")
    assert ClineSession().matches(str(SESSION), SESSION.read_bytes())
    assert not ClineSession().matches("/x/a.messages.json", b'{"sessionId": "x", "messages": []}')


def test_task_in_a_chosen_folder_is_roo_codes_by_its_file(tmp_path: Path) -> None:
    (tmp_path / "tasks/1").mkdir(parents=True)
    path = Path(shutil.copy(ROO, tmp_path / "tasks/1"))
    assert CLINE.matches(str(path), path.read_bytes())
    shutil.copy(ROO.with_name("history_item.json"), path.parent)
    assert [agent for agent in ("cline", "roo-code") if ClineTask(agent).matches(str(path), path.read_bytes())] == [
        "roo-code"
    ]


@pytest.mark.parametrize(
    ("agent", "folder"),
    [
        ("cline", ".config/Code/User/globalStorage/saoudrizwan.claude-dev/tasks"),
        ("cline", ".cline/data/sessions"),
        ("roo-code", "Library/Application Support/Cursor/User/globalStorage/rooveterinaryinc.roo-cline/tasks"),
        ("kilo-code", "AppData/Roaming/Code/User/globalStorage/kilocode.kilo-code/tasks"),
        ("kilo-code", ".vscode-server/data/User/globalStorage/kilocode.kilo-code/tasks"),
        ("kilo-code", ".kilocode/cli/global/tasks"),
        ("roo-code", ".vscode-mock/global-storage/tasks"),
        ("cline", "Library/Application Support/Antigravity/User/globalStorage/saoudrizwan.claude-dev/tasks"),
        ("zoo-code", ".config/Code/User/globalStorage/zoocodeorganization.zoo-code/tasks"),
        ("roo-code", ".config/Code/User/globalStorage/rooveterinaryinc.roo-code-nightly/tasks"),
    ],
)
def test_folders_are_found(tmp_path: Path, agent: str, folder: str) -> None:
    source = SESSION if folder.endswith("sessions") else TASK
    shutil.copytree(source.parent, tmp_path / folder / "1")
    copies = tmp_path / folder / "1" / "checkpoints"
    copies.mkdir()
    shutil.copy(TASK, copies)
    (other,) = find_sources(tmp_path, {}).sources
    assert (other.agent, other.path, other.files) == (agent, str(tmp_path / folder), 1)


def test_truncated_task_is_read_up_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "ui_messages.json"
    path.write_bytes(TASK.read_bytes().partition(b"Let me")[0])
    found, error = read_first(CLINE, path)
    assert [message.text for message in found[0].messages] == [
        "Why does the hull leak?\n[image: PNG, 1 KB]",
        "Look at the hull.",
    ]
    assert isinstance(error, ValueError)


@pytest.mark.parametrize(("format", "path"), [(CLINE, TASK), (ClineSession(), SESSION)])
def test_reading_stops_when_cancelled(format: DocumentFormat, path: Path) -> None:
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        next(format.conversations(str(path), cancel))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    task=st.lists(mangled(json.loads(TASK.read_text()) + json.loads(ROO.read_text())), max_size=4) | json_values,
    session=mangled([json.loads(SESSION.read_text())]) | json_values,
    beside=json_values,
    cut=st.integers(0, 3),
)
def test_any_document_is_read_or_refused(
    tmp_path: Path, task: object, session: object, beside: object, cut: int
) -> None:
    for name in ("history_item.json", "api_conversation_history.json", f"{tmp_path.name}.json", "a.json"):
        (tmp_path / name).write_text(json.dumps(beside))
    for format, name, value in ((CLINE, "ui_messages.json", task), (ClineSession(), "a.messages.json", session)):
        path = tmp_path / name
        data = json.dumps(value).encode()
        path.write_bytes(data[: len(data) - cut])
        found, _ = read_first(format, path)
        for conversation in found:
            for message in conversation.messages:
                assert message.line == message.ordinal
                message.text.encode()
