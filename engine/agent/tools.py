"""The tools of an agent as a list: what each is called, takes and answers, for whatever protocol offers them.

A tool more is one more `AgentTool` in `agent_tools`.
"""

from collections.abc import Mapping
from typing import Any

from engine.agent.access import AgentAccess
from engine.agent.fact_tools import fact_tools
from engine.agent.memory_get import PAGE_CHARACTERS, PAGE_LINES, memory_get
from engine.agent.memory_search import MOST_RESULTS, memory_search
from engine.agent.remember_tool import remember_tools
from engine.agent.tool import AgentTool, schema
from engine.base.cancellation import CancelToken
from engine.records import LONGEST_QUERY, MemoryGetAnswer, MemorySearchAnswer, Record


def agent_tools(access: AgentAccess) -> tuple[AgentTool, ...]:
    """Every tool that this session of an agent has."""
    return (_search(access), _get(access), *fact_tools(access), *remember_tools(access))


def _search(access: AgentAccess) -> AgentTool:
    def call(given: Mapping[str, Any], cancel: CancelToken) -> Record:
        return memory_search(access, given["query"], given.get("maxResults"), given.get("minScore"), cancel=cancel)

    query = {
        "type": "string",
        "maxLength": LONGEST_QUERY,
        "description": 'A question or words, in any language. Understood besides: "exact words", -without, '
        "path:folder, tag:name, source:sessions, agent:codex, after:2026-05, before:7d.",
    }
    most = {
        "type": "integer",
        "minimum": 1,
        "maximum": MOST_RESULTS,
        "description": f"How many passages at most; {access.settings.query.max_results} if left out.",
    }
    least = {
        "type": "number",
        "minimum": 0,
        "maximum": 1,
        "description": f"Lowest score of a passage; {access.settings.query.min_score:g} if left out. 0 shows weak "
        "matches too.",
    }
    return AgentTool(
        name="memory_search",
        title="Search the memory",
        description=(
            "Search the person's notes and past sessions with AI agents by words and by meaning. Call it before "
            "answering about earlier work, decisions, dates, people, preferences or todos. Answers the best passages "
            "with path, lines and score (0 to 1, absolute); read more round one with memory_get. Where the answer says "
            "disabled, tell the person its warning and action."
        ),
        parameters=schema(required=("query",), query=query, maxResults=most, minScore=least),
        answers=MemorySearchAnswer,
        call=call,
    )


def _get(access: AgentAccess) -> AgentTool:
    def call(given: Mapping[str, Any], cancel: CancelToken) -> Record:
        return memory_get(access, given["path"], given.get("from"), given.get("lines"), cancel=cancel)

    path = {
        "type": "string",
        "description": "As memory_search gives it, or a citation: notes/a.md or notes/a.md#L5-L9.",
    }
    start = {"type": "integer", "minimum": 1, "description": "The first line; 1 if left out."}
    lines = {"type": "integer", "minimum": 1, "description": f"How many lines; {PAGE_LINES} if left out."}
    return AgentTool(
        name="memory_get",
        title="Read from the memory",
        description=(
            "Read lines of a note or a past session that memory_search found. Ask for the lines that you need; a page "
            f"has at most {PAGE_CHARACTERS:,} characters, and nextFrom says where the next one begins."
        ),
        parameters=schema(required=("path",), path=path, **{"from": start, "lines": lines}),
        answers=MemoryGetAnswer,
        call=call,
    )
