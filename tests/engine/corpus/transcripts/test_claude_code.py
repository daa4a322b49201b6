"""Claude Code's transcripts: speakers, skipped lines, and metadata of the session."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import find_sources
from engine.corpus.transcripts.messages import Message
from engine.corpus.transcripts.parsers.claude_code import ClaudeCodeFormat
from engine.corpus.transcripts.registry import (
    continued_in,
    copied_sessions,
    owner_of_part,
    resume_command,
    session_folders,
)
from engine.corpus.transcripts.session_stores import find_transcripts
from engine.corpus.transcripts.transcript_reader import conversations
from engine.corpus.user_environment import Machine
from engine.settings import Settings
from engine.settings.options import SessionSettings
from tests.helpers.transcripts import (
    feed,
    fixture_lines,
    json_values,
    mangled,
    read_session,
    read_with_pauses,
    stored_after_every_line,
    without_calls,
)

FIXTURES = Path(__file__).parent / "fixtures" / "claude_code"
SESSION = "5d1c7a52-3c1e-4b0e-9a39-0d4f5c1be001"
MAIN = FIXTURES / f"{SESSION}.jsonl"
SUB_AGENT = FIXTURES / SESSION / "subagents" / "agent-a1b2c3.jsonl"
ASKED = FIXTURES / "5d1c7a52-3c1e-4b0e-9a39-0d4f5c1be002.jsonl"
STREAM = FIXTURES.parent / "claude_code_stream" / "claude_code" / "build-77.jsonl"
SAMPLES = [value for path in (MAIN, ASKED, STREAM) for _, value in fixture_lines(path)]
AT = 1_773_050_400.0


def user(content: Any, **more: Any) -> dict[str, Any]:
    return {"type": "user", "sessionId": "s", "message": {"role": "user", "content": content}, **more}


def answer(id: str, *blocks: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "assistant", "sessionId": "s", "message": {"id": id, "content": list(blocks)}, **more}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def parts_of(*values: dict[str, Any]) -> list[tuple[str, str, str]]:
    messages = feed(ClaudeCodeFormat().parser("s.jsonl"), enumerate(values, 1))
    return [(message.role, message.kind, message.text) for message in messages]


def test_a_session_is_read_with_thoughts_calls_and_results() -> None:
    parser = ClaudeCodeFormat().parser(str(MAIN))
    messages = feed(parser, fixture_lines(MAIN))

    assert without_calls(messages) == [
        Message("system", "text", "/model opus", 5, 1, "u02", AT + 2),
        Message(
            "user",
            "text",
            "Why does the sail tear? Look at the picture.\nIt is new.\n[image: PNG, 1 KB]",
            line=7,
            ordinal=2,
            id="u04",
            time=AT + 4,
        ),
        Message("assistant", "thinking", "Perhaps the seam.", 8, 3, "u05", AT + 5),
        Message("assistant", "text", "Let me look.", 9, 3, "u06", AT + 6),
        Message("assistant", "tool-call", "ls sails", 10, 3, "u07", AT + 7, "Bash"),
        Message("tool", "tool-result", "main\njib", 12, 4, "u09", AT + 8, "Bash"),
        Message(
            "assistant", "tool-call", '{\n  "file_path": "sail.py",\n  "limit": 5\n}', 13, 5, "u10", AT + 9, "Read"
        ),
        Message("tool", "tool-result", "seam = 1\n[image]", 14, 6, "u11", AT + 10, "Read"),
        Message("assistant", "text", "The seam is too thin.", 15, 7, "u12", AT + 11),
        Message("user", "text", "And the jib?", 16, 8, "u13", AT + 12),
        Message("system", "text", "[Request interrupted by user]", 18, 9, "u15", AT + 13),
        Message(
            "system",
            "text",
            "<task-notification>\n<summary>The test run ended</summary>\n</task-notification>",
            line=19,
            ordinal=10,
            id="u16",
            time=AT + 14,
        ),
        Message(
            "system",
            "text",
            "This session is being continued from a previous conversation that ran out of context. "
            "The seam was too thin.",
            line=20,
            ordinal=11,
            id="u17",
            time=AT + 15,
        ),
        Message("user", "text", "/review the jib as well", 21, 12, "u18", AT + 16),
        Message("user", "tool-call", "git status", 23, 13, "u20", AT + 17, "bash"),
        Message("tool", "tool-result", "clean", 24, 14, "u21", AT + 17, "bash"),
        Message("system", "text", "API Error: overloaded", 25, 15, "u22", AT + 18),
        Message("user", "text", "Find the seams.", 26, 16, "u23", AT + 19, side=True),
        Message("assistant", "text", "Three seams.", 27, 17, "u24", AT + 20, side=True),
        Message("assistant", "text", "Sewn again.", 31, 18, "u25", AT + 21),
    ]
    metadata = parser.metadata
    assert (metadata.agent, metadata.id, metadata.title) == ("claude-code", SESSION, "The torn sail")
    assert metadata.opening == "Why does the sail tear?"
    assert (metadata.project, metadata.branch, metadata.parent) == ("/home/ada/boat", "sails", "")
    assert (metadata.started, metadata.ended) == (AT + 2, AT + 21)
    assert not metadata.generated
    assert parser.unknown == {"hologram": 1, "block hologram": 1}
    assert parser.calls == {}


def test_subagent_file_is_a_separate_session() -> None:
    parser = ClaudeCodeFormat().parser(str(SUB_AGENT))
    messages = feed(parser, fixture_lines(SUB_AGENT))
    assert [(message.role, message.text, message.side) for message in messages] == [
        ("user", "Count the seams. Report them.", True),
        ("assistant", "Three.", True),
    ]
    assert (parser.metadata.id, parser.metadata.parent, parser.metadata.name) == (
        "agent-a1b2c3",
        SESSION,
        "Count the seams.",
    )
    assert not parser.metadata.generated

    renamed = ClaudeCodeFormat().parser("copy.jsonl")
    feed(renamed, fixture_lines(SUB_AGENT))
    assert renamed.metadata == parser.metadata


def test_subagent_of_a_workflow_is_below_its_session(tmp_path: Path) -> None:
    workflow = tmp_path / ".claude" / "projects" / "-boats" / SESSION / "subagents" / "workflows" / "wf_1"
    workflow.mkdir(parents=True)
    (workflow / "journal.jsonl").write_text('{"type": "started", "agentId": "a1b2c3"}\n')
    path = workflow / "agent-a1b2c3.jsonl"
    path.write_text(SUB_AGENT.read_text().replace(SESSION, "agent-a1b2c3"))
    (source,) = find_sources(tmp_path, {}).sources
    assert source.files == 1
    (session,) = conversations(path)
    assert (session.metadata.id, session.metadata.parent) == ("agent-a1b2c3", SESSION)


def test_questions_answers_and_plans_are_speech() -> None:
    parser = ClaudeCodeFormat().parser(str(ASKED))
    messages = feed(parser, fixture_lines(ASKED))
    assert [(message.role, message.kind, message.text) for message in messages] == [
        ("system", "text", "/rig-boat"),
        ("assistant", "text", "Which mast?\n- Wood: Looks better\n- Steel\n\nWhich knots?\n- Bowline"),
        ("user", "text", "Which mast? Wood\nWhich knots? Bowline, Reef knot"),
        ("assistant", "text", 'rigger: The "shrouds" are up.'),
        ("assistant", "text", "sailmaker: The sails are sewn."),
        ("assistant", "text", "# Plan\n\n1. Step the mast."),
        ("tool", "tool-result", "User has approved your plan. You can now start coding."),
        ("assistant", "text", "Ready?"),
        ("tool", "tool-result", "The user doesn't want to proceed with this tool use."),
    ]
    assert [message.ordinal for message in messages] == [1, 2, 3, 4, 4, 5, 6, 7, 8]
    assert (parser.metadata.name, parser.calls, parser.unknown) == ("/rig-boat", {}, {})


def question_answer(result: Any, detail: Any = None, **more: Any) -> tuple[str, str, str]:
    question = {"type": "tool_use", "id": "t", "name": "AskUserQuestion", "input": {"questions": [{"question": "Q?"}]}}
    held = [{"type": "tool_result", "tool_use_id": "t", "content": result, **more}]
    return parts_of(answer("m", question), user(held, toolUseResult=detail))[-1]


@pytest.mark.parametrize(
    ("result", "detail", "words"),
    [
        ("", {"answers": {"Q?": "Red"}}, "Red"),
        ("", {"answers": {"Q?": ["Red", "Blue"], "R?": "", "S?": None}}, "Red\nBlue"),
        ('User has answered your questions: "Q?"="Red". You can now continue with the answers in mind.', None, "Red"),
        ('User has answered your questions: "Q?"="Red", "R?"="No". You can now', None, "Q? Red\nR? No"),
        ("User has answered your questions: use the red one. You can now continue with", None, "use the red one"),
    ],
)
def test_answer_to_a_question_is_the_users(result: str, detail: Any, words: str) -> None:
    assert question_answer(result, detail) == ("user", "text", words)


def test_question_without_an_answer_stays_a_result() -> None:
    assert question_answer("Something else", {"answers": "odd"}) == ("tool", "tool-result", "Something else")
    assert question_answer("No", {"answers": {"Q?": "Red"}}, is_error=True) == ("tool", "tool-result", "No")


@pytest.mark.parametrize(
    ("lines", "name"),
    [
        (["<command-message>init is analysing</command-message>\n<command-name>/init</command-name>"], "/init"),
        (["<command-name>/init</command-name>", "Then add tests."], "/init"),
        (["<command-name>/model</command-name>", "Then add tests."], "Then add tests."),
        (["<command-name>/</command-name>", "Then add tests."], "Then add tests."),
        (["Add tests.", "<command-name>/init</command-name>"], "Add tests."),
        (["<command-name>/plan</command-name><command-args>the jib</command-args>"], "/plan the jib"),
        (['<teammate-message teammate_id="team-lead">\nRig it. Now.\n</teammate-message>'], "Rig it. Now."),
        (
            ['Explain <teammate-message teammate_id="x">up</teammate-message>.'],
            'Explain <teammate-message teammate_id="x">up</teammate-message>.',
        ),
    ],
)
def test_session_is_named_after_its_first_command(lines: list[str], name: str) -> None:
    parser = ClaudeCodeFormat().parser("s.jsonl")
    feed(parser, enumerate(map(user, lines), 1))
    assert parser.metadata.name == name


def test_secret_in_a_teammates_task_is_not_in_the_name() -> None:
    parser = ClaudeCodeFormat().parser("s.jsonl")
    secret = "sk-ant-api03-" + "A1b2C3d4" * 11
    parser.feed(user(f'<teammate-message teammate_id="lead">Use {secret} here</teammate-message>'), 1)
    assert parser.metadata.name.startswith("Use ")
    assert secret not in parser.metadata.name


@pytest.mark.parametrize(
    "wrapped",
    [
        '<teammate-message teammate_id="rigger" color="blue" summary="up">\nUp.\n</teammate-message>',
        '<cross-session-message from="uds:/run/1.sock" from-name="rigger">\nUp.\n</cross-session-message>',
        '<agent-message from="rigger">Up.</agent-message>',
    ],
)
def test_messages_of_other_agents_are_speech_with_sender(wrapped: str) -> None:
    said = ("assistant", "text", "rigger: Up.")
    text = f"Another Claude session sent a message:\n{wrapped}\n"
    assert parts_of(user(text)) == [said]
    assert parts_of({**user(text), "origin": {"kind": "peer"}}) == [said]
    assert parts_of(user(f"{text}{wrapped}")) == [said, said]
    assert parts_of({**user(text), "isCompactSummary": True}) == [("system", "text", text)]
    quoted = f"<task-notification>\n{wrapped}\n</task-notification>"
    assert parts_of({**user(quoted), "origin": {"kind": "task-notification"}}) == [("system", "text", quoted)]
    assert parts_of(user(f"What is this? {wrapped}")) == [("user", "text", f"What is this? {wrapped}")]


def test_end_of_a_teammates_message_may_be_missing() -> None:
    wrapped = '<teammate-message teammate_id="rigger">\nUp.\n<teammate-message>'
    assert parts_of(user(wrapped)) == [("assistant", "text", "rigger: Up.\n<teammate-message>")]


def test_notice_of_a_teammates_program_is_no_speech() -> None:
    notice = '{"type":"idle_notification","from":"rigger"}'
    wrapped = f'<teammate-message teammate_id="rigger">\n{notice}\n</teammate-message>'
    assert parts_of(user(wrapped)) == [("system", "text", f"rigger: {notice}")]


def test_request_to_a_sub_agent_is_the_assistants() -> None:
    messages = feed(ClaudeCodeFormat().parser(str(SUB_AGENT)), fixture_lines(SUB_AGENT))
    assert [message.author for message in messages] == ["assistant", "assistant"]
    messages = feed(ClaudeCodeFormat().parser(str(MAIN)), fixture_lines(MAIN))
    assert [message.author for message in messages if message.role == "user" and message.side] == ["assistant"]
    assert {message.author for message in messages if not message.side and message.role == "user"} == {"user"}


def rewound(*lines: dict[str, Any]) -> list[tuple[int, int]]:
    parser = ClaudeCodeFormat().parser("s.jsonl")
    feed(parser, enumerate(lines, 1))
    return parser.metadata.rewound


def test_lines_of_abandoned_branch_are_recorded() -> None:
    first = [
        user("Rig the mast.", uuid="p1", parentUuid=None),
        answer("m1", text("How?"), uuid="a1", parentUuid="p1"),
        user("With rope.", uuid="p2", parentUuid="a1"),
        answer("m2", text("Rigged."), uuid="a2", parentUuid="p2"),
        {"type": "system", "subtype": "turn_duration", "uuid": "y2", "parentUuid": "a2", "sessionId": "s"},
    ]
    assert rewound(*first) == []
    assert rewound(*first, user("Thanks.", uuid="p3", parentUuid="y2")) == []
    again = user("With wire.", uuid="p4", parentUuid="a1")
    assert rewound(*first, again) == [(3, 5)]
    more = [answer("m3", text("Wired."), uuid="a4", parentUuid="p4"), user("Taut?", uuid="p5", parentUuid="a4")]
    assert rewound(*first, again, *more) == [(3, 5)]
    assert rewound(*first, again, *more, user("Loose?", uuid="p6", parentUuid="a4")) == [(3, 5), (8, 8)]
    assert rewound(*first, again, *more, user("With tape.", uuid="p7", parentUuid="a1")) == [(3, 8)]
    assert rewound(*first, again, *more, user("Paint it.", uuid="p8", parentUuid="y2")) == [(6, 8)], (
        "back on the first branch"
    )


def test_session_is_named_after_the_first_message_sent_last() -> None:
    lines = [
        user("Rig it.", uuid="p1", parentUuid=None),
        answer("m1", text("How?"), uuid="a1", parentUuid="p1"),
        user("Oil it.", uuid="p2", parentUuid=None),
    ]
    parser = ClaudeCodeFormat().parser("s.jsonl")
    feed(parser, enumerate(lines, 1))
    assert parser.metadata.name == "Oil it."
    without = [{key: value for key, value in line.items() if value != "p1" or key == "uuid"} for line in lines]
    assert rewound(*without) == [], "its parent is not in the file"


def test_first_message_sent_again_leaves_a_branch() -> None:
    first = [
        {"type": "file-history-snapshot", "messageId": "p1"},
        user("Rig the mast.", uuid="p1", parentUuid=None),
        answer("m1", text("How?"), uuid="a1", parentUuid="p1"),
        user("With rope.", uuid="p2", parentUuid="a1"),
    ]
    again = [
        user("Rig the boom.", uuid="p3", parentUuid=None),
        answer("m2", text("Rigged."), uuid="a3", parentUuid="p3"),
    ]
    assert rewound(*first, *again) == [(2, 4)]
    assert rewound(*first, *again, user("Thanks.", uuid="p4", parentUuid="a3")) == [(2, 4)]
    assert rewound(*first, *again, user("Rig both.", uuid="p5", parentUuid=None)) == [(2, 6)]
    assert rewound(*first, *again, user("With wire.", uuid="p6", parentUuid="a1")) == [(4, 6)], (
        "back on the first branch"
    )
    helper = user("Count.", uuid="p7", parentUuid=None, isSidechain=True)
    summary = user("Before: a mast.", uuid="p8", parentUuid=None, isCompactSummary=True)
    assert rewound(*first, helper, summary, user("Go on.", uuid="p9", parentUuid="p8")) == []


def test_edited_first_message_gives_the_title() -> None:
    begin = {"type": "system", "uuid": "s0", "sessionId": "s"}
    lines = [
        begin,
        user("Rig the mast.", uuid="p1", parentUuid="s0"),
        answer("m1", text("How?"), uuid="a1", parentUuid="p1"),
        user("Rig the boom.", uuid="p2", parentUuid="s0"),
        answer("m2", text("Rigged."), uuid="a2", parentUuid="p2"),
        user("Thanks.", uuid="p3", parentUuid="a2"),
    ]
    parser = ClaudeCodeFormat().parser("s.jsonl")
    feed(parser, enumerate(lines, 1))
    assert (parser.metadata.rewound, parser.metadata.name) == ([(2, 3)], "Rig the boom.")


@pytest.mark.parametrize(
    "last",
    [
        user("Paint it.", uuid="p9", parentUuid="elsewhere"),
        user("Paint it.", uuid="p9", parentUuid=None),
        user("Paint it.", uuid="p9", parentUuid=["odd"]),
        user("Count them.", uuid="p9", parentUuid="a1", isSidechain=True),
        user("Noted.", uuid="p9", parentUuid="a1", isMeta=True),
        user([{"type": "tool_result", "tool_use_id": "t", "content": "x"}], uuid="p9", parentUuid="a1"),
        answer("m9", text("Again."), uuid="a9", parentUuid="a1"),
    ],
)
def test_unrelated_lines_begin_no_branch(last: dict[str, Any]) -> None:
    first = [user("Rig it.", uuid="p1"), answer("m1", text("How?"), uuid="a1", parentUuid="p1")]
    assert rewound(*first, user("With rope.", uuid="p2", parentUuid="a1"), last) == []


def test_stream_of_the_sdk_is_read() -> None:
    """Its lines have no `uuid`, no `sessionId` and no time."""
    parser = ClaudeCodeFormat().parser(str(STREAM))
    messages = feed(parser, fixture_lines(STREAM))
    assert [(message.role, message.kind, message.text, message.ordinal, message.side) for message in messages] == [
        ("user", "text", "Why does the rudder stick?", 1, False),
        ("assistant", "text", "I have it looked at.", 2, False),
        (
            "assistant",
            "tool-call",
            '{\n  "description": "Look at the rudder",\n  "prompt": "Look for salt on the rudder."\n}',
            2,
            False,
        ),
        ("user", "text", "Look for salt on the rudder.", 3, True),
        ("assistant", "text", "Much salt.", 4, True),
        ("tool", "tool-result", "Much salt.", 5, False),
        ("assistant", "text", "Rinse it with fresh water.", 6, False),
    ]
    metadata = parser.metadata
    assert (metadata.id, metadata.project) == ("7c1d7a52-3c1e-4b0e-9a39-0d4f5c1be007", "/builds/boat")
    assert (metadata.name, metadata.ended, parser.unknown) == ("Why does the rudder stick?", None, {})


@pytest.mark.parametrize("number", [0, 1, 3, 4])
def test_stream_is_recognised_by_any_of_its_lines(number: int) -> None:
    line = fixture_lines(STREAM)[number][1]
    assert ClaudeCodeFormat().matches([line])
    assert not ClaudeCodeFormat().matches([{**line, "message": {"role": "user", "parts": []}, "tools": None}])


def test_saved_line_without_ids_is_recognised() -> None:
    line = {"type": "user", "cwd": "/boat", "message": {"role": "user", "content": "Why?"}}
    assert ClaudeCodeFormat().matches([line])
    assert not ClaudeCodeFormat().matches([{**line, "type": "message"}])
    assert not ClaudeCodeFormat().matches([{**line, "message": {"content": "Why?"}}])


@pytest.mark.parametrize(
    ("path", "words", "generated"),
    [
        ("agent-a1.jsonl", "Warmup", True),
        ("agent-a1.jsonl", "Warmup the oven", False),
        ("agent-acompact-77.jsonl", "Sum up", True),
        ("agent-aprompt_suggestion-77.jsonl", "Guess", True),
        ("s.jsonl", "Warmup", False),
    ],
)
def test_session_with_a_programs_prompt_is_generated(path: str, words: str, generated: bool) -> None:
    parser = ClaudeCodeFormat().parser(path)
    parser.feed(user(words), 1)
    assert parser.metadata.generated is generated


def test_session_id_from_name_or_line() -> None:
    for path, session in [(f"/p/{SESSION}.jsonl", SESSION), ("/p/copy.jsonl", "s"), (f"/p/x{SESSION}.jsonl", "s")]:
        parser = ClaudeCodeFormat().parser(path)
        feed(
            parser, [(1, {"type": "user", "message": {"content": "x"}}), (2, user("y")), (3, user("z", sessionId="t"))]
        )
        assert parser.metadata.id == session


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        ("  as it is \n", [("user", "text", "  as it is \n")]),
        ("", []),
        (" \n ", []),
        ([], []),
        (["a", text("b")], [("user", "text", "a"), ("user", "text", "b")]),
        ([{"type": "image"}], [("user", "text", "[image]")]),
        ([{"type": "image"}, text("see"), {"type": "document"}], [("user", "text", "see\n[image]\n[document]")]),
        ("Do it.\n<system-reminder>\nbe good\n</system-reminder>", [("user", "text", "Do it.")]),
        (
            "<system-reminder>a</system-reminder><system-reminder>b</system-reminder>Do it.",
            [("user", "text", "Do it.")],
        ),
        ("<system-reminder>a</system-reminder>", []),
        ("<system-reminder>never closed", [("user", "text", "<system-reminder>never closed")]),
        (
            "Why is <system-reminder>x</system-reminder> here?",
            [("user", "text", "Why is <system-reminder>x</system-reminder> here?")],
        ),
        ("<ide_selection>The user selected x</ide_selection>\nFix it", [("user", "text", "Fix it")]),
        ("<local-command-stdout>Cost: 3</local-command-stdout>", []),
        ("Caveat: The messages below were generated by the user while running local commands. DO NOT", []),
        ("Caveat: I am no sailor", [("user", "text", "Caveat: I am no sailor")]),
        (
            "[Request interrupted by user for tool use]",
            [("system", "text", "[Request interrupted by user for tool use]")],
        ),
        ("Stop hook feedback:\nrun the tests", [("system", "text", "Stop hook feedback:\nrun the tests")]),
        ("<command-name>/clear</command-name>\n<command-args></command-args>", [("system", "text", "/clear")]),
        ("<command-message>init</command-message>", [("system", "text", "init")]),
        (
            "<command-name>/rename</command-name><command-args>My sail</command-args>",
            [("system", "text", "/rename My sail")],
        ),
        (
            "<command-message>plan</command-message>\n<command-name>/plan</command-name>\n<command-args>a\nb</command-args>",
            [("user", "text", "/plan a\nb")],
        ),
        ("<user-memory-input>Sew twice</user-memory-input>", [("user", "text", "Sew twice")]),
        ("<bash-input>ls</bash-input>", [("user", "tool-call", "ls")]),
        ("<bash-stdout>a</bash-stdout><bash-stderr>b</bash-stderr>", [("tool", "tool-result", "a\nb")]),
        (
            '<teammate-message id="x">hi</teammate-message>',
            [("system", "text", '<teammate-message id="x">hi</teammate-message>')],
        ),
    ],
)
def test_only_user_speech_has_the_role_user(content: Any, parts: list[tuple[str, str, str]]) -> None:
    assert parts_of(user(content)) == parts


@pytest.mark.parametrize(
    ("more", "role"),
    [
        ({}, "user"),
        ({"origin": {"kind": "human"}}, "user"),
        ({"origin": None}, "user"),
        ({"origin": {"kind": "peer"}}, "system"),
        ({"origin": {"kind": ["odd"]}}, "system"),
        ({"promptSource": "typed"}, "user"),
        ({"promptSource": "sdk"}, "user"),
        ({"promptSource": "system"}, "system"),
        ({"isSynthetic": True}, "system"),
        ({"isSynthetic": False, "isReplay": True}, "user"),
        ({"isCompactSummary": True}, "system"),
        ({"isMeta": True}, None),
    ],
)
def test_generated_line_is_not_attributed_to_user(more: dict[str, Any], role: str | None) -> None:
    assert parts_of(user("hello", **more)) == ([(role, "text", "hello")] if role else [])


@pytest.mark.parametrize(
    ("attachment", "role"),
    [
        ({"type": "queued_command", "prompt": "hi", "commandMode": "prompt"}, "user"),
        ({"type": "queued_command", "prompt": [text("hi")]}, "user"),
        ({"type": "queued_command", "prompt": "hi", "commandMode": "task-notification"}, "system"),
        ({"type": "queued_command", "prompt": "hi", "origin": {"kind": "peer"}}, "system"),
        ({"type": "queued_command", "prompt": "hi", "isMeta": True}, None),
        ({"type": "todo_reminder", "prompt": "hi"}, None),
        ("odd", None),
    ],
)
def test_text_typed_during_work_is_read(attachment: Any, role: str | None) -> None:
    line = {"type": "attachment", "sessionId": "s", "attachment": attachment}
    assert parts_of(line) == ([(role, "text", "hi")] if role else [])


def test_consecutive_lines_share_message_number() -> None:
    lines = [
        answer("m1", text("a"), uuid="1"),
        {"type": "progress"},
        answer("m1", text("b"), text("c"), uuid="2"),
        answer("m2", text("d"), uuid="3"),
        user("e", uuid="4"),
        answer("m2", text("f"), uuid="5"),
        answer("", text("g")),
        answer("", text("h")),
    ]
    messages = feed(ClaudeCodeFormat().parser("s.jsonl"), enumerate(lines, 1))
    assert "".join(message.text for message in messages) == "abcdefgh"
    assert [message.ordinal for message in messages] == [1, 1, 1, 2, 3, 4, 5, 6]


def test_repeated_line_counts_once() -> None:
    first, second = user("Once.", uuid="1"), answer("m", text("Yes."), uuid="2")
    assert len(parts_of(first, second, first, second, user("Once.", uuid="3"), user("Once."), user("Once."))) == 5


@pytest.mark.parametrize(
    ("content", "detail", "result"),
    [
        ("out", {"stdout": "other"}, "out"),
        ("", {"stdout": "out", "stderr": "err"}, "out\nerr"),
        ("", "Error: no", "Error: no"),
        (None, {"stdout": 3}, ""),
        ([{"type": "image", "source": {"data": "AAAA"}}], None, "[image]"),
        ([{"type": "tool_reference", "tool_name": "x"}], None, "[tool_reference]"),
    ],
)
def test_a_result_is_read_from_the_line_that_has_it(content: Any, detail: Any, result: str) -> None:
    parser = ClaudeCodeFormat().parser("s.jsonl")
    parser.feed(answer("m", {"type": "tool_use", "id": "t", "name": "Bash", "input": {}}), 1)
    (message,) = parser.feed(
        user([{"type": "tool_result", "tool_use_id": "t", "content": content}], toolUseResult=detail), 2
    )
    assert (message.role, message.kind, message.tool, message.text) == ("tool", "tool-result", "Bash", result)


def test_server_side_tool_calls_are_read() -> None:
    searched = {
        "type": "web_search_tool_result",
        "tool_use_id": "w",
        "content": [{"type": "web_search_result", "title": "Sails", "url": "https://a.b", "encrypted_content": "RXF="}],
    }
    used = {"type": "server_tool_use", "id": "w", "name": "web_search", "input": {"query": "sails"}}
    messages = feed(ClaudeCodeFormat().parser("s.jsonl"), [(1, answer("m", used, searched))])
    assert [(message.role, message.tool, message.text) for message in messages] == [
        ("assistant", "web_search", "sails"),
        ("tool", "web_search", "Sails https://a.b"),
    ]


def test_titles_ranked_by_source_last_wins() -> None:
    custom = {"type": "custom-title", "customTitle": "Mine"}
    by_agent = {"type": "ai-title", "aiTitle": " Made\nup "}
    name = {"type": "agent-name", "agentName": "helper"}
    for lines, title in [
        ([by_agent, name], "Made up"),
        ([name], "helper"),
        ([custom, by_agent], "Mine"),
        ([custom, {**custom, "customTitle": "Newer"}], "Newer"),
        ([custom, {**custom, "customTitle": ""}, {**custom, "customTitle": 7}], "Mine"),
        ([{**custom, "customTitle": "x" * 5000}], "x" * 199 + "…"),
    ]:
        parser = ClaudeCodeFormat().parser("s.jsonl")
        feed(parser, enumerate(lines, 1))
        assert parser.metadata.title == title


def test_title_is_summary_of_message_in_the_session() -> None:
    message = user("hello", uuid="leaf")
    summary = {"type": "summary", "summary": "About sails", "leafUuid": "leaf"}
    other = {"type": "summary", "summary": "About oars", "leafUuid": "elsewhere"}
    for lines, title in [
        ([summary, message], "About sails"),
        ([message, summary, other], "About sails"),
        ([other, message], ""),
        ([{"type": "ai-title", "aiTitle": "Made"}, message, summary], "Made"),
    ]:
        parser = ClaudeCodeFormat().parser("s.jsonl")
        feed(parser, enumerate(lines, 1))
        assert parser.metadata.title == title


def test_only_own_lines_are_recognised() -> None:
    matches = ClaudeCodeFormat().matches
    assert matches(SAMPLES[:1])
    assert matches(SAMPLES[1:2])
    assert matches([{"type": "permission-mode", "permissionMode": "plan", "sessionId": "s"}])
    assert matches([{}, user("x", uuid="u")])
    assert not matches([])
    assert not matches([{"type": "message", "id": "a", "message": {"role": "user", "content": "x"}}])
    assert not matches([{"type": "session", "id": "a", "cwd": "/"}])
    assert not matches([{"type": "session_meta", "payload": {"id": "x"}}])
    assert not matches([{"type": "user", "uuid": "u", "sessionId": "s", "message": {"role": "user", "parts": []}}])
    assert not matches([{"type": ["user"], "uuid": "u", "sessionId": "s", "message": {"content": ""}}])


@pytest.mark.parametrize("path", [MAIN, SUB_AGENT, ASKED, STREAM])
def test_reading_resumes(path: Path) -> None:
    read_with_pauses(ClaudeCodeFormat(), str(path), fixture_lines(path))


@given(st.lists(mangled(SAMPLES) | st.dictionaries(st.sampled_from(["type", "message", "uuid"]), json_values)))
def test_any_json_parses_and_state_serializes(values: list[dict[str, Any]]) -> None:
    parser, messages = stored_after_every_line(ClaudeCodeFormat(), values)
    assert all(1 <= message.line <= len(values) for message in messages)
    numbers = [message.ordinal for message in messages]
    assert numbers == sorted(numbers)
    assert set(numbers) == set(range(1, parser.ordinal + 1))


@pytest.mark.parametrize(
    "kind",
    """api-request api-request-blob api-request-shape artifact-autoreact-ledger artifact-comment-monitor atis-latch
    bridge-session continued-in cost-state custom-summary dev-mods ended-by-model fork-context-ref frame-link
    history-suppression isolation-latch last-prompt marble-origami-commit memory-mode observer-ref relocated
    session-agent telemetry-latch worktree-state""".split(),
)
def test_lines_about_the_program_are_known_in_newest_version(kind: str) -> None:
    parser = ClaudeCodeFormat().parser("s.jsonl")
    message = {"role": "user", "content": "a request as it was sent"}
    assert parser.feed({"type": kind, "sessionId": "s", "title": "x", "content": "y", "message": message}, 1) == []
    assert (parser.unknown, parser.metadata.title) == ({}, "")


def test_sessions_of_cowork_have_their_description(tmp_path: Path) -> None:
    def message(role: str, text: str) -> dict[str, Any]:
        message = {"role": role, "content": [{"type": "text", "text": text}]}
        return {"type": role, "uuid": role, "sessionId": "s", "cwd": "/sessions/brave-ada", "message": message}

    store = tmp_path / ".config/Claude/local-agent-mode-sessions"
    home = store / "org/space/local_1"
    path = home / ".claude/projects/-sessions-brave-ada/0c1d2e3f-0000-4000-8000-000000000009.jsonl"
    description = {"title": "Winter storage", "userSelectedFolders": ["/home/ada/boats", "/home/ada/oars"]}
    for file, content in (
        (path, [message("user", "Plan it."), {"type": "ai-title", "sessionId": "s", "aiTitle": "A plan"}]),
        (home / "audit.jsonl", [message("user", "Plan it.")]),
        (home / "outputs/data.jsonl", [{"a": 1}]),
        (store / "org/space/local_1.json", [description]),
    ):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(json.dumps(line) + "\n" for line in content))
    os.utime(store / "org/space/local_1.json", (4e9, 4e9))

    assert ("claude-cowork", "", str(store)) in session_folders(Machine(str(tmp_path), {}))
    files = find_transcripts(Settings(sessions=SessionSettings(folders=(str(store),)))).files
    read = [file for file in files if file.name not in copied_sessions(files, set())]
    assert [(file.path, file.mtime_ns) for file in read] == [(str(path), 4 * 10**18)]
    session = read_session(path, "")
    assert session is not None
    assert (session.metadata.agent, session.metadata.title) == ("claude-cowork", "Winter storage")
    assert session.metadata.project == "/home/ada/boats"
    (store / "org/space/local_1.json").write_text('{"title": 3, "userSelectedFolders": [null]}')
    session = read_session(path, "")
    assert session is not None
    assert (session.metadata.title, session.metadata.project) == ("A plan", "/sessions/brave-ada")
    assert resume_command("claude-cowork", "s") == ""


@pytest.mark.parametrize(
    ("agent", "place"),
    [
        ("qoder", ".qoder/projects"),
        ("qoder", ".qoder-cn/projects"),
        ("qoder", ".config/Qoder/SharedClientCache/cli/projects"),
        ("openclaude", ".openclaude/projects"),
    ],
)
def test_programs_with_same_transcripts_are_distinguished(tmp_path: Path, agent: str, place: str) -> None:
    path = tmp_path / place / "-home-ada-boats" / "0c1d2e3f-0000-4000-8000-000000000009.jsonl"
    path.parent.mkdir(parents=True)
    message = {"role": "user", "content": "Plan it."}
    path.write_text(json.dumps({"type": "user", "uuid": "u", "sessionId": "s", "message": message}) + "\n")
    assert (agent, "", str(tmp_path / place)) in session_folders(Machine(str(tmp_path), {}))
    session = read_session(path, "")
    assert session is not None
    assert (session.metadata.agent, session.metadata.title) == (agent, "")
    described = path.with_name(f"{path.stem}-session.json")
    described.write_text('{"title": "Storage", "working_dir": "/home/ada/boats", "parent_session_id": "p"}')
    session = read_session(path, "")
    assert session is not None
    expected = ("Storage", "/home/ada/boats", "p") if agent == "qoder" else ("", "", "")
    assert (session.metadata.title, session.metadata.project, session.metadata.parent) == expected
    assert owner_of_part(str(described)) == (str(path) if agent == "qoder" else "")


def test_first_line_of_qoder_names_the_folder(tmp_path: Path) -> None:
    path = tmp_path / ".qoder" / "projects" / "-home-ada-boats" / "0c1d2e3f-0000-4000-8000-000000000009.jsonl"
    path.parent.mkdir(parents=True)
    message = {"role": "user", "content": [{"type": "text", "text": "Plan it."}]}
    values = (
        {"type": "workspace-directories", "sessionId": "s", "directories": ["/home/ada/boats", "/x"]},
        {"type": "user", "uuid": "u", "timestamp": "2026-09-02T16:10:15.014Z", "message": message},
        {"type": "last-prompt", "sessionId": "s", "lastPrompt": "Plan it."},
        {"type": "active-leaf", "sessionId": "s", "uuid": "u"},
    )
    path.write_text("".join(json.dumps(value) + "\n" for value in values))
    session = read_session(path, "")
    assert session is not None
    assert (session.metadata.agent, session.metadata.project, session.metadata.opening) == (
        "qoder",
        "/home/ada/boats",
        "Plan it.",
    )
    assert not session.unknown


@pytest.mark.parametrize(
    ("named", "expected"),
    [
        ({"a": "a"}, {"a": ""}),
        ({"a": "b"}, {"a": "b", "b": ""}),
        ({"a": "b", "b": "a"}, {"a": "", "b": ""}),
        ({"a": "b", "b": "c"}, {"a": "c", "b": "c", "c": ""}),
        ({"a": "b", "b": "c", "c": "b"}, {"a": "", "b": "", "c": ""}),
    ],
)
def test_last_transcript_continues_those_before(
    tmp_path: Path, named: dict[str, str], expected: dict[str, str]
) -> None:
    folder = tmp_path / ".claude" / "projects" / "-home-ada-boats"
    folder.mkdir(parents=True)
    line = '{"type":"user","uuid":"u1","message":{"role":"user","content":"Why?"}}\n'
    for name in expected:
        mark = json.dumps({"type": "continued-in", "continuedInSessionId": named.get(name)}, separators=(",", ":"))
        (folder / f"{name}.jsonl").write_text(line + (f"{mark}\n" if name in named else ""))
    found = {name: Path(continued_in(str(folder / f"{name}.jsonl"))).stem for name in expected}
    assert found == expected


def test_error_of_the_api_is_shown_without_json() -> None:
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    shown = {f"API Error: 529 {json.dumps(error)}": "API Error: 529 Overloaded", 'Error {"a"': 'Error {"a"'}
    found = {}
    for text in shown:
        message = {"role": "assistant", "model": "<synthetic>", "content": [{"type": "text", "text": text}]}
        parser = ClaudeCodeFormat().parser("/x/a.jsonl")
        (part,) = parser.feed({"type": "assistant", "uuid": "u", "sessionId": "s", "message": message}, 1)
        found[text] = part.text
    assert found == shown
