"""Tests a backend before it is chosen: nothing is indexed, and open memories are unchanged."""

import importlib
from pathlib import Path
from typing import Protocol, cast

from engine.base.cancellation import CancelToken
from engine.base.language import tr
from engine.settings import Settings

_HOMES = {"qmd": "engine.backends.qmd.connection_check", "lancedb": "engine.backends.lancedb.connection_check"}


class _TryOut(Protocol):
    def __call__(self, workspace: Path, settings: Settings, cancel: CancelToken | None) -> str: ...


def try_backend(workspace: Path, settings: Settings, *, cancel: CancelToken | None = None) -> str:
    """Describe the backend of these settings in a sentence; may take seconds.

    Raises `BackendError` with the reason why it doesn't work, `Cancelled`.
    """
    home = _HOMES.get(settings.backend)
    if home is None:
        return tr("It is a part of this program, and ready.")
    return cast("_TryOut", importlib.import_module(home).try_out)(workspace, settings, cancel)
