"""`memory_prompt_section`: describes the memory to a model, as part of its system prompt."""

from collections.abc import Collection
from typing import Literal

PromptMode = Literal["full", "minimal", "none"]

_WHEN = "an answer depends on earlier work, decisions, dates, people, preferences or todos"
_UNSURE = "If you are still unsure after looking, say that you looked and did not find it."


def memory_prompt_section(mode: PromptMode, tools: Collection[str], *, citations: bool = True) -> str:
    """Return the section about using memory; empty unless `mode` is full and `tools` contains one of the memory tools.

    `citations`: whether answers should name locations.
    """
    how = _how("memory_search" in tools, "memory_get" in tools)
    if mode != "full" or not how:
        return ""
    told = (
        "Where it helps the user to check, name the source of what you found, as path#line."
        if citations
        else "Do not name paths or lines of the memory's files unless the user asks for them."
    )
    return f"## Memory Recall\n{how} {_UNSURE}\n{told}\n"


def _how(search: bool, get: bool) -> str:
    if search and get:
        return (
            f"When {_WHEN}, first search the user's notes and past sessions with memory_search; then read only the "
            "lines that you need with memory_get."
        )
    if search:
        return f"When {_WHEN}, first search the user's notes and past sessions with memory_search."
    if get:
        return f"When {_WHEN} that a known note holds, first read the lines that you need with memory_get."
    return ""
