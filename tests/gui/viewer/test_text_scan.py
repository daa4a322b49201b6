"""Scanning a text in the background."""

import pytest

from engine import language_of_note
from gui.core.jobs import Jobs
from gui.viewer.match_list import BLOCK, Hit, Step, plain_finder, query_finder
from gui.viewer.match_navigator import TextScan
from gui.viewer.text_lines import TextLines
from tests.helpers.windows import finish_jobs

FAR = 40 * BLOCK


class CountingLines(TextLines):
    """Records the blocks that were read, in order."""

    def lines(self, first: int, last: int):
        self.__dict__.setdefault("read", []).append((first - 1) // BLOCK)
        return super().lines(first, last)


@pytest.fixture
def lines() -> CountingLines:
    texts = ["nothing"] * FAR
    texts[9] = "The Timer and the timers"
    texts[FAR - 1] = "timer"
    return CountingLines(tuple(texts))


@pytest.fixture
def scan(qapp, jobs: Jobs) -> TextScan:
    return TextScan(jobs, jobs)


def test_scan_starts_nearby_and_finds_all(qtbot, scan: TextScan, lines: CountingLines) -> None:
    scan.start(lines, plain_finder("timer"), near=30 * BLOCK + 1, most_characters=1 << 30)
    qtbot.waitUntil(lambda: not scan.running)
    assert lines.read[:2] == [30, 31]
    assert scan.hits.complete
    assert scan.hits.count == 3


def test_scan_announces_each_state_once(qtbot, scan: TextScan, lines: CountingLines) -> None:
    states: list[tuple[int, bool, bool]] = []
    scan.changed.connect(lambda: states.append((scan.hits.count, scan.running, scan.hits.complete)))
    scan.start(lines, plain_finder("timer"), near=1, most_characters=1 << 30)
    qtbot.waitUntil(lambda: not scan.running)
    assert states[-1] == (3, False, True)
    assert len(set(states)) == len(states)


def test_scan_stops_after_character_limit(qtbot, scan: TextScan, lines: CountingLines) -> None:
    scan.start(lines, plain_finder("timer"), near=1, most_characters=BLOCK * 8)
    qtbot.waitUntil(lambda: not scan.running)
    assert lines.read == [0]


def test_step_scans_up_to_next_hit(qtbot, scan: TextScan, lines: CountingLines) -> None:
    scan.start(lines, plain_finder("timer"), near=1, most_characters=1)
    qtbot.waitUntil(lambda: not scan.running)
    steps: list[Step | None] = []
    scan.step((10, 19), forward=True, on_done=steps.append)
    qtbot.waitUntil(lambda: bool(steps))
    assert steps == [Step(Hit(FAR, 0, 5), False)]


def test_step_without_any_hit_returns_none(qtbot, scan: TextScan, lines: CountingLines) -> None:
    scan.start(lines, plain_finder("absent"), near=1, most_characters=1)
    steps: list[Step | None] = []
    scan.step((1, -1), forward=False, on_done=steps.append)
    qtbot.waitUntil(lambda: steps == [None])


def test_stop_clears_hits_and_pending_steps(scan: TextScan, lines: CountingLines, jobs: Jobs) -> None:
    steps: list[Step | None] = []
    scan.start(lines, plain_finder("timer"), near=1, most_characters=1 << 30)
    scan.step((1, -1), forward=True, on_done=steps.append)
    scan.stop()
    assert not scan.running
    assert not scan.active
    assert scan.hits.count == 0
    finish_jobs(jobs)
    assert steps == []


def test_finder_matches_words_as_indexed() -> None:
    text = "Timers timed the TIMER"
    assert [text[start:end] for start, end in query_finder("timer", "english")(text)] == ["Timers", "TIMER"]
    assert [text[start:end] for start, end in plain_finder("time")(text)] == ["Time", "time", "TIME"]


def test_finder_matches_compounds_of_short_notes() -> None:
    text = "Stromrechnung bezahlen"
    found = query_finder("Rechnung", language_of_note(text))(text)
    assert [text[start:end] for start, end in found] == ["rechnung"]


def test_plain_finder_takes_no_pattern() -> None:
    assert plain_finder("a.b")("a.b axb") == [(0, 3)]


def test_query_finder_marks_only_required_terms() -> None:
    text = "The left valve, valve left: path hose."
    finder = query_finder('"left valve" -hose path:valve', "english")
    assert [text[start:end] for start, end in finder(text)] == ["left valve"]
