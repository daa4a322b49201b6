"""Answers the requests of an MCP client for tools, resources and prompts, each on a thread.

Resources are notes and sessions: listed newest first in pages, and read as text with secrets masked.
"""

import base64
import binascii
import contextlib
import json
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from urllib.parse import quote, unquote

import anyio
import mcp_types as types
from anyio.to_thread import run_sync
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError

from engine.agent.memory_access import AgentAccess
from engine.agent.memory_tools import memory_context, memory_prompt_section
from engine.agent.session_export import readable_session
from engine.agent.tool_interface import AgentTool, error_message
from engine.base.cancellation import CancelToken
from engine.base.errors import MnemoscopeError, PathRefused
from engine.base.formatting import program_version
from engine.text.writing_systems import cut

if TYPE_CHECKING:
    from engine.memory.memory_interface import MemorySearchManager


URI = "mnemoscope:///"
"""Prefix of a resource's URI, before the file's stable name."""
PAGE = 100
LONGEST_TEXT = 1_000_000
"""Maximum number of characters of one resource."""
_NOTE, _SESSION = "text/markdown", "text/plain"
_CUT = "\n\n[The rest is left out: read it in parts with memory_get.]"


class ListedResource(NamedTuple):
    """A note or session that the server lists as a resource."""

    modified: float
    name: str
    title: str
    """Title of the note or session; empty for a note whose file at `path` was not read yet."""
    is_session: bool
    size: int
    path: str = ""

    @property
    def uri(self) -> str:
        return URI + quote(self.name, safe="/")

    @property
    def kind(self) -> str:
        return _SESSION if self.is_session else _NOTE

    @property
    def changed(self) -> str | None:
        """Time of the last change in ISO 8601; None if unknown."""
        try:
            return datetime.fromtimestamp(self.modified, UTC).isoformat(timespec="seconds") if self.modified else None
        except (OverflowError, OSError, ValueError):
            return None


class UnknownResource(Exception):
    """The requested resource does not exist, or this session may not read it."""


def list_page(
    access: AgentAccess, cursor: str | None, cancel: CancelToken
) -> tuple[Sequence[ListedResource], str | None]:
    """Return a page of resources, newest first, and the cursor of the next page; None at the end.

    Raises the memory's errors, and `ValueError` for an invalid cursor.
    """
    after = None if cursor is None else _position(cursor)

    def page(memory: "MemorySearchManager", token: CancelToken) -> tuple[Sequence[ListedResource], str | None]:
        found = sorted(_all_resources(access, memory, token), key=_order)
        remaining = found if after is None else [entry for entry in found if _order(entry) > after]
        listed = [_with_title(entry, token) for entry in remaining[:PAGE]]
        return listed, _cursor(listed[-1]) if len(remaining) > PAGE else None

    return access.call(page, cancel)


def read_text(access: AgentAccess, uri: str, cancel: CancelToken) -> tuple[str, str]:
    """Return kind and text of a note, or of a session in readable form.

    Raises `UnknownResource`, and the memory's errors.
    """
    name = unquote(uri.removeprefix(URI), errors="replace")
    if not uri.startswith(URI) or not access.may_read(name):
        raise UnknownResource("There is no such note or session.")
    is_session = access.is_session(name)

    def read(memory: "MemorySearchManager", token: CancelToken) -> str:
        if is_session:
            return "\n".join(readable_session(memory.read_session(name, cancel=token), full=False)) + "\n"
        file = memory.read_file(name)
        if not file.lines:
            memory.locate(name)  # a deleted file is read as empty
        return file.text

    try:
        text = access.call(read, cancel)
    except (PathRefused, FileNotFoundError):
        raise UnknownResource("There is no such note or session.") from None
    return _SESSION if is_session else _NOTE, text if len(text) <= LONGEST_TEXT else cut(text, LONGEST_TEXT) + _CUT


