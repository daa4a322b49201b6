"""Error messages for agents: what went wrong, and what the user can do about it."""

import logging

from engine.agent.access import TooSlow
from engine.base.errors import Cancelled, MnemoscopeError, ProviderError
from engine.logs import redact
from engine.records import MemorySearchAnswer

log = logging.getLogger(__name__)

_QUOTA = ("insufficient_quota", "quota", "429")
_LONGEST = 500


def said(error: BaseException) -> str:
    """An error as one sentence for an agent; keys are masked, and unexpected errors are logged too."""
    try:
        text = " ".join(str(error).split())
        if not isinstance(error, MnemoscopeError | TooSlow):
            log.warning("An agent's question failed", exc_info=error)
            text = f"{type(error).__name__}: {text}"
        return redact(text)[:_LONGEST] or type(error).__name__
    except Exception:  # an error that cannot even be printed
        return type(error).__name__


def unavailable(error: BaseException) -> MemorySearchAnswer:
    """The answer of a search that failed."""
    sentence = said(error)
    warning, action = _advice(error, sentence)
    return MemorySearchAnswer(disabled=True, unavailable=True, error=sentence, warning=warning, action=action)


def _advice(error: BaseException, sentence: str) -> tuple[str, str]:
    if any(sign in sentence.lower() for sign in _QUOTA):
        return (
            "The memory cannot be searched: the quota of the embedding provider is used up.",
            "Raise the quota or choose another embedding provider in Mnemoscope's settings, then search again.",
        )
    if isinstance(error, ProviderError):
        return (
            "The memory cannot be searched: the embedding provider cannot be used.",
            (
                "Check the embedding provider in Mnemoscope's settings (mnemoscope doctor has details), then "
                "search again."
            ),
        )
    if isinstance(error, TooSlow):
        return "The memory took too long to answer.", "Go on without it for now, and search again in a minute."
    if isinstance(error, Cancelled):
        return "The search was cancelled.", "Search again if the answer is still needed."
    return (
        "The memory cannot be searched now.",
        "Run mnemoscope doctor to find the problem; until then report that the memory could not be searched.",
    )
