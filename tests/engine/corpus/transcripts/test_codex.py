"""Codex CLI's transcripts: both forms, every message once, and no text inserted in the user's name."""

import json
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import find_sources
from engine.corpus.transcripts.messages import Message
from engine.corpus.transcripts.parsers.codex import CodexFormat
from engine.corpus.transcripts.registry import resume_command
from engine.corpus.transcripts.token_usage import Usage
from engine.corpus.transcripts.tool_uses import uses_of
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

FIXTURES = Path(__file__).parent / "fixtures" / "codex"
SESSION = "019b1f00-1111-7222-8333-444455556666"
ENVELOPES = FIXTURES / f"rollout-2026-03-09T11-00-00-{SESSION}.jsonl"
BARE = FIXTURES / "rollout-2025-06-01T10-00-00-1b2c3d4e-0000-4000-8000-000000000001.jsonl"
SAMPLES = [value for path in (ENVELOPES, BARE) for _, value in fixture_lines(path)]
AT = 1_773_050_400.0
PATCH = "*** Begin Patch\n*** Update File: src/a b.ts\n@@\n-x\n+y\n*** Add File: n.ts\n+1\n*** End Patch"
EDITS = [("edited", "src/a b.ts"), ("created", "n.ts")]


def item(**payload: Any) -> dict[str, Any]:
    return {"timestamp": "2026-03-09T10:00:00Z", "type": "response_item", "payload": payload}


def event(**payload: Any) -> dict[str, Any]:
    return {"timestamp": "2026-03-09T10:00:00Z", "type": "event_msg", "payload": payload}


def user_message(*texts: str) -> dict[str, Any]:
    return item(type="message", role="user", content=[{"type": "input_text", "text": text} for text in texts])


def answered(text: str) -> dict[str, Any]:
    return item(type="message", role="assistant", content=[{"type": "output_text", "text": text}])


def displayed(role: str, text: str) -> dict[str, Any]:
    return event(type=f"{role}_message", message=text)


def parts_of(*values: dict[str, Any]) -> list[tuple[str, str, str]]:
    messages = feed(CodexFormat().parser("s.jsonl"), enumerate(values, 1))
    return [(message.role, message.kind, message.text) for message in messages]


def test_session_of_message_envelopes_is_read() -> None:
    parser = CodexFormat().parser(str(ENVELOPES))
    messages = feed(parser, fixture_lines(ENVELOPES))

    assert without_calls(messages) == [
        Message("user", "text", "Why does the sail tear? Look.\n[image: PNG, 1 KB]", 7, 1, "", AT + 2),
        Message("assistant", "thinking", "**The seam**\n\nperhaps", 9, 2, "", AT + 3),
        Message("assistant", "text", "Let me look.", 10, 3, "", AT + 4),
        Message("assistant", "thinking", "or the wind", 12, 4, "rs_1", AT + 5),
        Message("assistant", "tool-call", "ls sails", 14, 5, "", AT + 6, "shell"),
        Message("tool", "tool-result", "main\njib", 15, 6, "", AT + 7, "shell"),
        Message("assistant", "tool-call", "*** Begin Patch\n*** End Patch", 16, 7, "", AT + 8, "apply_patch"),
        Message("tool", "tool-result", "Done", 17, 8, "", AT + 8, "apply_patch"),
        Message("assistant", "tool-call", "git status 'my sail'", 18, 9, "", AT + 9, "local_shell"),
        Message("tool", "tool-result", "clean\n[image: PNG, 1 KB]", 19, 10, "", AT + 9, "local_shell"),
        Message("assistant", "tool-call", "torn sail", 20, 11, "", AT + 10, "web_search"),
        Message(
            "assistant", "tool-call", '{\n  "plan": [],\n  "explanation": "sew"\n}', 21, 12, "", AT + 11, "update_plan"
        ),
        Message("assistant", "text", "The seam is too thin.", 22, 13, "", AT + 12),
        Message("assistant", "text", "1. Sew it", 23, 14, "p1", AT + 12),
        Message("user", "text", "yes", 25, 15, "", AT + 13),
        Message("user", "text", "yes", 27, 16, "", AT + 14),
        Message("user", "tool-call", "pwd", 29, 17, "", AT + 15, "shell"),
        Message("tool", "tool-result", "/home/ada/boat", 29, 18, "", AT + 15, "shell"),
        Message(
            "system",
            "text",
            '<subagent_notification>\n{"agent_id":"x","status":"done"}\n</subagent_notification>',
            line=31,
            ordinal=19,
            time=AT + 16,
        ),
        Message("system", "text", "The seam was sewn.", 32, 20, "", AT + 17),
        Message("assistant", "text", "Only shown.", 38, 21, "", AT + 19),
        Message("assistant", "text", "Only kept.", 39, 22, "", AT + 20),
    ]
    metadata = parser.metadata
    assert (metadata.agent, metadata.id, metadata.title) == ("codex", SESSION, "The torn sail")
    assert metadata.opening == "Why does the sail tear?"
    assert (metadata.project, metadata.branch, metadata.parent) == ("/home/ada/boat", "sails", "")
    assert (metadata.started, metadata.ended) == (AT, AT + 20)
    assert not metadata.generated
    assert parser.unknown == {"hologram": 3}


