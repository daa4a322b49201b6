"""Compressed transcripts: the same bytes, however they are read."""

import os
import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.corpus.transcripts import jsonl
from engine.corpus.transcripts.jsonl import Unpacked, raw_lines
from engine.corpus.transcripts.transcript_reader import opened, transcript_lines
from tests.helpers.transcripts import read_session

FIXTURES = Path(__file__).parent / "fixtures" / "codex"
DATA = random.Random(7).randbytes(1_500_000) + b"x" * 1_500_000


@contextmanager
def unpacked(path: Path) -> Iterator[Unpacked]:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        yield Unpacked(descriptor)
    finally:
        os.close(descriptor)


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("packed") / "rollout-1.jsonl.zst"
    # Two concatenated frames.
    path.write_bytes(zstandard.compress(DATA[:1_000_000], 3) + zstandard.compress(DATA[1_000_000:], 3))
    return path


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(0, len(DATA) + 10), st.integers(0, 400_000)), min_size=1, max_size=6))
def test_any_range_can_be_read_in_any_order(packed: Path, places: list[tuple[int, int]]) -> None:
    with unpacked(packed) as source:
        for position, size in places:
            assert source.read_at(position, size) == DATA[position : position + size]


def test_reading_on_begins_only_once(packed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[None] = []
    original = Unpacked._begin
    monkeypatch.setattr(Unpacked, "_begin", lambda self: (begun.append(None), original(self))[1])
    with unpacked(packed) as source:
        for position in range(0, len(DATA), 256 * 1024):
            source.read_at(position, 256 * 1024)
            source.read_at(max(0, position - 4096), 4096)  # bytes before the current position
            assert len(source._kept) < 2_000_000
    assert len(begun) == 1


@pytest.mark.parametrize("fixture", sorted(FIXTURES.glob("*.jsonl")), ids=lambda path: path.name)
def test_a_compressed_transcript_reads_like_the_plain_one(fixture: Path, tmp_path: Path) -> None:
    plain = tmp_path / "rollout-2026-03-01T10-00-00-0199a213-81c0-7800-8aa1-bbab2a035a53.jsonl"
    plain.write_bytes(fixture.read_bytes())
    packed = tmp_path / f"{plain.name}.zst"
    packed.write_bytes(zstandard.compress(plain.read_bytes(), 3))
    assert read_session(packed, "") == read_session(plain, "") is not None
    with opened(plain) as (file, _), opened(packed) as (source, _):
        lines = list(raw_lines(file))
        assert list(raw_lines(source)) == lines
    for line in lines:
        assert list(transcript_lines(packed, [line.number])) == [(line.number, line.data)]
    assert not list(transcript_lines(packed, [len(lines) + 1]))


@pytest.mark.parametrize("content", [b"no zstd", zstandard.compress(b"one frame") + b"and then something else"])
def test_damage_gives_one_sentence(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "rollout-1.jsonl.zst"
    path.write_bytes(content)
    with unpacked(path) as source, pytest.raises(OSError, match="damaged"):
        source.read_at(0, 100)


def test_truncated_file_yields_available_part(tmp_path: Path, packed: Path) -> None:
    path = tmp_path / "rollout-1.jsonl.zst"
    path.write_bytes(packed.read_bytes()[:700_000])
    with unpacked(path) as source:
        data = source.read_at(0, len(DATA))
    assert 100_000 < len(data) < 1_000_000
    assert DATA.startswith(data)


def test_transcript_that_unpacks_too_large_is_refused(packed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonl, "_LARGEST", 1_000_000)
    with unpacked(packed) as source, pytest.raises(OSError, match="too large for a transcript"):
        source.read_at(2_000_000, 10)
