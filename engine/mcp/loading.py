"""Loads the half of the package `mcp` that a server on standard input and output needs, since clients wait for it."""

import gc
import importlib
import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

_PASSED_OVER = ("mcp", "mcp.server")
"""Packages whose own `__init__` loads what this server has no use for: a client, HTTP, decorators for functions."""


def load_sdk() -> None:
    """Import what the server needs of `mcp`."""
    with _without_collector(), _built_when_used(), _lean_packages():
        importlib.import_module("mcp.server.lowlevel.server")


@contextmanager
def _without_collector() -> Iterator[None]:
    """A thousand classes are made, and none of them is garbage: looking for some takes a sixth of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@contextmanager
def _built_when_used() -> Iterator[None]:
    """Let each message's class be built when the first such message comes: most never do. A fifth of the time."""
    from pydantic import BaseModel

    BaseModel.model_config["defer_build"] = True
    try:
        yield
    finally:
        del BaseModel.model_config["defer_build"]


@contextmanager
def _lean_packages() -> Iterator[None]:
    """Let modules of these packages be imported without what their packages would import besides.

    That is a third of the start. Afterwards the packages are as if nobody had imported them yet.
    """
    stand_ins: dict[str, ModuleType] = {}
    for name in _PASSED_OVER:
        if name not in sys.modules and (spec := importlib.util.find_spec(name)) is not None:
            stand_ins[name] = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        yield
    finally:
        for name, module in stand_ins.items():
            if sys.modules.get(name) is module:
                del sys.modules[name]
