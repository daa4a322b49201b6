"""Reading exports: in steps, without temporary files, and with absurd sizes refused."""

import io
import json
import os
import re
import zipfile
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.base.cancellation import CancelToken
from engine.base.errors import Cancelled
from engine.corpus.transcripts import export_reader
from engine.corpus.transcripts.export_reader import branch
from tests.helpers.exports import packed, written


def test_objects_come_one_by_one(tmp_path: Path) -> None:
    value = [{"a": 1}, 2, [3], {"b": [{"c": None}]}]
    assert list(export_reader.conversations(str(written(tmp_path, value)))) == [value[0], value[3]]
    assert list(export_reader.conversations(str(written(tmp_path, {"a": 1})))) == [{"a": 1}]
    assert list(export_reader.conversations(str(written(tmp_path, [])))) == []


def test_reads_no_more_than_requested(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, [{"n": "x" * 1000}] * 3000)
    sizes: list[int] = []
    reading = export_reader._Reader.read
    monkeypatch.setattr(
        export_reader._Reader, "read", lambda self, size=-1: [block := reading(self, size), sizes.append(len(block))][0]
    )
    next(iter(export_reader.conversations(str(path))))
    assert sum(sizes) < 600_000
    assert max(sizes) <= 256 * 1024


_pieces = st.sampled_from(["\\", "\\\\", "ud83d", "\ud83d", "\ude00", "\U0001f600", "a", '"', "\n", "\\ud83d\\ude00"])


@given(texts=st.lists(st.lists(_pieces, max_size=12).map("".join), max_size=3), block=st.integers(13, 40))
def test_surrogate_halves_replaced_at_any_block_end(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], block: int
) -> None:
    path = written(tmp_path_factory.mktemp("export"), [{"texts": texts}])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(export_reader, "_BLOCK", block)
        found = list(export_reader.conversations(str(path)))
    whole = [json.loads(json.dumps(text)) for text in texts]  # joins adjacent surrogate halves
    assert found == [{"texts": [re.sub("[\ud800-\udfff]", "\ufffd", text) for text in whole]}]


@pytest.mark.parametrize(
    "data", [b"", b"PK\x03\x04", b"PK\x03\x04" + b"x" * 100, b"[{", b'[{"a": 1}', b"nonsense", b'[{"a": \xff}]']
)
def test_non_export_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "x"
    path.write_bytes(data)
    with pytest.raises(ValueError, match=r"\w"):
        list(export_reader.conversations(str(path)))
    assert not export_reader.matches(str(path), data, lambda start: b"b" in start)


def test_a_damaged_member_is_refused(tmp_path: Path) -> None:
    path = packed(tmp_path, {"conversations.json": json.dumps([{"n": os.urandom(9000).hex()}]).encode()})
    data = bytearray(path.read_bytes())
    data[400:500] = bytes(100)
    path.write_bytes(data)
    with pytest.raises(ValueError, match="damaged"):
        list(export_reader.conversations(str(path)))


def test_huge_zip_member_is_refused_unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export_reader, "LARGEST_DOCUMENT", 1000)
    path = packed(tmp_path, {"conversations.json": b" " * 1001})
    with pytest.raises(ValueError, match=r"conversations\.json has 1,001 bytes; the limit is 1,000\."):
        list(export_reader.conversations(str(path)))
    assert not export_reader.matches(str(path), path.read_bytes(), lambda start: True)
    with pytest.raises(ValueError, match="more than 1,000 bytes"):
        list(export_reader.conversations(str(written(tmp_path, [{"a": "b" * 1000}]))))


def test_an_absurd_conversation_is_refused_and_many_are_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export_reader, "LARGEST_CONVERSATION", 600_000)
    assert len(list(export_reader.conversations(str(written(tmp_path, [{"a": "b" * 1000}] * 2000))))) == 2000
    with pytest.raises(ValueError, match="more than 600,000 bytes"):
        list(export_reader.conversations(str(written(tmp_path, [{"a": "b" * 900_000}]))))


@given(st.dictionaries(st.integers(0, 9).map(str), st.integers(0, 12).map(str), max_size=10), st.integers(0, 12))
def test_branches_hold_every_node_once(parents: dict[str, str], tip: int) -> None:
    path = export_reader.branch(parents, {}, str(tip))
    left = export_reader.abandoned_branches(parents, path)
    assert len(set(path + left)) == len(path + left)
    assert set(path + left) <= parents.keys()
    reached = {name for name in parents if _ends(parents, name)}
    assert reached <= set(path + left)


def _ends(parents: dict[str, str], name: str) -> bool:
    """Whether a node's ancestors end at a root, not in a cycle."""
    for _ in parents:
        name = parents.get(name, "")
    return name not in parents


def test_zip_with_unusual_compression_is_refused(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("conversations.json", "[]")
    path = tmp_path / "x.zip"
    path.write_bytes(buffer.getvalue())
    with pytest.raises(ValueError, match="unusual"):
        list(export_reader.conversations(str(path)))


def test_only_named_documents_read_nothing_written(tmp_path: Path) -> None:
    path = packed(
        tmp_path,
        {
            "../conversations.json": b'[{"a": 1}]',
            "a/b/c/d/conversations.json": b'[{"a": 2}]',
            "shared_conversations.json": b'[{"a": 3}]',
            "x/conversations.json": b'[{"a": 4}]',
        },
    )
    before = sorted(tmp_path.rglob("*"))
    assert {"a": 4} in list(export_reader.conversations(str(path)))
    assert {"a": 3} not in list(export_reader.conversations(str(path)))
    assert sorted(tmp_path.rglob("*")) == before
    assert not (tmp_path.parent / "conversations.json").exists()


def test_can_be_cancelled_within_a_conversation(tmp_path: Path) -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        list(export_reader.conversations(str(written(tmp_path, [{}])), token))


_names = st.sampled_from("abcdef")


@given(
    st.dictionaries(_names, st.sampled_from("abcdefg")),
    st.dictionaries(_names, st.floats(0, 9)),
    st.sampled_from("abcg"),
)
def test_branch_from_root_without_repeats(parents: dict[str, str], times: dict[str, float | None], tip: str) -> None:
    path = branch(parents, times, tip)
    assert len(set(path)) == len(path)
    assert bool(path) == bool(parents)
    assert all(parents[child] == parent for parent, child in pairwise(path))
    if tip in parents:
        assert path[-1] == tip