def test_codex_rollout_of_older_form_is_read() -> None:
    parser = CodexFormat().parser(str(BARE))
    messages = feed(parser, fixture_lines(BARE))

    assert without_calls(messages) == [
        Message("user", "text", "Sew the sail. Now.", 4, 1),
        Message("assistant", "thinking", "Thread first.", 6, 2, "rs_1"),
        Message("assistant", "tool-call", "ls", 7, 3, "fc_1", tool="shell"),
        Message("tool", "tool-result", "sail\n", 8, 4, tool="shell"),
        Message("assistant", "text", "Sewn.", 9, 5, "msg_1"),
        Message("user", "text", "Again.", 10, 6),
        Message("assistant", "text", "Sewn.", 11, 7, "msg_2"),
    ]
    metadata = parser.metadata
    assert metadata.id == "1b2c3d4e-0000-4000-8000-000000000001"
    assert (metadata.project, metadata.branch) == ("/home/ada/boat", "main"), (
        "the folder is in the injected context alone"
    )
    assert (metadata.started, metadata.ended) == (1_748_764_800.0, None)
    assert parser.unknown == {}


words = st.sampled_from(["yes", "go on", "Sew  it.\n", "no"])


@given(messages=st.lists(st.tuples(st.sampled_from(["user", "agent"]), words, st.sampled_from("ieb"))), data=st.data())
def test_no_message_duplicated_or_lost(messages: list[tuple[str, str, str]], data: st.DataObject) -> None:
    """Each message is an item, an event or both; the second of both is anywhere after the first."""
    only_one_way: dict[tuple[str, str], str] = {}
    lines: list[dict[str, Any]] = []
    late: list[dict[str, Any]] = []
    expected = []
    for role, text, ways in messages:
        # Equal messages always have the same form: otherwise two messages would be indistinguishable from one.
        way = only_one_way.setdefault((role, text), ways)
        both = [user_message(text) if role == "user" else answered(text), displayed(role, text)]
        if way == "b":
            first = data.draw(st.sampled_from([0, 1]))
            lines.append(both[first])
            late.append(both[1 - first])
        else:
            lines.append(both["ie".index(way)])
        expected.append(("user" if role == "user" else "assistant", text))
        if data.draw(st.booleans()):
            lines += late
            late.clear()
    lines += late
    assert sorted((role, text) for role, _, text in parts_of(*lines)) == sorted(expected)


