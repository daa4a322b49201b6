"""The server's handlers, called by the official client in the same process: slowness, cancellation, failures."""

import threading
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from engine.agent.tool_definitions import agent_tools
from engine.agent.tool_interface import AgentTool, schema
from engine.base.cancellation import CancelToken
from engine.base.errors import Cancelled, StoreError
from engine.records import MemoryStoreResponse, Record
from engine.settings.options import SessionSettings
from tests.helpers.fake_memory import FakeMemory
from tests.helpers.fake_sessions import SESSIONS, VALVE
from tests.helpers.mcp_process import answers_error, official_client

if TYPE_CHECKING:
    from mcp.client.client import Client


@pytest.fixture
def talk(access):
    """Run a conversation with a server on the fake memory; keyword arguments are those of `access`."""

    def hold(conversation: Callable[["Client"], Awaitable[None]], mode: str = "legacy", **options: Any) -> None:
        from engine.mcp.server import make_server

        async def run() -> None:
            way = access(**options)
            async with official_client(make_server(way, lambda: agent_tools(way)), mode) as client:
                with anyio.fail_after(60):
                    await conversation(client)

        anyio.run(run)

    return hold


def test_slow_search_does_not_delay_other_calls(talk, memory: FakeMemory) -> None:
    searching, release = threading.Event(), threading.Event()
    searched = memory.search

    def slow(*args: Any, **options: Any) -> Any:
        searching.set()
        release.wait(60)
        return searched(*args, **options)

    memory.search = slow  # type: ignore[method-assign]

    async def conversation(client: "Client") -> None:
        found: list[Any] = []

        async def search() -> None:
            found.append(await client.call_tool("memory_search", {"query": "timer"}))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(search)
            await anyio.to_thread.run_sync(searching.wait)
            got = await client.call_tool("memory_get", {"path": "daily/2026-02-08.md"})
            assert "Tomatoes" in got.structured_content["text"]
            assert not found
            release.set()
        assert found[0].structured_content["results"]

    talk(conversation)


def test_a_cancelled_call_cancels_the_search(talk, memory: FakeMemory) -> None:
    tokens: list[CancelToken] = []
    searching = threading.Event()

    def search(*_: Any, cancel: CancelToken, **__: Any) -> Any:
        tokens.append(cancel)
        stopped = threading.Event()
        cancel.on_cancel(stopped.set)
        searching.set()
        assert stopped.wait(60)
        raise Cancelled

    memory.search = search  # type: ignore[method-assign]

    async def conversation(client: "Client") -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.call_tool, "memory_search", {"query": "timer"})
            await anyio.to_thread.run_sync(searching.wait)
            tasks.cancel_scope.cancel()
        while not tokens[0].cancelled:
            await anyio.sleep(0.01)
        assert (await client.call_tool("memory_get", {"path": "daily/2026-02-08.md"})).structured_content["lines"]

    talk(conversation)


def test_failures_return_sentence(talk, memory: FakeMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise StoreError("No room left on the disk.")

    for method in ("search", "status", "read_file", "sessions"):
        monkeypatch.setattr(memory, method, fail)

    async def conversation(client: "Client") -> None:
        found = await client.call_tool("memory_search", {"query": "timer"})
        assert found.structured_content["error"] == "No room left on the disk."
        assert found.is_error is True
        for ask in (client.list_resources(), client.read_resource("mnemoscope:///daily/2026-02-08.md")):
            with answers_error("No room left on the disk"):
                await ask

    talk(conversation)


def test_session_resource_is_text_with_masked_secrets(memory: FakeMemory, talk) -> None:
    memory.session_texts = dict(SESSIONS)
    sessions = SessionSettings(folders=(str(memory.folder / "claude-code"),))

    async def conversation(client: "Client") -> None:
        (text,) = (await client.read_resource(f"mnemoscope:///{VALVE}")).contents
        assert text.mime_type == "text/plain"
        assert SESSIONS[VALVE].summary.title in text.text
        assert memory.session_reads == [(VALVE, False)]

    talk(conversation, sessions=sessions)


def test_huge_note_is_cut_with_remark(talk, memory: FakeMemory) -> None:
    memory.files = {"a.md": "word " * 300_000}

    async def conversation(client: "Client") -> None:
        (text,) = (await client.read_resource("mnemoscope:///a.md")).contents
        assert len(text.text) < 1_000_100
        assert text.text.endswith("[The rest is left out: read it in parts with memory_get.]")

    talk(conversation)


def test_lone_surrogates_are_never_sent(talk, memory: FakeMemory) -> None:
    memory.files = {"a.md": "# A\n\nvalve \ud83d half\n"}

    async def conversation(client: "Client") -> None:
        found = await client.call_tool("memory_search", {"query": "valve"})
        assert "valve ? half" in found.structured_content["results"][0]["snippet"]
        (text,) = (await client.read_resource("mnemoscope:///a.md")).contents
        assert "valve ? half" in text.text
        (context,) = (await client.get_prompt("memory_context", {"message": "valve"})).messages
        assert "valve ? half" in context.content.text

    talk(conversation)


def test_failing_tool_answers_with_error(access) -> None:
    def breaks(*_: object) -> Record:
        raise KeyError("x")

    way = access()
    tool = AgentTool("broken", "Broken", "Breaks.", schema(required=()), MemoryStoreResponse, breaks)

    from engine.mcp.server import make_server

    async def run() -> None:
        async with official_client(make_server(way, lambda: (tool,)), "legacy") as client:
            assert client.instructions is None  # without tools, no instructions
            assert (await client.list_prompts()).prompts[0].name == "memory_context"
            answer = await client.call_tool("broken", {})
            assert (answer.structured_content, answer.is_error) == ({"error": "KeyError: 'x'"}, True)

    anyio.run(run)
