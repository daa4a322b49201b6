"""The engine's door: everything that a front end may use.

Importing it stays cheap (under 100 ms): what a name needs is imported when the name is first used.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from engine.backends.base import MemorySearchManager, ProgressCallback
    from engine.backends.builtin import open_memory
    from engine.control import CancelToken
    from engine.corpus.numbered import NumberedText
    from engine.corpus.preview import preview_workspace
    from engine.errors import *  # noqa: F403
    from engine.logs import configure_logging
    from engine.records import *  # noqa: F403
    from engine.settings import Settings, load_settings
    from engine.text.highlight import highlight_ranges

_HOME = {
    "open_memory": "engine.backends.builtin",
    "MemorySearchManager": "engine.backends.base",
    "ProgressCallback": "engine.backends.base",
    "CancelToken": "engine.control",
    "NumberedText": "engine.corpus.numbered",
    "preview_workspace": "engine.corpus.preview",
    "configure_logging": "engine.logs",
    "Settings": "engine.settings",
    "load_settings": "engine.settings",
    "highlight_ranges": "engine.text.highlight",
}
_SHARED = ("engine.errors", "engine.records")


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    if not name.startswith("_"):
        for module in map(importlib.import_module, _SHARED):
            if hasattr(module, name):
                return getattr(module, name)
    raise AttributeError(f"module 'engine' has no attribute {name!r}")
