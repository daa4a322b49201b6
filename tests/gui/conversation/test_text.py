"""Grouping of a session's messages, and the positions of its lines."""

import json

import msgspec
import pytest

from engine import Cancelled, CancelToken, SessionText
from gui.conversation.actions import conversation_markdown, entry_markdown
from gui.conversation.display_entries import Conversation, prepare, spoken, summary
from gui.conversation.hit_navigation import ConversationLines
from gui.conversation.loader import result_location
from gui.conversation.row_folding import GROUP, MORE, SUMMARY, Row, Rows
from gui.viewer.markdown_extensions import SEPARATOR
from gui.viewer.match_list import plain_finder
from tests.helpers.fake_sessions import SESSIONS, VALVE, make_session

LONG = "\n".join(f"row {number}" for number in range(100))


def conversation_of(*turns) -> Conversation:
    return prepare(make_session(turns), CancelToken())


@pytest.fixture
def talk() -> Conversation:
    return conversation_of(
        ("user", (("text", "First line\nsecond line"),)),
        (
            "assistant",
            (("thinking", "Hm."), ("tool-call", "ls", "Bash"), ("tool-call", '{\n  "file_path": "a.py"\n}', "Read")),
        ),
        ("tool", (("tool-result", "x = 1\n", "Read"), ("tool-result", LONG, "Bash"))),
        ("assistant", (("text", "Two [files](http://example.org/files)."),)),
        ("tool", (("tool-result", "late", "Bash"),)),
        ("assistant", (("text", "  "), ("text", "Done."))),
    )


def test_results_join_their_calls(talk: Conversation) -> None:
    assert [(entry.kind, entry.parts) for entry in talk.entries] == [
        ("user", (0,)), ("thinking", (1,)), ("tool", (2, 5)), ("tool", (3, 4)), ("speech", (6,)), ("tool", (7,)),
        ("speech", (9,)),
    ]  # fmt: skip
    assert talk.prompts == (0,)


def test_tool_summary_shows_input_and_result_length(talk: Conversation) -> None:
    summaries = [summary(talk, entry) for entry in talk.entries if entry.kind in ("tool", "thinking")]
    assert [line[:3] for line in summaries] == [
        ("Thinking", "Hm.", "3 characters"),
        ("Bash", "ls", "100 lines"),
        ("Read", "a.py", "1 line"),
        ("Bash result", "late", "1 line"),
    ]


def test_thinking_line_has_no_markdown_marks() -> None:
    text = "**Planning the fix**\n\nI look at `a.py` first, not at __init__."
    talk = conversation_of(("assistant", (("thinking", text), ("tool-call", "grep '**x**'", "Bash"))))
    summaries = [summary(talk, entry)[1] for entry in talk.entries]
    assert summaries == ["Planning the fix I look at a.py first, not at __init__.", "grep '**x**'"]


_PATCH = "*** Begin Patch\n*** Update File: bin/sync\n@@\n-a\n+b\n*** Add File: lib/new.sh\n+x\n*** End Patch"


def test_call_is_summarised_by_command_path_or_patched_files() -> None:
    subjects = {
        'const r = await tools.exec_command({"cmd":"pytest -q","workdir":"/w"}); text(r.output);': "pytest -q",
        'text(await tools.exec_command({cmd: "ls \\"a\\"", tty: true}));': 'ls "a"',
        "await tools.wait({ms: 5})": "await tools.wait({ms: 5})",
        'make path: "x"': 'make path: "x"',
        _PATCH: "bin/sync, lib/new.sh",
        json.dumps({"input": _PATCH}): "bin/sync, lib/new.sh",
        f"apply_patch <<'EOF'\n{_PATCH}\nEOF": "bin/sync, lib/new.sh",
        f"const patch = {json.dumps(_PATCH)}; await tools.apply_patch(patch);": "bin/sync, lib/new.sh",
        json.dumps({"file_path": "", "command": r"cd C:\new\ürsel"}): r"cd C:\new\ürsel",
        json.dumps({"command": "run " * 600}): " ".join(["run"] * 60),
    }
    shown = {text: conversation_of(("assistant", (("tool-call", text, "exec"),))) for text in subjects}
    assert {text: summary(talk, talk.entries[0])[1] for text, talk in shown.items()} == subjects


