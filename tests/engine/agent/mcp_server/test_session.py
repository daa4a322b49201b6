"""Whole sessions over standard input and output: the official client and a real server process."""

import contextlib
import json
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from filelock import FileLock

from engine import AgentAccess, load_settings, memory_get, memory_prompt_section, memory_search, open_memory, to_json
from engine.agent.tool_definitions import agent_tools
from tests.engine.agent.mcp_server.conftest import SECRET, SESSION
from tests.helpers.mcp_process import Served, answers_error, official_client

if TYPE_CHECKING:
    from mcp.client.client import Client

Conversation = Callable[["Client"], Awaitable[None]]
GROUP = "agent:main:discord:group:123"


def talk(served: Served, conversation: Conversation, *options: str, mode: str = "auto") -> None:
    """Run a conversation with a server that is started for it and has exited afterwards."""

    async def run() -> None:
        async with official_client(served.parameters(*options), mode) as client:
            await conversation(client)

    anyio.run(run)


def payload(result: Any) -> Any:
    """Return the payload of a tool, which is equal as text and as values; failures must be marked as errors."""
    (content,) = result.content
    assert json.loads(content.text) == result.structured_content
    assert result.is_error is ("error" in result.structured_content)
    return result.structured_content


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_server_tools_answer_like_engine_tools(served: Served, mode: str) -> None:
    answers: dict[str, Any] = {}

    async def conversation(client: "Client") -> None:
        assert client.server_info.name == "mnemoscope"
        assert client.instructions == memory_prompt_section("full", ("memory_search", "memory_get"))
        answers["tools"] = (await client.list_tools()).tools
        answers["search"] = payload(await client.call_tool("memory_search", {"query": "irrigation timer"}))
        answers["get"] = payload(await client.call_tool("memory_get", {"path": "memory/greenhouse.md", "from": 3}))
        answers["refused"] = payload(await client.call_tool("memory_get", {"path": "../settings.toml"}))

    talk(served, conversation, mode=mode)

    settings = load_settings(served.notes, config=served.config)
    memory = open_memory(served.notes, settings)
    memory.sync()
    access = AgentAccess(lambda: memory, settings)
    assert answers["search"] == json.loads(to_json(memory_search(access, "irrigation timer")))
    assert answers["search"]["results"][0]["citation"] == "memory/greenhouse.md#L1-L5"
    assert answers["get"] == json.loads(to_json(memory_get(access, "memory/greenhouse.md", 3)))
    assert answers["get"]["text"].startswith("## Watering")
    assert answers["refused"] == json.loads(to_json(memory_get(access, "../settings.toml")))
    assert answers["refused"]["disabled"] is True
    offered = agent_tools(access)
    assert [tool.name for tool in answers["tools"]] == [tool.name for tool in offered]
    for tool, ours in zip(answers["tools"], offered, strict=True):
        assert tool.input_schema == dict(ours.parameters)
        assert tool.output_schema == ours.payload_schema()
        assert tool.description == ours.description
        assert tool.annotations.read_only_hint is not ours.changes
    memory.close()


def test_notes_sessions_and_prompts_are_offered(served: Served) -> None:
    for number in range(120):
        (served.notes / "memory" / f"n{number:03}.md").write_text(f"# Note {number}\n")

    async def conversation(client: "Client") -> None:
        listed = []
        while not any("/sessions/" in resource.uri for resource in listed):  # until the session is indexed
            await client.call_tool("memory_search", {"query": "relay"})
            first = await client.list_resources()
            second = await client.list_resources(cursor=first.next_cursor)
            listed = [*first.resources, *second.resources]
        assert (len(first.resources), second.next_cursor) == (100, None)
        assert len(listed) == len({resource.uri for resource in listed}) == 124
        titles = {resource.name: resource.title for resource in listed}
        assert titles["memory/greenhouse.md"] == "Greenhouse"
        assert titles["memory/n007.md"] == "Note 7"
        assert all(titles.values())
        session = next(resource for resource in listed if "/sessions/" in resource.uri)
        assert session.title == "Why does the relay lose ticks?"
        assert session.mime_type == "text/plain"
        (text,) = (await client.read_resource(session.uri)).contents
        assert "debounces at 40 ms" in text.text
        assert SECRET not in text.text
        assert "Secrets are masked" in text.text
        (note,) = (await client.read_resource("mnemoscope:///memory/2026-02-08.md")).contents
        assert (note.mime_type, note.text) == ("text/markdown", "# Sunday\n\nTomatoes limp, calendar full.\n")
        templates = (await client.list_resource_templates()).resource_templates
        assert {template.uri_template for template in templates} == {
            "mnemoscope:///{+path}",
            "mnemoscope:///sessions/{+path}",
        }
        for uri in ("mnemoscope:///../settings.toml", "mnemoscope:///gone.md", "file:///etc/passwd", "nonsense"):
            with answers_error("no such note or session"):
                await client.read_resource(uri)
        with answers_error("cursor"):
            await client.list_resources(cursor="nonsense")
        assert [prompt.name for prompt in (await client.list_prompts()).prompts] == ["memory_recall", "memory_context"]
        (recall,) = (await client.get_prompt("memory_recall")).messages
        assert recall.content.text.startswith("## Memory Recall")
        (context,) = (await client.get_prompt("memory_context", {"message": "the irrigation timer"})).messages
        assert context.content.text.startswith("<memory-context>")
        assert "memory/greenhouse.md#L1-L5" in context.content.text
        (nothing,) = (await client.get_prompt("memory_context", {"message": "zebra"})).messages
        assert "nothing" in nothing.content.text
        with answers_error("no prompt"):
            await client.get_prompt("other")
        with answers_error("no tool"):
            await client.call_tool("other", {})

    talk(served, conversation)


