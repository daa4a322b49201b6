"""Speech of sessions in the index: who said it, and what counts as said."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.agent.session_export import readable_session
from engine.backends.builtin import BuiltinMemory
from engine.search import result_builder
from engine.settings.options import SessionSettings

SESSION = "0c1d2e3f-0000-4000-8000-000000000001"
PLANTED = "ghp_" + "aB3x" * 9
"""A secret."""


def line(role: str, content: object, **more: object) -> str:
    return json.dumps({"type": role, "message": {"role": role, "content": content}, "sessionId": SESSION, **more})


@pytest.fixture
def projects(tmp_path: Path) -> Path:
    folder = tmp_path / ".claude" / "projects"
    (folder / "boat").mkdir(parents=True)
    return folder


@pytest.fixture
def memory(open_memory: Callable[..., BuiltinMemory], projects: Path) -> BuiltinMemory:
    return open_memory(sessions=SessionSettings(folders=(str(projects),)))


def stored(projects: Path, *lines: str) -> None:
    (projects / "boat" / f"{SESSION}.jsonl").write_text("\n".join(lines) + "\n")


def found(memory: BuiltinMemory, query: str) -> list[str]:
    return [result.snippet for result in memory.search(query, sources=("sessions",), min_score=0).results]


def test_request_to_a_sub_agent_has_the_agents_role(memory: BuiltinMemory, projects: Path) -> None:
    stored(
        projects,
        line("user", "Rig the mast."),
        line("user", "Count the shackles.", isSidechain=True),
        line("assistant", [{"type": "text", "text": "Nine."}], isSidechain=True),
    )
    memory.sync()
    (result,) = memory.search("shackles", sources=("sessions",), min_score=0).results
    assert "Assistant: Count the shackles." in result.snippet
    (session,) = memory.sessions()
    messages = memory.read_session(session.path).messages
    assert [(message.role, message.text) for message in messages] == [
        ("user", "Rig the mast."),
        ("assistant", "Count the shackles."),
        ("assistant", "Nine."),
    ]
    assert "Assistant: Count the shackles." in memory.read_file(session.path).text


def test_lone_sub_agent_request_has_the_agents_role(memory: BuiltinMemory, projects: Path) -> None:
    stored(projects, line("user", "Count the shackles.", isSidechain=True, agentId="a1"))
    memory.sync()
    assert found(memory, "shackles role:user") == []
    assert len(found(memory, "shackles role:assistant")) == 1


def test_unknown_items_are_the_same_everywhere(memory: BuiltinMemory, projects: Path) -> None:
    unknown = [json.dumps({"type": "hologram", "sessionId": SESSION})] * 2
    stored(projects, line("user", "Rig the mast."), *unknown, line("assistant", [{"type": "aroma"}]))
    memory.sync()
    (session,) = memory.sessions()
    read = memory.read_session(session.path)
    assert read.unknown == (("block aroma", 1), ("hologram", 2))
    assert session.unknown == read.summary.unknown == 3
    assert "3 items of unknown type: block aroma (1), hologram (2)." in readable_session(read, full=False)
    with (projects / "boat" / f"{SESSION}.jsonl").open("a") as file:
        file.write(unknown[0] + "\n")
    memory.sync()
    assert memory.sessions()[0].unknown == 4


def test_abandoned_branch_is_marked_in_results_and_messages(memory: BuiltinMemory, projects: Path) -> None:
    lines = [
        line("user", "Rig the mast.", uuid="p1"),
        line("assistant", [{"type": "text", "text": "How?"}], uuid="a1", parentUuid="p1"),
        line("user", "With hempen rope.", uuid="p2", parentUuid="a1"),
    ]
    stored(projects, *lines)
    memory.sync()
    (result,) = memory.search("hempen", sources=("sessions",), min_score=0).results
    assert result.message is not None
    assert not result.message.rewound
    stored(projects, *lines, line("user", "With steel wire.", uuid="p3", parentUuid="a1"))
    memory.sync()
    marks = {}
    for word in ("hempen", "steel"):
        (result,) = memory.search(word, sources=("sessions",), min_score=0).results
        assert result.message is not None
        marks[word] = result.message.rewound
    assert marks == {"hempen": True, "steel": False}
    read = memory.read_session(memory.sessions()[0].path)
    assert [message.rewound for message in read.messages] == [False, False, True, False]


def test_session_read_again_keeps_messages_and_marks_branch(memory: BuiltinMemory, projects: Path) -> None:
    lines = [
        line("user", "Rig the mast.", uuid="p1"),
        line("assistant", [{"type": "text", "text": "How? " + PLANTED}], uuid="a1", parentUuid="p1"),
        line("user", "With hempen rope.", uuid="p2", parentUuid="a1"),
    ]
    stored(projects, *lines)
    memory.sync()
    path = memory.sessions()[0].path
    before = memory.read_session(path)
    assert before.masked == 1
    lines.append(line("user", f"With steel wire. {PLANTED}", uuid="p3", parentUuid="a1"))
    with (projects / "boat" / f"{SESSION}.jsonl").open("a") as file:
        file.write(lines[-1] + "\n")
    after = memory.read_session(path)
    assert [new is old for new, old in zip(after.messages, before.messages, strict=False)] == [True, True, False]
    assert [message.rewound for message in after.messages] == [False, False, True, False]
    assert after.masked == 2
    assert memory.read_session(path) is after
    assert PLANTED in memory.read_session(path, reveal=True).messages[-1].text
    stored(projects, *lines[:1])
    assert [message.text for message in memory.read_session(path).messages] == ["Rig the mast."]
    stored(projects, *lines)
    assert memory.read_session(path) == after


def test_abandoned_branch_of_an_export_is_found_and_marked(memory: BuiltinMemory, projects: Path) -> None:
    def message(name: str, parent: str, text: str) -> dict[str, object]:
        return {"uuid": name, "parent_message_uuid": parent, "sender": "human", "text": text}

    branches = [message("m2", "m1", "With hempen rope."), message("m3", "m1", "With wire.")]
    messages = [message("m1", "", "Rig it."), *branches]
    value = {"uuid": "c", "name": "Rig", "current_leaf_message_uuid": "m3", "chat_messages": messages}
    (projects / "conversations.json").write_text(json.dumps([value]))
    memory.sync()
    (result,) = memory.search("hempen", sources=("sessions",), min_score=0).results
    assert result.message is not None
    assert result.message.rewound
    read = memory.read_session(memory.sessions()[0].path)
    assert [(message.text, message.rewound) for message in read.messages] == [
        ("Rig it.", False),
        ("With wire.", False),
        ("With hempen rope.", True),
    ]
    assert read.summary.messages == 2


def test_sessions_without_times_are_sorted_by_file_time(memory: BuiltinMemory, projects: Path) -> None:
    for name, changed in (("one", 1.77e9), ("two", 1.79e9), ("three", 1.78e9)):
        path = projects / "boat" / f"{name}.jsonl"
        path.write_text(json.dumps({"type": "user", "message": {"role": "user", "content": name}}) + "\n")
        os.utime(path, (changed, changed))
    memory.sync()
    assert [(session.title, session.modified) for session in memory.sessions()] == [
        ("two", 1.79e9),
        ("three", 1.78e9),
        ("one", 1.77e9),
    ]


def test_plans_and_answers_are_found_without_tools(memory: BuiltinMemory, projects: Path) -> None:
    questions = [{"question": "Which timber?", "options": [{"label": "Larch"}]}]
    stored(
        projects,
        line("user", "Build a dinghy."),
        line(
            "assistant",
            [{"type": "tool_use", "id": "t1", "name": "AskUserQuestion", "input": {"questions": questions}}],
        ),
        line(
            "user",
            [{"type": "tool_result", "tool_use_id": "t1", "content": ""}],
            toolUseResult={"answers": {"Which timber?": "Larch from Tyrol"}},
        ),
        line("assistant", [{"type": "tool_use", "id": "t2", "name": "ExitPlanMode", "input": {"plan": "Steam ribs."}}]),
    )
    memory.sync()
    assert len(found(memory, "tyrol role:user")) == 1
    assert len(found(memory, "steam ribs")) == 1
    assert memory.sessions()[0].messages == 4


def test_copy_of_a_passage_names_its_own_message(memory: BuiltinMemory, projects: Path) -> None:
    """A session that was continued under another id begins with the messages of the first one."""
    text = "Count the shackles on the foredeck, and write down how many of them are worn out by now."
    stored(projects, line("user", "Rig the mast."), line("user", text, uuid="m-1"))
    other = projects / "boat" / "0c1d2e3f-0000-4000-8000-000000000002.jsonl"
    renamed = SESSION.replace("0001", "0002")
    empty = json.dumps({"type": "summary", "summary": "Boat", "leafUuid": "x"})
    transcript = [line("user", "Rig the mast."), line("user", text, uuid="m-2")]
    other.write_text("\n".join([empty, empty, *transcript]).replace(SESSION, renamed) + "\n")
    memory.sync()
    (result,) = memory.search("shackles", sources=("sessions",), min_score=0).results
    (copy,) = result.copies
    there = result.in_copy(copy)
    ids, lines = {"m-1": 2, "m-2": 4}, [(one.message.id, one.snippet_line) for one in (result, there)]
    assert sorted(lines) == sorted(ids.items())
    assert there.path != result.path
    assert there.citation == copy.citation


def test_speaker_is_from_the_densest_matches(memory: BuiltinMemory, projects: Path) -> None:
    stored(
        projects,
        line("user", "The mast is loose. " + "Please look at the deck, the hull and the keel, one by one. " * 3),
        line("assistant", "Tighten both shackles: the mast is loose since the rope is worn."),
    )
    memory.sync()
    (result,) = memory.search("mast shackles rope", sources=("sessions",), min_score=0).results
    assert result.message is not None
    assert (result.message.role, result.snippet_line) == ("assistant", 2)
    (result,) = memory.search("mast shackles rope role:user", sources=("sessions",), min_score=0).results
    assert result.message is not None
    assert (result.message.role, result.snippet_line) == ("user", 1)
    assert [result.snippet[start:end] for start, end in result.match_ranges] == ["mast"]


def test_speaker_without_a_match_is_shown_first(memory: BuiltinMemory, projects: Path) -> None:
    stored(projects, line("assistant", "Tighten the shackles."), line("user", "Thank you."))
    memory.sync()
    (result,) = memory.search("role:user", sources=("sessions",), min_score=0).results
    assert result.message is not None
    assert (result.message.role, result.snippet, result.snippet_line) == ("user", "User: Thank you.", 2)


def test_only_first_texts_of_sessions_are_made(
    memory: BuiltinMemory, projects: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Short answers are shown with their questions, and copies with their own lines, when their rows are read."""
    for number in range(16):
        session = SESSION.replace("0001", f"{number:04}")
        lines = [
            line("user", f"Where is rope {number}, and what is fastened to it?"),
            line("assistant", f"The shackles of rope {number} hang aft."),
        ]
        text = "\n".join(lines).replace(SESSION, session)
        (projects / "boat" / f"{session}.jsonl").write_text(f"{text}\n")
        copy = projects / "boat" / f"{session[:-4]}f{number:03}.jsonl"
        copy.write_text(f"\n{text}\n".replace(session, copy.stem))
    memory.sync()
    made: list[str] = []
    make_snippet = result_builder.make_snippet
    monkeypatch.setattr(
        result_builder, "make_snippet", lambda text, *values: made.append(text) or make_snippet(text, *values)
    )
    results = memory.search("shackles aft", sources=("sessions",), min_score=0, max_results=50).results
    assert (len(results), len(made)) == (16, 12)
    contexts = [result.context for result in results]
    assert all(context is not None and context.text.startswith("Where is rope") for context in contexts)
    lines_of_copies = {result.in_copy(copy).snippet_line for result in results for copy in result.copies}
    assert (len(made), lines_of_copies) == (16, {3})
