"""Overview, figures, speed and attention items, from records alone."""

import msgspec
import pytest

from engine import ChunkSizes, DiskPart, FileIssue, MonthCount
from engine.base import skip_reasons
from gui.index.attention_items import attention_of
from gui.index.chart_data import (
    DISK_COLUMNS,
    SIZE_COLUMNS,
    THROUGHPUT_COLUMNS,
    TIME_COLUMNS,
    Throughput,
    cache_hits,
    disk_series,
    size_series,
    time_series,
)
from gui.index.overview_cards import figures
from tests.helpers.fake_overview import make_overview, make_sync
from tests.helpers.fake_records import make_estimate, make_progress, make_status, make_summary


def month(year: int, number: int, notes: int = 1, sessions: int = 0) -> MonthCount:
    return MonthCount(year=year, month=number, notes=notes, sessions=sessions)


def test_reused_vectors_are_a_remark_and_no_card():
    overview = make_overview(syncs=(make_sync(vectors_reused=30, vectors_embedded=10),))
    cards = figures(make_status(chunks=40, pending_vectors=0), overview)
    assert [figure.name for figure in cards] == ["files", "passages", "vectors", "on disk"]
    assert "Of 40 passages in the updates below, 30 already had a vector." in cards[2].tip


def test_chunk_sizes_are_equal_width_bars():
    series = size_series(ChunkSizes(median=150, longest=380, width=100, counts=(3, 0, 1, 2)))
    assert [mark.height for mark in series.marks] == [3, 0, 1, 2]
    assert [mark.key for mark in series.marks] == ["1–100", "101–200", "201–300", "301–400"]
    assert series.marks[2].caption == "201–300 characters: 1 passage"
    assert series.ends == ("0", "400 characters")
    assert series.summary == "6 passages. The median is 150 characters, the longest has 380."
    assert len(series.marks[0].row) == len(SIZE_COLUMNS)
    assert size_series(ChunkSizes(median=0, longest=0, width=0, counts=())).marks == ()


def test_months_without_files_are_empty_marks():
    series = time_series((month(2025, 11, 3), month(2026, 2, 1, 2)))
    assert [(mark.key, mark.parts) for mark in series.marks] == [
        ("Nov 2025", (3, 0)),
        ("Dec 2025", (0, 0)),
        ("Jan 2026", (0, 0)),
        ("Feb 2026", (1, 2)),
    ]
    assert series.legend == ("notes", "sessions")
    assert series.summary.startswith("4 notes, 2 sessions, from Nov 2025 to Feb 2026. Most in ")
    assert len(series.marks[0].row) == len(TIME_COLUMNS)
    assert time_series(()).marks == ()


def test_long_ranges_use_years_and_omit_extreme_gaps():
    series = time_series((month(2020, 1), month(2020, 7), month(2024, 3, 5)))
    assert [(mark.key, mark.parts[0]) for mark in series.marks] == [
        ("2020", 2),
        ("2021", 0),
        ("2022", 0),
        ("2023", 0),
        ("2024", 5),
    ]
    assert series.legend == ()
    assert [mark.key for mark in time_series((month(1970, 1), month(9999, 12))).marks] == ["1970", "9999"]


def test_disk_parts_are_shares_of_total():
    series = disk_series((DiskPart(name="text", bytes=750), DiskPart(name="free", bytes=250)))
    assert [text for text, _ in series.marks[1].row] == ["Free space", "250 bytes", "25%"]
    assert series.summary == "1.0 KB on disk, most of it for: Text: 750 bytes, 75%."
    assert len(series.marks[0].row) == len(DISK_COLUMNS)
    assert disk_series(()).marks == ()


def test_cache_hits_skip_syncs_without_counts():
    old, new = make_sync(vectors_reused=None, vectors_embedded=90), make_sync(vectors_reused=9, vectors_embedded=1)
    assert cache_hits((old, new)) == (9, 10)
    assert cache_hits((old,)) is None
    assert cache_hits(()) is None


# --- figures ----------------------------------------------------------------------------------------------------------


def by_name(status, overview=None) -> dict[str, tuple[str, str, str]]:
    return {figure.name: (figure.value, figure.note, figure.state) for figure in figures(status, overview)}


