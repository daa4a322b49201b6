"""`memory_context`: relevant memory for a message, for programs whose model can't call tools."""

import logging
import re

from engine.agent.access import AgentAccess
from engine.agent.error_messages import said
from engine.agent.memory_search import asked
from engine.agent.passages import cited_passages, untrusted_block
from engine.base.cancellation import CancelToken
from engine.records import cite
from engine.text.characters import cut

_MOST = 5
_LONGEST_QUESTION = 1000
_OPERATORS = re.compile(r'[":*]|(?<!\S)-|\bOR\b')

log = logging.getLogger(__name__)


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