@pytest.mark.parametrize("enveloped", [True, False])
def test_items_without_a_type_are_read(enveloped: bool) -> None:
    """Their fields determine their type."""
    items: list[dict[str, Any]] = [
        {"role": "user", "content": "Why does it leak?"},
        {"role": "assistant", "content": [{"type": "output_text", "text": "Let me look."}]},
        {"call_id": "c1", "name": "shell", "arguments": '{"command": ["ls"]}'},
        {"call_id": "c1", "output": "hull"},
        {"call_id": "c2"},
        {"role": "critic", "content": "No."},
    ]
    lines = [{"type": "response_item", "payload": item} for item in items] if enveloped else items
    parser = CodexFormat().parser("rollout-x.jsonl")
    messages = feed(parser, enumerate(lines, 1))
    assert [(message.role, message.kind, message.text, message.tool) for message in messages] == [
        ("user", "text", "Why does it leak?", ""),
        ("assistant", "text", "Let me look.", ""),
        ("assistant", "tool-call", "ls", "shell"),
        ("tool", "tool-result", "hull", "shell"),
    ]
    assert parser.unknown == {"message of critic": 1, "without a type": 1}


def test_rolled_back_turns_are_an_abandoned_branch() -> None:
    def left(*values: dict[str, Any]) -> tuple[list[tuple[int, int]], str]:
        parser = CodexFormat().parser("rollout.jsonl")
        feed(parser, enumerate(values, 1))
        return parser.metadata.rewound, parser.metadata.opening

    first = [user_message("Bake a cake."), displayed("user", "Bake a cake."), answered("Baked.")]
    more = [user_message("Ice it."), answered("Iced.")]
    back = event(type="thread_rolled_back", num_turns=1)
    assert left(*first, *more) == ([], "Bake a cake.")
    assert left(*first, *more, back, user_message("Eat it.")) == ([(4, 6)], "Bake a cake.")
    assert left(*first, *more, back, back, user_message("Fry an egg.")) == ([(1, 7)], "Fry an egg.")
    assert left(*first, *more, event(type="thread_rolled_back", num_turns=9)) == ([(1, 6)], "Bake a cake.")
    assert left(*first, back, *more, back, *more) == ([(1, 4), (5, 7)], "Ice it.")
    assert left(back, *first, event(type="thread_rolled_back", num_turns="1"))[0] == []


def test_duplicate_event_is_found_later_despite_whitespace() -> None:
    between = [item(type="function_call", name="x", arguments="{}", call_id=str(number)) for number in range(300)]
    found = parts_of(answered("Done.\nAll of it."), *between, displayed("agent", "Done. All of it. "))
    assert [text for _, kind, text in found if kind == "text"] == ["Done.\nAll of it."]


def test_completed_items_of_paginated_rollout_are_read_once() -> None:
    def completed(**turn_item: Any) -> dict[str, Any]:
        return event(type="item_completed", item=turn_item)

    found = parts_of(
        user_message("Sew it."),
        completed(type="UserMessage", content=[{"type": "text", "text": "Sew it."}, {"type": "skill", "name": "sew"}]),
        completed(type="Reasoning", summary_text=["Thread."], raw_content=["Needle."]),
        completed(type="AgentMessage", content=[{"type": "Text", "text": "Sewn."}]),
        answered("Sewn."),
        completed(type="FileChange", changes={}),
    )
    assert found == [
        ("user", "text", "Sew it."),
        ("assistant", "thinking", "Thread."),
        ("assistant", "thinking", "Needle."),
        ("assistant", "text", "Sewn."),
    ]


def test_unknown_item_is_counted_without_secrets() -> None:
    secret = "ghp_" + "a1B2c3D4" * 5
    parser = CodexFormat().parser("x")
    parser.feed(event(type="item_completed", item={"type": f"hologram {secret}", "id": "1"}), 1)
    assert sum(parser.unknown.values()) == 1
    assert not any("a1b2c3d4" in name.lower() for name in parser.unknown)


