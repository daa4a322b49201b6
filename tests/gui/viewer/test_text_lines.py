"""Lines in the viewer: shortened on the screen, complete on the clipboard."""

from pathlib import Path

import pytest

from engine import NumberedText
from gui.viewer.text_lines import LINE_LIMIT, FileLines, Selection, TextLines, word_at


@pytest.fixture
def lines(tmp_path: Path) -> FileLines:
    path = tmp_path / "note.md"
    path.write_text("first\nsecond 🌱 line\n" + "x" * (LINE_LIMIT + 5) + "\nlast\n")
    return FileLines(NumberedText.open(path))


def test_short_line_is_shown_whole(lines: FileLines) -> None:
    assert lines.display_line(2) == ("second 🌱 line", False)


def test_long_line_is_cut_and_marked(lines: FileLines) -> None:
    assert lines.display_line(3) == ("x" * LINE_LIMIT, True)
    assert [len(text) for text in lines.lines(3, 4)] == [LINE_LIMIT, 4]


def test_text_between_two_locations_is_returned(lines: FileLines) -> None:
    assert lines.between((1, 2), (2, 8)) == "rst\nsecond 🌱"
    assert lines.between((2, 7), (2, 8)) == "🌱"


def test_end_of_cut_line_means_its_real_end(lines: FileLines) -> None:
    assert lines.between((3, 0), (3, LINE_LIMIT)) == "x" * (LINE_LIMIT + 5)
    assert lines.between((3, 0), (3, 10)) == "x" * 10


def test_unreadable_line_shows_message(lines: FileLines) -> None:
    lines.close()
    assert "can no longer be read" in lines.display_line(1)[0]


def test_lines_in_memory_count_from_one() -> None:
    lines = TextLines(("a", "b", "c"))
    assert (lines.line_count, list(lines.lines(2, 9))) == (3, ["b", "c"])


def test_selection_ends_are_ordered() -> None:
    selection = Selection()
    selection.start_at((5, 3))
    assert selection.ends is None
    selection.extend((2, 7))
    assert selection.ends == ((2, 7), (5, 3))


def test_selection_has_its_columns_on_each_line() -> None:
    selection = Selection()
    selection.select((2, 7), (4, 3))
    assert [selection.columns(line, 9) for line in range(1, 6)] == [None, (7, 10), (0, 10), (0, 3), None]


def test_selection_ending_at_line_start_excludes_that_line() -> None:
    selection = Selection()
    selection.select((2, 0), (3, 0))
    assert selection.columns(3, 5) is None


@pytest.mark.parametrize(
    ("text", "column", "word"),
    [
        ("the timer runs", 6, "timer"),
        ("the timer", 9, "timer"),
        ("a  b", 1, "  "),
        ("foo_bar.baz", 2, "foo_bar"),
        ("x = (1)", 4, "("),
        ("grüße 水やり", 2, "grüße"),
        ("", 0, ""),
    ],
)
def test_word_at_column_has_its_range(text: str, column: int, word: str) -> None:
    start, end = word_at(text, column)
    assert text[start:end] == word
