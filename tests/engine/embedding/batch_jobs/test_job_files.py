"""The JSONL of batch jobs: grouping of lines, and parsing of results that arrive in arbitrary pieces."""

import itertools
import json
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.embedding.batch_jobs.batch_api import JobLimits
from engine.embedding.batch_jobs.job_files import Group, Text, dump, groups, read_gemini, read_openai, split


class Api:
    """A fake API with lines and limits only."""

    def __init__(self, requests: int = 50_000, bytes_: int = 10**9) -> None:
        self.limits = JobLimits(requests, bytes_, 10**9, 1.0)

    def line(self, key: str, text: str) -> bytes:
        return dump({"custom_id": key, "body": {"input": [text]}})


def texts_of(found: Sequence[str]) -> list[Text]:
    return [Text(bytes([index % 256, index // 256]), text, len(text)) for index, text in enumerate(found)]


def read(group: Group) -> list[dict]:
    with group.lines:
        group.lines.seek(0)
        return [json.loads(line) for line in group.lines]


def test_groups_are_within_the_limits():
    found = list(map(read, groups(texts_of(["a"] * 25), Api(requests=10), 10**9)))
    assert [len(group) for group in found] == [10, 10, 5]
    size = len(Api().line("0000", "a"))
    found = list(map(read, groups(texts_of(["a"] * 25), Api(bytes_=size * 4), 10**9)))
    assert [len(group) for group in found] == [4, 4, 4, 4, 4, 4, 1]


def test_group_stays_within_the_token_limit():
    texts = [Text(bytes([index]), "a", tokens) for index, tokens in enumerate((5, 5, 1, 9, 30, 2))]
    found = list(groups(texts, Api(), 10))
    assert [sum(group.texts.values()) for group in found] == [10, 10, 30, 2]
    for group in found:
        group.lines.close()


def test_oversized_text_alone_in_group():
    found = list(map(read, groups(texts_of(["a", "b" * 500, "c"]), Api(bytes_=200), 10**9)))
    assert [[line["body"]["input"][0][0] for line in group] for group in found] == [["a"], ["b"], ["c"]]


def test_text_once_per_group_with_tokens():
    text = Text(b"\x01", "twice", 7)
    (group,) = groups([text, text, Text(b"\x02", "once", 3)], Api(), 10**9)
    assert group.texts == {b"\x01": 7, b"\x02": 3}
    assert len(read(group)) == 2


def test_no_texts_make_no_group():
    assert list(groups([], Api(), 10**9)) == []


def test_groups_read_lazily():
    taken: list[int] = []

    def endless():
        while True:
            taken.append(len(taken))
            yield Text(len(taken).to_bytes(4), "a", 1)

    waiting = groups(endless(), Api(requests=3), 10**9)
    next(waiting).lines.close()
    assert len(taken) == 4
    waiting.close()


@given(st.lists(st.text(), max_size=20), st.integers(1, 7))
def test_texts_round_trip_through_a_file(found, requests):
    given_texts = texts_of(found)
    back = [line for group in groups(given_texts, Api(requests), 10**9) for line in read(group)]
    sent = [text.text.encode("utf-8", "replace").decode() for text in given_texts]
    assert [line["body"]["input"][0] for line in back] == sent
    assert [bytes.fromhex(line["custom_id"]) for line in back] == [text.hash for text in given_texts]


@given(st.lists(st.binary(max_size=40), max_size=12), st.lists(st.integers(0, 500), max_size=12))
def test_lines_are_found_however_the_stream_is_cut(parts, cuts):
    whole = b"\n".join(parts)
    places = sorted({0, len(whole), *(cut for cut in cuts if cut <= len(whole))})
    pieces = [whole[start:end] for start, end in itertools.pairwise(places)]
    assert list(split(pieces)) == [line for line in whole.split(b"\n") if line.strip()]


@pytest.mark.parametrize("piece", [1, 1000, 10**9])
def test_endless_line_skipped(piece):
    whole = b"first\n" + b"x" * 300_000 + b"\nlast\n" + b"y" * 300_000
    pieces = [whole[start : start + piece] for start in range(0, len(whole), piece)]
    assert list(split(pieces)) == [b"first", b"last"]


@pytest.mark.parametrize("reader", [read_openai, read_gemini])
@given(line=st.binary(max_size=200))
def test_no_line_breaks_the_readers(reader, line):
    assert reader(line).vector is None


@pytest.mark.parametrize("reader", [read_openai, read_gemini])
@given(
    line=st.dictionaries(
        st.sampled_from(["custom_id", "key", "response", "error", "metadata"]),
        st.recursive(
            st.none() | st.integers() | st.text() | st.just("aa"),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(
                    st.sampled_from(["body", "data", "status_code", "embedding", "values", "error", "key", "usage"]),
                    inner,
                    max_size=4,
                )
            ),
            max_leaves=8,
        ),
    )
)
def test_no_shape_of_a_line_breaks_the_readers(reader, line):
    reader(json.dumps(line).encode())


def test_tokens_and_vectors_are_read():
    body = {"data": [{"index": 0, "embedding": [3.0, 4.0]}], "usage": {"total_tokens": 5}}
    line = {"custom_id": "0a", "response": {"status_code": 200, "body": body}, "error": None}
    found = read_openai(json.dumps(line).encode())
    assert (found.hash, found.tokens, found.problem) == (b"\x0a", 5, "")
    assert np.array_equal(found.vector, [3.0, 4.0])


def test_line_with_two_vectors_is_invalid():
    body = {"data": [{"index": 0, "embedding": [3.0]}, {"index": 1, "embedding": [4.0]}]}
    line = {"custom_id": "0a", "response": {"status_code": 200, "body": body}, "error": None}
    assert read_openai(json.dumps(line).encode()).vector is None


def test_provider_message_short_and_masked():
    line = {"custom_id": "0a", "error": {"message": f"key sk-{'a1b2' * 10} is\nwrong " + "x" * 999}}
    found = read_openai(json.dumps(line).encode())
    assert "a1b2a1b2" not in found.problem
    assert "\n" not in found.problem
    assert len(found.problem) <= 300