def test_group_session_sees_no_private_memory(served: Served) -> None:
    async def conversation(client: "Client") -> None:
        assert "path#line" not in client.instructions
        found = payload(await client.call_tool("memory_search", {"query": "calendar relay", "minScore": 0}))
        assert {result["path"] for result in found["results"]} == {"memory/2026-02-08.md"}
        assert found["citations"] is False
        assert payload(await client.call_tool("memory_get", {"path": "MEMORY.md"}))["disabled"] is True
        listed = (await client.list_resources()).resources
        assert {resource.name for resource in listed} == {"memory/2026-02-08.md", "memory/greenhouse.md"}
        for name in ("MEMORY.md", "%4DEMORY.md", "sessions/sessions/src/s1.jsonl"):
            with answers_error("no such note or session"):
                await client.read_resource(f"mnemoscope:///{name}")

    talk(served, conversation, "--session-key", GROUP)


def test_server_reads_index_that_another_memory_updates(served: Served) -> None:
    memory = open_memory(served.notes, load_settings(served.notes, config=served.config))
    memory.sync()
    (served.notes / "memory" / "greenhouse.md").write_text("# Shed\n\nThe badger lives there.\n")

    async def conversation(client: "Client") -> None:
        found = payload(await client.call_tool("memory_search", {"query": "irrigation badger"}))
        assert ["badger" in result["snippet"] for result in found["results"]] == [True]  # though the index was old
        (served.notes / "memory" / "new.md").write_text("# Otter\n\nSeen at the weir.\n")
        report = await anyio.to_thread.run_sync(memory.sync)
        assert report.error == ""
        found = payload(await client.call_tool("memory_search", {"query": "otter weir"}))
        assert [result["path"] for result in found["results"]] == ["memory/new.md"]

    talk(served, conversation)
    assert memory.sync(force=True).error == ""  # the server has left no lock behind
    memory.close()


def test_settings_change_applies_immediately(served: Served) -> None:
    before = served.config.read_text()

    async def conversation(client: "Client") -> None:
        async def got() -> Any:
            return payload(await client.call_tool("memory_get", {"path": "memory/greenhouse.md"}))

        async def tools() -> set[str]:
            return {tool.name for tool in (await client.list_tools(cache_mode="bypass")).tools}

        assert (await got())["lines"] == 5
        assert "memory_store" in await tools()
        changed = before.replace("[defaults]", '[defaults]\nexclude = ["memory/green*"]\nfacts.agent_writes = "off"')
        served.config.write_text(changed)
        assert (await got())["disabled"] is True
        assert "memory_store" not in await tools()
        served.config.write_text(before + "\nnonsense = 1\n")
        assert "nonsense" in (await got())["error"]
        with answers_error("nonsense"):
            await client.list_resources()
        served.config.write_text(before)
        assert (await got())["lines"] == 5

    talk(served, conversation)


@pytest.mark.parametrize("watch", ["true", "false"])
def test_changes_on_disk_are_in_the_next_answer(served: Served, watch: str) -> None:
    settings = served.config.read_text().replace("[defaults]", f"[defaults]\nsync.watch = {watch}", 1)
    served.config.write_text(settings)
    folder, sessions = served.notes / "memory", served.notes.parent / "sessions" / "src"

    async def conversation(client: "Client") -> None:
        async def found(query: str) -> list[str]:
            answer = payload(await client.call_tool("memory_search", {"query": query}))
            return [result["path"] for result in answer["results"]]

        assert await found("irrigation timer") == ["memory/greenhouse.md"]
        (folder / "new.md").write_text("# Otter\n\nSeen at the weir.\n")
        assert await found("otter weir") == ["memory/new.md"]
        (folder / "new.md").write_text("# Badger\n\nSeen at the sett.\n")
        assert await found("otter weir") == []
        assert await found("badger sett") == ["memory/new.md"]
        (folder / "deep" / "down").mkdir(parents=True)
        (folder / "new.md").rename(folder / "deep" / "down" / "old.md")
        assert await found("badger sett") == ["memory/deep/down/old.md"]
        (folder / "deep" / "down" / "old.md").unlink()
        assert await found("badger sett") == []

        with (sessions / "s1.jsonl").open("a") as transcript:
            transcript.write(SESSION.splitlines()[0].replace('"u1"', '"u3"').replace("relay", "walrus") + "\n")
        assert await found("walrus") == ["sessions/sessions/src/s1.jsonl"]
        (sessions / "s2.jsonl").write_text(SESSION.replace("s1", "s2").replace("relay", "heron"))
        listed = {resource.name: resource for resource in (await client.list_resources()).resources}
        session = listed["sessions/sessions/src/s2.jsonl"]
        assert "heron" in session.title
        (sessions / "s2.jsonl").unlink()
        with answers_error("no such note or session"):
            await client.read_resource(session.uri)
        assert await found("heron") == []

    talk(served, conversation)


def test_other_process_writing_delays_answers_briefly(served: Served) -> None:
    with contextlib.closing(open_memory(served.notes, load_settings(served.notes, config=served.config))) as memory:
        memory.sync()
        holder = memory.user_data.path.with_name("index.lock")

    async def conversation(client: "Client") -> None:
        (served.notes / "memory" / "new.md").write_text("# Otter\n")
        found = payload(await client.call_tool("memory_search", {"query": "irrigation timer"}))
        assert [result["path"] for result in found["results"]] == ["memory/greenhouse.md"]

    with FileLock(holder):
        talk(served, conversation)
