"""Limits on external JSON: depth, and integers that would crash the parser."""

import io
import json
import re
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.base.bounded_json import BoundedDigits, DividedStrings, check_depth, check_digits, decode_toml
from engine.corpus.transcripts.export_reader import conversations
from engine.corpus.transcripts.jsonl import parse_line
from engine.embedding.response_parsing import read_json
from engine.embedding.service_errors import Transient

_LONG = "1" * 5000
_CUT = [
    '[{"mapping": {"x": {"message": {"create_time": ' + _LONG,
    '[{"mapping": {"x": {"message": {"create_time": ' + _LONG + ", ",
    '[{"mapping": {"x": {"message": {"create_time": ' + _LONG + "}}}}]",
]


def test_export_with_endless_integer_never_crashes(tmp_path: Path) -> None:
    """In a separate process, many times: a parser that leaves an error behind crashes later."""
    paths = [tmp_path / str(number) / "conversations.json" for number in range(len(_CUT))]
    for path, text in zip(paths, _CUT, strict=True):
        path.parent.mkdir()
        path.write_text(text, "utf-8")
    code = (
        "import gc, sys\n"
        "from engine.corpus.transcripts.export_reader import conversations\n"
        "def read(path):\n"
        "    try:\n"
        "        list(conversations(path))\n"
        "    except ValueError:\n"
        "        pass\n"
        "    gc.collect()\n"
        "for path in sys.argv[1:]:\n"
        "    read(path)\n"
        "gc.freeze()\n"  # a collection then visits only what reading makes
        "for path in sys.argv[1:]:\n"
        "    for _ in range(200):\n"
        "        read(path)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, *map(str, paths)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_long_line_with_endless_integer_is_skipped() -> None:
    assert parse_line(b'{"a": "' + b"x" * 300_000 + b'", "b": ' + _LONG.encode() + b"}") is None
    text = "x" * 300_000 + _LONG
    assert parse_line(json.dumps({"a": text}).encode()) == {"a": text}


@given(st.lists(st.integers(0, 9000)), st.integers(1, 5000))
def test_bounded_digits_shortens_runs_wherever_blocks_end(runs: list[int], size: int) -> None:
    text = b"x".join(b"7" * run for run in runs)
    file = BoundedDigits(io.BytesIO(text))
    assert b"".join(iter(lambda: file.read(size), b"")) == b"x".join(b"7" * min(run, 4300) for run in runs)


@pytest.mark.parametrize("body", [b"[" * 40_000, b'{"a":' * 40_000, b"[" * 2_000_000])
def test_answer_of_brackets_is_refused_in_little_memory(body: bytes) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(Transient):
            read_json(body)
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()


def test_export_of_brackets_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "conversations.json"
    path.write_bytes(b'[{"a":' + b"[" * 100_000)
    with pytest.raises(ValueError, match="nested"):
        list(conversations(str(path)))


@given(st.recursive(st.text() | st.integers(-(2**60), 2**60), st.lists, max_leaves=20))
def test_check_depth_accepts_shallow(value: object) -> None:
    check_depth(json.dumps(value).encode())
    check_depth(json.dumps({"[" * 600: value, "\\": '"' + "{" * 600}).encode())


@given(
    st.lists(st.tuples(st.integers(0, 9000), st.sampled_from([0, 1, 4299, 4300, 4301, 8700])), max_size=4),
    st.booleans(),
)
def test_long_integers_are_found_wherever_they_are(runs: list[tuple[int, int]], quoted: bool) -> None:
    mark = b'"' if quoted else b""
    text = b"".join(b" " * blanks + mark + b"7" * digits + mark for blanks, digits in runs)
    if not quoted and any(digits > 4300 for digits in _joined_runs(runs)):
        with pytest.raises(ValueError, match="digits"):
            check_digits(text)
    else:
        check_digits(text)


def _joined_runs(runs: list[tuple[int, int]]) -> list[int]:
    """Return the lengths of runs of digits; runs without blanks between them count as one."""
    lengths = [0]
    for blanks, digits in runs:
        lengths = [*lengths, digits] if blanks else [*lengths[:-1], lengths[-1] + digits]
    return lengths


def test_many_long_numbers_pass_unchanged() -> None:
    numbers = (b"9" * 4000 + b",") * 1000  # a regex once tried each digit as the beginning of a number
    check_digits(numbers)
    assert BoundedDigits(io.BytesIO(numbers)).read(len(numbers)) == numbers


@pytest.mark.parametrize("character", ['"', "\\", "é", "漢", "😀", "\n", "a"])
@pytest.mark.parametrize("ascii", [False, True])
def test_long_strings_are_read_wherever_blocks_end(character: str, ascii: bool, tmp_path: Path) -> None:
    path = tmp_path / "conversations.json"
    times = 600_000 // len(json.dumps(character, ensure_ascii=ascii).encode())
    for shift in range(3):
        text = "x" * shift + character * times
        value = {"a": text, "b": ["short", text[: times // 4]], "c": {"d": 1}}
        data = json.dumps(value, ensure_ascii=ascii).encode()
        assert parse_line(data) == value
    path.write_bytes(b"[" + data + b"]")
    assert list(conversations(str(path))) == [value]


@pytest.mark.parametrize("text", ['\\"' * 400_000, "a" * 800_000, "\\\\" * 400_000, "é" * 400_000])
@pytest.mark.parametrize("end", ["", '"]'])
def test_the_parser_gets_no_long_string(text: str, end: str) -> None:
    file = DividedStrings(io.BytesIO(f'["{text}{end}'.encode()))
    divided = b"".join(iter(lambda: file.read(256 * 1024), b""))
    pieces = re.findall(rb'"(?:[^"\\]|\\.)*+(?:"|\Z)', divided)
    assert len(pieces) > 2
    assert max(map(len, pieces)) < 600 * 1024


def test_a_long_key_is_refused() -> None:
    assert parse_line(json.dumps({"a": 1, "k" * 1_000_000: 1}).encode()) is None


def test_key_of_toml_has_at_most_100_parts() -> None:
    text = "k." * 99 + "k = 1"
    assert list(decode_toml(text)) == ["k"]
    with pytest.raises(ValueError, match="too many parts"):
        decode_toml(f"k.{text}")
