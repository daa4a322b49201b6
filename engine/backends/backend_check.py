"""Tries a backend out before it is chosen: nothing is indexed, and what is open stays as it is."""

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
    """What was found of the backend of these settings, as a sentence; may take seconds.

    Raises `BackendError` with what keeps it from working, `Cancelled`.
    """
    home = _HOMES.get(settings.backend)
    if home is None:
        return tr("It is a part of this program, and ready.")
    return cast("_TryOut", importlib.import_module(home).try_out)(workspace, settings, cancel)
