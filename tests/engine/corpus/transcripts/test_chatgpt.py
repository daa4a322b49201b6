"""ChatGPT's export: the visible branch of every conversation."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.corpus.transcripts.parsers.chatgpt import ChatGptExport
from engine.corpus.transcripts.registry import may_be_transcript
from tests.helpers.exports import head, in_order, packed, read, read_first, written
from tests.helpers.transcripts import mangled

_FIXTURE = Path(__file__).parent / "fixtures" / "chatgpt" / "conversations.json"
_FORMAT = ChatGptExport()


_ASKED = "[image: loaf.png]\nWhy is it flat?\nIt rose before.\nI mean the loaf.\n[audio]\n[file: recipe.pdf]"


def test_fixture_is_read() -> None:
    first, second = read(_FORMAT, _FIXTURE)
    assert in_order(first) == [
        ("system", "text", "I bake.\nBe brief.", ""),
        ("user", "text", _ASKED, ""),
        ("assistant", "thinking", "Looking at the crumb\nIt is dense.", ""),
        ("assistant", "tool-call", "print(350 * 0.75)", "python"),
        ("tool", "tool-result", "262.5", "python"),
        ("tool", "tool-result", "On proofing\nhttps://example.com/a\nCold dough rises slowly.", "browser"),
        ("assistant", "thinking", "Thought for 4 seconds", ""),
        ("assistant", "text", "It proofed too long.", ""),
        ("assistant", "text", "Something new.", ""),
    ]
    assert [message.ordinal for message in first.messages] == list(range(1, 10))
    assert [message.line for message in first.messages] == list(range(1, 10))
    assert [message.id for message in first.messages] == ["m2", *(f"m{number}" for number in range(3, 11))]
    assert first.messages[0].time is None
    assert first.messages[1].time == 1735689602
    assert (first.key, first.metadata.id, first.metadata.title) == ("c-1", "c-1", "Sourdough at night")
    assert (first.metadata.started, first.metadata.ended) == (1735689602, 1735689609)
    assert first.unknown == {"hologram": 1}

    assert (second.key, second.metadata.title, second.messages) == ("c-2", "", ())
    assert (second.metadata.started, second.metadata.ended) == (1735700000, 1735700001)


def test_without_a_current_node_the_newest_leaf_ends_the_branch(tmp_path: Path) -> None:
    value = json.loads(_FIXTURE.read_text("utf-8"))
    value[0]["current_node"] = "gone"
    assert len(read(_FORMAT, written(tmp_path, value))[0].messages) == 9


def test_object_without_messages_is_no_conversation(tmp_path: Path) -> None:
    value = [*json.loads(_FIXTURE.read_text("utf-8")), {"title": "A list of conversations", "ids": ["c-1"]}]
    assert [one.key for one in read(_FORMAT, written(tmp_path, value))] == ["c-1", "c-2"]


def test_a_tree_that_runs_in_a_circle_ends(tmp_path: Path) -> None:
    value = json.loads(_FIXTURE.read_text("utf-8"))
    value[0]["mapping"]["client-created-root"]["parent"] = "n10"
    assert len(read(_FORMAT, written(tmp_path, value))[0].messages) == 9


def test_format_is_recognised_by_content(tmp_path: Path) -> None:
    assert _FORMAT.matches(str(_FIXTURE), head(_FIXTURE))
    claude = _FIXTURE.parent.parent / "claude_export" / "conversations.json"
    assert not _FORMAT.matches(str(claude), head(claude))
    assert not _FORMAT.matches("x", b'{"mapping": 1}')
    assert not _FORMAT.matches("x", b"")


def test_a_split_export_in_a_zip_file_is_read_in_order(tmp_path: Path) -> None:
    value = json.loads(_FIXTURE.read_text("utf-8"))
    path = packed(
        tmp_path,
        {
            "export/user.json": b"{}",
            "export/conversations-001.json": json.dumps(value[1:]).encode(),
            "export/conversations-000.json": b"\xef\xbb\xbf" + json.dumps(value[:1]).encode(),
            "export/more/conversations.json": json.dumps(value).encode(),
        },
    )
    assert _FORMAT.matches(str(path), head(path))
    assert [conversation.key for conversation in read(_FORMAT, path)] == ["c-1", "c-2"]


def test_abandoned_branches_follow_the_visible_one(tmp_path: Path) -> None:
    def node(name: str, parent: str | None, role: str, text: str) -> dict[str, Any]:
        message = {"id": name, "author": {"role": role}, "content": {"content_type": "text", "parts": [text]}}
        return {"id": name, "parent": parent, "message": {**message, "create_time": 1.7e9 + len(name)}}

    nodes = [
        {"id": "root", "parent": None, "message": None},
        node("a", "root", "user", "Rig the mast."),
        node("b1", "a", "assistant", "With rope."),
        node("b2", "a", "assistant", "With wire."),
        node("c1", "b1", "user", "Which rope?"),
        node("c2", "b2", "user", "Which wire?"),
        node("d1", "c1", "assistant", "Hemp."),
        node("d2", "c1", "assistant", "Nylon."),
    ]
    value = {"conversation_id": "c", "current_node": "c2", "mapping": {str(one["id"]): one for one in nodes}}
    (found,) = read(_FORMAT, written(tmp_path, [value]))
    assert [message.text for message in found.messages] == ["Rig the mast.", "With wire.", "Which wire?"]
    assert [message.text for message in found.abandoned] == ["With rope.", "Which rope?", "Hemp.", "Nylon."]
    assert [message.line for message in found.everything] == list(range(1, 8))
    assert (found.metadata.rewound, found.metadata.opening) == ([(4, 7)], "Rig the mast.")


def test_zip_with_one_file_per_conversation_is_read(tmp_path: Path) -> None:
    values = json.loads(_FIXTURE.read_text("utf-8"))
    single = {f"conversations/{number}.json": json.dumps(value).encode() for number, value in enumerate(values)}
    path = packed(tmp_path, {"conversations/about.json": b'{"made": "today"}', "user.json": b"{}", **single})
    assert _FORMAT.matches(str(path), head(path))
    assert read(_FORMAT, path) == read(_FORMAT, _FIXTURE)
    mirrored = packed(tmp_path, {"conversations.json": _FIXTURE.read_bytes(), **single})
    assert read(_FORMAT, mirrored) == read(_FORMAT, _FIXTURE)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("export/conversations/6a1b.json", True),
        ("com.openai.chat/conversations-0c1d2e3f/6a1b.json", True),
        ("my-chatgpt-export/0c1d2e3f-0000-4000-8000-000000000001.json", True),
        ("saved/ChatGPT-Masts.json", True),
        ("my-chatgpt-export/user.json", False),
        ("saved/0c1d2e3f-0000-4000-8000-000000000001.json", False),
        ("export/conversations/6a1b.txt", False),
    ],
)
def test_file_of_one_conversation_known_by_its_name(name: str, expected: bool) -> None:
    assert may_be_transcript(name) is expected


@settings(max_examples=100)
@given(data=st.data())
def test_any_json_at_any_position_is_read(tmp_path_factory: Any, data: st.DataObject) -> None:
    value = data.draw(mangled(json.loads(_FIXTURE.read_text("utf-8"))))
    path = written(tmp_path_factory.mktemp("export"), [value, 1, None, [], value])
    found, error = read_first(_FORMAT, path)
    for conversation in found:
        assert [message.ordinal for message in conversation.messages] == list(range(1, len(conversation.messages) + 1))
        for message in conversation.messages:
            message.text.encode()
    if "NaN" not in path.read_text() and "Infinity" not in path.read_text():
        assert error is None
        assert len(found) == 2


@given(cut=st.integers(0, 4000))
def test_truncated_export_yields_complete_part(tmp_path_factory: Any, cut: int) -> None:
    text = _FIXTURE.read_bytes()
    path = tmp_path_factory.mktemp("export") / "conversations.json"
    path.write_bytes(text.rstrip()[:-1] + b"," + text[1:][:cut])
    found, error = read_first(_FORMAT, path)
    assert len(found) >= 2
    assert error is not None
