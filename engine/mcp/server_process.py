"""Run the MCP server: load the SDK, open the memory in the background, and serve one client until it disconnects."""

import asyncio
import contextlib
import gc
import importlib
import importlib.util
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import TYPE_CHECKING

from engine.agent.memory_access import AgentAccess
from engine.agent.tool_definitions import agent_tools
from engine.base import lazy_logger
from engine.base.errors import Closed, MnemoscopeError
from engine.settings import Settings
from engine.settings.settings_section import with_query_settings

if TYPE_CHECKING:
    from engine.memory.memory_interface import MemorySearchManager

_WARM_AFTER_SECONDS = 0.2
_CATCH_UP_SECONDS = 5.0


class LazyMemory:
    """Opens the memory on first use or in the background, and again after its settings have changed. Thread-safe."""

    def __init__(
        self,
        open_: "Callable[[Settings], MemorySearchManager]",
        settings: Callable[[], Settings],
        session_key: str | None,
    ) -> None:
        """`settings` returns the current settings. `session_key`: key of the agent's session with this server."""
        self._open = open_
        self._settings = settings
        self._opened_with: Settings | None = None
        self._session_key = session_key or "mcp"
        self._lock = threading.Lock()
        self._memory: MemorySearchManager | None = None
        self._closed = False

    def warm(self) -> None:
        """Open the memory in the background and load what a keyword search needs; the first search loads the model."""
        threading.Thread(target=self._warm_up, name="mnemoscope-warm", daemon=True).start()

    def opened(self) -> "MemorySearchManager":
        """Return the memory, opened with the current settings. Raises the errors of opening; the next call retries."""
        with self._lock:
            if self._closed:
                raise Closed
            settings = self._settings()
            if self._memory is not None and settings != self._opened_with:
                if self._opened_with is not None and with_query_settings(self._opened_with, settings) == settings:
                    self._memory.apply_query_settings(settings)
                else:
                    self._memory.close()
                    self._memory = None
            self._opened_with = settings
            if self._memory is None:
                self._memory = self._open(settings)
                self._memory.warm_session(self._session_key)
            return self._memory

    def up_to_date(self) -> "MemorySearchManager":
        """Return the memory once its searches find all files that existed before this call, or after some seconds.

        A first index, or the lock of another process, may take minutes. Raises as `opened`.
        """
        memory = self.opened()
        memory.catch_up(_CATCH_UP_SECONDS)
        return memory

    def close(self) -> None:
        with self._lock:
            self._closed = True
            memory, self._memory = self._memory, None
        if memory is not None:
            memory.close()

    def _warm_up(self) -> None:
        try:
            self.opened().search("memory", mode="keyword", max_results=1)
        except MnemoscopeError as error:
            log.info("The memory could not be warmed: %s", type(error).__name__)


log = lazy_logger(__name__)
_SKIPPED_PACKAGES = ("mcp", "mcp.server")
"""Packages whose own `__init__` imports modules that this server doesn't use: a client, HTTP, decorators for
functions."""


def load_sdk() -> None:
    """Import the modules of the MCP SDK that the server needs."""
    with _without_garbage_collection(), _deferred_class_builds(), _without_package_inits():
        importlib.import_module("mcp.server.lowlevel.server")


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Disable garbage collection, which takes a sixth of the time: importing a thousand classes leaves no garbage."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@contextmanager
def _deferred_class_builds() -> Iterator[None]:
    """Build each message's class only when the first such message arrives: most never do. Saves a fifth of the time."""
    from pydantic import BaseModel

    BaseModel.model_config["defer_build"] = True
    try:
        yield
    finally:
        del BaseModel.model_config["defer_build"]


@contextmanager
def _without_package_inits() -> Iterator[None]:
    """Let modules of the packages in `_SKIPPED_PACKAGES` be imported without running the packages' `__init__`.

    This saves a third of the time to start. Afterwards the packages can be imported normally.
    """
    placeholders: dict[str, ModuleType] = {}
    for name in _SKIPPED_PACKAGES:
        if name not in sys.modules and (spec := importlib.util.find_spec(name)) is not None:
            placeholders[name] = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        yield
    finally:
        for name, module in placeholders.items():
            if sys.modules.get(name) is module:
                del sys.modules[name]


def serve(
    open_: "Callable[[Settings], MemorySearchManager]", settings: Callable[[], Settings], session_key: str | None = None
) -> None:
    """Serve one client on standard input and output until it disconnects, or the process is terminated.

    `open_` opens the memory, `settings` returns the current settings.
    """
    load_sdk()
    memory = LazyMemory(open_, settings, session_key)
    access = AgentAccess(memory.up_to_date, settings, session_key=session_key)
    try:
        asyncio.run(_serve(access, memory))
    finally:
        memory.close()


async def _serve(access: AgentAccess, memory: LazyMemory) -> None:
    import anyio

    from engine.mcp.server import make_server
    from engine.mcp.stdio_transport import standard_streams

    server = make_server(access, lambda: agent_tools(access))
    with anyio.CancelScope() as whole:
        for number in (signal.SIGINT, signal.SIGTERM):
            with contextlib.suppress(NotImplementedError):  # on Windows a process just ends
                asyncio.get_running_loop().add_signal_handler(number, whole.cancel)
        try:
            async with standard_streams() as (received, sent):
                # The first request has priority.
                asyncio.get_running_loop().call_later(_WARM_AFTER_SECONDS, memory.warm)
                await server.run(received, sent, server.create_initialization_options())
        except* Exception as failures:
            # The server ends normally when the client does, however that happens.
            log.warning("The connection to an agent broke: %s", [type(error).__name__ for error in failures.exceptions])
