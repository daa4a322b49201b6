"""Amp's threads."""

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
from engine.corpus.transcripts.parsers.amp import AmpThread
from engine.corpus.transcripts.registry import resume_command
from engine.corpus.transcripts.token_usage import Usage
from tests.helpers.exports import read, read_first
from tests.helpers.transcripts import json_values, mangled, without_calls

THREAD = Path(__file__).parent / "fixtures" / "amp" / "T-0c1d2e3f-0000-4000-8000-000000000004.json"
START = 1765000000.0


def test_amp_thread_messages_are_read() -> None:
    (conversation,) = read(AmpThread(), THREAD)
    assert without_calls(conversation.messages) == (
        Message("user", "text", "Why does the hull leak?", 1, 1, "", START + 1),
        Message("assistant", "thinking", "Look at the hull.", 2, 2),
        Message("assistant", "text", "Let me look.", 2, 2),
        Message("assistant", "tool-call", "hull.py", 2, 2, tool="Read"),
        Message("tool", "tool-result", "seam = None", 3, 3, tool="Read"),
        Message("tool", "tool-result", "x", 3, 3),
        Message("tool", "tool-result", "not there", 3, 3, failed=True),
    )
    metadata = conversation.metadata
    assert (metadata.id, metadata.title, metadata.project) == (THREAD.stem, "A leaking hull", "/home/ada/my boats")
    assert (metadata.started, metadata.ended) == (START, START + 20)
    assert conversation.unknown == {"block hologram": 1, "role oracle": 1}
    assert resume_command("amp", "T-1") == "amp threads continue T-1"


def test_uncached_prompts_of_openais_models_are_sent_tokens(tmp_path: Path) -> None:
    counts = {"inputTokens": 0, "outputTokens": 5, "cacheReadInputTokens": 20, "cacheCreationInputTokens": 7}
    messages = [
        {"role": "assistant", "content": [{"type": "text", "text": "Yes."}], "usage": {"model": model, **counts}}
        for model in ("gpt-5.5", "claude-opus-5")
    ]
    path = tmp_path / "T-1.json"
    path.write_text(json.dumps({"id": "T-1", "messages": messages}))
    (conversation,) = read(AmpThread(), path)
    assert conversation.metadata.usage == {"gpt-5.5": Usage(7, 5, 20), "claude-opus-5": Usage(0, 5, 20, 7)}


def test_requests_of_a_ledger_count_instead_of_messages(tmp_path: Path) -> None:
    counts = {"model": "claude-opus-5", "inputTokens": 9, "outputTokens": 9, "cacheReadInputTokens": 20}
    answer = {"role": "assistant", "messageId": 1, "content": [{"type": "text", "text": "Yes."}], "usage": counts}
    event = {"model": "claude-opus-5", "tokens": {"input": 1, "output": 2}, "toMessageId": 1}
    other = {"model": "claude-haiku-5", "tokens": {"input": 3, "output": 4}}
    path = tmp_path / "T-1.json"
    path.write_text(json.dumps({"id": "T-1", "messages": [answer], "usageLedger": {"events": [event, other, None]}}))
    (conversation,) = read(AmpThread(), path)
    assert conversation.metadata.usage == {"claude-opus-5": Usage(1, 2, 20), "claude-haiku-5": Usage(3, 4)}


def test_only_own_files_are_recognised() -> None:
    assert AmpThread().matches(str(THREAD), THREAD.read_bytes())
    assert not AmpThread().matches("/x/a.json", b'{"id": "x", "messages": []}')
    assert not AmpThread().matches("/x/a.json", b'{"list": [{"id": "T-1"}], "messages": []}')


@pytest.mark.parametrize("data", [".local/share", "AppData/Local"])
def test_amp_sessions_folder_is_detected(tmp_path: Path, data: str) -> None:
    folder = tmp_path / data / "amp" / "threads"
    folder.mkdir(parents=True)
    shutil.copy(THREAD, folder)
    (source,) = find_sources(tmp_path, {}).sources
    assert (source.agent, source.path, source.files) == ("amp", str(folder), 1)


def test_reading_stops_when_cancelled() -> None:
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        next(AmpThread().conversations(str(THREAD), cancel))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(value=mangled([json.loads(THREAD.read_text())]) | json_values, cut=st.integers(0, 3))
def test_any_document_is_read_or_refused(tmp_path: Path, value: object, cut: int) -> None:
    path = tmp_path / THREAD.name
    data = json.dumps(value).encode()
    path.write_bytes(data[: len(data) - cut])
    for conversation in read_first(AmpThread(), path)[0]:
        for message in conversation.messages:
            assert message.line == message.ordinal
            message.text.encode()
