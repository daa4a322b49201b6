"""Aider's histories, each with several sessions."""

from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.base.cancellation import CancelToken
from engine.base.errors import Cancelled
from engine.corpus.transcripts.formats import Conversation
from engine.corpus.transcripts.messages import Message
from engine.corpus.transcripts.parsers.aider import AiderHistory
from engine.corpus.transcripts.registry import may_be_transcript, session_folders
from engine.corpus.transcripts.tool_uses import uses_of
from engine.corpus.transcripts.transcript_reader import document_format, opened
from engine.corpus.user_environment import Machine
from tests.helpers.transcripts import read_session

HISTORY = Path(__file__).parent / "fixtures" / "aider" / ".aider.chat.history.md"
START = datetime(2025, 5, 4, 9, 0, 5).timestamp()  # Aider writes the local time, without a zone


def read(path: Path) -> list[Conversation]:
    return list(AiderHistory().conversations(str(path)))


def parsed(path: Path, text: str) -> list[tuple[str, str, str, str]]:
    path.write_text("# aider chat started at 2025-05-04 09:00:05\n\n" + text)
    parts = [message for conversation in read(path) for message in conversation.messages]
    return [(part.role, part.kind, part.text, part.tool) for part in parts]


def test_a_history_has_several_sessions() -> None:
    first, second = read(HISTORY)
    banner = "Aider v0.83.1\nGit repo: .git with 2 files"
    answer = "The hull has **no seams**:\n\n```markdown\n> a quote, not output\n```\n\nRun the tests."
    assert first.messages == (
        Message("tool", "tool-result", banner, line=1, ordinal=1, time=START),
        Message("system", "text", "/add hull.py", 2, 2, time=START),
        Message("tool", "tool-result", "Added hull.py to the chat", 3, 3, time=START),
        Message("user", "text", "Why does it leak?\n\nIt did not in spring.", 4, 4, time=START),
        Message("assistant", "text", answer, 5, 5, time=START),
        Message("assistant", "tool-call", "hull.py", 6, 6, time=START, tool="edit"),
        Message("tool", "tool-result", "Tokens: 2.1k sent, 41 received.", 6, 6, time=START),
        Message("user", "text", "/ask and the keel?", 7, 7, time=START),
        Message("assistant", "text", "It is dry.", 8, 8, time=START),
        Message("user", "tool-call", "ls", 9, 9, time=START, tool="run"),
        Message("tool", "tool-result", "hull.py", 10, 10, time=START),
    )
    metadata = first.metadata
    assert (metadata.agent, metadata.title, metadata.opening) == (
        "aider",
        "",
        "Why does it leak? It did not in spring.",
    )
    assert (metadata.project, metadata.started) == (str(HISTORY.parent), START)
    assert [message.text for message in second.messages] == ["Sails?"]
    assert (first.key, second.key) == ("2025-05-04T09-00-05", "2025-05-04T09-00-05-2")


def test_format_is_recognised_by_content(tmp_path: Path) -> None:
    other = tmp_path / "notes.md"
    other.write_text("How aider works\n> # aider chat started at 2025-05-04 09:00:05\n")
    known = {}
    for path in (HISTORY, other):
        with opened(path) as (descriptor, _):
            found = document_format(descriptor, str(path))
        known[path.name] = found and found.agent
    assert known == {".aider.chat.history.md": "aider", "notes.md": None}
    assert may_be_transcript(str(HISTORY))
    assert not may_be_transcript("/x/notes.md")


