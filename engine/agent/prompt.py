"""Memory in a model's prompt: a section of the system prompt, and relevant passages for
programs whose model can't call tools."""

import logging
import re
from collections.abc import Collection
from typing import Literal

from engine.agent.access import AgentAccess
from engine.agent.error_messages import said
from engine.agent.memory_search import asked, cited_passages, untrusted_block
from engine.base.cancellation import CancelToken
from engine.records import cite
from engine.text.characters import cut

PromptMode = Literal["full", "minimal", "none"]

_WHEN = "an answer depends on earlier work, decisions, dates, people, preferences or todos"
_UNSURE = "If you are still unsure after looking, say that you looked and did not find it."

_MOST = 5
_LONGEST_QUESTION = 1000
_OPERATORS = re.compile(r'[":*]|(?<!\S)-|\bOR\b')

log = logging.getLogger(__name__)


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


def memory_context(access: AgentAccess, message: str, *, cancel: CancelToken | None = None) -> str:
    """Return the five passages that match a message best, as one block to put before it; empty if nothing matches.

    The passages are escaped and marked as untrusted. Never raises: returns an empty text on errors.
    """
    # A message is not a query: operators in it are ordinary text.
    question = _OPERATORS.sub(" ", cut(message, _LONGEST_QUESTION))
    if not question.strip():
        return ""
    try:
        outcome, _ = asked(access, question, _MOST, None, cancel)
        # The location of each passage is in the line above it.
        found = cited_passages(outcome.results, cited=False, budget=access.settings.injection_budget)
        cited = access.cites
        return untrusted_block(
            "memory-context",
            ((cite(it.path, it.start_line, it.end_line) if cited else "Passage", it.snippet) for it in found),
        )
    except Exception as error:
        log.info("A message goes without its memory: %s", said(error))
        return ""