def _all_resources(access: AgentAccess, memory: "MemorySearchManager", cancel: CancelToken) -> Iterator[ListedResource]:
    from engine.corpus.discovery import discover

    for file in discover(Path(memory.status().workspace_dir), access.settings, cancel=cancel).files:
        if access.may_read(file.name):
            yield ListedResource(file.mtime_ns / 1e9, file.name, "", False, file.size, file.path)
    if access.shared or "sessions" in memory.unsupported:
        return
    for session in memory.sessions():
        changed = session.ended or session.started or 0.0
        yield ListedResource(changed, session.path, session.title or "Untitled", True, session.bytes)


def _with_title(entry: ListedResource, cancel: CancelToken) -> ListedResource:
    """Add the title of a note from its file, since the index may be behind; of a document, its file name."""
    if entry.title:
        return entry
    from engine.corpus.documents import is_document
    from engine.corpus.encodings import decoded_start
    from engine.corpus.note_metadata import HEAD_CHARACTERS, note_title
    from engine.corpus.safe_open import open_binary

    cancel.checkpoint()
    head = b""
    if not is_document(entry.name):
        with contextlib.suppress(OSError, PathRefused), open_binary(entry.path) as file:
            head = file.read(HEAD_CHARACTERS)
    return entry._replace(title=note_title(decoded_start(head), entry.name))


def _order(entry: ListedResource) -> tuple[float, str]:
    return -entry.modified, entry.name


def _cursor(last: ListedResource) -> str:
    return base64.urlsafe_b64encode(f"{last.modified!r} {last.name}".encode("utf-8", "surrogatepass")).decode()


def _position(cursor: str) -> tuple[float, str]:
    """Decode a cursor: time and name of the last entry of the previous page.

    Entries that are added or removed meanwhile don't shift later pages. Raises ValueError.
    """
    try:
        time, _, name = base64.b64decode(cursor, b"-_", validate=True).decode("utf-8", "surrogatepass").partition(" ")
        return -float(time), name
    except (binascii.Error, UnicodeError, ValueError):
        raise ValueError("Unknown cursor: request the list from its start.") from None


T = TypeVar("T")

_MAX_CALLS = 4
"""Maximum number of parallel calls; further ones wait."""
_RECALL, _CONTEXT = "memory_recall", "memory_context"

Context = ServerRequestContext[Any]


def make_server(access: AgentAccess, tools: Callable[[], tuple[AgentTool, ...]]) -> "Server[Any]":
    """Create the MCP server for one connection of an agent. `tools` returns the tools that it may use now."""
    handlers = _Handlers(access, tools)
    return Server(
        "mnemoscope",
        title="Mnemoscope",
        version=program_version(),
        instructions=handlers.section or None,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_templates,
        on_read_resource=handlers.read_resource,
        on_list_prompts=handlers.list_prompts,
        on_get_prompt=handlers.get_prompt,
    )


