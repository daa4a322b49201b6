"""Lines of JSON: read from any position, of any length, and damaged."""

import contextlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.base import bounded_json
from engine.corpus.transcripts import jsonl
from engine.corpus.transcripts.jsonl import LARGEST_CONVERSATION, RawLine, json_lines, list_in, parse_line, raw_lines

LONG = 300 * 1024


def nest(inside: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Return lists and objects of these values, with the members of images."""
    members = st.sampled_from(["media_type", "mimeType", "data", "url", "x"])
    return st.lists(inside, max_size=4) | st.dictionaries(members, inside, max_size=4)


lines_of_bytes = st.lists(
    st.sampled_from([b"", b"\r", b"\0", b"{}", b"\xff\xfe", b'{"a": 1}', "ä\u2028".encode()]) | st.binary(max_size=40)
).map(b"\n".join)


@contextmanager
def opened(path: Path) -> Iterator[int]:
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def expected_lines(data: bytes) -> list[RawLine]:
    lines, start = [], 0
    for number, part in enumerate(data.split(b"\n"), 1):
        lines.append(RawLine(number, start, start + len(part), part, True))
        start += len(part) + 1
    last = lines.pop()
    return [*lines, last._replace(complete=False)] if last.data else lines


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("lines") / "transcript.jsonl"


@contextlib.contextmanager
def blocks_of(size: int) -> Iterator[None]:
    """Read files in blocks of this size."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jsonl, "_BLOCK", size)
        yield


@given(data=lines_of_bytes, block=st.integers(1, 50))
def test_any_bytes_in_blocks_of_any_size_are_the_same_lines(scratch: Path, data: bytes, block: int) -> None:
    scratch.write_bytes(data)
    with blocks_of(block), opened(scratch) as descriptor:
        assert list(raw_lines(descriptor)) == expected_lines(data)


@given(data=lines_of_bytes, block=st.integers(1, 50))
def test_reading_resumes_at_any_line(scratch: Path, data: bytes, block: int) -> None:
    scratch.write_bytes(data)
    lines = expected_lines(data)
    with blocks_of(block), opened(scratch) as descriptor:
        for index, line in enumerate(lines):
            assert list(raw_lines(descriptor, offset=line.start, number=line.number)) == lines[index:]
        assert list(raw_lines(descriptor, offset=len(data), number=9)) == []
        assert list(raw_lines(descriptor, offset=len(data) + 100, number=9)) == []


@given(data=lines_of_bytes)
def test_without_pread_the_lines_are_the_same(scratch: Path, data: bytes) -> None:
    scratch.write_bytes(data)
    with pytest.MonkeyPatch.context() as patch, opened(scratch) as descriptor:
        patch.delattr(os, "pread", raising=False)
        assert list(raw_lines(descriptor)) == expected_lines(data)


def test_incomplete_last_line_is_read_once_complete(tmp_path: Path) -> None:
    path = tmp_path / "growing.jsonl"
    path.write_bytes(b'{"a":1}\n{"b":')
    with opened(path) as descriptor:
        *_, half = raw_lines(descriptor)
        assert half == RawLine(2, 8, 13, b'{"b":', False)
        with path.open("ab") as file:
            file.write(b'2}\n{"c":3}\n')
        assert list(raw_lines(descriptor, offset=half.start, number=half.number)) == [
            RawLine(2, 8, 15, b'{"b":2}', True),
            RawLine(3, 16, 23, b'{"c":3}', True),
        ]


def test_lines_of_megabytes_are_read_like_short_ones(tmp_path: Path) -> None:
    path = tmp_path / "long.jsonl"
    values = [{"n": 0}, {"text": "ä\n" * 800_000}, {"n": 2}, {"list": list(range(60_000))}, {"n": 4}]
    path.write_bytes(b"".join(json.dumps(value).encode() + b"\r\n" for value in values))
    with opened(path) as descriptor:
        lines = list(raw_lines(descriptor))
    assert [line.number for line in lines] == [1, 2, 3, 4, 5]
    assert [parse_line(line.data) for line in lines] == values
    assert all(line.data.endswith(b"\r") for line in lines)


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
objects = st.dictionaries(st.text(max_size=8), json_values, max_size=5)


@pytest.mark.parametrize("ascii_only", [True, False])
@given(value=objects)
def test_json_object_is_same_at_any_line_length(ascii_only: bool, value: dict[str, object]) -> None:
    data = json.dumps(value, ensure_ascii=ascii_only).encode()
    assert parse_line(data) == value
    assert parse_line(data + b" " * LONG) == value


@given(data=st.binary(max_size=60) | st.text(max_size=40).map(lambda text: text.encode()), place=st.integers(0, 60))
def test_any_bytes_on_a_line_parse_without_error(data: bytes, place: int) -> None:
    for line in (data, b'{"a":"' + data + b'"}', b'{"a":[' + data, data[:place], data + b" " * LONG):
        value = parse_line(line)
        assert value is None or isinstance(value, dict)


@given(value=objects, cut=st.integers(0, 200))
def test_truncated_object_is_rejected(value: dict[str, object], cut: int) -> None:
    data = json.dumps({"first": 1, **value}).encode()
    data = data[: 1 + cut % (len(data) - 1)]
    assert parse_line(data) is None
    assert parse_line(data + b" " * LONG) is None


@pytest.mark.parametrize("long", [False, True])
@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b'{"a": "\xff\xc3"}', {"a": "\ufffd\ufffd"}),
        (b'\0\0\0{"a": 1}', {"a": 1}),
        (b'{"a": 1}\0\0', {"a": 1}),
        (b'{"a": "x\0y\x1bz"}', {"a": "x y z"}),
        (b'\xef\xbb\xbf{"a": 1}', {"a": 1}),
        (b'{"a": 123456789012345678901234567890}', {"a": 123456789012345678901234567890}),
        (b'{"a": 9223372036854775808, "b": 1.5e3}', {"a": 9223372036854775808, "b": 1500.0}),
        (b'{"a": {"b": [1, [2, {}], []]}, "c": null, "d": true}', {"a": {"b": [1, [2, {}], []]}, "c": None, "d": True}),
        (b'{"a": 1} {"b": 2}', None),
        (b'{"a": 1} and more', None),
        (b'[{"a": 1}]', None),
        (b'"text"', None),
        (b"7", None),
        (b"", None),
        (b"\0" * 50, None),
        (b'{"a": ' + b"9" * 5000 + b"}", None),
        (b'{"a": 1e99999999999999999999}', None),
    ],
)
def test_damaged_line_repaired_or_none(data: bytes, value: dict[str, object] | None, long: bool) -> None:
    parsed = parse_line(data + b" " * LONG if long else data)
    if value is None and b"e9999" in data:
        assert parsed in ({"a": float("inf")}, None)
    else:
        assert parsed == value


