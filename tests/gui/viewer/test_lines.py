"""Lines as the viewer sees them: clamped on the screen, whole on the clipboard."""

from pathlib import Path

import pytest

from engine import NumberedText
from gui.viewer.lines import LINE_LIMIT, FileLines, TextLines


@pytest.fixture
def lines(tmp_path: Path) -> FileLines:
    path = tmp_path / "note.md"
    path.write_text("first\nsecond 🌱 line\n" + "x" * (LINE_LIMIT + 5) + "\nlast\n")
    return FileLines(NumberedText.open(path))


def test_short_line_is_shown_whole(lines: FileLines) -> None:
    assert lines.shown(2) == ("second 🌱 line", False)


def test_long_line_is_cut_and_marked(lines: FileLines) -> None:
    assert lines.shown(3) == ("x" * LINE_LIMIT, True)
    assert [len(text) for text in lines.lines(3, 4)] == [LINE_LIMIT, 4]


def test_text_between_two_locations(lines: FileLines) -> None:
    assert lines.between((1, 2), (2, 8)) == "rst\nsecond 🌱"
    assert lines.between((2, 7), (2, 8)) == "🌱"


def test_end_of_cut_line_means_its_real_end(lines: FileLines) -> None:
    assert lines.between((3, 0), (3, LINE_LIMIT)) == "x" * (LINE_LIMIT + 5)
    assert lines.between((3, 0), (3, 10)) == "x" * 10


def test_unreadable_line_shows_message(lines: FileLines) -> None:
    lines.close()
    assert "cannot be read" in lines.shown(1)[0]


def test_lines_in_memory_count_from_one() -> None:
    lines = TextLines(("a", "b", "c"))
    assert (lines.line_count, list(lines.lines(2, 9))) == (3, ["b", "c"])
