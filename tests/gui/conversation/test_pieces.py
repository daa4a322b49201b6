"""Nothing of a message is lost when it is cut, and no piece is too long."""

from hypothesis import given
from hypothesis import strategies as st

from engine import without_escapes
from gui.conversation.display_entries import CLAMP_LINES, cut_markdown, cut_plain

LINES = st.lists(
    st.sampled_from(["", "word", "a b c " * 30, "x" * 4_000, "```py", "```", "~~~", "é漢🙂" * 50]), max_size=120
)


@given(LINES.map("\n".join))
def test_plain_pieces_cover_all_text_except_breaks(text: str) -> None:
    cuts = list(cut_plain(text))
    place = 0
    for cut in cuts:
        assert text[place : cut.start] in ("", "\n")
        assert 0 < cut.end - cut.start <= 3_000 or text[cut.start : cut.end] == ""
        assert text.count("\n", cut.start, cut.end) < CLAMP_LINES
        place = cut.end
    assert text[place:] in ("", "\n")


@given(LINES.map("\n".join))
def test_markdown_pieces_have_no_gaps(text: str) -> None:
    cuts = list(cut_markdown(text))
    assert "".join(text[cut.start : cut.end] for cut in cuts) == text
    assert all(cut.end - cut.start <= 3_000 for cut in cuts)


def test_long_output_is_cut_into_pieces_of_forty_lines() -> None:
    assert [cut[:2] for cut in cut_plain("one\ntwo")] == [(0, 7)]
    text = "\n".join(map(str, range(100)))
    assert [text[cut.start : cut.end].count("\n") + 1 for cut in cut_plain(text)] == [40, 40, 20]


def test_markdown_is_cut_between_paragraphs() -> None:
    text = "\n\n".join(["word " * 100] * 10)
    first, second, *_ = cut_markdown(text)
    assert text[: first.end].endswith("\n\n")
    assert text[second.start :].startswith("word")


def test_code_fence_continues_in_next_piece() -> None:
    text = "Look:\n\n```python\n" + "\n".join(f"line_{number} = {number}" for number in range(400)) + "\n```\n\nDone."
    first, *rest = cut_markdown(text)
    assert first.fence == ""
    assert [cut.fence for cut in rest] == ["```python", ""]
    assert text[rest[-1].start :] == "Done."
    assert text[: rest[0].start].endswith("\n")


def test_fence_closes_only_by_its_own_marker() -> None:
    text = "````md\n```py\nx\n```\n" + "y\n" * 1_600 + "````\n\n" + "after\n\n" * 300
    fences = [cut.fence for cut in cut_markdown(text)]
    assert fences[0] == ""
    assert fences[1] == "````md"
    assert fences[-1] == ""


def test_terminal_escapes_are_removed() -> None:
    assert without_escapes("\x1b[1;32mok\x1b(B\x1b[m \x1b]0;title\x07done") == "ok done"
    assert without_escapes("plain [31m text") == "plain [31m text"