def vector(rows: int):
    return msgspec.structs.replace(make_status().vector, rows=rows)


def test_figures_show_values_and_captions():
    issue = FileIssue(path="a.md", rule="not-utf8", detail="Byte 3.")
    status = make_status(
        files=10_006, chunks=26_043, failed_files=(issue,) * 2, skipped_files=(issue,) * 31, vector=vector(26_043)
    )
    found = by_name(status, make_overview())
    assert found["files"] == ("10,006", "2 failed · 31 skipped", "degraded")
    assert found["passages"] == ("26,043", "median 1,214 characters", "fine")
    assert found["vectors"] == ("26,043", "every passage has a vector", "fine")
    tips = {figure.name: figure.tip for figure in figures(status, make_overview())}
    assert "already had a vector" in tips["vectors"]
    assert "cache hits" not in found
    assert by_name(status)["passages"][1] == "", "chunks are not counted yet"


def test_vectors_figure_shows_progress():
    step = make_progress(phase="embedding", seconds_left=115.0)
    at_work = make_status(chunks=26_043, vector=vector(12_480), pending_vectors=13_563, syncing=step)
    assert by_name(at_work)["vectors"] == ("12,480", "47%, 1 min 55 s left", "working")
    status = make_status(chunks=100, vector=vector(40), pending_vectors=60, awaiting_approval=make_estimate())
    assert by_name(status)["vectors"] == ("40", "40%, 60 pending", "degraded")
    words = make_status(provider="none", vector=vector(0))
    assert by_name(words)["vectors"] == ("0", "words only", "off")
    almost = make_status(chunks=1000, vector=vector(999), pending_vectors=1)
    assert by_name(almost)["vectors"][1].startswith("99%"), "never 100 % before all are ready"


def test_disk_parts_use_unit_of_total():
    sizes = msgspec.structs.replace(make_status().sizes, database=98_000_000, wal=0, matrix=20_000_000, user=0)
    assert by_name(make_status(sizes=sizes), make_overview())["on disk"][:2] == (
        "118 MB",
        "text 38 · keyword index 31 · vectors 49",
    )


def test_disk_caption_groups_unexplained_rest():
    parts = (("text", 500_000), ("words", 300_000), ("vectors", 250_000), ("matrix", 50_000), ("log", 2_800_000))
    overview = msgspec.structs.replace(
        make_overview(), disk=tuple(DiskPart(name=name, bytes=size) for name, size in parts)
    )
    sizes = msgspec.structs.replace(make_status().sizes, database=1_050_000, wal=2_800_000, matrix=50_000, user=0)
    assert by_name(make_status(sizes=sizes), overview)["on disk"][:2] == (
        "3.9 MB",
        "text, words, vectors 1.1 · rest 2.8",
    )


# --- attention items --------------------------------------------------------------------------------------------------


def rows(**changes) -> list[tuple[str, str, str]]:
    return [(row.title, row.detail, row.action[1]) for row in attention_of(make_status(**changes))]


def issue(path: str, rule: str = "not-utf8", detail: str = "Byte 3.") -> FileIssue:
    return FileIssue(path=path, rule=rule, detail=detail)


def test_healthy_status_has_no_attention_rows():
    assert rows() == []


def test_failed_files_are_named_and_offer_retry():
    assert rows(failed_files=(issue("a.md"),)) == [("a.md", "Byte 3.", "sync")]
    many = rows(failed_files=tuple(issue(f"{n}.md", "secret" if n % 2 else "not-utf8") for n in range(9)))
    assert [title for title, _, _ in many] == ["0.md", "1.md", "2.md", "6 more files failed"]
    assert many[-1][1:] == ("file with secrets (3), not UTF-8 (3)", "failed")
    assert len(rows(failed_files=tuple(issue(f"{n}.md") for n in range(4)))) == 4, (
        "a line for one more file would be no shorter"
    )


def test_missing_folders_of_the_settings_are_named():
    missing = issue("/media/old", "missing", "This extra folder or file does not exist.")
    (named, counted) = rows(skipped_files=(issue("x", "ignored-folder"), missing))
    assert named == (missing.path, missing.detail, "skipped")
    assert counted[0] == "2 files and folders skipped"


