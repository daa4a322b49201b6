"""Sessions of Muse Code."""

import shutil
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from engine import find_sources
from engine.corpus.transcripts.messages import Message
from engine.corpus.transcripts.parsers.muse import MuseFormat
from engine.corpus.transcripts.registry import resume_command
from engine.corpus.transcripts.token_usage import Usage
from engine.corpus.transcripts.tool_uses import uses_of
from tests.helpers.transcripts import feed, fixture_lines, mangled, read_with_pauses, stored_after_every_line

ID = "0c1d2e3f-0000-7000-8000-000000000041"
DAY = Path(__file__).parent / "fixtures" / "muse" / "2025" / "12" / "06"
SESSION = DAY / ID / "session.jsonl"
CALLED = next(DAY.glob("*/subagent/*/session.jsonl"))
LINES = fixture_lines(SESSION)
START = 1_765_000_000.0


def parts_of(messages: list[Message]) -> list[tuple[str, str, str, str, float | None]]:
    return [(one.role, one.kind, one.text, one.tool, one.time and one.time - START) for one in messages]


def test_session_lines_become_messages() -> None:
    parser = MuseFormat().parser(str(SESSION))
    messages = feed(parser, LINES)
    edit = '{\n  "path": "src/hull.py",\n  "find": "None",\n  "replace": "1"\n}'
    assert parts_of(messages) == [
        ("user", "text", "Why does the hull leak?", "", 1),
        ("assistant", "thinking", "Look at the seams.", "", 2),
        ("assistant", "text", "Let me look.", "", 3),
        ("assistant", "tool-call", "pytest tests/hull", "bash", 3),
        ("assistant", "tool-call", edit, "edit_file", 3),
        ("tool", "tool-result", "1 failed", "bash", 4),
        ("tool", "tool-result", "edited", "edit_file", 4),
        ("user", "text", "Use glue.", "", 5),
        ("system", "text", "A timer", "", 5),
        ("assistant", "text", "A seam is open.", "", 6),
        ("system", "text", "Rate limit reached", "", 8),
        ("user", "tool-call", "ls", "shell", 9),
        ("tool", "tool-result", "hull.py", "shell", 9),
    ]
    metadata = parser.metadata
    assert (metadata.id, metadata.title, metadata.parent) == (ID, "Leaking hull", "")
    assert (metadata.opening, metadata.project, metadata.branch) == (
        "Why does the hull leak?",
        "/home/ada/boats",
        "main",
    )
    assert metadata.usage == {"muse-spark-1.3": Usage(300, 50, 600, 100), "muse-spark": Usage(200, 20, 0, 0)}
    assert parser.unknown == {"event hologram": 1, "oracle.spoke": 1}
    uses = [(use.kind, use.value) for message in messages for use in uses_of(message)]
    assert uses == [("command", "pytest tests/hull"), ("edited", "src/hull.py"), ("command", "ls")]


def test_sub_agent_names_its_caller() -> None:
    parser = MuseFormat().parser(str(CALLED))
    messages = feed(parser, fixture_lines(CALLED))
    assert [(one.text, one.side) for one in messages] == [("Search the seams.", True), ("Two seams.", True)]
    assert (parser.metadata.id, parser.metadata.parent) == (CALLED.parent.name, ID)


def test_folder_is_found_and_session_resumes(tmp_path: Path) -> None:
    folder = tmp_path / ".local" / "share" / "muse" / "sessions"
    shutil.copytree(DAY, folder / "2025" / "12" / "06")
    for name in ("approval-review", "tool-outputs"):
        shutil.copytree(CALLED.parent, folder / "2025" / "12" / "06" / ID / name)
    (source,) = find_sources(tmp_path, {}).sources
    assert (source.agent, source.path, source.files) == ("muse", str(folder), 2)
    assert resume_command("muse", ID) == f"muse resume {ID}"


def test_reading_lines_resumes() -> None:
    read_with_pauses(MuseFormat(), str(SESSION), LINES)


@given(st.lists(mangled([value for _, value in LINES])))
def test_any_line_parses_and_state_serializes(values: list[dict[str, Any]]) -> None:
    stored_after_every_line(MuseFormat(), values)


def test_huge_time_and_half_surrogate_pair_lose_no_message() -> None:
    event = {"kind": "inbox_item_queued", "source": {"source": "user_steer"}, "body": "Glue \ud800"}
    record = {"payload_type": "runtime.session", "payload": {"kind": "run", "event": event}, "recorded_at": 10**400}
    _, messages = stored_after_every_line(MuseFormat(), [record])
    assert [(message.text[:4], message.time) for message in messages] == [("Glue", None)]