def test_words_of_a_spoken_conversation_are_speech() -> None:
    def realtime_event(kind: str, **more: Any) -> dict[str, Any]:
        return {"timestamp": "", "type": "realtime_item", "payload": {"id": "v", "type": kind, **more}}

    parser = CodexFormat().parser("s.jsonl")
    values = (
        realtime_event("realtime_session_started"),
        realtime_event("transcript_segment", role="user", text="Sew it."),
        realtime_event("transcript_segment", role="assistant", text="On it."),
        realtime_event("transcript_segment", role="narrator", text="Night."),
        user_message("<realtime_delegation>\n  <input>Sew &lt;it&gt;</input>\n<transcript_delta>x</transcript_delta>"),
        {"timestamp": "", "type": "token_usage_record", "payload": {"usage": {}}},
        {"timestamp": "", "type": "retained_context", "payload": {}},
        realtime_event("realtime_session_closed"),
    )
    messages = feed(parser, enumerate(values, 1))
    assert [(message.role, message.text) for message in messages] == [
        ("user", "Sew it."),
        ("assistant", "On it."),
        ("user", "Sew <it>"),
    ]
    assert parser.unknown == {}


def test_lines_of_caller_are_not_subagent_messages() -> None:
    def total(sent: int, received: int) -> dict[str, Any]:
        return event(type="token_count", info={"total_token_usage": {"input_tokens": sent, "output_tokens": received}})

    spawned = {"subagent": {"thread_spawn": {"parent_thread_id": "p"}}}
    meta = {"id": "child", "source": spawned, "subagent_history_start_ordinal": 5}
    values = (
        {"type": "session_meta", "payload": meta},
        {"type": "session_meta", "payload": {"id": "p", "cwd": "/elsewhere"}},
        user_message("Repair the boat."),
        answered("I ask another one."),
        total(1000, 100),
        user_message("Sew the sail."),
        total(1130, 110),
    )
    parser = CodexFormat().parser("s.jsonl")
    messages = feed(parser, [(at + 1, {**value, "ordinal": at}) for at, value in enumerate(values)])
    assert [message.text for message in messages] == ["Sew the sail."]
    assert (parser.metadata.id, parser.metadata.parent, parser.metadata.opening) == ("child", "p", "Sew the sail.")
    assert parser.metadata.usage == {"": Usage(130, 10)}


def test_scheduled_message_has_the_system_role() -> None:
    scheduled = user_message("Check the anchor.")
    scheduled["payload"]["internal_chat_message_metadata_passthrough"] = {"content_item_kinds": ["user.heartbeat"]}
    values = (
        scheduled,
        displayed("user", "Check the anchor."),
        user_message("Weigh it."),
        displayed("user", "Weigh it."),
    )
    assert parts_of(*values) == [("system", "text", "Check the anchor."), ("user", "text", "Weigh it.")]


def test_an_item_that_repeats_another_line_is_left_out() -> None:
    summary = {**answered("The sail is sewn."), "metadata": {"compaction_output": True}}
    compacted = {"timestamp": "", "type": "compacted", "payload": {"message": "The sail is sewn."}}
    inherited = {**user_message("Sew the sail."), "metadata": {"user_input_order": 1, "inherited_user_message": True}}
    own = {**user_message("Hoist it."), "metadata": {"user_input_order": 2}}
    expected = [("system", "text", "The sail is sewn."), ("user", "text", "Hoist it.")]
    assert parts_of(summary, compacted, inherited, own) == expected