def test_call_without_result_is_marked() -> None:
    talk = conversation_of(("assistant", (("tool-call", '{"x": {"deep": "first text"}}', "Odd"),)))
    assert summary(talk, talk.entries[0]) == ("Odd", "first text", "no result", "")


def test_line_number_resolves_to_entry_part(talk: Conversation) -> None:
    line = talk.session.messages[5].line
    entry, pieces = talk.at_line(line)
    assert talk.entries[entry].parts == (2, 5)
    assert talk.source(pieces[0]).startswith("row 0\n")
    assert talk.at_line(10_000)[0] == len(talk.entries) - 1
    assert talk.at_line(0)[0] == 0


def test_result_location_is_first_hit_in_line(talk: Conversation) -> None:
    found = result_location(talk, talk.session.messages[5].line, plain_finder("row 77"), CancelToken())
    assert found.entry == 2
    assert found.hit is not None
    [text] = ConversationLines(talk).lines(found.hit.line, found.hit.line)
    assert text[found.hit.start : found.hit.end] == "row 77"
    assert result_location(talk, 2, plain_finder("row"), CancelToken()).hit is None
    assert result_location(talk, None, plain_finder("two"), CancelToken()).entry == 4


def test_prompt_keeps_line_breaks_and_link_targets_are_skipped(talk: Conversation) -> None:
    assert talk.markdown(0) == "\nFirst line  \nsecond line"
    assert talk.searchable(talk.entries[4].first_piece) == "Two [files]."


def test_empty_session_has_no_entries() -> None:
    talk = prepare(SessionText(summary=SESSIONS[VALVE].summary, messages=(), masked=0, unknown=()), CancelToken())
    assert len(talk.entries) == 0
    assert talk.at_line(4) == (0, [])
    assert len(Rows(talk).rows) == 0


def test_prepare_can_be_cancelled() -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        prepare(SESSIONS[VALVE], token)


# --- rows -------------------------------------------------------------------------------------------------------------


def rows_of(rows: Rows) -> list[Row]:
    return [rows.rows[position] for position in range(len(rows.rows))]


def test_rows_follow_folds(talk: Conversation) -> None:
    rows = Rows(talk)
    folded = [(0, 0), (1, SUMMARY), (2, GROUP), (2, SUMMARY), (3, SUMMARY), (4, 0), (5, SUMMARY), (6, 0)]
    rows.set_group(2, opened=True)
    assert rows_of(rows) == folded
    assert bytes(rows.kinds) == b"uttttsts"
    rows.set_fold(2, "clamped")
    assert rows_of(rows)[3:7] == [(2, SUMMARY), (2, 0), (2, 1), (2, MORE)]
    rows.set_fold(2, "all")
    assert rows_of(rows)[3:8] == [(2, SUMMARY), (2, 0), (2, 1), (2, 2), (2, 3)]
    assert len(rows.kinds) == len(rows.rows)
    rows.set_fold(2, "folded")
    assert rows_of(rows) == folded


def test_consecutive_calls_are_one_row_until_opened(talk: Conversation) -> None:
    rows = Rows(talk)
    closed = [(0, 0), (1, SUMMARY), (2, GROUP), (4, 0), (5, SUMMARY), (6, 0)]
    assert rows_of(rows) == closed
    assert bytes(rows.kinds) == b"uttsts"
    assert [rows.fold(entry) for entry in (2, 3, 5)] == ["grouped", "gone", "folded"]
    assert rows.group_line(2) == ("2 tool calls", "Bash, Read", "101 lines", "")
    assert [rows.position_of_entry(entry) for entry in (2, 3, 4)] == [2, 2, 3]
    assert rows.after(2) == 4
    rows.reveal(talk.entries[3].first_piece)
    assert rows_of(rows)[2:6] == [(2, GROUP), (2, SUMMARY), (3, SUMMARY), (3, 0)]
    rows.set_group(3, opened=False)
    assert rows_of(rows) == closed
    rows.set_group(3, opened=True)
    assert rows.fold(3) == "clamped"
    rows.set_detail("short")
    assert rows_of(rows) == closed


def test_group_names_each_tool_once_and_ends_with_speaker() -> None:
    calls = [("tool-call", "x", tool) for tool in ("Bash", "Read", "Read", "Grep", "Read")]
    talk = conversation_of(("assistant", calls), ("user", (("text", "Stop."),)), ("assistant", calls[:1]))
    rows = Rows(talk)
    assert rows_of(rows) == [(0, GROUP), (5, 0), (6, SUMMARY)]
    assert rows.group_line(0)[:2] == ("5 tool calls", "Bash, Read ×3, Grep")


