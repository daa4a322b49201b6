"""Detection of the headings of a Markdown file."""

from collections.abc import Sequence

import pytest

from engine import Cancelled, CancelToken
from gui.viewer.outline import Outline, heading_key, title_of
from gui.viewer.text_lines import TextLines


def outline(text: str) -> Outline:
    return Outline.of(TextLines(text.split("\n")), CancelToken())


def test_outline_lists_headings_with_lines() -> None:
    found = outline("# One\n\ntext # no\n  ### Two ##\n#no\n    # code\n#\n####### 7\n\nThree\n-----\n- ```\n  # no")
    assert [(heading.line, heading.title) for heading in found.headings] == [(1, "One"), (4, "Two"), (10, "Three")]
    assert found.is_heading(4)
    assert not found.is_heading(3)


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# One\n\n## Two", "One"),
        ("---\ntitle: Named\nid: 1\n---\n\n## Two", "Named"),
        ("text\n\n## Questions and advice", "plan"),
        ("id: 1\n" * 100_000, "plan"),
        ("", "plan"),
    ],
)
def test_title_of_note_matches_search_results(text: str, title: str) -> None:
    assert title_of(TextLines(text.split("\n")), "garden/plan.md") == title


@pytest.mark.parametrize("fence", ["```", "~~~", "````"])
def test_comment_in_code_block_is_not_a_heading(fence: str) -> None:
    found = outline(f"# A\n{fence}sh\n# comment\n``\n{fence}\n# B")
    assert [heading.title for heading in found.headings] == ["A", "B"]


def test_other_or_shorter_fence_does_not_end_block() -> None:
    found = outline("````\n```\n# in\n~~~~\n````\n# out")
    assert [heading.title for heading in found.headings] == ["out"]


def test_front_matter_has_no_headings() -> None:
    assert [heading.title for heading in outline("---\na: 1\n# comment\n---\n# A").headings] == ["A"]


def test_heading_of_line_is_the_one_above() -> None:
    found = outline("text\n# Log\n## Day\nx\n# Log\n## Day\ny")
    assert found.heading_above(1) is None
    above = found.heading_above(7)
    assert above is not None
    assert (above.key, above.nth_of_key, above.nth) == ("day", 1, 3)


def test_page_of_org_file_begins_with_its_title() -> None:
    lines = TextLines("#+title: Log\ntext\n* Day\n* Log".split("\n"))
    found = Outline.of_markup(lines, "plan.org", CancelToken())
    assert found is not None
    assert found.heading_above(2) is None
    above = found.heading_above(4)
    assert above is not None
    assert (above.key, above.nth_of_key, above.nth) == ("log", 1, 2)


def test_heading_keys_survive_rendering() -> None:
    assert heading_key("The *big* `Étude`, 2") == heading_key("The big Étude 2")


def test_outline_can_be_cancelled() -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        Outline.of(TextLines(["# A"]), token)


def test_outline_can_be_cancelled_after_reading() -> None:
    token = CancelToken()

    class LastLines(TextLines):
        def lines(self, first: int, last: int) -> Sequence[str]:
            if last >= self.line_count:
                token.cancel()
            return super().lines(first, last)

    with pytest.raises(Cancelled):
        Outline.of(LastLines(["# A"] * 600), token)


def test_code_blocks_include_their_fences() -> None:
    found = outline("---\na: b\n---\n```\n# no\n```\ntext\n~~~~sh\n```\n~~~~\n```\nopen to the end")
    assert [line for line in range(1, 13) if found.is_code(line)] == [4, 5, 6, 8, 9, 10, 11, 12]
    assert not outline("text").is_code(1)
