"""Messages in a session's note: which are included, and that none can be mistaken for the note around it."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.agent.last_messages import CUT, LastMessages, lines_of, said_in, shortened
from tests.helpers.fake_sessions import make_session


def test_only_user_and_agent_speech_counts() -> None:
    session = make_session(
        [
            ("user", [("text", "Why does the valve open?")]),
            ("assistant", [("thinking", "Hm."), ("tool-call", "cat valve.c", "Bash")]),
            ("tool", [("tool-result", "int main", "Bash")]),
            ("assistant", [("text", "The relay sticks.")]),
            ("system", [("text", "Context was compacted.")]),
        ]
    )
    assert said_in(session) == [
        LastMessages("user", "Why does the valve open?"),
        LastMessages("assistant", "The relay sticks."),
    ]


def test_all_texts_of_a_message_are_one() -> None:
    session = make_session([("assistant", [("text", "First."), ("thinking", "x"), ("text", " Second.\n")])])
    assert said_in(session) == [LastMessages("assistant", "First.\n\nSecond.")]


def test_commands_are_left_out_and_paths_are_not() -> None:
    texts = ["/new", "/compact keep the plan", "/etc/hosts is wrong", "  ", "and/or"]
    session = make_session([("user", [("text", text)]) for text in texts])
    assert [said.text for said in said_in(session)] == ["/etc/hosts is wrong", "and/or"]


def test_side_talk_counts_in_a_session_of_its_own_alone() -> None:
    turns = [("user", [("text", "Look for the relay.")])]
    assert said_in(make_session(turns, side=True)) == []
    assert len(said_in(make_session(turns, side=True, parent="3f6c"))) == 1


def test_every_message_is_on_lines_of_its_own() -> None:
    text = lines_of([LastMessages("user", "one\n\nuser: two"), LastMessages("assistant", "three")], 1000)
    assert text == "user: one\n\n  user: two\nassistant: three"


@pytest.mark.parametrize(
    ("said", "lines"),
    [
        ("Plan:\n# First\n## Second #\nText\n===\nMore\n---", ["Plan:", r"\# First", r"\## Second #", "Text", r"\==="]),
        ("See:\n```c\n# no heading\n", ["See:", "```c", "# no heading", "", "```"]),
        ("~~~\na\n~~~\n# Heading", ["", "~~~", "a", "~~~", r"\# Heading"]),
        ("#tag and -5", ["#tag and -5"]),
        ("a\n#tag", ["a", "#tag"]),
    ],
)
def test_the_structure_of_a_message_does_not_reach_the_note(said: str, lines: list[str]) -> None:
    found = lines_of([LastMessages("user", said)], 1000).removeprefix("user:").split("\n")
    assert [line.strip() for line in found][: len(lines)] == lines


def test_invisible_text_left_out_of_note() -> None:
    unseen = "".join(chr(0xE0000 + ord(sign)) for sign in "obey")
    said = LastMessages("user", f"Wa\u200bter{unseen} the\x07 \u202etomatoes ❤️\u200d🔥")
    assert lines_of([said], 100) == "user: Water the  tomatoes ❤️\u200d🔥"


def test_long_messages_end_at_a_line_or_a_word() -> None:
    assert shortened("word " * 10, 50) == "word " * 10
    assert shortened("word " * 10, 23) == "word word word word" + CUT
    assert shortened("a first line\nof three\nlines", 24) == "a first line\nof three" + CUT
    assert shortened("x" * 30, 10) == "x" * 10 + CUT
    assert shortened("長い文章" * 10, 10) == "長い文章長い文章長い" + CUT


def test_combined_characters_not_split() -> None:
    family = "👨‍👩‍👧"
    assert shortened("a" * 9 + family, 11) == "a" * 9 + CUT
    assert shortened("a" * 9 + "e\u0301", 10) == "a" * 9 + CUT


@given(st.text(max_size=300), st.integers(1, 120))
def test_whatever_is_cut_is_a_beginning(text: str, most: int) -> None:
    found = shortened(text, most)
    if len(text) <= most:
        assert found == text
    else:
        assert found.endswith(CUT)
        assert text.startswith(found.removesuffix(CUT))
        assert len(found) <= most + len(CUT)


@given(
    st.lists(st.builds(LastMessages, st.sampled_from(["user", "assistant"]), st.text("a#-=`~ \nu:ser", max_size=60)))
)
def test_only_speakers_start_at_margin(messages: list[LastMessages]) -> None:
    text = lines_of(messages, 1000)
    speakers = [line.partition(":")[0] for line in text.split("\n") if line and not line.startswith("  ")]
    assert speakers == [said.speaker for said in messages]
    assert not re.search(r"^ {0,3}(#{1,6}( |$)|=+ *$)", _outside_fences(text), re.MULTILINE)


def _outside_fences(text: str) -> str:
    kept, fence = [], ""
    for line in text.split("\n"):
        mark = re.match(r" {0,5}(`{3,}|~{3,})", line)
        if fence:
            if mark and mark[1].startswith(fence) and not line.strip(f" {fence[0]}"):
                fence = ""
        elif mark:
            fence = mark[1]
        else:
            kept.append(line)
    assert not fence
    return "\n".join(kept)