def test_later_state_keeps_opened_group() -> None:
    turns = [("assistant", [("tool-call", "x", "Bash"), ("tool-call", "y", "Bash")])]
    before = Rows(conversation_of(*turns))
    before.set_group(0, opened=True)
    after = Rows(conversation_of(*turns, ("assistant", [("tool-call", "z", "Read")])))
    after.fold_like(before)
    assert rows_of(after) == [(0, GROUP), (0, SUMMARY), (1, SUMMARY), (2, SUMMARY)]


def test_later_state_keeps_group_with_an_unfolded_call_closed() -> None:
    turns = [("assistant", [("tool-call", "x", "Bash"), ("tool-call", "y", "Bash")])]
    before = Rows(conversation_of(*turns))
    before.set_fold(1, "clamped")
    before.set_group(0, opened=False)
    after = Rows(conversation_of(*turns, ("assistant", [("tool-call", "z", "Read")])))
    after.fold_like(before)
    assert rows_of(after) == [(0, GROUP)]
    after.set_group(0, opened=True)
    assert after.fold(1) == "clamped"


def test_unfolded_call_that_becomes_a_group_stays_open() -> None:
    call = ("assistant", [("tool-call", "x", "Bash")])
    before = Rows(conversation_of(call))
    before.set_fold(0, "clamped")
    after = Rows(conversation_of(call, call))
    after.fold_like(before)
    assert (after.fold(0), after.fold(1)) == ("clamped", "folded")


def test_tool_detail_hides_or_unfolds_all_calls(talk: Conversation) -> None:
    rows = Rows(talk)
    rows.set_fold(2, "all")
    rows.set_detail("hidden")
    assert rows_of(rows) == [(0, 0), (4, 0), (6, 0)]
    assert rows.position_of_entry(2) == 1
    rows.set_detail("full")
    assert rows.fold(2) == "clamped"
    assert (3, MORE) not in rows_of(rows)


def test_reveal_unfolds_only_as_needed(talk: Conversation) -> None:
    rows = Rows(talk)
    bash = talk.entries[2].first_piece
    assert rows.rows[rows.reveal(bash + 1)] == (2, 1)
    assert rows.fold(2) == "clamped"
    assert rows.rows[rows.reveal(bash + 3)] == (2, 3)
    assert rows.fold(2) == "all"
    rows.set_detail("hidden")
    assert rows.rows[rows.reveal(talk.entries[1].first_piece)] == (1, 0)


# --- Markdown ---------------------------------------------------------------------------------------------------------


def test_message_is_copied_as_written(talk: Conversation) -> None:
    assert entry_markdown(talk, 4) == "Two [files](http://example.org/files)."
    assert entry_markdown(talk, 3) == "**Read** a.py\n\n```\na.py\n```\n\n```\nx = 1\n\n```"


def test_fence_in_output_gets_longer_outer_fence() -> None:
    talk = conversation_of(("tool", (("tool-result", "````\nx\n````", "Read"),)))
    assert "`````\n````\nx\n````\n`````" in entry_markdown(talk, 0)


@pytest.mark.parametrize(("detail", "tools", "outputs"), [("hidden", 0, 0), ("short", 1, 0), ("full", 1, 1)])
def test_session_copy_matches_tool_detail(talk: Conversation, detail, tools, outputs) -> None:
    text = conversation_markdown(talk, detail, CancelToken())
    assert text.startswith("# Fix the valve controller\n\nClaude Code · ")
    assert text.count("## You, ") == 1
    assert text.count("Bash") >= tools
    assert ("row 99" in text) == bool(outputs)
    assert ("Bash" in text) == bool(tools)


def test_message_without_time_is_on_day_of_previous_one() -> None:
    session = make_session([("user", [("text", "One")]), ("assistant", [("text", "Two")]), ("user", [("text", "3")])])
    untimed = msgspec.structs.replace(session.messages[1], time=None)
    messages = (session.messages[0], untimed, session.messages[2])
    entries = prepare(msgspec.structs.replace(session, messages=messages), CancelToken()).entries
    assert [entry.day for entry in entries] == [entries[0].day] * 3
    assert entries[0].day > 0


