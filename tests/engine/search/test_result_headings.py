"""A result is named by the headings above the line that matched, not by those of its whole passage."""

import pytest

from engine.search.result_builder import headings_at
from engine.store.snapshot import StoredChunk

SECTIONS = "# Garden\n\n## Beds\n\nSow in May.\n\n## Tools\n\nOil them.\n\n### Pump\n\nNew gasket."


def chunk(text: str, heading: tuple[str, ...], *, first: bool = True, path: str = "garden.md") -> StoredChunk:
    end = 50 + text.count("\n")
    return StoredChunk(1, path, "memory", "Garden", "en", 0.0, 50, end, heading, "", text, None, "", "", "", int(first))


@pytest.mark.parametrize(("line", "expected"), [(0, ()), (2, ("Links",)), (4, ("Links",))])
def test_text_before_the_first_heading_has_none(line: int, expected: tuple[str, ...]) -> None:
    assert headings_at(chunk("Intro words.\n\n## Links\n\n- one", ("Links",)), line) == expected


@pytest.mark.parametrize(
    ("line", "inner"),
    [
        (0, ()),
        (2, ("Beds",)),
        (4, ("Beds",)),
        (6, ("Tools",)),
        (8, ("Tools",)),
        (10, ("Tools", "Pump")),
        (12, ("Tools", "Pump")),
    ],
)
def test_several_sections_each_line_has_its_own(line: int, inner: tuple[str, ...]) -> None:
    assert headings_at(chunk(SECTIONS, ("Garden",)), line) == ("Garden", *inner)


def test_section_of_an_org_file_is_known() -> None:
    assert headings_at(chunk("* Beds\nSow.\n* Tools\nOil.", (), path="garden.org"), 3) == ("Tools",)


@pytest.mark.parametrize("text", ["run it\n# step 2\nmake\n", "# step 2\nmake\n"])
def test_comment_in_code_from_before_is_no_heading(text: str) -> None:
    assert headings_at(chunk(text, ("Garden", "Setup"), first=False), 2) == ("Garden", "Setup")


def test_empty_sibling_of_a_section_is_not_inside_it() -> None:
    assert headings_at(chunk("# Beds\n\nSow in May.\n\n# Tools", ("Beds",)), 4) == ("Tools",)
