import pytest

from engine import FoundMessage, MessageContext, set_language
from gui.search.result_rows import ResultRow, name_speakers


@pytest.mark.parametrize(
    ("snippet", "marked", "expected", "marks"),
    [
        ("User: a relay", ["relay"], "You: a relay", ["relay"]),
        ("User: relay\n\nUser: relay", ["relay"], "You: relay\n\nYou: relay", ["relay", "relay"]),
        ("User: the user\n\nAssistant: no", ["User", "user"], "You: the user\n\nAssistant: no", ["user"]),
        ("see\nUser: quoted\n\nUsers: two", ["quoted"], "see\nUser: quoted\n\nUsers: two", ["quoted"]),
        ("", [], "", []),
    ],
)
def test_speaker_names_are_replaced_and_marks_shift(snippet, marked, expected, marks) -> None:
    ranges = [
        (index, index + len(word))
        for word in marked
        for index in range(len(snippet))
        if snippet.startswith(word, index)
    ]
    text, moved = name_speakers(snippet, sorted(ranges))
    assert text == expected
    assert [text[start:end] for start, end in moved] == marks


def test_marks_shift_for_longer_translated_names() -> None:
    set_language("en-XA")
    try:
        text, moved = name_speakers("User: a relay\n\nAssistant: the relay", [(8, 13), (15, 24), (30, 35)])
    finally:
        set_language("en")
    assert text == "[Ýóú]: a relay\n\n[Áššíštáñt ~]: the relay"
    assert [text[start:end] for start, end in moved] == ["relay", "relay"]


def test_only_session_results_show_speakers(make_result) -> None:
    note = make_result(snippet="User: Ines", match_ranges=())
    result = make_result(snippet="User: Ines", match_ranges=(), message=FoundMessage(1, "", "user"))
    assert ResultRow(note, 0, "").excerpt.text == "User: Ines"
    assert ResultRow(result, 0, "").excerpt.text == "You: Ines"


# --- a short hit with the message next to it --------------------------------------------------------------------------


@pytest.fixture
def excerpt_of(make_result):
    """Return the excerpt of a session's result with this context, and its highlighted words."""

    def run(snippet: str, role: str, text: str) -> tuple[str, list[str]]:
        spoken = FoundMessage(ordinal=2, id="", role="assistant" if role == "user" else "user")
        context = MessageContext(role=role, text=text, line=1, ordinal=1)
        row = ResultRow(make_result(snippet=snippet, message=spoken, context=context), 0, "")
        return row.excerpt.text, [row.excerpt.text[start:end] for start, end in row.excerpt.marks]

    return run


def test_short_answer_follows_its_question(excerpt_of) -> None:
    text, marks = excerpt_of("Assistant: Two words.", "user", "How **many** are there?")
    assert text == "You: How many are there? · Assistant: Two words."
    assert marks == ["words"]


def test_short_question_precedes_its_answer(excerpt_of) -> None:
    text, marks = excerpt_of("User: Which words?", "assistant", "These.")
    assert text == "You: Which words? · Assistant: These."
    assert marks == ["words"]


def test_long_question_leaves_room_for_the_answer(excerpt_of) -> None:
    text, marks = excerpt_of("Assistant: Two words.", "user", "why and " * 30)
    assert text.startswith("You: why and why and")
    assert text.endswith("… · Assistant: Two words.")
    assert len(text) < 100
    assert marks == ["words"]


def test_context_that_is_shown_already_is_not_repeated(excerpt_of) -> None:
    snippet = "User: How many?\n\nAssistant: Two words."
    assert excerpt_of(snippet, "user", "How many?")[0] == "You: How many? Assistant: Two words."
