"""Files of any size and content as numbered lines."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.base.cancellation import CancelToken
from engine.base.errors import Cancelled, PathRefused
from engine.corpus import encodings, line_reader
from engine.corpus.line_reader import NumberedText


@pytest.fixture(params=[True, False], ids=["in memory", "on disk"])
def kept(request: pytest.FixtureRequest) -> bool:
    """Hold small files in memory, or all files on disk; both must behave the same."""
    if not request.param:
        request.getfixturevalue("on_disk")
    return bool(request.param)


@pytest.fixture
def on_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep even small files on disk."""
    monkeypatch.setattr(line_reader, "_IN_MEMORY", -1)


def opened(folder: Path, data: bytes) -> NumberedText:
    path = folder / "n.md"
    path.write_bytes(data)
    return NumberedText.open(path)


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"", []),
        (b"a", ["a"]),
        (b"a\n", ["a"]),
        (b"\n", [""]),
        (b"a\n\n", ["a", ""]),
        (b"a\r\nb\r\n", ["a", "b"]),
        (b"a\r\nb\r", ["a", "b"]),
        (b"a\rb\n", ["a\rb"]),
        (b"\xef\xbb\xbfa\n\xef\xbb\xbfb", ["a", "\ufeffb"]),
        (b"\xc3\xa9\xff\n\xc3\xa9\xe2\x82\nz", ["é\ufffd", "é\ufffd", "z"]),
        (b"f\xfcr\nna\xefve", ["für", "naïve"]),
        (b"a\rb\r\rc", ["a", "b", "", "c"]),
        ("日本\n😀".encode(), ["日本", "😀"]),
    ],
)
def test_lines_of_every_line_end_and_encoding_are_read(
    tmp_path: Path, kept: bool, data: bytes, lines: list[str]
) -> None:
    with opened(tmp_path, data) as text:
        assert text.line_count == len(lines)
        assert text.size == len(data)
        assert text.lines(1, text.line_count) == lines
        assert [text.line(number) for number in range(1, text.line_count + 1)] == lines
        assert text.text(1, text.line_count) == "\n".join(lines)


_bytes = st.lists(
    st.sampled_from([b"\n", b"\r\n", b"\r", b"abc", b"\xef\xbb\xbf", "é日😀".encode(), b"\xff", b"\xf0\x9f", b"x" * 30])
).map(b"".join)


@given(data=_bytes, block=st.integers(1, 40), in_memory=st.booleans(), limit=st.integers(0, 40))
def test_lines_are_equal_by_every_read_method(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, block: int, in_memory: bool, limit: int
) -> None:
    whole = encodings.as_text("".join(encodings.decoded(lambda: [data], encodings.detect(lambda: [data]))))
    expected = [line.removesuffix("\r") for line in whole.removesuffix("\n").split("\n")] if data else []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(line_reader, "_BLOCK", block)
        patch.setattr(line_reader, "_CACHED_BLOCKS", 2)
        patch.setattr(line_reader, "_IN_MEMORY", 10**6 if in_memory else -1)
        with opened(tmp_path_factory.mktemp("note"), data) as text:
            assert text.line_count == len(expected)
            assert text.lines(1, 10**9) == expected
            assert text.lines(-3, 2, limit=limit) == [line[:limit] for line in expected[:2]]
            for number in range(text.line_count, 0, -1):
                assert text.line(number) == expected[number - 1]
                assert text.line(number, limit=limit) == expected[number - 1][:limit]
                assert text.text(number, number + 1) == "\n".join(expected[number - 1 : number + 1])


def test_line_numbers_outside_the_text_are_cut_or_raise(tmp_path: Path) -> None:
    with opened(tmp_path, b"a\nb\n") as text:
        assert text.lines(2, 9) == ["b"]
        assert text.lines(3, 9) == []
        assert text.lines(2, 1) == []
        for number in (0, 3, -1):
            with pytest.raises(IndexError):
                text.line(number)


def test_only_start_of_endless_line_is_decoded(tmp_path: Path) -> None:
    with opened(tmp_path, b"ab" * 3_000_000 + b"\nend") as text:
        assert len(text.line(1)) == line_reader.LINE_LIMIT
        assert [len(line) for line in text.lines(1, 2, limit=10)] == [10, 3]
        assert text.text(1, 1) == "ab" * 3_000_000


def test_a_replaced_file_stays_readable(tmp_path: Path, kept: bool) -> None:
    with opened(tmp_path, b"old one\nold two\n") as text:
        (tmp_path / "new").write_bytes(b"new")
        (tmp_path / "new").replace(tmp_path / "n.md")
        assert text.lines(1, 2) == ["old one", "old two"]


@pytest.mark.usefixtures("on_disk")
def test_file_truncated_while_open_never_fails(tmp_path: Path) -> None:
    with opened(tmp_path, b"one\ntwo\nthree\n") as text:
        (tmp_path / "n.md").write_bytes(b"on")
        assert text.lines(1, 3)[0] == "on"
        assert len(text.lines(1, 3)) == 3
        assert text.line(3) == ""


def test_closed_text_can_be_closed_again_but_not_read(tmp_path: Path, kept: bool) -> None:
    text = opened(tmp_path, b"a\n")
    text.close()
    text.close()
    with pytest.raises(ValueError, match="closed"):
        text.line(1)


def test_links_and_pipes_are_refused(tmp_path: Path) -> None:
    (tmp_path / "real.md").write_text("x")
    (tmp_path / "link.md").symlink_to("real.md")
    os.mkfifo(tmp_path / "pipe.md")
    for name in ("link.md", "pipe.md", "."):
        with pytest.raises(PathRefused):
            NumberedText.open(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        NumberedText.open(tmp_path / "gone.md")


def test_opening_can_be_cancelled(tmp_path: Path) -> None:
    (tmp_path / "n.md").write_text("x")
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        NumberedText.open(tmp_path / "n.md", token)
