"""A transcript that is read again while it grows gives the same session as one that is read once."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from engine.base.cancellation import CancelToken
from engine.base.errors import Cancelled
from engine.corpus.transcripts.formats import Conversation
from engine.corpus.transcripts.transcript_reader import Position, read_on
from tests.helpers.transcripts import read_session

FIXTURES = Path(__file__).parent / "fixtures"
LINES = sorted(path for path in FIXTURES.rglob("*.jsonl") if read_on(path, "", None).position is not None)
CLAUDE = FIXTURES / "claude_code"


def _parts_of(fixture: Path) -> Iterator[bytes]:
    """Yield a transcript after each of its lines, and in the middle of some."""
    data = fixture.read_bytes()
    ends = [index + 1 for index, byte in enumerate(data) if byte == ord("\n")]
    for end in [*ends, len(data)]:
        if end % 3 == 0:
            yield data[: end - 5]
        yield data[:end]


@pytest.mark.parametrize("fixture", LINES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_growing_transcript_reads_same_as_whole(fixture: Path, tmp_path: Path) -> None:
    path = tmp_path / fixture.name
    path.touch()
    position: Position | None = None
    messages: list = []
    continued = 0
    for part in _parts_of(fixture):
        with path.open("r+b") as file:  # the same file, as an agent writes it
            file.write(part)
        whole = read_session(path, "")
        read = read_on(path, "", position)
        position = read.position
        if whole is None:
            assert read.conversation is None
            continue
        assert read.conversation is not None
        if not read.continued:
            messages.clear()
        continued += read.continued
        messages += read.conversation.messages
        assert messages == [*whole.messages]
        assert _metadata(read.conversation) == _metadata(whole)
    assert continued


def _metadata(session: Conversation) -> tuple:
    return msgspec.to_builtins(session.metadata), session.unknown


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "session.jsonl"
    path.write_bytes(max(CLAUDE.glob("*.jsonl"), key=os.path.getsize).read_bytes().rstrip() + b"\n")
    return path


def test_unchanged_transcript_has_no_new_messages(path: Path) -> None:
    first = read_on(path, "", None)
    again = read_on(path, "", first.position)
    assert again.continued
    assert again.conversation is not None
    assert again.conversation.messages == ()


@pytest.mark.parametrize("change", ["shorter", "other end", "other file"])
def test_replaced_transcript_is_read_whole(path: Path, change: str) -> None:
    first, data = read_on(path, "", None), path.read_bytes()
    if change == "shorter":
        os.truncate(path, len(data) - len(data.splitlines()[-1]) - 1)
    elif change == "other end":
        path.write_bytes(data[:-3] + b" }\n")
    else:
        path.rename(path.with_suffix(".old"))
        path.write_bytes(data)
    again = read_on(path, "", first.position)
    assert not again.continued
    assert again.conversation == read_session(path, "")


def test_cancelled_reading_raises(path: Path) -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        read_on(path, "", None, token)


def test_changed_metadata_file_updates_metadata(tmp_path: Path) -> None:
    path, meta = tmp_path / "messages.jsonl", tmp_path / "meta.json"
    messages = [f'{{"role": "user", "content": "Varnish it.", "message_id": "{number}"}}\n' for number in range(3)]
    metadata: dict[str, Any] = {"session_id": "v", "title": "Varnish", "stats": {"session_prompt_tokens": 1}}
    position: Position | None = None
    for number, more in enumerate(
        ({}, {"stats": {"session_prompt_tokens": 9}}, {"title": "Masts", "git_branch": "main"})
    ):
        metadata |= more
        meta.write_text(json.dumps(metadata))
        with path.open("a") as file:
            file.write(messages[number])
        read, whole = read_on(path, "", position), read_session(path, "")
        assert read.conversation is not None
        assert whole is not None
        assert _metadata(read.conversation) == _metadata(whole)
        assert read.continued == (number == 1)
        position = read.position
    assert read.conversation.metadata.title == "Masts"


def test_title_replaced_at_the_front_of_the_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"

    def title(text: str) -> bytes:
        return json.dumps({"type": "title", "title": text, "pad": " " * (40 - len(text))}).encode() + b"\n"

    messages = b'{"type": "message", "message": {"role": "user", "content": "%s"}}\n' % (b"Varnish it. " * 1000)
    path.write_bytes(title("Varnish") + b'{"type": "session", "id": "s", "cwd": "/boats"}\n' + messages)
    before = read_on(path, "", None)
    assert before.conversation is not None
    assert before.conversation.metadata.title == "Varnish"
    with path.open("r+b") as file:
        file.write(title("Masts"))
        file.seek(0, os.SEEK_END)
        file.write(messages)
    after = read_on(path, "", before.position)
    assert after.conversation is not None
    assert (after.conversation.metadata.title, after.continued) == ("Masts", False)
