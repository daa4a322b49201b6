"""A short hit in a session comes with the question before it, or the answer after it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine.backends.builtin import BuiltinMemory
from engine.records import MemorySearchResult
from engine.settings import Settings
from engine.settings.options import ChunkingSettings, SessionSettings, StoreSettings

Find = Callable[[str], MemorySearchResult]
LONG = "The seam is weak because the thread was cut by salt and sun over many summers. " * 4


@pytest.fixture
def talk(tmp_path: Path) -> Any:
    """Index a session with these (role, text) messages; the returned function is the best result of a query."""
    opened: list[BuiltinMemory] = []

    def write(*messages: tuple[str, Any], tokens: int = 400) -> Find:
        store, notes = tmp_path / "store", tmp_path / "notes"
        store.mkdir()
        notes.mkdir()
        (notes / "sail.md").write_text("# Sail\n\nKevlar.\n")
        lines = (
            {"type": role, "uuid": f"u{n}", "sessionId": "s", "message": {"id": f"m{n}", "role": role, "content": text}}
            for n, (role, text) in enumerate(messages)
        )
        (store / "a.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        settings = Settings(
            provider="none",
            sessions=SessionSettings(folders=(str(store),)),
            store=StoreSettings(path=str(tmp_path / "data")),
            chunking=ChunkingSettings(tokens=tokens),
        )
        memory = BuiltinMemory(notes, settings, executor=None, background=False)
        opened.append(memory)
        memory.sync()
        return lambda query: memory.search(query, min_score=0).results[0]

    yield write
    for memory in opened:
        memory.close()


@pytest.mark.parametrize("between", [(), (("assistant", LONG[:200]),)])
def test_tool_call_has_the_long_question_before_it(talk: Callable[..., Find], between: tuple[Any, ...]) -> None:
    """In the passage before the call, or in one before that."""
    call = {"type": "tool_use", "id": "t1", "name": "Edit", "input": {"file_path": "src/sail.py", "new_string": "x"}}
    context = talk(("user", LONG[:200]), *between, ("assistant", [call]), tokens=64)("file:sail.py").context
    assert context is not None
    assert (context.role, context.line) == ("user", 1)
    assert context.text.startswith(LONG[:40])


def test_short_answer_has_the_question_before_it(talk: Callable[..., Find]) -> None:
    context = talk(("user", "Which thread holds in salt water?"), ("assistant", "Dyneema."))("dyneema").context
    assert context is not None
    assert (context.role, context.text, context.line, context.ordinal) == (
        "user",
        "Which thread holds in salt water?",
        1,
        1,
    )


def test_short_question_has_the_answer_after_it(talk: Callable[..., Find]) -> None:
    context = talk(("user", "Which thread?"), ("assistant", LONG))("thread?").context
    assert context is not None
    assert (context.role, context.ordinal) == ("assistant", 2)
    assert context.text.startswith("The seam is weak")
    assert context.text.endswith("…")
    assert len(context.text) <= 160


def test_question_in_the_chunk_before_is_found(talk: Callable[..., Find]) -> None:
    find = talk(("user", LONG), ("assistant", "Mizzen."), ("assistant", LONG), tokens=64)
    context = find("mizzen").context
    assert context is not None
    assert context.text.startswith("…")  # of a long question, the nearest part
    assert "the thread was cut" in context.text


def test_answer_in_the_chunk_after_is_found(talk: Callable[..., Find]) -> None:
    question = "Does the mizzen tear at its upper seam, near the leech, whenever the wind is on the beam?"
    result = talk(("user", question), ("assistant", LONG), tokens=64)("mizzen")
    assert result.snippet == f"User: {question}"
    assert result.context is not None
    assert (result.context.role, result.context.ordinal) == ("assistant", 2)


def test_long_message_says_enough(talk: Callable[..., Find]) -> None:
    find = talk(("user", "Why?"), ("assistant", f"{LONG} Kevlar spinnaker."))
    assert find("spinnaker").context is None


def test_note_and_first_answer_have_no_context(talk: Callable[..., Find]) -> None:
    find = talk(("assistant", "Jib first."))
    assert find("jib").context is None
    assert find("kevlar").context is None
