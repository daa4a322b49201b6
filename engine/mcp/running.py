"""Runs the server from its first line to its last: load, answer, open the memory meanwhile, end with the client."""

import asyncio
import contextlib
import logging
import signal
from collections.abc import Callable
from typing import TYPE_CHECKING

from engine.agent.access import AgentAccess
from engine.agent.tools import agent_tools
from engine.mcp.late_memory import LateMemory
from engine.mcp.loading import load_sdk
from engine.settings import Settings

if TYPE_CHECKING:
    from engine.memory.contract import MemorySearchManager

_WARM_AFTER_SECONDS = 0.2

log = logging.getLogger(__name__)


def serve(
    open_: "Callable[[Settings], MemorySearchManager]", settings: Callable[[], Settings], session_key: str | None = None
) -> None:
    """Serve one client on standard input and output until it leaves, or the process is told to end.

    `open_` opens the memory, `settings` gives those in force.
    """
    load_sdk()
    memory = LateMemory(open_, settings, session_key)
    access = AgentAccess(memory.up_to_date, settings, session_key=session_key)
    try:
        asyncio.run(_serve(access, memory))
    finally:
        memory.close()


async def _serve(access: AgentAccess, memory: LateMemory) -> None:
    import anyio

    from engine.mcp.server import make_server
    from engine.mcp.transport import standard_streams

    server = make_server(access, lambda: agent_tools(access))
    with anyio.CancelScope() as whole:
        for number in (signal.SIGINT, signal.SIGTERM):
            with contextlib.suppress(NotImplementedError):  # on Windows a process just ends
                asyncio.get_running_loop().add_signal_handler(number, whole.cancel)
        try:
            async with standard_streams() as (received, sent):
                # Whoever waits for the first answer comes first.
                asyncio.get_running_loop().call_later(_WARM_AFTER_SECONDS, memory.warm)
                await server.run(received, sent, server.create_initialization_options())
        except* Exception as failures:
            # Whatever a client has done, its end is the end of the server and no failure of it.
            log.warning("The connection to an agent broke: %s", [type(error).__name__ for error in failures.exceptions])
