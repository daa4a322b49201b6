"""A note is read unchanged or refused with the reason; no error is fatal."""

import hashlib
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.corpus import note_reader
from engine.corpus.note_reader import Unreadable, read_note

LIMIT = 10_000_000


def refusal(path: Path, limit: int = LIMIT) -> tuple[str, str]:
    with pytest.raises(Unreadable) as caught:
        read_note(str(path), "n.md", limit)
    assert caught.value.issue.path == "n.md"
    return caught.value.issue.rule, caught.value.issue.detail


@given(text=st.text(max_size=300))
def test_text_and_hash_equal_those_of_the_file(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    text = text.replace("\0", "").removeprefix("\ufeff")
    if "\n" not in text:
        text = text.replace("\r", "")
    path = tmp_path_factory.mktemp("note") / "n.md"
    path.write_bytes(text.encode())
    note = read_note(str(path), "n.md", LIMIT)
    assert (note.text, note.hash) == (text, hashlib.sha256(text.encode()).hexdigest())


def test_line_ends_unchanged_byte_order_mark_removed(tmp_path: Path) -> None:
    (tmp_path / "n.md").write_bytes(b"\xef\xbb\xbfa\r\nb\rc\n")
    note = read_note(str(tmp_path / "n.md"), "n.md", LIMIT)
    assert note.text == "a\r\nb\rc\n"
    assert note.hash == hashlib.sha256(b"a\r\nb\rc\n").hexdigest()


@pytest.mark.parametrize("before", range(11))
def test_characters_may_straddle_blocks(tmp_path: Path, before: int) -> None:
    text = "x" * before + "aé日😀\n" * 50_000  # two blocks
    (tmp_path / "n.md").write_text(text, encoding="utf-8")
    assert read_note(str(tmp_path / "n.md"), "n.md", LIMIT).text == text


@pytest.mark.parametrize("before", [0, *range(256 * 1024 - 22, 256 * 1024)])
def test_older_encoding_may_begin_in_any_block(tmp_path: Path, before: int) -> None:
    start = "x" * before  # so that any byte may be the last one of the first block
    (tmp_path / "n.md").write_bytes((start + "eins\nzwei\ndrüi\ncafé au lait\n").encode("cp1252"))
    note = read_note(str(tmp_path / "n.md"), "n.md", LIMIT)
    assert note.text == start + "eins\nzwei\ndrüi\ncafé au lait\n"
    assert note.hash == hashlib.sha256(note.text.encode()).hexdigest()


def test_text_that_ends_within_a_character_is_utf8(tmp_path: Path) -> None:
    (tmp_path / "n.md").write_bytes("aü\nb".encode() + b"\xf0\x9f")
    assert read_note(str(tmp_path / "n.md"), "n.md", LIMIT).text == "aü\nb\ufffd"


def test_utf16_is_decoded(tmp_path: Path) -> None:
    (tmp_path / "n.md").write_text("hello", encoding="utf-16")
    assert read_note(str(tmp_path / "n.md"), "n.md", LIMIT).text == "hello"


def test_many_nul_bytes_are_not_text(tmp_path: Path) -> None:
    (tmp_path / "n.md").write_bytes(b"abc\0def")
    assert read_note(str(tmp_path / "n.md"), "n.md", LIMIT).text == "abc\ufffddef"
    (tmp_path / "n.md").write_bytes(b"a\0b\0c\0d\0")
    assert refusal(tmp_path / "n.md")[0] == "binary"


def test_the_size_is_checked_again_when_it_is_read(tmp_path: Path) -> None:
    (tmp_path / "n.md").write_bytes(b"x" * 101)
    assert refusal(tmp_path / "n.md", 100)[0] == "too-large"
    (tmp_path / "n.md").write_bytes(b"x" * 100)
    assert len(read_note(str(tmp_path / "n.md"), "n.md", 100).text) == 100


def test_link_that_replaced_a_note_is_refused(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("x")
    (tmp_path / "n.md").symlink_to(tmp_path / "secret")
    assert refusal(tmp_path / "n.md")[0] == "symlink"


def test_folder_replaced_by_link_is_not_followed(tmp_path: Path) -> None:
    outside, inside = tmp_path / "outside", tmp_path / "notes" / "sub"
    inside.mkdir(parents=True)
    outside.mkdir()
    (outside / "n.md").write_text("secret")
    inside.rmdir()
    inside.symlink_to(outside)
    assert refusal(inside / "n.md")[0] == "symlink"


def test_link_in_place_of_a_folder_only_while_opening_is_refused(tmp_path: Path, monkeypatch) -> None:
    inside = tmp_path / "sub"
    for folder, text in ((inside, "note"), (tmp_path / "outside", "secret")):
        folder.mkdir()
        (folder / "n.md").write_text(text)
    system_open = os.open

    def open_meanwhile(path, *rest, **options):
        if path != "sub":
            return system_open(path, *rest, **options)
        inside.rename(tmp_path / "aside")
        inside.symlink_to(tmp_path / "outside")
        try:
            return system_open(path, *rest, **options)
        finally:
            inside.unlink()
            (tmp_path / "aside").rename(inside)

    monkeypatch.setattr(os, "open", open_meanwhile)
    assert refusal(inside / "n.md")[0] == "symlink"


def test_note_replaced_during_read_is_read_whole(tmp_path: Path, monkeypatch) -> None:
    note = tmp_path / "n.md"
    note.write_text("old")
    system_open = os.open

    def open_then_replace(path, *rest, **options):
        descriptor = system_open(path, *rest, **options)
        (tmp_path / "new").write_text("new")
        (tmp_path / "new").replace(note)
        return descriptor

    monkeypatch.setattr(os, "open", open_then_replace)
    assert read_note(str(note), "n.md", LIMIT).text in ("old", "new")


def test_a_pipe_or_a_folder_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "n.md")
    assert refusal(tmp_path / "n.md")[0] == "symlink"
    assert refusal(tmp_path)[0] == "symlink"


def test_deleted_note_is_not_an_issue(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_note(str(tmp_path / "gone.md"), "gone.md", LIMIT)


def test_system_errors_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "n.md").write_text("x")

    def fail(*_: object) -> bytes:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(note_reader.os, "read", fail)
    assert refusal(tmp_path / "n.md") == ("unreadable", "Can't be read: Input/output error.")


def test_reading_leaves_no_file_open(tmp_path: Path) -> None:
    if not Path("/proc/self/fd").exists():
        pytest.skip("counts open files through /proc")
    (tmp_path / "n.md").write_bytes(b"a\0b" * 9)
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(5):
        refusal(tmp_path / "n.md")
        refusal(tmp_path)
    assert len(list(Path("/proc/self/fd").iterdir())) == before