def test_half_a_surrogate_pair_loses_no_line() -> None:
    assert parse_line(b'{"a": "x\\ud800y"}') == {"a": "x\ud800y"}
    long = parse_line(b'{"a": "x\\ud800y"}' + b" " * LONG)
    assert long is not None
    assert long["a"].startswith("x")


def test_nan_loses_no_line() -> None:
    value = parse_line(b'{"a": NaN, "b": 1}')
    assert value is not None
    assert value["b"] == 1


@pytest.mark.parametrize("length", [0, LONG])
def test_endless_brackets_are_rejected_without_memory(length: int) -> None:
    depth = 100_000
    line = b'{"a": ' + b"[" * depth + b"]" * depth + b"}" + b" " * length
    assert parse_line(line) is None


def test_only_beginning_of_overlong_line_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonl, "LONGEST_LINE", 1000)
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"x" * 100_000 + b"\n" + b"{}\n" + b"y" * 50_000)
    with path.open("rb") as file:
        long, short, last = jsonl.raw_lines(file.fileno(), at_once=256)
    assert (long.start, long.end, long.complete) == (0, 100_000, True)
    assert 1000 < len(long.data) < 2000
    assert (short.start, short.end, short.data) == (100_001, 100_003, b"{}")
    assert (last.start, last.end, last.complete) == (100_004, 150_004, False)


@given(st.dictionaries(st.text(max_size=5), json_values, max_size=4), st.lists(json_values, max_size=5), st.booleans())
def test_list_of_a_long_object_equals_that_of_a_short_one(around: dict[str, Any], held: list[Any], long: bool) -> None:
    padding = {"padding": "x" * 300_000} if long else {}
    value = {**padding, **around, "history": held, "history2": [1]}
    expected = parse_line(json.dumps(value).encode("utf-8", "surrogatepass"))
    if expected is not None:
        found = list(list_in(json.dumps(value).encode(), "history"))
        assert json.dumps(found) == json.dumps(expected["history"])


@pytest.mark.parametrize("data", [b"", b"[1]", b"3", b'{"history": {}}', b'{"other": [1]}', b'{"history": null}'])
@pytest.mark.parametrize("padding", [b"", b" " * 300_000])
def test_other_values_have_no_list(data: bytes, padding: bytes) -> None:
    with contextlib.suppress(ValueError):
        assert list(list_in(padding + data, "history")) == []


def test_truncated_list_yields_its_beginning() -> None:
    found: list[object] = []
    with pytest.raises(ValueError, match=r"\w"):
        found.extend(list_in(b'{"history": [{"a": 1}, {"b": "' + b"x" * 300_000, "history"))
    assert found == [{"a": 1}]


def test_line_of_many_values_is_not_built(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded_json, "_MAX_EVENTS", 300_000)  # instead of millions, which take seconds
    assert parse_line(b'{"a":[' + b"[]," * 150_000 + b"1]}") is None
    found: list[object] = []
    with pytest.raises(ValueError, match="more values"):
        found.extend(list_in(b'{"history":[1,' + b"[]," * 150_000 + b"2]}", "history"))
    assert found[:2] == [1, []]


def test_lines_of_a_file_longer_than_a_conversation_are_not_read(tmp_path: Path) -> None:
    path = tmp_path / "long.jsonl"
    path.write_text('{"a": 1}\n\n[2]\n{"b"')
    assert list(json_lines(str(path))) == [{"a": 1}, None]
    assert list(json_lines(str(path), mark=b"2")) == []
    os.truncate(path, LARGEST_CONVERSATION + 1)
    with pytest.raises(ValueError, match="too large"):
        next(json_lines(str(path)))
