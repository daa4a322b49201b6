"""Comparison of two texts, line by line."""

import textwrap
from difflib import Match, SequenceMatcher
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gui.index.duplicates.line_comparison import Row, Text, side_by_side_rows


def rows(left: str, right: str, first: tuple[int, int] = (1, 1)) -> list[Row]:
    return side_by_side_rows(Text(first[0], tuple(left.split("\n"))), Text(first[1], tuple(right.split("\n"))))


def kinds_and_lines(found: list[Row]) -> list[tuple[str, int | None, int | None]]:
    return [(row.kind, row.left and row.left.number, row.right and row.right.number) for row in found]


def test_same_text_has_no_difference() -> None:
    assert kinds_and_lines(rows("a\n\nb", "a\n\nb", (5, 8))) == [("same", 5, 8), ("same", 6, 9), ("same", 7, 10)]


def test_changed_line_marks_changed_words() -> None:
    (row,) = rows("Set both zones to 06:10, after the frost", "Set both zones to 07:30 after the last frost")
    assert row.kind == "changed"
    assert [row.left.text[slice(*mark)] for mark in row.left.marks] == ["06", "10,"]
    assert [row.right.text[slice(*mark)] for mark in row.right.marks] == ["07", "30", "last"]


def test_line_missing_on_one_side_is_left_or_right() -> None:
    assert kinds_and_lines(rows("a\nonly here\nb", "a\nb")) == [("same", 1, 1), ("left", 2, None), ("same", 3, 2)]
    assert kinds_and_lines(rows("a\nb", "a\nonly here\nb")) == [("same", 1, 1), ("right", None, 2), ("same", 2, 3)]


def test_deleted_item_of_a_list_moves_no_other_item() -> None:
    left = "## Planes\n\n- [ ] adapter (Japan: two flat pins)\n- [ ] knife goes into the suitcase\n- [ ] a bottle"
    right = "## Planes\n\n- [x] knife goes into the suitcase\n- [x] a bottle"
    expected = [("same", 1, 1), ("same", 2, 2), ("left", 3, None), ("changed", 4, 3), ("changed", 5, 4)]
    assert kinds_and_lines(rows(left, right)) == expected


def test_changed_lines_are_paired_by_similarity() -> None:
    left = "the pump ran all night\nbent the arm back\nAnton says that copper would help"
    right = "new: a second tank\nthe pump ran all day\nAnton says copper would help"
    assert kinds_and_lines(rows(left, right)) == [
        ("right", None, 1),
        ("changed", 1, 2),
        ("left", 2, None),
        ("changed", 3, 3),
    ]


def test_moved_lines_are_marked_moved() -> None:
    assert kinds_and_lines(rows("one\ntwo\nthree", "three\none\ntwo")) == [
        ("moved", None, 1),
        ("same", 1, 2),
        ("same", 2, 3),
        ("moved", 3, None),
    ]


def test_whitespace_makes_no_difference() -> None:
    assert {row.kind for row in rows("a  b\n\n", "a b\n \n")} == {"same"}


def test_text_wrapped_differently_is_the_same() -> None:
    left = "The timer opens nothing itself: it\ncloses a contact for a quarter second, and the\nboard decides."
    right = "The timer opens nothing\nitself: it closes a contact for a quarter second, and the board\ndecides."
    found = rows(left, right)
    assert {row.kind for row in found} <= {"same", "wrapped"}
    assert not any(row.differs for row in found)
    assert [row.left.number for row in found if row.left and row.left.number] == [1, 2, 3]
    assert [row.right.number for row in found if row.right and row.right.number] == [1, 2, 3]
    assert not any(side.marks for row in found for side in (row.left, row.right) if side)


def test_changed_word_in_wrapped_text_is_marked_alone() -> None:
    left = "The irrigation timer opens nothing itself: it closes a contact\nfor a quarter of a second."
    right = "The irrigation timer opens nothing\nitself: it closes a contact for a\nthird of a second."
    sides = [side for row in rows(left, right) for side in (row.left, row.right) if side]
    assert [side.text[slice(*mark)] for side in sides for mark in side.marks] == ["quarter", "third"]


