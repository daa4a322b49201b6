"""Citations, there and back."""

from hypothesis import given
from hypothesis import strategies as st

from engine.records import LAST_LINE, Citation, cite, parse_citation


def test_a_citation_names_the_lines() -> None:
    assert cite("a/b.md", 5, 9) == "a/b.md#L5-L9"
    assert cite("a/b.md", 5, 5) == cite("a/b.md", 5) == "a/b.md#L5"
    assert cite("a/b.md", 5, 4) == "a/b.md#L5"


def test_a_whole_file_is_cited_by_its_path() -> None:
    assert cite("a/b.md") == cite("a/b.md", 1, LAST_LINE) == "a/b.md"


def test_text_without_lines_is_no_citation() -> None:
    for text in ("a/b.md", "", "#L5", "a.md#L", "a.md:5", "a.md#L1234567890"):
        assert parse_citation(text) is None


def test_a_line_of_the_command_line_names_lines_too() -> None:
    assert parse_citation("a/b.md:5-9") == Citation("a/b.md", 5, 9)


@given(
    path=st.text(st.characters(exclude_characters="\n"), min_size=1),
    first=st.integers(1, 10**9 - 1),
    more=st.integers(0, 10**6),
)
def test_citations_round_trip(path: str, first: int, more: int) -> None:
    last = min(first + more, 10**9 - 1)
    assert parse_citation(cite(path, first, last)) == Citation(path, first, last)
