import pytest

from engine import MessagePlace, speak
from gui.search.rows import ResultRow, name_speakers


@pytest.mark.parametrize(
    ("snippet", "marked", "shown", "marks"),
    [
        ("User: a relay", ["relay"], "You: a relay", ["relay"]),
        ("User: relay\n\nUser: relay", ["relay"], "You: relay\n\nYou: relay", ["relay", "relay"]),
        ("User: the user\n\nAssistant: no", ["User", "user"], "You: the user\n\nAssistant: no", ["user"]),
        ("see\nUser: quoted\n\nUsers: two", ["quoted"], "see\nUser: quoted\n\nUsers: two", ["quoted"]),
        ("", [], "", []),
    ],
)
def test_speaker_names_are_replaced_and_marks_shift(snippet, marked, shown, marks) -> None:
    ranges = [
        (place, place + len(word))
        for word in marked
        for place in range(len(snippet))
        if snippet.startswith(word, place)
    ]
    text, moved = name_speakers(snippet, sorted(ranges))
    assert text == shown
    assert [text[start:end] for start, end in moved] == marks


def test_marks_shift_for_longer_translated_names() -> None:
    speak("en-XA")
    try:
        text, moved = name_speakers("User: a relay\n\nAssistant: the relay", [(8, 13), (15, 24), (30, 35)])
    finally:
        speak("en")
    assert text == "[Ýóú]: a relay\n\n[Áššíštáñt ~]: the relay"
    assert [text[start:end] for start, end in moved] == ["relay", "relay"]


def test_only_session_results_show_speakers(make_result) -> None:
    note = make_result(snippet="User: Ines", match_ranges=())
    said = make_result(snippet="User: Ines", match_ranges=(), message=MessagePlace(1, "", "user"))
    assert ResultRow(note, 0, "").excerpt.text == "User: Ines"
    assert ResultRow(said, 0, "").excerpt.text == "You: Ines"
