import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def load(monkeypatch) -> Callable[[str], ModuleType]:
    """Import a fresh copy of a file of packaging/, which isn't a package, and whose name is taken by a library."""
    return _loader(monkeypatch)


@pytest.fixture(scope="module")
def load_once() -> Iterator[Callable[[str], ModuleType]]:
    """Import like `load`, once for all tests of a file: none of them may leave the module changed."""
    with pytest.MonkeyPatch.context() as patch:
        yield _loader(patch)


def _loader(patch: pytest.MonkeyPatch) -> Callable[[str], ModuleType]:
    patch.syspath_prepend(str(ROOT / "packaging"))

    def load(name: str) -> ModuleType:
        spec = importlib.util.spec_from_file_location(name, ROOT / "packaging" / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        patch.setitem(sys.modules, name, module)
        spec.loader.exec_module(module)
        return module

    return load
