"""Random transcripts through a sync: no crash, no missing message, and the exact lines of every chunk."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.backends import builtin
from engine.backends.builtin import BuiltinMemory
from engine.settings import Settings
from engine.settings.options import SessionSettings, StoreSettings
from tests.helpers.fake_provider import selection_of
from tests.helpers.transcripts import json_values, mangled

OPENCLAW = {"type": "message", "id": "m1", "message": {"role": "user", "content": [{"type": "text", "text": "Hello."}]}}
CLAUDE = {
    "type": "assistant", "sessionId": "s", "uuid": "u1", "cwd": "/x", "gitBranch": "main",
    "message": {"role": "assistant", "id": "a", "content": [{"type": "text", "text": "Hello."}]},
}  # fmt: skip
CODEX = {"type": "response_item", "payload": {"type": "message", "role": "user", "content": [{"text": "Hello."}]}}
HEADS = (
    {"type": "session", "id": "s", "cwd": "/x", "version": 3},
    {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}},
    {"type": "session_meta", "payload": {"id": "s", "cwd": "/x"}},
)
LONG = 50_000_000


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BuiltinMemory]:
    folder = tmp_path_factory.mktemp("fuzz")
    for name in ("notes", "transcripts"):
        (folder / name).mkdir()
    chosen = Settings(
        sessions=SessionSettings(folders=(str(folder / "transcripts"),)), store=StoreSettings(path=str(folder / "data"))
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(builtin, "select_provider", lambda *_, **__: selection_of(None))
        opened = BuiltinMemory(folder / "notes", chosen, executor=None, background=False)
        opened.status()
        yield opened
        opened.close()


def sync(memory: BuiltinMemory, content: bytes) -> list[tuple[str, list[tuple[int, int]], int, int]]:
    """Index one transcript. Return each chunk's text, (offset, line) pairs of its messages, first and last line."""
    path = Path(memory.status().workspace_dir).parent / "transcripts/s.jsonl"
    path.unlink(missing_ok=True)
    memory.sync()
    path.write_bytes(content)
    report = memory.sync()
    assert (report.error, report.failed) == ("", ())
    with memory.store.read() as snapshot:
        ids = snapshot.chunks_of_files([file.id for file in snapshot.files("sessions").values()])
        found = list(snapshot.chunks(ids).values())
    offsets = [[(one[0], one[1]) for one in json.loads(chunk.message_offsets or b"[]")] for chunk in found]
    return [(chunk.text, at, chunk.start_line, chunk.end_line) for chunk, at in zip(found, offsets, strict=True)]


def spoken(kind: int, number: int, text: str) -> bytes:
    """Return a line with a message of this text."""
    role = "user" if number % 2 else "assistant"
    if kind == 0:
        value = {"type": "message", "id": f"m{number}", "message": {"role": role, "content": text}}
    elif kind == 1:
        value = CLAUDE | {"uuid": f"n{number}", "type": role, "message": {"role": role, "content": text}}
    else:
        value = {"type": "response_item", "payload": {"type": "message", "role": role, "content": [{"text": text}]}}
    return json.dumps(value).encode()


plain_noise = st.one_of(
    json_values.map(lambda value: json.dumps(value).encode()),
    st.binary(max_size=40).map(lambda data: data.replace(b"\n", b"")),
    st.sampled_from([b"", b"  ", b"\r", b"\0\0\0", b"{", b'{"type":', b"\xff\xfe", b"[" * 600]),
)


def noise(*samples: dict[str, Any]) -> st.SearchStrategy[bytes]:
    """Return random lines, some of them like these samples with random JSON inserted."""
    return plain_noise | mangled(samples).map(lambda value: json.dumps(value).encode())


NOISE = [noise(sample) for sample in (OPENCLAW, CLAUDE, CODEX)]
words = st.text(st.sampled_from("ab \n日#`"), max_size=60).map(lambda text: text * 12)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_every_message_is_found_on_its_line(memory: BuiltinMemory, data: st.DataObject) -> None:
    kind = data.draw(st.integers(0, 2))
    lines = [json.dumps(HEADS[kind]).encode()]
    line_of: dict[str, int] = {}
    for number in range(data.draw(st.integers(1, 12))):
        lines += data.draw(st.lists(NOISE[kind], max_size=2))
        token = f"anchor{number}chain"
        line = spoken(kind, number, f"{token} {data.draw(words)}")
        # Bytes that a crash leaves in the middle of a line are ignored by readers.
        lines.append(line.replace(b'"id"', b'\0"id"') if data.draw(st.booleans()) else line)
        line_of[token] = len(lines)
    end = data.draw(st.sampled_from([b"", b"\n", b"\r\n", b'\n{"type": "mess', b"\n\0\0"]))
    chunks = sync(memory, b"\n".join(lines) + end)
    for token, line in line_of.items():
        holding = [chunk for chunk in chunks if token in chunk[0]]
        assert holding
        for text, offsets, first, last in holding:
            assert first <= line <= last
            assert line == [at for offset, at in offsets if offset <= text.index(token)][-1]
    for _, offsets, first, last in chunks:
        assert [line for _, line in offsets] == sorted(line for _, line in offsets)
        assert (first, last) == (offsets[0][1], offsets[-1][1])


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    lines=st.lists(
        noise(OPENCLAW, CLAUDE, CODEX) | st.sampled_from(HEADS).map(lambda value: json.dumps(value).encode()),
        max_size=25,
    ),
    cut=st.integers(0, 60),
)
def test_transcript_of_any_bytes_is_synced_without_error(memory: BuiltinMemory, lines: list[bytes], cut: int) -> None:
    content = b"\n".join(lines)
    sync(memory, content[: len(content) - cut])


def test_line_of_50_megabytes_leaves_other_lines_readable(memory: BuiltinMemory) -> None:
    result = {"role": "toolResult", "toolName": "exec", "content": [{"type": "text", "text": "x" * LONG}]}
    lines = [
        json.dumps(HEADS[0]).encode(),
        spoken(0, 1, "anchor1chain"),
        json.dumps({"type": "message", "id": "r", "message": result}).encode(),
        b"x" * (LONG // 10),
        spoken(0, 2, "anchor2chain"),
    ]
    ((text, offsets, _, _),) = sync(memory, b"\n".join(lines) + b"\n")
    assert [line for _, line in offsets] == [2, 5]
    assert text == "User: anchor1chain\n\nAssistant: anchor2chain"
