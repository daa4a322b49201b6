"""A quick scan of a transcript finds the same metadata as reading it, or metadata that reading corrects."""

import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.corpus.transcripts.quick_summary import QuickSummary, read_quick_summary
from engine.corpus.transcripts.transcript_reader import opened
from tests.benchmarks.transcripts import transcript, write_sessions
from tests.engine.corpus.transcripts.test_recognition import LINES
from tests.helpers.transcripts import read_session

SECRET = "ghp_" + "a1B2c3D4" * 5


def glance_at(path: Path) -> QuickSummary | None:
    with opened(path) as (descriptor, state):
        return read_quick_summary(descriptor, str(path), state.st_size)


def known(found: QuickSummary) -> tuple[object, ...]:
    metadata = found.metadata
    return (
        metadata.agent,
        metadata.id,
        metadata.name,
        metadata.project,
        metadata.branch,
        metadata.parent,
        metadata.started,
        metadata.ended,
    )


@pytest.mark.parametrize("fixture", LINES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_short_transcript_summary_is_exact(fixture: Path) -> None:
    session = read_session(fixture, "")
    assert session is not None
    speech = [message for message in session.messages if message.is_speech]
    found = glance_at(fixture)
    if session.metadata.generated or not speech:
        assert found is None
    else:
        assert found is not None
        assert found.messages == sum(map(session.metadata.counts, speech))
        assert known(found) == known(QuickSummary(session.metadata, 0))


@pytest.mark.parametrize("size", [40_000, 200_000, 3_000_000])
def test_long_transcript_summary_estimates_message_count(tmp_path: Path, size: int) -> None:
    write_sessions(tmp_path, 5, 5 * size, seed=3)
    for number in range(5):
        path = transcript(tmp_path, number)
        session = read_session(path, "")
        found = glance_at(path)
        assert session is not None
        assert found is not None
        assert known(found) == known(QuickSummary(session.metadata, 0))
        real = sum(message.is_speech for message in session.messages)
        assert found.messages == (real if path.stat().st_size < 144 * 1024 else pytest.approx(real, rel=0.5))


@pytest.mark.parametrize("fixture", LINES, ids=lambda path: f"{path.parent.name}/{path.name}")
@pytest.mark.parametrize("size", [20_000, 200_000])
def test_long_line_transcript_known_by_first_words(tmp_path: Path, fixture: Path, size: int) -> None:
    """A line of unknown format that exceeds one read; only reading the whole transcript finds titles after it."""
    path = tmp_path / fixture.name
    start, _, rest = fixture.read_bytes().partition(b"\n")
    path.write_bytes(b"\n".join([start, b'{"padding":"%s"}' % (b"x" * size), rest]))
    session = read_session(path, "")
    assert session is not None
    found = glance_at(path)
    if session.metadata.generated or not any(message.is_speech for message in session.messages):
        assert found is None
    else:
        assert found is not None
        begun = [
            known(QuickSummary(msgspec.structs.replace(metadata, title="", ended=None), 0))
            for metadata in (found.metadata, session.metadata)
        ]
        assert begun[0] == begun[1]


def test_quick_summary_has_the_latest_title(tmp_path: Path) -> None:
    write_sessions(tmp_path, 1, 100_000)
    path = transcript(tmp_path, 0)
    with path.open("a") as file:
        file.write(json.dumps({"type": "ai-title", "aiTitle": "Rigging the boat", "sessionId": "s"}) + "\n")
    session = read_session(path, "")
    found = glance_at(path)
    assert session is not None
    assert found is not None
    assert found.metadata.title == "Rigging the boat"
    assert known(found) == known(QuickSummary(session.metadata, 0))


def test_secrets_in_the_opening_are_masked(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    head = {"type": "session", "id": "s", "cwd": "/x"}
    message = {"type": "message", "id": "m", "message": {"role": "user", "content": f"My token is {SECRET}"}}
    path.write_text(f"{json.dumps(head)}\n{json.dumps(message)}\n")
    found = glance_at(path)
    assert found is not None
    assert found.metadata.opening.startswith("My token is")
    assert SECRET[8:] not in found.metadata.opening


def test_distant_user_text_is_not_an_opening(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    head = {"type": "session", "id": "s", "cwd": "/x"}
    text = [{"type": "text", "text": "Good morning. " * 1000}]
    answer = {"type": "message", "id": "a", "message": {"role": "assistant", "content": text}}
    message = {"type": "message", "id": "m", "message": {"role": "user", "content": "Stop it."}}
    lines = [json.dumps(one, separators=(",", ":")) for one in (head, *[answer] * 60, message)]
    path.write_text("\n".join(lines) + "\n")
    found = glance_at(path)
    assert found is not None
    assert (found.metadata.opening, found.messages) == ("", pytest.approx(61, rel=0.6))


@pytest.mark.parametrize(
    "content", [b"", b"\n", b"{}\n", b"[]\n", b'{"level": "info"}\n' * 100, b"\x00" * 100_000, b"# N\n"]
)
def test_other_files_have_no_quick_summary(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "other.jsonl"
    path.write_bytes(content)
    assert glance_at(path) is None


def test_json_document_has_no_quick_summary(tmp_path: Path) -> None:
    document = {"sessionId": "s", "projectHash": "00", "messages": [{"id": "m", "type": "user", "content": "Hello."}]}
    path = tmp_path / "session-1.json"
    path.write_text(json.dumps(document))
    assert glance_at(path) is None


@given(st.data())
def test_cut_or_damaged_transcript_never_raises(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    content = bytearray(data.draw(st.sampled_from(LINES)).read_bytes())
    for _ in range(data.draw(st.integers(0, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.getbasetemp() / "damaged.jsonl"
    path.write_bytes(content[: data.draw(st.integers(0, len(content)))])
    glance_at(path)


@pytest.mark.parametrize("size", [40_000, 200_000])
def test_lines_with_other_spaces_have_no_message_count(tmp_path: Path, size: int) -> None:
    write_sessions(tmp_path, 1, size, seed=3)
    path = transcript(tmp_path, 0)
    lines = [json.dumps(json.loads(line), separators=(" , ", " : ")) for line in path.read_text("utf-8").splitlines()]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    found = glance_at(path)
    assert found is not None
    assert found.messages == 0
