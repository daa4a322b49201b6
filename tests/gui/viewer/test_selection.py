"""Selected text, and the words that a double click takes."""

import pytest

from gui.viewer.selection import Selection, word_at


def test_selection_ends_are_ordered() -> None:
    selection = Selection()
    selection.put((5, 3))
    assert selection.ends is None
    selection.extend((2, 7))
    assert selection.ends == ((2, 7), (5, 3))


def test_selection_columns_of_each_line() -> None:
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
def test_word_at_column(text: str, column: int, word: str) -> None:
    start, end = word_at(text, column)
    assert text[start:end] == word
