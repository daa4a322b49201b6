"""Exports of DeepSeek, Gemini, Grok's website and Open WebUI, and the chats of LM Studio."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine import find_sources
from engine.corpus.transcripts.formats import DocumentFormat
from engine.corpus.transcripts.parsers.deepseek_export import DeepSeekExport
from engine.corpus.transcripts.parsers.gemini_takeout import GeminiTakeout
from engine.corpus.transcripts.parsers.grok_export import GrokExport
from engine.corpus.transcripts.parsers.lm_studio import LmStudioChat
from engine.corpus.transcripts.parsers.open_webui import OpenWebUiExport
from engine.corpus.transcripts.token_usage import Usage
from tests.helpers.exports import head, in_order, packed, read, read_first, written
from tests.helpers.transcripts import mangled

FIXTURES = Path(__file__).parent / "fixtures"
DEEPSEEK = FIXTURES / "deepseek" / "conversations.json"
GROK = FIXTURES / "grok_web" / "prod-grok-backend.json"
GEMINI = FIXTURES / "gemini_web" / "MyActivity.json"
WEBUI = FIXTURES / "open_webui" / "chat-export-1777885200000.json"
STUDIO = FIXTURES / "lm_studio" / "1777885200000.conversation.json"
EVERY: list[tuple[DocumentFormat, Path]] = [
    (DeepSeekExport(), DEEPSEEK),
    (GrokExport(), GROK),
    (GeminiTakeout(), GEMINI),
    (OpenWebUiExport(), WEBUI),
    (LmStudioChat(), STUDIO),
]
START = 1777885200


def test_deepseek_reads_the_last_branch() -> None:
    (found,) = read(DeepSeekExport(), DEEPSEEK)
    assert in_order(found) == [
        ("user", "text", "Why do they split?\n[file: bed.pdf]", ""),
        ("assistant", "thinking", "Rain.", ""),
        ("assistant", "text", "Too much water at once.", ""),
        ("user", "text", "Thanks.", ""),
        ("tool", "tool-result", '[\n  {\n    "url": "https://example.org",\n    "title": "Rain"\n  }\n]', "search"),
        ("assistant", "text", "You're welcome.", ""),
    ]
    assert [message.text for message in found.abandoned] == ["Water, most likely.", "Too little water."]
    assert (found.key, found.metadata.title, found.unknown) == ("d-1", "Tomatoes", {"AROMA": 1})
    assert (found.metadata.started, found.metadata.ended, found.messages[0].id) == (START + 1, START + 5, "1")


def test_deepseek_counts_old_messages_as_unknown(tmp_path: Path) -> None:
    value = json.loads(DEEPSEEK.read_text("utf-8"))
    value[0]["mapping"] = {"1": {"id": "1", "parent": "root", "message": {"content": "Why?", "inserted_at": "2025"}}}
    (found,) = read(DeepSeekExport(), written(tmp_path, value))
    assert (found.messages, found.unknown) == ((), {"message without fragments": 1})


def test_grok_reads_every_conversation() -> None:
    first, second = read(GrokExport(), GROK)
    assert in_order(first) == [
        ("user", "text", "Why do they split?", ""),
        ("assistant", "thinking", "Rain.", ""),
        ("assistant", "text", "Too much water at once.", ""),
        ("user", "text", "Draw it.", ""),
        ("assistant", "text", "[image]", ""),
        ("system", "text", "Night.", ""),
    ]
    assert [message.text for message in first.abandoned] == ["Too little water."]
    assert (first.key, first.metadata.title, first.unknown) == ("g-1", "Tomatoes", {"sender narrator": 1})
    assert (first.metadata.started, first.metadata.ended) == (START + 1, START + 6)
    assert in_order(second) == [("user", "text", "Hello. Are you there?", ""), ("assistant", "text", "Yes.", "")]
    assert (second.metadata.opening, second.metadata.started) == ("Hello. Are you there?", START + 3600)


@pytest.mark.parametrize(
    ("above", "current", "left"),
    [
        (("", "a", "b", "c"), "abcd", ""),
        (("b", "c", "d", ""), "dcba", ""),
        (("", "gone", "b", "b"), "bd", "ac"),
        (("b", "a", "gone", "c"), "cd", "ab"),
        (("a", "c", "b", ""), "bcd", "a"),
        (("b", "c", "a", "a"), "cbad", ""),
    ],
)
def test_grok_keeps_every_message(tmp_path: Path, above: tuple[str, ...], current: str, left: str) -> None:
    responses = [
        {"response": {"_id": id, "sender": "human", "message": id, "parent_response_id": parent}}
        for id, parent in zip("abcd", above, strict=True)
    ]
    (found,) = read(GrokExport(), written(tmp_path, {"conversations": [{"conversation": {}, "responses": responses}]}))
    assert ("".join(one.text for one in found.messages), "".join(one.text for one in found.abandoned)) == (
        current,
        left,
    )


def test_grok_export_is_read_from_its_archive(tmp_path: Path) -> None:
    path = packed(tmp_path, {"ttl/30d/export_data/u/prod-grok-backend.json": GROK.read_bytes(), "x/a.json": b"{}"})
    assert GrokExport().matches(str(path), head(path))
    assert [found.key for found in read(GrokExport(), path)] == ["g-1", "g-2"]


def test_truncated_grok_export_yields_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "prod-grok-backend.json"
    path.write_bytes(GROK.read_bytes()[:-150])
    found, error = read_first(GrokExport(), path)
    assert ([one.key for one in found], error is not None) == (["g-1"], True)


def test_gemini_prompts_close_in_time_are_one_conversation(tmp_path: Path) -> None:
    newer, older = read(GeminiTakeout(), GEMINI)
    assert in_order(older) == [
        ("user", "text", "Why do tomatoes split?", ""),
        ("assistant", "text", "Too much water at once.\n\nif rain:\n    wait()", ""),
        ("user", "text", "Eingegebener Prompt: Und Gurken?", ""),
        ("assistant", "text", "### Gurken\n\n- Viel Wasser\n- Schatten", ""),
    ]
    assert in_order(newer) == [
        ("user", "text", "Thanks.\n[2 files]", ""),
        ("assistant", "text", "You're welcome.", ""),
    ]
    began = 1777885200
    assert (older.key, older.metadata.started, older.metadata.ended) == (str(began), began, began + 120)
    assert (older.metadata.opening, older.unknown) == ("Why do tomatoes split?", {})
    path = packed(tmp_path, {"Takeout/Meine Aktivitäten/Gemini-Apps/MeineAktivitäten.json": GEMINI.read_bytes()})
    assert GeminiTakeout().matches(str(path), head(path))
    assert [found.messages for found in read(GeminiTakeout(), path)] == [newer.messages, older.messages]


def _gemini(*answers: str, title: str = "Prompted Why?") -> list[dict[str, Any]]:
    record = {"header": "Gemini Apps", "title": title, "time": "2026-05-04T09:00:00Z"}
    return [{**record, "safeHtmlItem": [{"html": html} for html in answers]}]


def test_gemini_keeps_the_beginning_of_a_long_answer(tmp_path: Path) -> None:
    long = f"<p>{'rain ' * 2_200_000}</p>"
    (found,) = read(GeminiTakeout(), written(tmp_path, _gemini("<p>First.</p>", long, "<p>Last.</p>")))
    question, answer = found.messages
    assert (question.text, answer.text[:17]) == ("Why?", "First.\n\nrain rain")
    assert 900_000 < len(answer.text) <= 1_000_000


@pytest.mark.parametrize("broken", ["<![foo]>", f"&#{'9' * 5000};"])
def test_gemini_survives_markup_that_its_parser_refuses(tmp_path: Path, broken: str) -> None:
    records = [*_gemini("<p>First.</p>", broken), *_gemini("<p>Second.</p>")]
    (found,) = read(GeminiTakeout(), written(tmp_path, records))
    assert [message.text[:7].strip() for message in found.messages] == ["Why?", "First.", "Why?", "Second."]


def test_gemini_conversation_ends_when_it_is_long(tmp_path: Path) -> None:
    records = _gemini("<p>Rain.</p>", title=f"Prompted {'why ' * 600_000}") * 12
    found = read(GeminiTakeout(), written(tmp_path, records))
    assert [len(one.messages) for one in found] == [14, 10]


def test_open_webui_separates_thoughts_and_tools() -> None:
    (found,) = read(OpenWebUiExport(), WEBUI)
    assert in_order(found) == [
        ("user", "text", "Why do they split?\n[file: bed.pdf]\n[image]", ""),
        ("assistant", "thinking", "Rain,\nmost likely.", ""),
        ("assistant", "tool-call", '{"query": "split"}', "web_search"),
        ("tool", "tool-result", "After rain.", "web_search"),
        ("assistant", "text", "Too much water at once.", ""),
        ("user", "text", 'Thanks <details type="reasoning">.', ""),
    ]
    assert [message.text for message in found.abandoned] == ["Too little water."]
    assert (found.key, found.metadata.title, found.unknown) == ("w-1", "Tomatoes", {})
    assert (found.metadata.started, found.metadata.ended) == (START + 1, START + 4)
    assert found.metadata.usage == {"llama3": Usage(12, 34)}


def test_open_webui_reads_elements_with_any_attributes(tmp_path: Path) -> None:
    value = json.loads(WEBUI.read_text("utf-8"))
    texts = (
        '<details type="a>b">x</details>',
        '<details type="">y</details>',
        '<details type="tool" name="">z</details>',
    )
    messages = {
        name: {"role": "assistant", "content": text, "parentId": above}
        for name, text, above in zip("abc", texts, ("", "a", "b"), strict=True)
    }
    value[0]["chat"]["history"] = {"currentId": "c", "messages": messages}
    (found,) = read(OpenWebUiExport(), written(tmp_path, value))
    assert in_order(found) == [
        ("assistant", "tool-call", "tool", "tool"),
        ("tool", "tool-result", 'b">x', "tool"),
        ("assistant", "tool-call", "tool", "tool"),
        ("tool", "tool-result", "y", "tool"),
        ("assistant", "tool-call", "tool", "tool"),
        ("tool", "tool-result", "z", "tool"),
    ]


def test_lm_studio_reads_the_selected_versions() -> None:
    (found,) = read(LmStudioChat(), STUDIO)
    assert in_order(found) == [
        ("user", "text", "Why do they split?\n[file: 1777-5.pdf]", ""),
        ("assistant", "thinking", "Rain.", ""),
        ("assistant", "tool-call", "split", "search"),
        ("tool", "tool-result", "After rain.", ""),
        ("assistant", "text", "Too much water at once.", ""),
    ]
    assert [message.text for message in found.abandoned] == ["Why split?"]
    assert (found.metadata.id, found.metadata.title, found.unknown) == ("1777885200000", "Tomatoes", {"aroma": 1})
    assert (found.metadata.started, found.metadata.ended) == (START, START + 2)
    assert found.metadata.usage == {"llama-3": Usage(input=55, output=16)}  # of two requests


def test_lm_studio_names_the_model_as_author(tmp_path: Path) -> None:
    chat = json.loads(STUDIO.read_bytes())
    for step in chat["messages"][1]["versions"][0]["steps"]:
        step.pop("genInfo", None)
    path = tmp_path / STUDIO.name
    path.write_text(json.dumps(chat))
    assert next(LmStudioChat().conversations(str(path))).metadata.usage == {"llama-3": Usage()}


def test_chats_of_lm_studio_are_found(tmp_path: Path) -> None:
    folder = tmp_path / ".lmstudio" / "conversations"
    (folder / "Garden").mkdir(parents=True)
    (folder / "Garden" / STUDIO.name).write_bytes(STUDIO.read_bytes())
    (source,) = find_sources(tmp_path, {}).sources
    assert (source.agent, source.path, source.files) == ("lm-studio", str(folder), 1)


@pytest.mark.parametrize(("format", "path"), EVERY, ids=lambda one: getattr(one, "agent", ""))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(data=st.data())
def test_any_document_is_read(format: DocumentFormat, path: Path, tmp_path: Path, data: st.DataObject) -> None:
    value: Any = data.draw(mangled([json.loads(path.read_text("utf-8"))]))
    for found in read_first(format, written(tmp_path, value))[0]:
        for message in found.everything:
            message.text.encode()
