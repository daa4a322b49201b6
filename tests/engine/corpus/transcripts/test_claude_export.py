"""Claude.ai's export: messages as text and as blocks, and the last visible branch."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given as generated
from hypothesis import settings
from hypothesis import strategies as st

from engine.corpus.transcripts.parsers.claude_export import ClaudeExport
from tests.helpers.exports import head, in_order, packed, read, read_first, written
from tests.helpers.transcripts import mangled

_FIXTURE = Path(__file__).parent / "fixtures" / "claude_export" / "conversations.json"
_FORMAT = ClaudeExport()


def test_fixture_is_read() -> None:
    first, second = read(_FORMAT, _FIXTURE)
    assert in_order(first) == [
        ("user", "text", "Why do they split?\n[file: photo.jpg]\n\nPasted notes.\n\n[file: plan.md]\n# Beds", ""),
        ("assistant", "thinking", "Water, most likely.", ""),
        ("assistant", "tool-call", "tomato splitting", "web_search"),
        ("tool", "tool-result", "After heavy rain.\n[image]", "web_search"),
        ("assistant", "text", "Basil.\n\nToo much water at once.", ""),
        ("user", "text", "Thanks.", ""),
    ]
    assert [message.ordinal for message in first.messages] == [1, 2, 2, 2, 2, 3]
    assert [message.id for message in first.messages] == ["m1"] + ["m2"] * 4 + ["m4"]
    assert (first.key, first.metadata.name, first.unknown) == ("c-1", "Tomatoes", {"aroma": 1})
    assert first.messages[0].time == first.metadata.started == 1774767995

    assert in_order(second) == [("user", "text", "Hello. Are you there?", ""), ("assistant", "text", "Yes.", "")]
    assert (second.metadata.title, second.metadata.opening) == ("", "Hello. Are you there?")


def test_branch_ends_at_current_leaf(tmp_path: Path) -> None:
    value = json.loads(_FIXTURE.read_text("utf-8"))
    value[0]["current_leaf_message_uuid"] = "m3"
    assert read(_FORMAT, written(tmp_path, value))[0].messages[-1].text == "Edited away."


def test_edited_messages_are_in_an_abandoned_branch() -> None:
    first, second = read(_FORMAT, _FIXTURE)
    assert [message.text for message in first.abandoned] == ["Edited away."]
    assert (first.metadata.rewound, second.metadata.rewound) == ([(4, 4)], [])


def test_text_and_its_artifact_are_one_message(tmp_path: Path) -> None:
    value = json.loads(_FIXTURE.read_text("utf-8"))[1]
    sown = {"type": "tool_use", "name": "artifacts", "input": {"type": "text/markdown", "content": "# Beds"}}
    result = {"type": "tool_result", "name": "artifacts", "content": "OK"}
    texts = [{"type": "text", "text": text} for text in ("A plan:", "Sow it in May.")]
    value["chat_messages"][1]["content"] = [texts[0], sown, result, texts[1]]
    (found,) = read(_FORMAT, written(tmp_path, [value]))
    spoken = [text for _, kind, text, _ in in_order(found)[1:] if kind == "text"]
    assert spoken == ["A plan:\n\n# Beds", "Sow it in May."]


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"command": "create", "type": "text/markdown", "title": "Beds", "content": "# Beds"}, "**Beds**\n\n# Beds"),
        ({"command": "update", "id": "a", "old_str": "x", "new_str": "y"}, "y"),
        (
            {"type": "application/vnd.ant.code", "language": "python", "title": "sow.py", "content": "sow()"},
            "**sow.py**\n\n```python\nsow()\n```",
        ),
        ({"type": "text/html", "content": "<pre>```</pre>"}, "````html\n<pre>```</pre>\n````"),
    ],
)
def test_artifact_is_speech(tmp_path: Path, given: dict[str, str], text: str) -> None:
    value = json.loads(_FIXTURE.read_text("utf-8"))[1]
    held = [{"type": "tool_use", "name": "artifacts", "input": given}]
    value["chat_messages"][1]["content"] = [*held, {"type": "tool_result", "name": "artifacts", "content": "OK"}]
    (found,) = read(_FORMAT, written(tmp_path, [value]))
    assert in_order(found)[1:] == [("assistant", "text", text, ""), ("tool", "tool-result", "OK", "artifacts")]


@pytest.mark.parametrize("given", [{}, {"command": "create", "title": "Beds"}, {"content": 3}])
def test_artifact_without_text_stays_a_call(tmp_path: Path, given: dict[str, Any]) -> None:
    value = json.loads(_FIXTURE.read_text("utf-8"))[1]
    value["chat_messages"][1]["content"] = [{"type": "tool_use", "name": "artifacts", "input": {**given, "id": "a"}}]
    (found,) = read(_FORMAT, written(tmp_path, [value]))
    assert [kind for _, kind, _, _ in in_order(found)[1:]] == ["tool-call"]


def test_messages_without_names_are_all_given(tmp_path: Path) -> None:
    value = json.loads(_FIXTURE.read_text("utf-8"))
    for message in value[0]["chat_messages"]:
        del message["uuid"]
    assert len(read(_FORMAT, written(tmp_path, value))[0].messages) == 7


def test_format_is_recognised_by_content_packed_or_not(tmp_path: Path) -> None:
    assert _FORMAT.matches(str(_FIXTURE), head(_FIXTURE))
    path = packed(tmp_path, {"users.json": b"[]", "conversations.json": _FIXTURE.read_bytes()})
    assert _FORMAT.matches(str(path), head(path))
    assert read(_FORMAT, path) == read(_FORMAT, _FIXTURE)
    assert not _FORMAT.matches("x", b'[{"uuid": "p-1", "name": "A project"}]')


@settings(max_examples=100)
@generated(data=st.data())
def test_any_json_at_any_position_is_read(tmp_path_factory: Any, data: st.DataObject) -> None:
    value = data.draw(mangled(json.loads(_FIXTURE.read_text("utf-8"))))
    path = written(tmp_path_factory.mktemp("export"), [value, 1, None, [], value])
    found, error = read_first(_FORMAT, path)
    for conversation in found:
        for message in conversation.messages:
            message.text.encode()
    if "NaN" not in path.read_text() and "Infinity" not in path.read_text():
        assert error is None
        assert len(found) == 2
