"""How `mnemoscope index` comes by a model of the hub: it asks, or was told --yes."""

import sys

from engine.base.errors import ProviderError
from engine.base.formatting import size
from engine.cli.embedding_messages import can_ask
from engine.cli.output import safe
from engine.cli.progress import LiveLine
from engine.cli.workspace import interruptible
from engine.embedding.gguf_models import missing_model
from engine.records import ModelFetchProgress
from engine.settings import Settings


def fetch_missing(settings: Settings, *, agreed: bool, may_ask: bool) -> str:
    """Fetch the model of the settings if it is missing and somebody agrees to it; why that failed, else "".

    Raises `Cancelled`.
    """
    model = missing_model(settings)
    if not model or not (agreed or (may_ask and can_ask())):
        return ""
    from engine.embedding.hub import fetch_model, hub_host  # costs an HTTP client

    try:
        if agreed or _ask(model, hub_host()):
            with interruptible() as token, LiveLine() as line:
                fetch_model(settings, progress=lambda step: line.show(_shown(step)), cancel=token)
            print(f"Fetched {safe(model)}.", file=sys.stderr)
    except ProviderError as error:
        return str(error)
    return ""


def _ask(model: str, host: str) -> bool:
    question = f"The model {safe(model)} is not on this computer. Fetch it from {safe(host)}? [y/N] "
    print(question, end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def _shown(step: ModelFetchProgress) -> str:
    share = step.received / step.total if step.total else 1
    return f"Fetching {share:.0%} · {size(step.received)} of {size(step.total)} · {safe(step.model)}"
