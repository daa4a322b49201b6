"""The note of a session: format, name, and text that must not be in it."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.agent.session_note import (
    CUT,
    LONGEST,
    SpokenMessage,
    draft_note,
    lines_of,
    save_note,
    shortened,
    slug_of_words,
    spoken_messages,
    suggest_slug,
    to_slug,
)
from engine.base.errors import NoteError, ProviderError
from engine.records import SessionNote
from engine.settings import Settings
from engine.settings.agent_settings import RememberSettings, SlugSettings
from engine.settings.options import RemoteSettings
from tests.helpers.embedding_servers.chat_server import KEY, ChatServer
from tests.helpers.embedding_servers.server import Hang, Say
from tests.helpers.fake_memory import FakeMemory
from tests.helpers.fake_sessions import MASK, SECRET, SESSIONS, VALVE, leave, make_session

PATH = "sessions/claude-code/greenhouse/a.jsonl"
ENDED = 1_780_246_799.0  # 2026-05-31 16:59:59 UTC


@pytest.fixture
def memory() -> FakeMemory:
    turns = [("user", [("text", "Why does the drip valve open?")]), ("assistant", [("text", "Its relay sticks.")])]
    session = make_session(turns, path=PATH, id="3f6c", title="Drip valve", started=ENDED - 60, ended=ENDED)
    return FakeMemory(sessions={PATH: session})


def draft(memory: FakeMemory, folder: Path, path: str = PATH, **options) -> SessionNote:
    return draft_note(memory, folder, Settings(), path, **options)


def test_note_has_the_reference_format(memory: FakeMemory, tmp_path: Path) -> None:
    note = draft(memory, tmp_path)
    assert note.text == (
        "# Session: 2026-05-31 16:59:59 UTC\n"
        "\n"
        "- **Session Key**: sessions/claude-code/greenhouse/a.jsonl\n"
        "- **Session ID**: 3f6c\n"
        "- **Source**: claude-code\n"
        "\n"
        "## Conversation Summary\n"
        "\n"
        "user: Why does the drip valve open?\n"
        "assistant: Its relay sticks.\n"
    )
    assert (note.date, note.time, note.slug) == ("2026-05-31", "16:59:59", "drip-valve-open-relay")
    assert (note.messages, note.session_messages, note.existing) == (2, 2, "")
    written = save_note(memory, tmp_path, Settings(), note)
    assert written.path == "memory/2026-05-31-drip-valve-open-relay.md"
    assert (tmp_path / written.path).read_text() == note.text
    assert draft(memory, tmp_path).existing == written.path


def test_continued_session_gets_a_new_note(memory: FakeMemory, tmp_path: Path) -> None:
    save_note(memory, tmp_path, Settings(), draft(memory, tmp_path))
    session = memory.session_texts[PATH]
    more = msgspec.structs.replace(session.messages[-1], ordinal=3, time=ENDED + 60)
    memory.session_texts[PATH] = msgspec.structs.replace(session, messages=(*session.messages, more))
    assert draft(memory, tmp_path).existing == ""


def test_note_of_another_program_counts_as_existing(memory: FakeMemory, tmp_path: Path) -> None:
    (tmp_path / "memory").mkdir()
    head = "# Session: 2026-05-31 17:10:00 UTC\n\n- **Session Key**: agent:main:main\n- **Session ID**: 3f6c\n"
    (tmp_path / "memory" / "2026-05-31-1710.md").write_text(head)
    assert draft(memory, tmp_path).existing == "memory/2026-05-31-1710.md"


def test_messages_are_filtered_before_limit(memory: FakeMemory, tmp_path: Path) -> None:
    turns = [("user", [("text", f"Question {n}")]) for n in range(20)] + [("user", [("text", "/new")])] * 10
    memory.session_texts[PATH] = make_session(turns, path=PATH)
    assert draft(memory, tmp_path).text.count("user: Question") == 15
    assert draft(memory, tmp_path, messages=3).text.endswith(
        "user: Question 17\nuser: Question 18\nuser: Question 19\n"
    )


def test_session_without_messages_is_refused(memory: FakeMemory, tmp_path: Path) -> None:
    memory.session_texts[PATH] = make_session([("user", [("text", "/new")])], path=PATH)
    with pytest.raises(NoteError, match="This session has no messages"):
        draft(memory, tmp_path)


@pytest.mark.parametrize("text", ["", " \n", "# Session: now\n\n- **Session ID**: x\n\n## Conversation Summary\n\n"])
def test_heading_without_text_is_refused(memory: FakeMemory, tmp_path: Path, text: str) -> None:
    with pytest.raises(NoteError, match="has only a heading"):
        save_note(memory, tmp_path, Settings(), msgspec.structs.replace(draft(memory, tmp_path), text=text))
    assert not (tmp_path / "memory").exists()


def test_secrets_typed_by_the_user_are_masked(tmp_path: Path) -> None:
    memory = FakeMemory(sessions=SESSIONS)
    note = draft(memory, tmp_path, VALVE, messages=1000)
    assert MASK in note.text
    edited = msgspec.structs.replace(note, text=f"{note.text}\nexport OPENAI_API_KEY={SECRET}\n")
    written = save_note(memory, tmp_path, Settings(), edited)
    text = (tmp_path / written.path).read_text()
    assert SECRET not in text
    assert f"- **Session Key**: {VALVE}\n" in text
    assert SECRET not in save_note(memory, tmp_path, Settings(), note, slug=f"key {SECRET}").path


def test_note_without_distinctive_word_is_named_by_time(memory: FakeMemory, tmp_path: Path) -> None:
    turns = [("user", [("text", "来週、京都で会います。")])]
    memory.session_texts[PATH] = make_session(turns, path=PATH, title="", started=ENDED, ended=ENDED)
    assert draft(memory, tmp_path).slug == "1659"


def test_user_notified_of_agent_note(memory: FakeMemory, tmp_path: Path) -> None:
    save_note(memory, tmp_path, Settings(), draft(memory, tmp_path))
    assert memory.unseen_notes.all() == ()
    written = save_note(memory, tmp_path, Settings(), draft(memory, tmp_path), by_agent=True)
    assert written.path.endswith("-2.md")
    assert memory.unseen_notes.all() == (written,)


# --- named by a model -----------------------------------------------------------------------------------------------
@pytest.fixture
def note(memory: FakeMemory, tmp_path: Path) -> SessionNote:
    return draft(memory, tmp_path)


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHAT_KEY", KEY)


def test_no_chat_model_sends_nothing(note: SessionNote, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even if text may be sent to the same service for embedding."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with ChatServer() as server:
        remote = RemoteSettings(base_url=server.base_url, approved=("openai",))
        assert suggest_slug(note, Settings(provider="openai", remote=remote)) == ""
        assert server.requests == []


@pytest.mark.parametrize(
    ("answer", "slug"),
    [
        ("drip-valve-relay", "drip-valve-relay"),
        ("`Drip Valve Relay`\n", "drip-valve-relay"),
        ("Sure!\nName: drip-valve", "drip-valve"),
        ("<think>It is of valves.</think>\n\ndrip-valve", "drip-valve"),
        ("../../evil", "evil"),
        ("a-very-long-name-that-nobody-asked-for", "a-very-long-name-that-nobody"),
    ],
)
def test_model_answer_becomes_portable_name(note: SessionNote, answer: str, slug: str) -> None:
    with ChatServer(answer) as server:
        assert suggest_slug(note, server.named()) == slug


def test_model_gets_only_beginning_of_messages(memory: FakeMemory, tmp_path: Path) -> None:
    turns = [("user", [("text", f"My key is {SECRET}. " + "word " * 1000)])]
    memory.session_texts[PATH] = make_session(turns, path=PATH)
    with ChatServer() as server:
        suggest_slug(draft(memory, tmp_path), server.named())
        [request] = server.requests
    sent = request.json["messages"][-1]["content"]
    assert sent.startswith("user: My key is ")
    assert len(sent) <= 2000
    assert SECRET.encode() not in request.body
    assert PATH.encode() not in request.body
    assert request.headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("answer", ["", "<think>never ends", "来週"])
def test_unusable_name_suggestion_raises(note: SessionNote, answer: str) -> None:
    with ChatServer(answer) as server, pytest.raises(ProviderError, match="did not suggest a name"):
        suggest_slug(note, server.named())


def test_failure_sentence_has_no_key(note: SessionNote, monkeypatch: pytest.MonkeyPatch) -> None:
    with ChatServer() as server:
        server.faults.append(server.unauthorized())
        with pytest.raises(ProviderError, match="refused the API key") as refused:
            suggest_slug(note, server.named())
        assert KEY not in str(refused.value)
        server.faults.append(Say(200, {"choices": []}))
        monkeypatch.setattr("engine.embedding.service_errors.pause", lambda seconds, cancel: None)
        assert suggest_slug(note, server.named()) == server.answer


def test_name_suggestion_respects_timeout(note: SessionNote) -> None:
    with ChatServer() as server:
        server.faults.extend([Hang(), Hang()])
        with pytest.raises(ProviderError, match="did not answer in time"):
            suggest_slug(note, server.named(timeout_seconds=1))


def test_http_chat_server_needs_permission(note: SessionNote) -> None:
    slug = SlugSettings(model="llama", base_url="http://models.example.org/v1")
    with pytest.raises(ProviderError, match="would be unencrypted"):
        suggest_slug(note, Settings(remember=RememberSettings(slug=slug)))


@pytest.mark.parametrize(
    ("text", "slug"),
    [
        ("API Design: the 2nd try!", "api-design-the-2nd-try"),
        ("Größe der Übung", "grosse-der-ubung"),
        ("Почему ёжик не спит", "pochemu-ezhik-ne-spit"),
        ("Ελληνικά", "ellinika"),
        ("Æther, łódź & œuvre", "aether-lodz-oeuvre"),
        ("来週、京都で", ""),
        ("../../etc/passwd", "etc-passwd"),
        ("a-name-that-is-much-too-long-for-a-file", "a-name-that-is-much-too-long"),
        ("x" * 40, "x" * LONGEST),
    ],
)
def test_names_are_portable(text: str, slug: str) -> None:
    assert to_slug(text) == slug


@given(st.text() | st.text("ab-é Ω", min_size=25, max_size=90))
@example("b" * 40)
def test_slug_of_any_text_is_portable_and_stable(text: str) -> None:
    slug = to_slug(text)
    assert re.fullmatch(r"([a-z0-9]+(-[a-z0-9]+)*)?", slug)
    assert len(slug) <= LONGEST
    assert to_slug(slug) == slug


def counts(words: Sequence[str]) -> tuple[int, Mapping[str, int]]:
    return 1000, {"valve": 900, "greenhouse": 800, "relay": 2}


def test_slug_has_distinctive_words_in_order() -> None:
    messages = [
        SpokenMessage("user", "The greenhouse valve opens at night."),
        SpokenMessage("assistant", "Its relay was stuck. The relay!"),
    ]
    slug = slug_of_words("", messages, counts)
    assert "relay" in slug.split("-")
    assert slug.startswith("opens-night-")


def test_slug_prefers_words_of_title() -> None:
    messages = [SpokenMessage("user", "Could you have a look at the thing with the tap on bed three?")]
    assert slug_of_words("Debounce the relay", messages, None).startswith("debounce-relay")


def test_code_urls_and_masked_secrets_not_in_name() -> None:
    text = "```python\nsupercalifragilistic = 1\n```\nhttps://example.org/hidden sk-tes…ghij password=*** compost"
    assert slug_of_words("", [SpokenMessage("user", text)], None) == "compost"


def test_forms_of_one_word_count_once() -> None:
    assert slug_of_words("", [SpokenMessage("user", "valve valves relay")], None) == "valve-relay"


def test_slug_is_empty_without_latin_words() -> None:
    assert slug_of_words("来週", [SpokenMessage("user", "京都に行きます")], None) == ""
    assert slug_of_words("", [], counts) == ""


@given(st.text(), st.lists(st.builds(SpokenMessage, st.sampled_from(["user", "assistant"]), st.text())))
def test_any_words_give_a_valid_slug(title: str, messages: list[SpokenMessage]) -> None:
    slug = slug_of_words(title, messages, None)
    assert to_slug(slug) == slug


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
    assert spoken_messages(session) == [
        SpokenMessage("user", "Why does the valve open?"),
        SpokenMessage("assistant", "The relay sticks."),
    ]


def test_parts_of_a_message_are_joined() -> None:
    session = make_session([("assistant", [("text", "First."), ("thinking", "x"), ("text", " Second.\n")])])
    assert spoken_messages(session) == [SpokenMessage("assistant", "First.\n\nSecond.")]


def test_commands_are_left_out_and_paths_are_not() -> None:
    texts = ["/new", "/compact keep the plan", "/etc/hosts is wrong", "  ", "and/or"]
    session = make_session([("user", [("text", text)]) for text in texts])
    assert [message.text for message in spoken_messages(session)] == ["/etc/hosts is wrong", "and/or"]


def test_sub_agent_messages_count_in_own_session_only() -> None:
    turns = [("user", [("text", "Look for the relay.")])]
    assert spoken_messages(make_session(turns, side=True)) == []
    assert len(spoken_messages(make_session(turns, side=True, parent="3f6c"))) == 1


def test_abandoned_branches_are_excluded() -> None:
    session = leave(make_session([("user", [("text", text)]) for text in ("Start.", "Glue it.", "Sew it.")]), 2)
    assert [message.text for message in spoken_messages(session)] == ["Start.", "Sew it."]


def test_each_message_starts_a_new_line() -> None:
    text = lines_of([SpokenMessage("user", "one\n\nuser: two"), SpokenMessage("assistant", "three")], 1000)
    assert text == "user: one\n\n  user: two\nassistant: three"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("Plan:\n# First\n## Second #\nText\n===\nMore\n---", ["Plan:", r"\# First", r"\## Second #", "Text", r"\==="]),
        ("See:\n```c\n# no heading\n", ["See:", "```c", "# no heading", "", "```"]),
        ("~~~\na\n~~~\n# Heading", ["", "~~~", "a", "~~~", r"\# Heading"]),
        ("#tag and -5", ["#tag and -5"]),
        ("a\n#tag", ["a", "#tag"]),
    ],
)
def test_headings_and_fences_of_messages_are_escaped(text: str, lines: list[str]) -> None:
    found = lines_of([SpokenMessage("user", text)], 1000).removeprefix("user:").split("\n")
    assert [line.strip() for line in found][: len(lines)] == lines


def test_invisible_text_left_out_of_note() -> None:
    unseen = "".join(chr(0xE0000 + ord(sign)) for sign in "obey")
    message = SpokenMessage("user", f"Wa\u200bter{unseen} the\x07 \u202etomatoes ❤️\u200d🔥")
    assert lines_of([message], 100) == "user: Water the  tomatoes ❤️\u200d🔥"


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
def test_shortened_text_is_a_prefix(text: str, most: int) -> None:
    found = shortened(text, most)
    if len(text) <= most:
        assert found == text
    else:
        assert found.endswith(CUT)
        assert text.startswith(found.removesuffix(CUT))
        assert len(found) <= most + len(CUT)


@given(
    st.lists(st.builds(SpokenMessage, st.sampled_from(["user", "assistant"]), st.text("a#-=`~ \nu:ser", max_size=60)))
)
def test_only_speaker_names_start_unindented(messages: list[SpokenMessage]) -> None:
    text = lines_of(messages, 1000)
    speakers = [line.partition(":")[0] for line in text.split("\n") if line and not line.startswith("  ")]
    assert speakers == [message.speaker for message in messages]
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
