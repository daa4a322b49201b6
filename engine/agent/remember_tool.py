"""The tool by which an agent has a session written down, as `agent_tools` lists it."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.agent.access import AgentAccess
from engine.agent.tool import AgentTool, schema
from engine.base.cancellation import CancelToken
from engine.records import Record, RememberedSession

if TYPE_CHECKING:
    from engine.memory.contract import MemorySearchManager

_SYNC_SECONDS = 5.0
"""The newest session may not be listed yet; an agent is not held up for more."""


def remember_tools(access: AgentAccess) -> tuple[AgentTool, ...]:
    """The one where the person lets agents write notes; nobody else's session is written down from a group."""
    return () if access.shared or not access.settings.remember.tool else (_remember(access),)


def _remember(access: AgentAccess) -> AgentTool:
    def call(given: Mapping[str, Any], cancel: CancelToken) -> Record:
        session, name = given.get("session", "").strip(), given.get("name", "")
        return access.ask(lambda manager, token: _write(access, manager, session, name, token), cancel)

    session = {"type": "string", "description": "Id of the session or its path; the latest one if left out."}
    name = {"type": "string", "description": "Two to four telling words; taken from the session if left out."}
    return AgentTool(
        name="remember_session",
        title="Write a session down",
        description=(
            "Write the last messages of a past session into a new dated note, so that later sessions find it. Call it "
            "when the person asks for it, or when a session ends. Never changes a note; the person is told of it."
        ),
        parameters=schema(required=(), session=session, name=name),
        answers=RememberedSession,
        call=call,
        changes=True,
    )


def _write(
    access: AgentAccess, manager: "MemorySearchManager", session: str, name: str, cancel: CancelToken
) -> RememberedSession:
    from engine.agent.note_writing import remember, update_index

    update_index(manager, _SYNC_SECONDS, cancel)
    done = remember(
        manager,
        Path(manager.status().workspace_dir),
        access.settings,
        session or None,
        slug=name,
        ask_model=False,  # who calls is one
        by_agent=True,
        cancel=cancel,
    )
    return RememberedSession(
        path=done.written.path if done.written else done.note.existing,
        session=done.note.session,
        messages=done.note.messages,
        written=done.written is not None,
    )
