"""The date of a note, from its name, its folders and its front matter."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.corpus import front_matter
from engine.corpus.note_dates import date_in_name, dates_in_front_matter, is_evergreen


def day(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%d")


def scalars(block: str) -> dict[str, str]:
    front = front_matter.read(f"---\n{block}\n---\n")
    return {} if front is None else front.scalars()


@pytest.mark.parametrize(
    ("name", "found", "origin"),
    [
        ("memory/2026-01-11.md", "2026-01-11", "name"),
        ("memory/2026-01-11-vendor-pitch.md", "2026-01-11", "name"),
        ("memory/sub/deep/2026-01-11-1430.md", "2026-01-11", "name"),
        ("daily/2026_01_11.md", "2026-01-11", "name"),
        ("notes from 2026.01.11 (Ines).md", "2026-01-11", "name"),
        ("20260111 walk.md", "2026-01-11", "name"),
        ("zettel/202601111430 on bees.md", "2026-01-11", "name"),
        ("2026-02-30 not, but 2026-03-01.md", "2026-03-01", "name"),
        ("log/2026/01/11.md", "2026-01-11", "folder"),
        ("log/2026/01/11-standup.md", "2026-01-11", "folder"),
        ("log/2026/2026-01/11.md", "2026-01-11", "folder"),
        ("log/2026/01-January/11 Sunday.md", "2026-01-11", "folder"),
        ("trips/2026-01-11 Lisbon/packing.md", "2026-01-11", "folder"),
        ("trips/2026-01-11/day 2/packing.md", "2026-01-11", "folder"),
        ("2026/11/2025-12-31.md", "2025-12-31", "name"),
        ("journal/2026-W03.md", "2026-01-18", "name"),
        ("journal/2026-02.md", "2026-02-28", "name"),
        ("journal/2026/02/review.md", "2026-02-28", "folder"),
        ("journal/2026-02/review.md", "2026-02-28", "folder"),
    ],
)
def test_date_is_read_from_name_or_folders(name: str, found: str, origin: str) -> None:
    dated = date_in_name(name)
    assert dated is not None
    assert (day(dated.moment), dated.origin) == (found, origin)


@pytest.mark.parametrize(
    "name",
    [
        *("MEMORY.md", "memory/topic.md", "projects/bees-2026.md", "2026/plan.md", "2026-13-01.md", "2026-02-30.md"),
        *("v1.2026.md", "call 1234-56-78.md", "0320-01-01.md", "id 12026011155.md", "2026-W77.md", "a/99/11.md", ""),
    ],
)
def test_other_numbers_are_not_dates(name: str) -> None:
    assert date_in_name(name) is None


@pytest.mark.parametrize(
    ("block", "found"),
    [
        ("date: 2026-01-11", "2026-01-11T00:00"),
        ("Date: 2026/1/9 # when", "2026-01-09T00:00"),
        ('created: "2026-01-11 08:30"', "2026-01-11T08:30"),
        ("created: 2026-01-11T23:30:00.123Z", "2026-01-11T23:30"),
        ("last modified: 2026-01-11T23:30:00-02:00", "2026-01-11T23:30"),
        ("created: 2025-05-05\nupdated: 2026-01-11\ntags: [a]", "2026-01-11T00:00"),
        ("updated: [[2026-01-11]]", "2026-01-11T00:00"),
        ("updated: 2026-01-11, in the evening", "2026-01-11T00:00"),
        ("date: January 11, 2026 8:30 PM", "2026-01-11T00:00"),
        ("Created time: 11. Januar 2026 20:30", "2026-01-11T00:00"),
        ("updated: 1768174200123\ncreated: 1658768214", "2026-01-11T23:30"),
    ],
)
def test_front_matter_has_the_moment(block: str, found: str) -> None:
    latest = dates_in_front_matter(scalars(block))[-1]
    assert datetime.fromtimestamp(latest, UTC).strftime("%Y-%m-%dT%H:%M") == found


def test_front_matter_dates_ascend_without_repeats() -> None:
    dates = dates_in_front_matter(scalars("updated: 2026-01-11\ncreated: 2024-08-04\ndate: 2024-08-04\nday: soon"))
    assert [datetime.fromtimestamp(date, UTC).strftime("%Y-%m-%d") for date in dates] == ["2024-08-04", "2026-01-11"]


@pytest.mark.parametrize(
    "block",
    [
        "due: 2026-01-11",
        "date: 11/01/2026",
        "date: May 2026",
        "date: May 5, 2026 to May 7, 2026",
        "date: 2026-02-30",
        "date: soon",
        "date:",
        "",
    ],
)
def test_unrelated_dates_ignored(block: str) -> None:
    assert dates_in_front_matter(scalars(block)) == ()


def test_note_with_flag_does_not_age() -> None:
    assert is_evergreen(scalars("evergreen: true"))
    assert not is_evergreen(scalars("evergreen: false"))
    assert not is_evergreen({})


@given(st.text(alphabet="0123456789-_./ wW:TZ+[]\"'", max_size=60))
def test_dates_are_read_from_any_text_without_error(text: str) -> None:
    date_in_name(text)
    dates_in_front_matter({"date": text})