def test_tool_inputs_are_shown_without_json() -> None:
    edit = {"replace_all": False, "new_string": "a\nc", "file_path": "a.py", "old_string": "a\nb", "replace": "all"}
    edits = [{"oldText": "a", "newText": "b"}, {"line": 1, "oldText": "c", "newText": ""}]
    todos = {"todos": [{"content": "Sew", "done": None, "tags": []}, "x"]}
    shown = [
        (
            "Bash",
            {"command": "pytest -q", "description": "Run", "timeout": 5},
            "pytest -q\ndescription: Run\ntimeout: 5",
        ),
        ("shell", {"command": ["bash", "-lc", "ls"]}, "bash -lc ls"),
        ("Bash", {"cmd": "x", "script": "y", "args": "z"}, "x\nscript: y\nargs: z"),
        ("Bash", {"command": "x", "args": ["y", 3]}, "x y\nargs:\n  - y\n  - 3"),
        ("Edit", edit, "a.py\nreplace_all: false\nreplace: all\n a\n-b\n+c"),
        ("edit", {"path": "a.py", "edits": edits}, "a.py\nedits:\n-a\n+b\n    line: 1\n-c"),
        ("Write", {"path": "a.py", "content": "def f():\n\treturn 1\n"}, "a.py\ncontent:\ndef f():\n\treturn 1"),
        ("TodoWrite", todos, "todos:\n  - content: Sew\n    done:\n    tags: []\n  - x"),
        ("Grep", {"pattern": "a|b", "path": "src"}, "pattern: a|b\npath: src"),
        ("apply_patch", {"input": _PATCH}, f"input:\n{_PATCH}"),
    ]
    calls = [(tool, json.dumps(given), text) for tool, given, text in shown]
    program = f"const p = {json.dumps(_PATCH)}; await tools.apply_patch(p); tools.exec_command({{cmd: 'ls'}})"
    lines = program.replace(json.dumps(_PATCH), f'"\n{_PATCH}\n"')
    calls += [("exec", program, lines), ("Bash", '{"half": ', '{"half": '), ("Bash", "\x1b[31mls\x1b[0m", "ls")]
    talk = conversation_of(("assistant", tuple(("tool-call", given, tool) for tool, given, _ in calls)))
    assert [talk.text(number) for number in range(len(calls))] == [text for _, _, text in calls]
    assert [number for number in range(len(talk.pieces)) if talk.is_diff(number)] == [4, 5, 9, 10]
    assert talk.source(5).startswith("a.py\nedits:")
    assert "old_string" not in entry_markdown(talk, 4)


def test_code_blocks_in_a_row_stay_apart() -> None:
    talk = conversation_of(("assistant", (("text", "```py\na\n```\n\n```\n\n```\nb\n```sh\nc\n```\n"),)))
    lines = talk.markdown(0).split("\n")
    opening = [number for number, line in enumerate(lines) if line == SEPARATOR]
    assert [lines[number - 2 : number + 3] for number in opening] == [["", "", SEPARATOR, "", "```"]]


def test_failed_calls_are_marked_alone_and_in_their_group() -> None:
    talk = conversation_of(("assistant", (("tool-call", "a.py", "Edit"), ("tool-result", "No match", "Edit"))))
    call, result = talk.session.messages
    messages = call, msgspec.structs.replace(result, failed=True), call
    talk = prepare(msgspec.structs.replace(talk.session, messages=messages), CancelToken())
    assert [summary(talk, entry).failed for entry in talk.entries] == ["Failed", ""]
    assert Rows(talk).group_line(0).failed == "1 failed"
    assert "Failed" in spoken(talk, 0, folded=True)
    assert "Failed" in entry_markdown(talk, 0)
    assert conversation_markdown(talk, "short", CancelToken()).count(" · Failed*") == 1


def test_result_joins_the_call_with_its_number() -> None:
    talk = conversation_of(("assistant", (("tool-call", "a.py", "Edit"), ("tool-result", "No match", "Edit"))))
    first, result = talk.session.messages
    said = msgspec.structs.replace(first, kind="text", tool="")
    numbers = (first, 1), (first, 2), (said, 0), (result, 2)
    numbered = tuple(msgspec.structs.replace(message, call=call) for message, call in numbers)
    talk = prepare(msgspec.structs.replace(talk.session, messages=numbered), CancelToken())
    assert [entry.parts for entry in talk.entries] == [(0,), (1, 3), (2,)]
