"""Sessions of Continue."""

import json
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine import find_sources
from engine.base.cancellation import CancelToken
from engine.base.errors import Cancelled
from engine.corpus.transcripts.messages import Message
from engine.corpus.transcripts.parsers.continue_dev import ContinueSession
from engine.corpus.transcripts.token_usage import Usage
from tests.helpers.exports import read, read_first
from tests.helpers.transcripts import json_values, mangled, without_calls

FOLDER = Path(__file__).parent / "fixtures" / "continue" / "sessions"
SESSION = FOLDER / "0c1d2e3f-0000-4000-8000-000000000005.json"


def test_session_lines_become_messages() -> None:
    (conversation,) = read(ContinueSession(), SESSION)
    assert without_calls(conversation.messages) == (
        Message("system", "text", "Be brief.", 1, 1),
        Message("user", "text", "Why does it leak?\n[image: PNG, 1 KB]\n[file: hull.py]", 2, 2),
        Message("assistant", "thinking", "Look at the hull.", 3, 3),
        Message("assistant", "text", "Let me look.", 3, 3),
        Message("assistant", "tool-call", "hull.py", 3, 3, tool="read_file"),
        Message("tool", "tool-result", "seam = None", 3, 3, tool="read_file"),
        Message("assistant", "thinking", "Hm.", 4, 4),
        Message("assistant", "tool-call", "{", 5, 5, tool="ls"),
        Message("tool", "tool-result", "a b", 6, 6, tool="ls"),
        Message("system", "text", "So far: a leak.", 7, 7),
        Message("assistant", "text", "A seam is open.", 7, 7),
    )
    metadata = conversation.metadata
    assert (metadata.id, metadata.title, metadata.project) == (SESSION.stem, "A leaking hull", "/home/ada/my boats")
    assert metadata.started == 1765000000.0
    assert conversation.unknown == {"role oracle": 1}


def test_session_without_a_list_or_a_title_is_read(tmp_path: Path) -> None:
    path = tmp_path / SESSION.name
    path.write_text(json.dumps({**json.loads(SESSION.read_text()), "title": "New Session"}))
    (conversation,) = read(ContinueSession(), path)
    assert (conversation.metadata.title, conversation.metadata.name) == ("", "Why does it leak?")
    assert conversation.metadata.started is None


def test_total_usage_of_the_command_line_is_read(tmp_path: Path) -> None:
    path = tmp_path / SESSION.name
    counts = {
        "totalCost": 0.5,
        "promptTokens": 900,
        "completionTokens": 40,
        "promptTokensDetails": {"cachedTokens": 300},
    }
    session = {**json.loads(SESSION.read_text()), "chatModelTitle": "sonnet", "usage": counts}
    path.write_text(json.dumps(session))
    (conversation,) = read(ContinueSession(), path)
    assert conversation.metadata.usage == {"sonnet": Usage(900, 40, 300, cost=0.5)}


def test_only_own_files_are_recognised() -> None:
    assert ContinueSession().matches(str(SESSION), SESSION.read_bytes())
    listed = FOLDER / "sessions.json"
    assert not ContinueSession().matches(str(listed), listed.read_bytes())


def test_continue_dev_sessions_folder_is_detected(tmp_path: Path) -> None:
    shutil.copytree(FOLDER, tmp_path / ".continue" / "sessions")
    (source,) = find_sources(tmp_path, {}).sources
    assert (source.agent, source.files) == ("continue", 1)


def test_reading_stops_when_cancelled() -> None:
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        next(ContinueSession().conversations(str(SESSION), cancel))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(value=mangled([json.loads(SESSION.read_text())]) | json_values, listed=json_values, cut=st.integers(0, 3))
def test_any_document_is_read_or_refused(tmp_path: Path, value: object, listed: object, cut: int) -> None:
    (tmp_path / "sessions.json").write_text(json.dumps(listed))
    path = tmp_path / SESSION.name
    data = json.dumps(value).encode()
    path.write_bytes(data[: len(data) - cut])
    for conversation in read_first(ContinueSession(), path)[0]:
        for message in conversation.messages:
            assert message.line == message.ordinal
            message.text.encode()