def test_skipped_files_are_counted_by_rule():
    skipped = (issue("x", "ignored-folder"),) * 28 + (issue("y", "too-large"),) * 3 + (issue("z", "a"), issue("z", "b"))
    assert rows(skipped_files=skipped) == [
        (
            "33 files and folders skipped",
            "ignored folder (28), too large (3), a (1), 1 other rule for skipping files",
            "skipped",
        )
    ]


def test_grouped_skip_entry_counts_all_its_files():
    kind = issue("*.txt", "extension", skip_reasons.OTHER_EXTENSIONS.message(count=1501, extensions=".md"))
    more = issue("…", "symlink", skip_reasons.MORE_OF_A_RULE.message(number=20))
    skipped = (kind, issue("x", "symlink"), more)
    assert rows(skipped_files=skipped) == [
        ("1,522 files and folders skipped", "other file extension (1,501), symbolic link (21)", "skipped")
    ]
    assert by_name(make_status(skipped_files=skipped))["files"][1] == "1,522 skipped"


def test_pending_vectors_show_reason():
    assert rows(pending_vectors=3)[0][0] == "3 passages are found by words only"
    assert rows(pending_vectors=1)[0][2] == "sync"
    assert rows(pending_vectors=3, syncing=make_progress()) == [], "the sync is making them"
    title, _, action = rows(pending_vectors=3, awaiting_approval=make_estimate())[0]
    assert (title, action) == ("3 passages wait for your approval to be embedded", "embed")


def test_errors_come_first():
    found = rows(
        index_error="It was damaged.",
        last_sync=make_summary(error="The disk is full."),
        skipped_files=(issue("x"),),
    )
    assert [action for _, _, action in found] == ["rebuild", "sync", "skipped"]


def test_read_only_index_offers_to_try_again():
    custom = make_status().custom | {"readOnly": "The index cannot be written."}
    found = rows(custom=custom, index_error="The index cannot be written.", failed_files=(issue("a.md"),))
    assert [action for _, _, action in found] == ["retry", ""]
    found = rows(custom=custom | {"diskFull": True}, index_error="The disk is full.", failed_files=(issue("a.md"),))
    assert [action for _, _, action in found] == ["retry", "sync"], "there may be room again"


# --- speed ------------------------------------------------------------------------------------------------------------


def test_throughput_is_measured_per_second():
    speed = Throughput()
    for second in range(4):
        status = make_status(syncing=make_progress(phase="embedding", completed=second * 100, rate=1.0))
        assert speed.update_status(status, 50.0 + second)
        assert not speed.update_status(status, 50.1 + second), "at most one sample per second"
    series = speed.series()
    assert [mark.height for mark in series.marks][1:] == [pytest.approx(100)] * 3
    assert speed.now() == "100 passages/s"
    assert series.summary == "100 passages per second now, 100 at the peak."
    assert len(series.marks[0].row) == len(THROUGHPUT_COLUMNS)


def test_throughput_restarts_per_phase_and_keeps_last():
    speed = Throughput()
    for moment, phase, done in (
        (1.0, "indexing", 5),
        (2.0, "indexing", 9),
        (3.0, "embedding", 50),
        (4.0, "embedding", 90),
    ):
        speed.update_status(make_status(syncing=make_progress(phase=phase, completed=done)), moment)
    assert {mark.row[1][0] for mark in speed.series().marks} == {"embedding"}
    assert not speed.update_status(make_status(syncing=None), 5.0)
    before = speed.series()
    assert (len(before.marks), speed.now()) == (2, "the last update")
    assert not speed.update_status(make_status(syncing=make_progress(phase="publishing")), 6.0)
    assert not speed.update_status(make_status(syncing=make_progress(), paused=True), 7.0)
    assert speed.series().marks == before.marks
    speed.clear()
    assert speed.series().marks == ()


def test_throughput_marks_are_bounded():
    speed = Throughput()
    for second in range(1000):
        speed.update_status(make_status(syncing=make_progress(phase="embedding", completed=second)), float(second))
    assert len(speed.series().marks) == 300