def test_deleted_word_is_marked_beside_equal_ones() -> None:
    for left, right in (("very very good", "very good"), ("no no no no yes", "no no no yes")):
        (row,) = rows(left, right)
        assert row.left
        assert row.right
        assert [row.left.text[slice(*mark)] for mark in row.left.marks] == [left.split()[0]]
        assert not row.right.marks


_REPEATED = st.lists(st.sampled_from(("that", "is", "it", "and", "all")), min_size=1, max_size=40)


@given(_REPEATED, _REPEATED, st.integers(10, 40), st.integers(10, 40))
def test_only_texts_of_equal_words_are_the_same(left: list[str], right: list[str], narrow: int, wide: int) -> None:
    for other in (right, left, left[1:], left[:-1], left[: len(left) // 2] + left[len(left) // 2 + 1 :]):
        found = rows(textwrap.fill(" ".join(left), narrow), textwrap.fill(" ".join(other), wide))
        assert any(row.differs for row in found) == (other != left)


@pytest.mark.parametrize("mirrored", [False, True])
def test_changed_word_of_divided_paragraph_is_changed(mirrored: bool) -> None:
    words = [f"word{number}" for number in range(24)]
    copy = [word.replace("word12", "wolf") for word in words]
    texts = [" ".join(words), textwrap.fill(" ".join(copy), 60)]
    found = rows(*(texts[::-1] if mirrored else texts))
    assert [row.kind for row in found] == ["same", "changed", "wrapped"]


@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("inserted", ["A sentence that is new.", ""])
def test_paragraph_is_divided_around_an_inserted_line(inserted: str, mirrored: bool) -> None:
    words = [f"word{number}" for number in range(24)]
    wrapped = textwrap.wrap(" ".join(words), 60)
    texts = [" ".join(words), "\n".join([wrapped[0], inserted, *wrapped[1:]])]
    found = rows(*(texts[::-1] if mirrored else texts))
    lines = [(row.right, row.left) if mirrored else (row.left, row.right) for row in found]
    assert [(one and one.text.strip(), other and other.text) for one, other in lines] == [
        (wrapped[0], wrapped[0]),
        (None, inserted),
        *((line, line) for line in wrapped[1:]),
    ]
    assert [row.differs for row in found] == [False, True, *(False for _ in wrapped[1:])]


@pytest.mark.parametrize("mirrored", [False, True])
def test_paragraph_is_divided_before_a_replaced_line(mirrored: bool) -> None:
    words = [f"word{number}" for number in range(24)]
    wrapped = textwrap.wrap(" ".join(words), 60)
    texts = ["\n".join([" ".join(words), "Only in one of them."]), "\n".join([*wrapped, "Instead, the end."])]
    found = rows(*(texts[::-1] if mirrored else texts))
    lines = [(row.right, row.left) if mirrored else (row.left, row.right) for row in found]
    assert [one.text.strip() for one, _ in lines[: len(wrapped)] if one] == wrapped
    assert [other.text for _, other in lines[: len(wrapped)] if other] == wrapped


@pytest.mark.parametrize(
    "text",
    [
        "灌溉定时器本身不打开任何阀门它只闭合触点四分之一秒然后由控制板决定",
        "かんがいタイマーじたいはなにもひらかずせってんをよんぶんのいちびょうとじるだけです",
        "ตัวตั้งเวลารดน้ำไม่ได้เปิดอะไรเองแต่ปิดหน้าสัมผัสหนึ่งในสี่วินาทีแล้วแผงวงจรจึงตัดสินใจ",
    ],
)
def test_text_without_spaces_wrapped_differently_is_same(text: str) -> None:
    left, right = ("\n".join((text[:at], text[at:])) for at in (12, 16))
    assert not any(row.differs for row in rows(left, right))
    sides = [side for row in rows(left, right.replace(text[20], "X")) for side in (row.left, row.right) if side]
    assert max(end - start for side in sides for start, end in side.marks) <= 3


def test_long_text_wrapped_differently_is_side_by_side() -> None:
    words = [f"word{number}" for number in range(600)]
    texts = [textwrap.fill(" ".join(words), width, break_on_hyphens=False) for width in (72, 90)]
    found = rows("# Title\n" + texts[0], "# Title of a copy\n" + texts[1])
    assert [row.kind for row in found if row.differs] == ["changed"]
    assert len(found) == 1 + len(texts[0].split("\n"))
    for row in found[1:]:
        assert row.left
        assert row.right
        assert set(row.left.text.split()) & set(row.right.text.split())


@pytest.mark.parametrize("mirrored", [False, True])
def test_paragraph_in_one_line_is_divided_like_the_wrapped_one(mirrored: bool) -> None:
    words = [f"word{number}" for number in range(60)]
    texts = [" ".join(words), textwrap.fill(" ".join(words), 50)]
    found = rows(*(texts[::-1] if mirrored else texts))
    lines = [(row.right, row.left) if mirrored else (row.left, row.right) for row in found]
    assert [(one.number, other.number) for one, other in lines] == [(1, 1), *((0, n) for n in range(2, 10))]
    assert all(one.text.strip() == other.text for one, other in lines)
    assert not any(row.differs for row in found)


def test_rewrapped_paragraphs_are_aligned() -> None:
    paragraphs = [
        "The beds dry out when the vents are open and the wind blows from the south, so water them.",
        "## Pruning",
        "Cut the vines in February, before the sap rises, and tie the new canes to the wire above.",
        "Old canes carry no fruit in summer, so that you may as well cut all of them.",
    ]
    left, right = ("\n\n".join(textwrap.fill(text, width) for text in paragraphs) for width in (86, 72))
    assert [text.split("\n").count("them.") for text in (left, right)] == [1, 1]
    found = rows(left, right)
    for text in paragraphs:
        (row,) = [row for row in found if row.left and row.left.text and text.startswith(row.left.text)]
        assert row.right
        assert text.startswith(row.right.text)
    assert not any(row.differs for row in found)


def table(rows: int) -> tuple[Text, Text]:
    """Return a table, and the same table with one more column."""
    random = Random(1)
    trees = ("oak", "elm", "ash", "fir", "yew")
    left = [f"| {random.randint(1, 31)} | {random.choice(trees)} | {random.randint(1, 99)} |" for _ in range(rows)]
    return Text(1, tuple(left)), Text(1, tuple(f"{line} {random.choice(trees)} |" for line in left))


def test_comparing_tables_takes_a_limited_number_of_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = 0
    find = SequenceMatcher.find_longest_match

    def counted(matcher: Any, alo: int, ahi: int, blo: int, bhi: int) -> Match:
        nonlocal steps
        steps += sum(len(matcher.b2j.get(word, ())) for word in matcher.a[alo:ahi])
        return find(matcher, alo, ahi, blo, bhi)

    monkeypatch.setattr(SequenceMatcher, "find_longest_match", counted)
    found = side_by_side_rows(*table(280))
    assert steps < 20_000_000
    assert {row.kind for row in found} == {"changed"}


def test_matching_words_can_be_cancelled() -> None:
    calls = 0

    def checkpoint() -> None:
        nonlocal calls
        calls += 1

    found = side_by_side_rows(*table(40), checkpoint)
    assert calls > len(found) + 40  # one call for each row, the others while words are matched


_LINES = st.lists(st.text(alphabet="ab c", max_size=6), max_size=40)


@given(_LINES, _LINES)
def test_every_line_is_shown_once_and_in_order(left: list[str], right: list[str]) -> None:
    found = side_by_side_rows(Text(1, tuple(left)), Text(1, tuple(right)))
    for side, lines in (("left", left), ("right", right)):
        joined: list[str] = []
        for part in (getattr(row, side) for row in found):
            if part is not None and part.number:
                joined.append(part.text)
            elif part is not None:
                joined[-1] += part.text
        assert joined == lines
    for row in found:
        assert row.left is not None or row.right is not None
        marks = any(side.marks for side in (row.left, row.right) if side)
        assert (row.kind == "changed") == marks
        assert row.kind != "same" or None not in (row.left, row.right)
        assert row.kind not in ("left", "right", "moved") or None in (row.left, row.right)
        for side in (row.left, row.right):
            assert side is None or all(0 <= a < b <= len(side.text) for a, b in side.marks)
