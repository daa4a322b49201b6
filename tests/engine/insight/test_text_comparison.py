"""Comparison of any two texts by shingles."""

from hypothesis import given
from hypothesis import strategies as st

from engine.insight.text_comparison import WIDTH, Shingler, by_line, compare, without_overlaps


@given(st.text(), st.text())
def test_comparing_any_texts_gives_shares(one: str, other: str) -> None:
    shingler = Shingler()
    first, second = (shingler.shingle(by_line([(1, text)])) for text in (one, other))
    found = compare(first, second, first.hashes[:0])
    if found is not None:
        assert 0 < found.similarity <= 1
        assert all(0 < share <= 1 for share in found.shares)
        for passage, text in zip(found.passages, (one, other), strict=True):
            assert 1 <= passage.lines[0] <= passage.lines[1] <= text.count("\n") + 1
            assert WIDTH <= passage.tokens <= passage.last - passage.first + 1


@given(st.lists(st.text(alphabet="abc \n", min_size=1), min_size=1, max_size=5))
def test_lines_are_given_once_whatever_chunks_repeat(parts: list[str]) -> None:
    lines = [f"{number} {line}" for number, line in enumerate("".join(parts).split("\n"))]
    cuts = [(start, min(start + 4, len(lines))) for start in range(0, len(lines), 2)]  # each repeats two lines
    chunks = [(start + 1, end, "\n".join(lines[start:end])) for start, end in cuts]
    assert list(by_line(without_overlaps(chunks))) == list(enumerate(lines, 1))