def test_tokens_of_a_fork_begin_after_those_of_its_origin() -> None:
    def counted(total: int, last: int) -> dict[str, Any]:
        sums = {
            f"{of}_token_usage": {"input_tokens": n, "output_tokens": n // 10}
            for of, n in (("total", total), ("last", last))
        }
        return event(type="token_count", info=sums)

    base = {"thread_id": "p", "end_ordinal_exclusive": 4, "end_byte_offset": 900}
    meta = {"id": SESSION, "forked_from_id": "p", "history_base": base}
    values = ({"type": "session_meta", "payload": meta}, counted(1600, 600), counted(1600, 600), counted(1900, 300))
    parser = CodexFormat().parser("s.jsonl")
    feed(parser, enumerate(values, 1))
    assert parser.metadata.usage == {"": Usage(900, 90)}


@pytest.mark.parametrize(
    ("program", "uses"),
    [
        (
            'const r = await tools.exec_command({"cmd":"pytest -q && cat a.py","workdir":"/w"}); text(r.output);',
            [("read", "/w/a.py"), ("command", "pytest -q && cat a.py")],
        ),
        ("// don't\ntext(await tools.exec_command({cmd: 'echo \"a\\u0041\"', tty: true}))", [("command", 'echo "aA"')]),
        (
            'await tools.exec_command({cmd: `sed -i s/a/b/ src/a.py && sed -i "s/a b/c/" b.py`})',
            [
                ("edited", "src/a.py"),
                ("edited", "b.py"),
                ("command", 'sed -i s/a/b/ src/a.py && sed -i "s/a b/c/" b.py'),
            ],
        ),
        ("await tools.exec_command({cmd: String.raw`grep a\\n b.py`})", [("command", "grep a\\n b.py")]),
        (
            "await Promise.all([tools.exec_command({cmd: 'ls'}), tools.exec_command({cmd: 'make'})])",
            [("command", "ls"), ("command", "make")],
        ),
        (f"const p = {json.dumps(PATCH)};\nawait tools.apply_patch(p); text('*** End')", EDITS),
        (f"await tools.apply_patch(`{PATCH}`)", EDITS),
        ("await tools.mcp__disk__write_file({path: 'c.md', content: '*** Add File: no'})", [("created", "c.md")]),
        ("text('tools.'); await tools.wait({ms: 5})", []),
        ("await tools.exec_command({cmd: 'unfinished", [("command", "unfinished")]),
    ],
)
def test_tools_called_by_a_program_are_its_uses(program: str, uses: list[tuple[str, str]]) -> None:
    call = item(type="custom_tool_call", name="exec", call_id="c", input=program)
    (message,) = feed(CodexFormat().parser("s.jsonl"), [(1, call)])
    assert message.text == program
    assert uses_of(message) == uses


def test_repeated_program_does_not_enlarge_the_state() -> None:
    call = item(type="custom_tool_call", name="exec", call_id="c", input="await tools.exec_command({cmd: 'ls'})")
    parser = CodexFormat().parser("s.jsonl")
    feed(parser, enumerate([call] * 50, 1))
    assert len(parser.ran) == 1
    assert CodexFormat().resume(msgspec.json.encode(parser)) == parser


def test_arguments_that_a_program_computed_are_read() -> None:
    def ran(command: str, **more: Any) -> dict[str, Any]:
        words = ["/bin/zsh", "-lc", command]
        return event(type="item_completed", item={"type": "CommandExecution", "id": "exec-1", "command": words, **more})

    def changed(**changes: Any) -> dict[str, Any]:
        return event(type="item_completed", item={"type": "FileChange", "id": "exec-2", "changes": changes})

    def program(text: str) -> dict[str, Any]:
        return item(type="custom_tool_call", name="exec", call_id="c", input=text)

    parser = CodexFormat().parser("s.jsonl")
    parser.metadata.project = "/w"
    update = {"type": "update", "unified_diff": "@@ -1 +1 @@\n-x\n+y\n"}
    values = (
        user_message("Sew it."),
        program(f"await tools.exec_command({{cmd: 'ls'}}); await tools.apply_patch({json.dumps(PATCH)})"),
        ran("ls"),
        changed(**{"/w/src/a b.ts": update, "/w/n.ts": {"type": "add", "content": "1"}}),
        program("for (const f of files) await tools.exec_command({cmd: `wc ${f}`})"),
        ran("wc a.py"),
        ran("wc a.py", id="call_1"),
        changed(),
        changed(**{"/w/b.py": {**update, "move_path": "/w/c.py"}, "/w/d.py": {"type": "delete", "content": "1"}}),
        changed(**{"/w/n.ts": {"type": "add", "content": "1\n2\n"}}),
        user_message("Sew more."),
        ran("ls"),
    )
    messages = [one for one in feed(parser, enumerate(values, 1)) if one.line not in (2, 5)]
    assert [(one.line, one.tool, one.text) for one in messages if one.kind == "tool-call"] == [
        (6, "shell", "wc a.py"),
        (
            9,
            "apply_patch",
            "*** Begin Patch\n*** Update File: /w/b.py\n*** Move to: /w/c.py\n@@ -1 +1 @@\n-x\n+y\n"
            "*** Delete File: /w/d.py\n*** End Patch",
        ),
        (12, "shell", "ls"),
    ]
    assert [use for one in messages for use in uses_of(one)] == [
        ("command", "wc a.py"),
        ("edited", "/w/b.py"),
        ("created", "/w/c.py"),
        ("deleted", "/w/d.py"),
        ("command", "ls"),
    ]


@pytest.mark.parametrize("part", ["'\\\\", "tools.a(", '"', "/*", "String.raw ", "a:'b',", "(", "a"])
def test_long_program_is_read_in_linear_time(part: str) -> None:
    program = f"tools.exec_command({{{part * 200_000}"
    call = item(type="custom_tool_call", name="exec", call_id="c", input=program)
    (message,) = feed(CodexFormat().parser("s.jsonl"), [(1, call)])
    assert not uses_of(message)  # a quadratic search takes more than ten minutes


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("  as it is \n", [("user", "  as it is \n")]),
        (" \n", []),
        ("<environment_context>\n<cwd>/x</cwd>\n</environment_context>", []),
        ("<environment_context>\nCurrent working directory: /x\nmore\n</environment_context>\n", []),
        ("<environment_context> is what?", [("user", "<environment_context> is what?")]),
        ("<user_instructions>\n\nBe kind\n\n</user_instructions>", []),
        ("# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>\nBe kind\n</INSTRUCTIONS>", []),
        (
            "# AGENTS.md instructions\n\n<INSTRUCTIONS>\n</INSTRUCTIONS>\n<environment_context>b</environment_context>",
            [],
        ),
        ("# AGENTS.md instructions are missing", [("user", "# AGENTS.md instructions are missing")]),
        ("<permissions instructions>\nnone\n</permissions instructions>", []),
        ("<turn_aborted>\nThe user interrupted\n</turn_aborted>", []),
        ("<skill>\n<name>sew</name>\n</skill>", []),
        ('<codex_internal_context source="x">\ny\n</codex_internal_context>', []),
        ("<user_action>\nreview\n</user_action>", [("system", "<user_action>\nreview\n</user_action>")]),
        (
            "Warning: apply_patch was requested via shell.",
            [("system", "Warning: apply_patch was requested via shell.")],
        ),
        ("# Context from my IDE setup:\n\n## My request for Codex:\nfix\nit\n", [("user", "fix\nit")]),
        ("# Context from my IDE setup:\nnothing more", [("user", "# Context from my IDE setup:\nnothing more")]),
    ],
)
def test_only_user_speech_has_the_role_user(text: str, parts: list[tuple[str, str]]) -> None:
    expected = [(role, "text", words) for role, words in parts]
    assert parts_of(user_message(text)) == expected
    assert parts_of(displayed("user", text)) == expected
    assert parts_of(user_message(text), displayed("user", text)) == expected
    assert parts_of({"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}) == expected


def test_instructions_to_the_agent_are_left_out() -> None:
    for role in ("developer", "system"):
        assert parts_of(item(type="message", role=role, content=[{"type": "input_text", "text": "Be kind"}])) == []
    assert parts_of(user_message("<skill>x</skill>", "Sew", "<environment_context>y</environment_context>", "it")) == [
        ("user", "text", "Sew\nit")
    ]


def test_speech_and_plan_are_separate_without_citations() -> None:
    text = "Here:\n<proposed_plan>\n# Sew\n</proposed_plan>\n<oai-mem-citation>\nx\n</oai-mem-citation>"
    plan = event(type="item_completed", item={"type": "Plan", "text": "# Sew\n"})
    expected = [("assistant", "text", "Here:"), ("assistant", "text", "# Sew")]
    assert parts_of(answered(text)) == expected
    assert parts_of(answered(text), plan, displayed("agent", "Here:")) == expected
    assert parts_of(answered("<proposed_plan> has no end")) == [("assistant", "text", "<proposed_plan> has no end")]


@pytest.mark.parametrize(
    ("call", "text"),
    [
        ({"type": "function_call", "arguments": '{"cmd": "ls"}'}, "ls"),
        ({"type": "function_call", "arguments": "{}"}, "function"),
        ({"type": "function_call", "arguments": "not json"}, "not json"),
        ({"type": "function_call", "arguments": {"a": 1, "b": "c"}}, '{\n  "a": 1,\n  "b": "c"\n}'),
        ({"type": "function_call", "arguments": '{"command": ["zsh", "-lc", "ls | wc"], "timeout": 1}'}, "ls | wc"),
        ({"type": "function_call", "arguments": '{"command": ["echo", "a b"]}'}, "echo 'a b'"),
        ({"type": "function_call", "arguments": '{"command": []}'}, '{\n  "command": []\n}'),
        ({"type": "custom_tool_call", "input": '{"a": 1}'}, '{"a": 1}'),
        ({"type": "tool_search_call", "arguments": {"query": "sails"}}, "sails"),
        ({"type": "web_search_call", "action": {"type": "open_page", "url": "https://a.b"}}, "https://a.b"),
        ({"type": "web_search_call"}, "web_search"),
        ({"type": "image_generation_call", "result": "iVBO", "revised_prompt": "a sail"}, "a sail"),
        ({"type": "image_generation_call", "result": "iVBO"}, "image_generation"),
    ],
)
def test_tool_call_is_shown_as_typed_command(call: dict[str, Any], text: str) -> None:
    assert parts_of(item(**call)) == [("assistant", "tool-call", text)]


@pytest.mark.parametrize(
    ("output", "text"),
    [
        ("plain", "plain"),
        ('{"output": "odd', '{"output": "odd'),
        ('{"output":"a\\nb","metadata":{"exit_code":0}}', "a\nb"),
        ({"content": "old", "success": True}, "old"),
        ({"success": False}, '{\n  "success": false\n}'),
        ([{"type": "input_text", "text": "a"}, {"type": "input_image", "image_url": "data:"}], "a\n[image]"),
        (None, ""),
        (7, ""),
    ],
)
def test_tool_output_is_read_as_text(output: Any, text: str) -> None:
    assert parts_of(item(type="function_call_output", call_id="c", output=output)) == [("tool", "tool-result", text)]


@pytest.mark.parametrize(
    ("source", "more", "parent", "side", "generated"),
    [
        ("cli", {}, "", False, False),
        ({"subagent": {"thread_spawn": {"parent_thread_id": "p", "depth": 1}}}, {}, "p", True, False),
        ({"subagent": "review"}, {"parent_thread_id": "q"}, "q", True, False),
        ({"subagent": "memory_consolidation"}, {}, "", True, True),
        ({"subagent": {"other": "guardian"}}, {}, "", True, True),
        ({"internal": "memory_consolidation"}, {}, "", False, True),
        ({"subagent": ["odd"]}, {"parent_thread_id": ["odd"]}, "", True, False),
    ],
)
def test_header_identifies_session(source: Any, more: dict[str, Any], parent: str, side: bool, generated: bool) -> None:
    parser = CodexFormat().parser("s.jsonl")
    parser.feed({"type": "session_meta", "payload": {"id": "x", "source": source, **more}}, 1)
    (message,) = parser.feed(user_message("Sew. Now."), 2)
    assert (parser.metadata.id, parser.metadata.parent, parser.metadata.generated) == ("x", parent, generated)
    assert message.side is side
    assert parser.metadata.opening == ("Sew. Now." if parent or not side else "")


def test_session_id_from_name_without_lines() -> None:
    for path in (str(ENVELOPES), f"/archived_sessions/rollout-{SESSION}.jsonl"):
        assert CodexFormat().parser(path).metadata.id == SESSION
    assert CodexFormat().parser("notes.jsonl").metadata.id == ""


def test_words_of_another_agent_are_side_messages() -> None:
    letter = {"author": "/lead", "recipient": "/lead/a", "content": "Count the seams."}
    parser = CodexFormat().parser("s.jsonl")
    messages = feed(
        parser,
        [
            (1, {"type": "inter_agent_communication", "payload": letter}),
            (
                2,
                item(
                    type="agent_message", **{**letter, "content": [{"type": "input_text", "text": letter["content"]}]}
                ),
            ),
        ],
    )
    assert [(message.role, message.text, message.side) for message in messages] == [
        ("assistant", "Count the seams.", True)
    ]


def test_only_own_lines_are_recognised() -> None:
    matches = CodexFormat().matches
    assert matches(SAMPLES[:1])
    assert matches([value for _, value in fixture_lines(BARE)][:1])
    assert matches([{}, {"record_type": "state"}])
    assert not matches([])
    assert not matches([{"type": "message", "id": "a", "message": {"role": "user", "content": "x"}}])
    assert not matches([{"type": "session", "id": "a", "timestamp": "2026-01-01T00:00:00Z", "cwd": "/"}])
    assert not matches([{"type": "user", "uuid": "u", "sessionId": "s", "message": {"content": "x"}}])
    assert not matches([{"id": "a", "thread_name": "x", "updated_at": "y"}])
    assert not matches([{"type": ["event_msg"], "payload": {}}, {"type": "event_msg", "payload": []}])


@pytest.mark.parametrize("path", [ENVELOPES, BARE])
def test_reading_resumes(path: Path) -> None:
    read_with_pauses(CodexFormat(), str(path), fixture_lines(path))


@given(st.lists(mangled(SAMPLES) | st.dictionaries(st.sampled_from(["type", "payload", "id"]), json_values)))
def test_any_json_parses_and_state_serializes(values: list[dict[str, Any]]) -> None:
    parser, messages = stored_after_every_line(CodexFormat(), values)
    assert all(1 <= message.line <= len(values) for message in messages)
    numbers = [message.ordinal for message in messages]
    assert numbers == sorted(numbers)
    assert set(numbers) == set(range(1, parser.ordinal + 1))


@pytest.mark.parametrize(
    ("agent", "home", "resumed"),
    [
        ("trae-cli", ".trae/cli", f"traex resume {SESSION}"),
        ("open-interpreter", ".openinterpreter", ""),
        ("augure-code", ".augure", f"augure resume {SESSION}"),
    ],
)
def test_copies_of_codex_are_read_as_their_own(tmp_path: Path, agent: str, home: str, resumed: str) -> None:
    folder = tmp_path / home / "sessions"
    path = folder / "2026" / "03" / "09" / ENVELOPES.name
    path.parent.mkdir(parents=True)
    path.write_bytes(ENVELOPES.read_bytes())
    (source,) = find_sources(tmp_path, {}).sources
    assert (source.agent, source.path, source.files) == (agent, str(folder), 1)
    session = read_session(path, "")
    assert session is not None
    assert (session.metadata.agent, session.metadata.id) == (agent, SESSION)
    assert resume_command(agent, SESSION) == resumed


@pytest.mark.parametrize("variable", ["INTERPRETER_HOME", "OPEN_INTERPRETER_HOME"])
def test_copy_of_codex_in_its_own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    monkeypatch.setenv(variable, str(tmp_path / "oi"))
    found = {}
    for home in ("oi", "other"):
        path = tmp_path / home / "sessions" / "2026" / ENVELOPES.name
        path.parent.mkdir(parents=True)
        path.write_bytes(ENVELOPES.read_bytes())
        session = read_session(path, "")
        found[home] = session and session.metadata.agent
    assert found == {"oi": "open-interpreter", "other": "codex"}
    (source,) = find_sources(tmp_path, os.environ).sources
    assert source.agent == "open-interpreter"
