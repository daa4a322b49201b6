"""Invariants of the chunks of any text."""

import itertools
import re

from hypothesis import example, given, settings
from hypothesis import strategies as st

from engine.corpus.chunk_boundaries import Outline, weigh
from engine.corpus.chunking import chunk_text, pack

_LINES = [
    "", "", " ", "# One", "## Two ##", "### [Three](x)", "###### Six", "===", "---", "***", "=====", "~~~", "```",
    "````", "```py", "+++", "- item", "  - inner", "12. numbered", "> quote", "| a | b |", "    code", "\tcode",
    "title: x", "a plain line of text.", "Another one! With sentences? Yes.", "日本語のテキスト。もう一つ。",
    "\r", "x" * 70, "word " * 30, "e\u0301" * 40, "漢" * 50, "\ufeff", "\x0c", "𠀀" * 20, "\u200d\u200d",
    "😀👍🏽 family 👨‍👩‍👧",
]  # fmt: skip
_texts = st.lists(
    st.one_of(st.sampled_from(_LINES), st.text(max_size=30).map(lambda text: text.replace("\n", " "))), max_size=80
).map("\n".join)
_tokens = st.sampled_from([1, 8, 10, 20, 50, 400])
_overlaps = st.sampled_from([0, 1, 4, 8, 80, 399])


def limit_of(tokens: int) -> int:
    return max(32, 4 * tokens)


def text_of(markdown: str) -> str:
    return re.sub(r"[*`~\[\]()]", "", markdown)


def visible(text: str) -> str:
    return "".join(text.split())


@given(_texts, _tokens, _overlaps)
@example("a" * 33, 8, 4)
@example("# " + "a" * 50 + "\n```\nx\n```", 8, 4)
@settings(deadline=None, max_examples=250)
def test_every_chunk_is_a_slice_within_the_limit_at_its_lines(text: str, tokens: int, overlap: int) -> None:
    chunks = chunk_text(text, tokens=tokens, overlap=overlap)
    lines = text.split("\n")
    for chunk in chunks:
        assert chunk.text.strip()
        assert weigh(chunk.text) <= limit_of(tokens)
        assert chunk.text in "\n".join(lines[chunk.start_line - 1 : chunk.end_line])
        assert chunk.text.count("\n") == chunk.end_line - chunk.start_line
        whole = chunk.text.split("\n")
        assert lines[chunk.start_line - 1].endswith(whole[0]) or len(whole) == 1
        assert lines[chunk.end_line - 1].startswith(whole[-1]) or len(whole) == 1


@given(_texts, _tokens)
@settings(deadline=None, max_examples=250)
def test_no_visible_character_is_lost_or_doubled(text: str, tokens: int) -> None:
    chunks = chunk_text(text, tokens=tokens, overlap=0)
    assert "".join(visible(chunk.text) for chunk in chunks) == visible(text)


@given(_texts, _tokens, _overlaps)
@settings(deadline=None, max_examples=200)
def test_chunk_pieces_are_contiguous(text: str, tokens: int, overlap: int) -> None:
    limit = limit_of(tokens)
    outline = Outline(text, limit)
    spans = pack(outline, limit, 4 * overlap)
    assert spans[0][0] == 0
    assert spans[-1][1] == len(outline)
    for (first, stop), (following, end) in itertools.pairwise(spans):
        assert first < following <= stop < end
        repeated = outline.weights[stop] - outline.weights[following]
        assert repeated <= min(4 * overlap, limit // 2)


@given(_texts, _tokens)
@settings(deadline=None, max_examples=200)
def test_overlap_never_crosses_a_heading(text: str, tokens: int) -> None:
    limit = limit_of(tokens)
    outline = Outline(text, limit)
    spans = pack(outline, limit, limit // 2)
    starts = {section.start for section in outline.sections}
    for (_, stop), (following, _) in itertools.pairwise(spans):
        if following < stop:
            assert not starts.intersection(range(following + 1, stop + 1))


@given(_texts)
@settings(deadline=None, max_examples=130)
def test_a_note_that_fits_is_one_chunk(text: str) -> None:
    fitting = -(-weigh(text) // 4)
    assert len(chunk_text(text, tokens=max(fitting, 8), overlap=0)) == bool(text.strip())


@given(_texts)
@settings(deadline=None, max_examples=130)
def test_heading_paths_are_made_of_headings_above(text: str) -> None:
    for chunk in chunk_text(text, tokens=30, overlap=5):
        above = text_of("\n".join(text.split("\n")[: chunk.end_line]))
        for title in chunk.heading:
            assert all(word in above for word in text_of(title).split())
