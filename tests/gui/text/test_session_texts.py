from datetime import date

import pytest

from engine import folder_name
from gui.conversation.display_entries import day_text
from gui.text.session_texts import agent_name, day_title, work_time

TODAY = date(2026, 2, 11)


@pytest.mark.parametrize(
    ("day", "title"),
    [
        (TODAY, "Today"),
        (date(2026, 2, 10), "Yesterday"),
        (date(2026, 2, 9), "Monday"),
        (date(2026, 2, 5), "Thursday"),
        (date(2026, 2, 4), "Wednesday 4 February"),
        (date(2025, 12, 31), "31 December 2025"),
        (date(2026, 2, 12), "Thursday 12 February"),
        (None, "No date"),
    ],
)
def test_day_title_uses_relative_words(day, title):
    assert day_title(day, TODAY) == title


def test_day_text_is_shortened_to_fit():
    assert day_text(TODAY.toordinal()) == "Wednesday 11 February 2026"
    assert day_text(TODAY.toordinal(), lambda words: len(words) < 20) == "11 Feb 2026"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (None, ""),
        (0, ""),
        (20, "under 1 min"),
        (1320, "22 min"),
        (5220, "1 h 27 min"),
        (7380, "2 h 03 min"),
        (93_600, "26 h"),
    ],
)
def test_active_time_has_suitable_units(seconds, words):
    assert work_time(seconds) == words


def test_agent_has_its_label_and_folder_its_last_name():
    assert agent_name("claude-code") == "Claude Code"
    assert agent_name("new-thing") == "new-thing"
    assert folder_name("/home/ines/src/otter/") == "otter"
    assert folder_name("C:\\src\\otter") == "otter"
    assert folder_name("/") == "/"
    assert folder_name("") == ""
