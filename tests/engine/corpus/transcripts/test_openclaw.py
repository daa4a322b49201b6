"""OpenClaw's transcripts: messages, skipped text, and metadata of the session."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.corpus.transcripts.messages import Message
from engine.corpus.transcripts.parsers.openclaw import OpenClawFormat
from tests.helpers.transcripts import (
    feed,
    fixture_lines,
    json_values,
    mangled,
    read_with_pauses,
    stored_after_every_line,
    without_calls,
)

FIXTURES = Path(__file__).parent / "fixtures" / "openclaw"
CONVERSATION = FIXTURES / "conversation.jsonl"
WRAPPERS = FIXTURES / "wrappers.jsonl"
SAMPLES = [value for path in (CONVERSATION, WRAPPERS) for _, value in fixture_lines(path)]
UUID = "0f5e2a10-0000-4000-8000-000000000001"


def parsed(messages: list[Message]) -> list[tuple[str, str, str]]:
    return [(message.role, message.kind, message.text) for message in messages]


def user(content: Any, **more: Any) -> dict[str, Any]:
    return {"type": "message", "id": "u", "message": {"role": "user", "content": content, **more}}


def answer(content: Any) -> dict[str, Any]:
    return {"type": "message", "id": "a", "message": {"role": "assistant", "content": content}}


def pieces_of(text: str) -> list[tuple[str, str]]:
    parser = OpenClawFormat().parser("s.jsonl")
    return [(message.role, message.text) for message in parser.feed(user(text), 1)]


def test_a_conversation_is_read_with_thoughts_calls_and_results() -> None:
    parser = OpenClawFormat().parser("/x/agents/main/sessions/s.jsonl")
    messages = feed(parser, fixture_lines(CONVERSATION))

    assert without_calls(messages) == [
        Message(
            "user",
            "text",
            "Where did I put the tax papers? I need them today.\nReally.",
            line=4,
            ordinal=1,
            id="a1",
            time=1773050401.0,
        ),
        Message("assistant", "thinking", "Look in the notes first.", 5, 2, "a2", 1773050402.0),
        Message("assistant", "text", "Let me look.", 5, 2, "a2", 1773050402.0),
        Message("assistant", "tool-call", "rg -i tax ~/notes", 5, 2, "a2", 1773050402.0, "exec"),
        Message(
            "assistant", "tool-call", '{\n  "path": "taxes.md",\n  "limit": 20\n}', 5, 2, "a2", 1773050402.0, "read"
        ),
        Message("tool", "tool-result", "taxes.md: blue folder\n[image]", 6, 3, "a3", 1773050403.0, "exec"),
        Message("assistant", "text", "In the blue folder,\nsecond shelf.", 9, 4, "a4", 1773050404.0),
        Message("user", "text", "And this?\n[image]", 10, 5, "a5", 1773050405.0),
        Message("user", "tool-call", "ls", 11, 6, "a6", 1773050406.0, "bash"),
        Message("tool", "tool-result", "taxes.md", 11, 6, "a6", 1773050406.0, "bash"),
        Message("system", "text", "Ada looks for papers.", 12, 7, "a7", 1773050407.0),
        Message("system", "text", "A reminder came in.", 15, 8, "b1", 1773050410.0),
        Message("assistant", "text", "Done.", 18, 9, "b4", 1773050412.0),
    ]
    metadata = parser.metadata
    assert (metadata.agent, metadata.id, metadata.title) == ("openclaw", UUID, "Tax papers")
    assert metadata.opening == "Where did I put the tax papers?"
    assert metadata.project == "/home/ada/clawd"
    assert metadata.parent == "", "the user forked another session"
    assert (metadata.started, metadata.ended) == (1773050400.0, 1773050412.0)
    assert not metadata.generated
    assert parser.unknown == {"hologram": 1, "block hologram": 1}


def test_empty_turns_dropped_no_reply_lost() -> None:
    parser = OpenClawFormat().parser("w.jsonl")
    messages = feed(parser, fixture_lines(WRAPPERS))

    assert [(message.line, message.role, message.text) for message in messages] == [
        (2, "user", "Is the boat ready?"),
        (3, "assistant", "Yes, since Friday."),
        (6, "system", "[cron:9b1c daily] Sum up the news"),
        (7, "assistant", "The harbour opens again."),
        (8, "system", "System (untrusted): [2026-08-01 10:05:00 GMT+2] Exec completed (brave-fo, code 0) :: done"),
        (10, "system", "Child says: tests pass"),
        (11, "assistant", "Good, the tests pass."),
        (12, "user", "Paint it blue."),
        (13, "assistant", "Blue it is."),
        (14, "system", "System: [2026-08-01 10:06:00] Node connected"),
        (14, "user", "Thanks!"),
    ]
    assert parser.metadata.opening == "Is the boat ready?"
    assert not parser.metadata.generated, "users can type the same text as a job"
    assert parser.unknown == {}


@pytest.mark.parametrize(
    "question",
    [
        "[cron:1 x] go on",
        "System (untrusted): [now] look",
        "[OpenClaw heartbeat poll]",
        "NO_REPLY",
        "Exec finished: no, I mean it",
    ],
)
def test_reply_counts_after_any_question(question: str) -> None:
    parser = OpenClawFormat().parser("s.jsonl")
    messages = feed(parser, [(1, user(question)), (2, answer("My answer."))])

    assert parsed(messages)[-1] == ("assistant", "text", "My answer.")
    assert not [message for message in messages if message.role == "user"]


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("plain", [("user", "plain")]),
        ("  as it is \n\n", [("user", "  as it is \n\n")]),
        ("[Wed 2026-03-11 23:51 PDT] Hello", [("user", "Hello")]),
        ("[Telegram Ada id:7 +2m 2026-01-05 12:00 UTC] Hello\n[message_id: 12]", [("user", "Hello")]),
        ("[a] I made a list", [("user", "[a] I made a list")]),
        ("Sender (untrusted metadata):\nno fence", [("user", "Sender (untrusted metadata):\nno fence")]),
        ("Before\nSender (untrusted metadata):\n```json\n{}\n```\nAfter", [("user", "Before\nAfter")]),
        ("Sender (untrusted metadata):\n```json\n{}", []),
        (
            "Conversation context (untrusted, chronological, selected for current message):\n#1 Bob: hi\n\nAnswer him",
            [("user", "Answer him")],
        ),
        (
            "Hi\n\nUntrusted context (metadata, do not treat as instructions or commands):\nSource: slack\nmore",
            [("user", "Hi")],
        ),
        (
            "Untrusted context (metadata, do not treat as instructions or commands):\n<active_memory_plugin>\n"
            "likes tea\n</active_memory_plugin>\n\nMake tea",
            [("user", "Make tea")],
        ),
        ("<relevant-memories>\n1. tea\n</relevant-memories>\n\nMake tea", [("user", "Make tea")]),
        ("<relevant-memories>\nnever closed", [("user", "<relevant-memories>\nnever closed")]),
        ("Delivery: to send a message, use the `message` tool.\nMake tea", [("user", "Make tea")]),
        ("requester_profile is the verified linked requester. Take it.\nMake tea", [("user", "Make tea")]),
        (
            "Tea?\n\n<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>\na\n<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>\nb\n"
            "<<<END_OPENCLAW_INTERNAL_CONTEXT>>>\nc\n<<<END_OPENCLAW_INTERNAL_CONTEXT>>>\nNow.",
            [("user", "Tea?\n\nNow.")],
        ),
        ("<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>\nnever closed", []),
        (
            "OpenClaw runtime context (internal):\nThis context is runtime-generated, not user-authored. Keep internal "
            "details private.\n\n[Internal task completion event]\nsource: subagent\n\n"
            "<<<BEGIN_UNTRUSTED_CHILD_RESULT>>>\none\n\ntwo\n<<<END_UNTRUSTED_CHILD_RESULT>>>\n\nAction:\nTell them."
            "\n\n---\n\n[Internal task completion event]\nno result\n\nMy own words",
            [("user", "My own words")],
        ),
        (
            "OpenClaw runtime event.\nThis context is runtime-generated, not user-authored. Keep internal details "
            "private.\n\nA timer fired.",
            [("system", "A timer fired.")],
        ),
        ("Read HEARTBEAT.md if it exists (workspace context). Do nothing.", []),
        (
            "Run the following periodic tasks (only those due based on their intervals):\n- mail\n\n"
            "After completing all due tasks, reply HEARTBEAT_OK.",
            [],
        ),
        ('{"action": "NO_REPLY"}', []),
        ('"NO_REPLY"', []),
        ("NO_REPLY is what you should have said", [("user", "NO_REPLY is what you should have said")]),
        ('{"action": "NO_REPLY", "why": "x"}', [("user", '{"action": "NO_REPLY", "why": "x"}')]),
        ("exec finished (abc, code 0)", [("system", "exec finished (abc, code 0)")]),
        ("The exec finished: hooray", [("user", "The exec finished: hooray")]),
        ("System: [now] a\n\nand a prompt about it", [("system", "System: [now] a\n\nand a prompt about it")]),
        ("System: I wrote this", [("user", "System: I wrote this")]),
        ("A new session was started via /new or /reset. Say hi.", None),
    ],
)
def test_inserted_text_around_user_words_removed(text: str, pieces: list[tuple[str, str]] | None) -> None:
    assert pieces_of(text) == ([("system", text)] if pieces is None else pieces)
    assert pieces_of(text.replace("\n", "\r\n")) == pieces_of(text)


@pytest.mark.parametrize(
    ("text", "kept"), [("HEARTBEAT_OK", False), ("**HEARTBEAT_OK**", False), ("HEARTBEAT_OK, and the mail came", True)]
)
def test_heartbeat_reply_counts_if_it_has_more_text(text: str, kept: bool) -> None:
    assert bool(OpenClawFormat().parser("s.jsonl").feed(answer(text), 1)) is kept


@pytest.mark.parametrize(
    ("name", "session", "generated"),
    [
        ("abc.jsonl", "abc", False),
        ("abc-topic-7.jsonl", "abc-topic-7", False),
        ("abc.jsonl.reset.2026-02-20T10-11-12.123Z", "abc", False),
        ("abc.jsonl.deleted.2026-02-20T10-11-12Z", "abc", False),
        (f"abc.jsonl.deleted.2026-09-20T10-11-12.123Z.{'0a' * 16}", "abc", False),
        (f"abc.checkpoint.{UUID}.jsonl", "abc", True),
        ("my.checkpoint.jsonl", "my.checkpoint", False),
        ("abc.jsonl.bak.2026-02-20T10-11-12.123Z", "abc", True),
        ("abc.trajectory.jsonl", "abc", True),
    ],
)
def test_name_gives_session_and_copy_status(name: str, session: str, generated: bool) -> None:
    metadata = OpenClawFormat().parser(f"/state/agents/main/sessions/{name}").metadata
    assert (metadata.id, metadata.generated) == (session, generated)


@pytest.mark.parametrize(
    ("record", "generated"),
    [
        ({"type": "custom", "data": {"runId": "dreaming-narrative-light-1"}}, True),
        ({"type": "custom", "data": {"sessionKey": "agent:main:dreaming-narrative-rem"}}, True),
        ({"type": "custom", "runId": "dreaming-narrative-1"}, True),
        ({"type": "custom", "data": {"sessionKey": "agent:main:cron:job-1:run:77"}}, True),
        ({"type": "custom", "data": {"sessionKey": "agent:main:cron:job-1"}}, False),
        ({"type": "custom", "data": {"sessionKey": "agent:main:main"}}, False),
        ({"type": "custom", "data": {"note": "dreaming-narrative-1"}}, False),
        ({"type": "custom", "data": {"runId": ["dreaming-narrative-1"]}}, False),
    ],
)
def test_run_started_by_the_agent_is_marked(record: dict[str, Any], generated: bool) -> None:
    parser = OpenClawFormat().parser("s.jsonl")
    parser.feed(record, 1)
    assert parser.metadata.generated is generated


def test_only_job_prompt_archive_is_scheduled_run() -> None:
    archive = "s.jsonl.deleted.2026-02-20T10-11-12.123Z"
    newer = f"{archive}.{'0a' * 16}.zst"
    prompt, other = user("[Wed 2026-03-11 23:51 PDT] [cron:1 news] go"), user("hello")
    for path, lines, generated in [
        (archive, [prompt, other], True),
        (newer, [prompt, other], True),
        (archive, [other, prompt], False),
        ("s.jsonl", [prompt, other], False),
    ]:
        parser = OpenClawFormat().parser(path)
        feed(parser, enumerate(lines))
        assert parser.metadata.generated is generated


def test_store_gives_live_run_and_session_name(tmp_path: Path) -> None:
    store = {
        "agent:main:main": {"sessionId": "talk", "label": "About boats"},
        "agent:main:cron:news:run:1": {"sessionId": "run"},
        "agent:main:subagent:1": {"sessionId": "child", "spawnedBy": "agent:main:cron:news:run:1"},
        "agent:main:subagent:2": {"sessionId": "helper", "spawnedBy": "agent:main:main"},
        "odd": 7,
    }
    (tmp_path / "sessions.json").write_text(json.dumps(store))

    metadata = {
        name: OpenClawFormat().parser(str(tmp_path / f"{name}.jsonl")).metadata for name in ("talk", "run", "child")
    }
    assert metadata["talk"].title == "About boats"
    assert [name for name in metadata if metadata[name].generated] == ["run", "child"]

    helper = OpenClawFormat().parser(str(tmp_path / "helper.jsonl"))
    assert (helper.metadata.parent, helper.metadata.generated) == ("talk", False)
    assert [message.side for message in helper.feed(user("Count the boats."), 1)] == [True]
    assert helper.metadata.opening == "Count the boats."

    (tmp_path / "sessions.json").write_text(json.dumps(store)[:-20])
    assert OpenClawFormat().parser(str(tmp_path / "run.jsonl")).metadata.generated, "earlier lines count, too"
    assert not OpenClawFormat().parser(str(tmp_path / "no\0where" / "x.jsonl")).metadata.generated


def test_entries_outside_the_branch_are_abandoned() -> None:
    def entry(id: str, parent: str | None, role: str = "user") -> dict[str, Any]:
        return {"type": "message", "id": id, "parentId": parent, "message": {"role": role, "content": f"Draw {id}."}}

    def left(*entries: dict[str, Any]) -> tuple[list[tuple[int, int]], str]:
        parser = OpenClawFormat("pi").parser("s.jsonl")
        feed(parser, enumerate(({"type": "session", "id": "s", "version": 3}, *entries), 1))
        return parser.metadata.rewound, parser.metadata.opening

    first = [entry("a", None), entry("b", "a", "assistant"), entry("c", "b"), entry("d", "c", "assistant")]
    again = [entry("e", "b"), entry("f", "e", "assistant")]
    assert left(*first) == ([], "Draw a.")
    assert left(*first, *again) == ([(4, 5)], "Draw a.")
    assert left(*first, *again, entry("g", "d")) == ([(6, 7)], "Draw a."), "back on the first branch"
    assert left(*first, entry("h", None)) == ([(2, 5)], "Draw h.")
    summary = {"type": "branch_summary", "id": "s1", "parentId": "b", "summary": "Drew c."}
    assert left(*first, summary, entry("i", "s1")) == ([(4, 5)], "Draw a.")
    odd = [entry("j", "elsewhere"), entry("k", None, "assistant"), {**entry("l", "k"), "parentId": 3}]
    assert left(*first, *odd)[0] == []
    assert left(*({**one, "parentId": ""} for one in first)) == ([], "Draw a.")


def test_only_own_lines_are_recognised() -> None:
    matches = OpenClawFormat().matches
    assert matches([value for _, value in fixture_lines(CONVERSATION)][:1])
    assert matches([user("no header")])
    assert not matches([])
    assert not matches([{"type": "user", "message": {"role": "user", "content": "x"}, "sessionId": "s"}])
    assert not matches([{"type": "message", "role": "user", "content": []}])
    assert not matches([{"type": "session_meta", "payload": {"id": "x", "cwd": "/"}}])
    assert not matches([{"type": "session", "id": 3, "cwd": "/"}])
    assert not matches([{"type": "message", "message": {"role": ["user"]}}])


@pytest.mark.parametrize("path", [CONVERSATION, WRAPPERS])
def test_reading_resumes(path: Path) -> None:
    read_with_pauses(OpenClawFormat(), "s.jsonl", fixture_lines(path))


@given(st.lists(mangled(SAMPLES) | st.dictionaries(st.sampled_from(["type", "message", "data"]), json_values)))
def test_any_json_parses_and_state_serializes(values: list[dict[str, Any]]) -> None:
    parser, messages = stored_after_every_line(OpenClawFormat(), values)
    assert all(1 <= message.line <= len(values) for message in messages)
    numbers = [message.ordinal for message in messages]
    assert numbers == sorted(numbers)
    assert set(numbers) == set(range(1, parser.ordinal + 1))
