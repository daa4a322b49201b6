"""Messages, and the metadata of the session in them."""

import sqlite3

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.corpus.transcripts import messages
from engine.corpus.transcripts.formats import LineParser
from engine.corpus.transcripts.messages import Kind, Message, Role, SessionMetadata, clean, opening_line

any_text = st.text(st.characters() | st.sampled_from("\r\n\0\ud800\udfff"))


def message(text: str, role: Role = "user", kind: Kind = "text", *, time: float | None = None, side: bool = False):
    return Message(role, kind, text, 1, 1, time=time, side=side)


@given(text=any_text)
def test_clean_text_fits_everywhere_and_keeps_its_lines(text: str) -> None:
    cleaned = clean(text)
    assert cleaned.encode().decode() == cleaned
    assert "\0" not in cleaned
    assert "\r" not in cleaned
    assert cleaned.count("\n") == text.replace("\r\n", "\n").replace("\r", "\n").count("\n")
    assert clean(cleaned) == cleaned
    with sqlite3.connect(":memory:") as database:
        assert database.execute("SELECT ?", (cleaned,)).fetchone() == (cleaned,)


@given(text=any_text, size=st.integers(1, 7))
def test_long_text_is_cleaned_in_pieces_with_the_same_result(text: str, size: int) -> None:
    whole = clean(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(messages, "_SLICE", size)
        assert clean(text) == whole


def test_opening_line_is_as_many_sentences_as_say_something() -> None:
    titles = {
        "Fix the failing parser. Then test it.": "Fix the failing parser.",
        "  Fix\tthe   failing parser\nand more": "Fix the failing parser",
        "Why? Because.": "Why? Because.",
        "why does this happen?\n\n```\nE: no such file\n```\nMore.": "why does this happen? E: no such file",
        "Hi Claude,\nplease fix the login. Now.": "Hi Claude, please fix the login.",
        "Почему это происходит? Сборка падает.": "Почему это происходит? Сборка падает.",
        "Warum ist das so? Der Bau bricht ab.": "Warum ist das so? Der Bau bricht ab.",
        "Use os.path here": "Use os.path here",
        "1. Fix the parser. 2. Test it.": "1. Fix the parser.",
        "This fails in the parser:\n\nE: no such file\n\nWhy?": "This fails in the parser: E: no such file",
        "設定を直して。次に": "設定を直して。",
        "直して。設定を。次に": "直して。設定を。",
        "```": "",
        "```make test```": "```make test```",
        "\n\n": "",
        "": "",
        "word " * 100: " ".join(["word"] * 24) + "…",
        "x" * 500: "x" * 119 + "…",
    }
    assert {text: opening_line(text) for text in titles} == titles


@given(text=any_text | st.lists(st.text(min_size=20, max_size=70), max_size=12).map(" ".join))
@example(text="boats " * 30)
@example(text="b" * 130)
def test_a_title_is_one_short_line(text: str) -> None:
    title = opening_line(text)
    assert len(title) <= 120
    assert len(title.splitlines()) <= 1
    assert title == title.strip()


def test_opening_is_first_message_of_the_user() -> None:
    metadata = SessionMetadata(agent="codex")
    metadata.add_message(message("I answer.", "assistant"))
    metadata.add_message(message("A note.", "system"))
    metadata.add_message(message("ls", "user", "tool-call"))
    metadata.add_message(message("LabelledQuery of a helper.", side=True))
    metadata.add_message(message("   \n"))
    assert metadata.name == ""
    metadata.add_message(message("Really? Yes."))
    metadata.add_message(message("Later."))
    assert metadata.opening == metadata.name == "Really? Yes."
    metadata.title = "Given"
    assert metadata.name == "Given"


def test_opening_is_first_message_that_says_something() -> None:
    openings = {
        ("hi", "ok?", "Fix the login in auth.py."): "Fix the login in auth.py.",
        ("hi there", "ok?"): "hi there",
        ("Why does it leak?", "See hull.py and mast.py"): "Why does it leak?",
        ("/init", "Fix the login."): "/init",
        ("Fix the login.", "Then test the mail."): "Fix the login.",
        ("你好", "修复登录页面"): "修复登录页面",
    }
    found = dict[tuple[str, ...], str]()
    for texts in openings:
        parser = LineParser(metadata=SessionMetadata(agent="codex"))
        for line, text in enumerate(texts, 1):
            parser.part("user", "text", text, line)
        found[texts] = parser.metadata.opening
    assert found == openings


def test_abandoned_message_no_longer_opens_a_greeted_session() -> None:
    parser = LineParser(metadata=SessionMetadata(agent="codex"))
    parser.part("user", "text", "hi", 1)
    parser.part("user", "text", "Fix the login.", 2)
    parser.metadata.mark_abandoned(2, 2)
    parser.part("user", "text", "Fix the logout.", 3)
    assert parser.metadata.opening == "Fix the logout."


def test_sub_agent_session_opens_with_request() -> None:
    metadata = SessionMetadata(agent="claude-code", parent="main")
    metadata.add_message(message("Find the callers.", side=True))
    assert metadata.opening == "Find the callers."


@given(times=st.lists(st.none() | st.floats(0, 1e10)))
def test_a_session_lasts_from_the_first_to_the_last_time(times: list[float | None]) -> None:
    metadata = SessionMetadata(agent="codex")
    for time in times:
        metadata.add_message(message("x", time=time))
    known = [time for time in times if time is not None]
    assert (metadata.started, metadata.ended) == ((min(known), max(known)) if known else (None, None))


@pytest.mark.parametrize(
    ("times", "active"),
    [
        ([], None),
        ([10.0], None),
        ([None, 10.0, None], None),
        ([10.0, 10.0, 10.0], None),  # as in a format that has one time for all messages
        ([10.0, 40.0, 100.0], 90.0),
        ([10.0, 86_410.0, 86_420.0], 310.0),
        ([100.0, 40.0, 160.0], 60.0),
    ],
)
def test_pauses_count_as_work_up_to_five_minutes(times: list[float | None], active: float | None) -> None:
    metadata = SessionMetadata(agent="a", started=0.0, ended=1e9)  # as some agents record them elsewhere
    for time in times:
        metadata.add_message(message("x", time=time))
    assert metadata.active == active


@pytest.mark.parametrize(
    ("hours", "pauses"),
    [
        ([0, 5, 24], []),
        ([0, 5, 40, 41, 90], [(5, 40), (41, 90)]),
        ([0, 90, 45], [(0, 45), (45, 90)]),
        ([0, 90, 1, 80], [(1, 80)]),
        ([None, 3, None], []),
    ],
)
def test_long_times_without_a_message_are_pauses(hours: list[int | None], pauses: list[tuple[int, int]]) -> None:
    metadata = SessionMetadata(agent="codex")
    for hour in hours:
        metadata.add_message(Message("user", "text", "?", 1, 1, "", None if hour is None else hour * 3600.0))
    assert metadata.pauses == [(first * 3600, last * 3600) for first, last in pauses]


@given(names=st.lists(any_text, max_size=4), text=any_text)
def test_parser_state_is_storable_after_any_input(names: list[str], text: str) -> None:
    parser = LineParser(metadata=SessionMetadata(agent="codex"))
    for name in names:
        parser.count_unknown(name)
        part = parser.part("user", "text", text, 1, id=name, tool=name)
        assert all(value == value.encode().decode() for value in (part.text, part.id, part.tool))
    assert sum(parser.unknown.values()) == len(names)
    assert msgspec.json.decode(msgspec.json.encode(parser), type=LineParser) == parser


def test_state_of_an_earlier_version_is_resumed() -> None:
    state = b'{"facts":{"agent":"codex","id":"c-1"},"ordinal":3}'
    parser = msgspec.json.decode(state, type=LineParser)
    assert (parser.metadata.id, parser.ordinal, msgspec.to_builtins(parser)["facts"]["id"]) == ("c-1", 3, "c-1")


def test_two_parsers_count_separately() -> None:
    first, second = (LineParser(metadata=SessionMetadata(agent="codex")) for _ in range(2))
    first.count_unknown(None)
    assert (first.unknown, second.unknown) == ({"without a type": 1}, {})


def test_a_long_text_keeps_its_windows_line_ends_as_one() -> None:
    assert clean("ab\r\n" * 90_000) == "ab\n" * 90_000


def test_unknown_types_are_counted_up_to_a_limit() -> None:
    parser = LineParser(metadata=SessionMetadata(agent="a"))
    for number in range(2000):
        parser.count_unknown(f"type {number}")
    parser.count_unknown("type 7")
    assert parser.unknown["type 7"] == 2
    assert len(parser.unknown) == 501
    assert sum(parser.unknown.values()) == parser.metadata.unknown == 2001


def test_only_latest_of_many_abandoned_branches_are_known() -> None:
    metadata = SessionMetadata(agent="a")
    for line in range(0, 3000, 3):
        metadata.mark_abandoned(line + 1, line + 2)
    assert len(metadata.rewound) == 400
    assert metadata.is_abandoned(2998)
    assert not metadata.is_abandoned(2997)


def test_metadata_is_made_of_values_of_any_type() -> None:
    key = "ghp_" + "a1B2c3D4e5F6" * 3
    made = SessionMetadata.of(
        "a\r\nb", title=f" Fix\n the {key} ", project=["x"], branch="main\0", parent=None, started="?"
    )
    assert (made.id, made.project, made.branch, made.parent, made.started) == ("a\nb", "", "main\ufffd", "", None)
    assert made.title.startswith("Fix the ghp_")
    assert key not in made.title
    for title in ("New\nchat", 5, None, {}):
        assert SessionMetadata.of(title=title, untitled=("New chat",)).title == ""
