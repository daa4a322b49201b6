"""The structure of the code that CONTRIBUTING promises and import-linter doesn't check."""

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LONGEST = 500
"""Lines of a module."""


def modules() -> dict[str, Path]:
    """Every module of the program by its dotted name."""
    paths = [path for top in ("engine", "gui") for path in (ROOT / top).rglob("*.py")]
    return {".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path for path in paths}


def imports(path: Path, known: set[str]) -> Iterator[str]:
    """The program's own modules that a module imports anywhere, also for types only."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                if inner in known or node.module in known:
                    yield inner if inner in known else node.module


def test_imports_have_no_cycles() -> None:
    found = modules()
    graph = {name: {other for other in imports(path, set(found)) if other != name} for name, path in found.items()}
    graph["engine"] = set()  # the public API imports the modules that it exports when they are first used
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_modules_are_short() -> None:
    sizes = {name: len(path.read_text("utf-8").splitlines()) for name, path in modules().items()}
    assert not {name: size for name, size in sizes.items() if size > LONGEST}


def test_test_names_are_unique_and_at_most_60_characters() -> None:
    for path in (ROOT / "tests").rglob("test_*.py"):
        tree = ast.parse(path.read_text("utf-8"))
        names = [node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]
        assert len(set(names)) == len(names), path
        assert [name for name in names if len(name) > 60] == [], path