def test_a_session_is_found_by_its_key() -> None:
    session = read_session(HISTORY, "2025-05-04T09-00-05-2")
    assert session is not None
    assert session.metadata.id == "2025-05-04T09-00-05-2"
    assert read_session(HISTORY, "2025-05-04T09-00-00") is None


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("#### /run pytest -q\n", []),
        ("Hello.\n#### /run pytest -q\n", [("user", "tool-call", "pytest -q", "run")]),
        ("Hello.\n#### /git status\n", [("user", "tool-call", "git status", "git")]),
        ("Hello.\n#### /tokens\n", [("system", "text", "/tokens", "")]),
        ("Hello.\n#### /ask\n", [("system", "text", "/ask", "")]),
        ("Hello.\n\n>\n> \n####\n", []),
        ("Hello.\n# aider chat started yesterday\n", []),
    ],
)
def test_commands_are_not_speech(tmp_path: Path, text: str, parts: list[tuple[str, ...]]) -> None:
    assert [part for part in parsed(tmp_path / "h.md", text) if part[0] != "assistant"] == parts


def test_edits_are_uses_of_files(tmp_path: Path) -> None:
    path = tmp_path / "h.md"
    path.write_text(
        "#### Seal it.\n\nApplied edit to my mind.\n\n> Applied edit to hull.py  \n"
        "> Applied edit to sub dir/keel.py  \n"
        "> Did not apply edit to mast.py (--dry-run)  \n"
    )
    (conversation,) = read(path)
    uses = [use for message in conversation.messages for use in uses_of(message)]
    assert uses == [("edited", "hull.py"), ("edited", "sub dir/keel.py")]
    assert [message.text for message in conversation.messages][-1] == "Did not apply edit to mast.py (--dry-run)"


def test_text_before_the_first_start_is_a_session(tmp_path: Path) -> None:
    path = tmp_path / "h.md"
    path.write_bytes(b"#### Caf\xff?\r\n\r\nYes.\r\n")
    (conversation,) = read(path)
    assert [message.text for message in conversation.messages] == ["Caf\ufffd?", "Yes."]
    assert (conversation.key, conversation.metadata.started) == ("earlier", None)


def test_a_long_line_is_one_message(tmp_path: Path) -> None:
    long = "# of many > " * 50_000
    assert parsed(tmp_path / "h.md", f"#### One line {long}\n> output\n") == [
        ("user", "text", f"One line {long}".strip(), ""),
        ("tool", "tool-result", "output", ""),
    ]


def test_a_session_without_end_is_bounded(tmp_path: Path) -> None:
    path = tmp_path / "h.md"
    with path.open("w") as file:
        file.write("#### Why?\n")
        for _ in range(70):
            file.write("x" * 1024**2)
        file.write("\n#### Still?\n")
    (conversation,) = read(path)
    assert [len(message.text) for message in conversation.messages] == [4, 256 * 1024 * 255]
    assert conversation.unknown == {"rest of a session that is too long": 1}


def test_reading_stops_when_cancelled() -> None:
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        next(AiderHistory().conversations(str(HISTORY), cancel))


def test_history_of_the_home_folder_is_found(tmp_path: Path) -> None:
    machine = Machine(str(tmp_path), {"AIDER_CHAT_HISTORY_FILE": str(tmp_path / "x.md")})
    found = [path for agent, _, path in session_folders(machine) if agent == "aider"]
    assert found == [str(tmp_path / "x.md"), str(tmp_path / ".aider.chat.history.md")]


_LINES = st.sampled_from(
    ["#### ", "> ", "# aider chat started at 2025-05-04 09:00:05", "# aider chat started at 9999-99-99 99:99:99", "```"]
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(_LINES | st.just(""), st.text(max_size=8), st.sampled_from(["\n", "\r\n", "", "  \n"]))))
def test_any_text_is_read(tmp_path: Path, pieces: list[tuple[str, str, str]]) -> None:
    path = tmp_path / "h.md"
    path.write_bytes("".join("".join(piece) for piece in pieces).encode("utf-8", "surrogatepass"))
    found = read(path)
    assert len({conversation.key for conversation in found}) == len(found)
    for conversation in found:
        assert [message.ordinal for message in conversation.messages] == list(range(1, len(conversation.messages) + 1))
        for message in conversation.messages:
            message.text.encode()