class _Handlers:
    def __init__(self, access: AgentAccess, tools: Callable[[], tuple[AgentTool, ...]]) -> None:
        self._access = access
        self._tools = tools
        self._offered = tools()
        self._limiter = anyio.CapacityLimiter(_MAX_CALLS)
        self.section = memory_prompt_section("full", [tool.name for tool in self._offered], citations=access.cites)

    # --- tools ----------------------------------------------------------------------------------------------------

    async def list_tools(self, _: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_declared_tool(tool) for tool in await self._offered_now()])

    async def call_tool(self, _: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        tool = next((tool for tool in await self._offered_now() if tool.name == params.name), None)
        if tool is None:
            raise MCPError(types.INVALID_PARAMS, f"There is no tool called {params.name[:100]}.")
        arguments = params.arguments or {}
        payload = await self._call(lambda cancel: tool.answer(arguments, cancel))
        text = _printable(json.dumps(payload, ensure_ascii=False))
        return types.CallToolResult(
            content=[types.TextContent(text=text)], structured_content=json.loads(text), is_error="error" in payload
        )

    async def _offered_now(self) -> tuple[AgentTool, ...]:
        with contextlib.suppress(MnemoscopeError):  # each tool reports errors in more detail
            self._offered = await self._call(lambda _: self._tools())
        return self._offered

    # --- resources ------------------------------------------------------------------------------------------------

    async def list_resources(
        self, _: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        cursor = params.cursor if params else None
        try:
            page, following = await self._call_checked(lambda cancel: list_page(self._access, cursor, cancel))
        except ValueError as error:
            raise MCPError(types.INVALID_PARAMS, str(error)) from None
        return types.ListResourcesResult(resources=[_resource(entry) for entry in page], next_cursor=following)

    async def list_templates(
        self, _: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        note = types.ResourceTemplate(
            name="note",
            title="A note",
            uri_template=f"{URI}{{+path}}",
            description="Read a note by its path, as in search results.",
        )
        session = types.ResourceTemplate(
            name="session",
            title="A past session with an AI agent",
            uri_template=f"{URI}sessions/{{+path}}",
            description="Read a session by its path, as in search results; secrets are masked.",
            mime_type="text/plain",
        )
        templates = [note] if self._access.shared else [note, session]
        return types.ListResourceTemplatesResult(resource_templates=templates)

    async def read_resource(self, _: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        uri = params.uri
        try:
            kind, text = await self._call_checked(lambda cancel: read_text(self._access, uri, cancel))
        except UnknownResource as error:
            raise MCPError(types.INVALID_PARAMS, str(error), {"uri": uri[:1000]}) from None
        contents = types.TextResourceContents(uri=uri, mime_type=kind, text=_printable(text))
        return types.ReadResourceResult(contents=[contents])

    # --- prompts --------------------------------------------------------------------------------------------------

    async def list_prompts(self, _: Context, params: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        recall = types.Prompt(
            name=_RECALL, title="Use the memory", description="Tells the model when and how to search the memory."
        )
        context = types.Prompt(
            name=_CONTEXT,
            title="Passages about this message",
            description="The five passages of notes and sessions that fit a message best.",
            arguments=[
                types.PromptArgument(name="message", description="The message to find passages for.", required=True)
            ],
        )
        return types.ListPromptsResult(prompts=[recall, context] if self.section else [context])

    async def get_prompt(self, _: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        if params.name == _RECALL and self.section:
            text = self.section
        elif params.name == _CONTEXT:
            message = (params.arguments or {}).get("message", "")
            found = await self._call(lambda cancel: memory_context(self._access, message, cancel=cancel))
            text = found or "The memory has nothing on this."
        else:
            raise MCPError(types.INVALID_PARAMS, f"There is no prompt called {params.name[:100]}.")
        content = types.TextContent(text=_printable(text))
        return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=content)])

    # --- queries --------------------------------------------------------------------------------------------------

    async def _call(self, work: Callable[[CancelToken], T]) -> T:
        """Return the result of a call on a thread; cancelling the request cancels the call without waiting for it."""
        token = CancelToken()
        try:
            return await run_sync(work, token, abandon_on_cancel=True, limiter=self._limiter)
        finally:
            token.cancel()

    async def _call_checked(self, work: Callable[[CancelToken], T]) -> T:
        """Return the result of a call that may fail: errors become protocol errors with one sentence."""
        try:
            return await self._call(work)
        except (UnknownResource, ValueError):
            raise
        except Exception as error:
            raise MCPError(types.INTERNAL_ERROR, error_message(error)) from None


def _declared_tool(tool: AgentTool) -> types.Tool:
    hints = types.ToolAnnotations(
        title=tool.title,
        read_only_hint=not tool.changes,
        destructive_hint=tool.deletes,
        idempotent_hint=not tool.changes,
        open_world_hint=False,
    )
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=dict(tool.parameters),
        output_schema=tool.payload_schema(),
        annotations=hints,
    )


def _resource(entry: ListedResource) -> types.Resource:
    return types.Resource(
        uri=entry.uri,
        name=_printable(entry.name),
        title=_printable(entry.title) or None,
        mime_type=entry.kind,
        # A session is read as a readable text, which has another size than its transcript.
        size=None if entry.is_session else entry.size,
        annotations=types.Annotations(last_modified=entry.changed) if entry.changed else None,
    )


def _printable(text: str) -> str:
    """Remove lone surrogates, which messages can't contain."""
    return text.encode("utf-8", "replace").decode()
