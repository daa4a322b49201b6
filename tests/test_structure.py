"""The structure of the code that CONTRIBUTING promises and import-linter doesn't check."""

import ast
from collections.abc import Iterable, Iterator
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.helpers.sources import ROOT, syntax_trees

LONGEST = 500
"""Lines of a module."""
LONGEST_FUNCTION = 60
"""Lines of a function."""
MAX_MODULES = 587
"""Without those that read the transcripts of agents."""
MAX_PRIVATE = 77
"""Uses of private attributes in tests."""
MAX_PATCHED = 96
"""Module constants that tests replace. The limits follow the figures in CONTRIBUTING down, and never up."""


CALLED_BY_LIBRARIES = {
    "_File": "apsw calls the methods of an open file",
    "_PrintableStream": "print and others write to it as to a stream",
    "_Marker": "watchdog's inotify calls it",
    "_InotifyTree": "watchdog's inotify calls it",
    "Checkable": "Qt calls the methods of the widgets that it is mixed into",
    "Handler": "watchdog calls it; the class is within a function",
}
"""Classes whose methods a library calls although they have no base class of it that can be looked up."""


def modules() -> dict[str, Path]:
    """Every module of the program by its dotted name."""
    paths = [path for top in ("engine", "gui") for path in (ROOT / top).rglob("*.py")]
    return {dotted(path.relative_to(ROOT).as_posix()): path for path in paths}


def dotted(path: str) -> str:
    """The name of the module in the file of this path below the root."""
    return path.removesuffix(".py").replace("/", ".").removesuffix(".__init__")


class ModuleFacts(NamedTuple):
    """Facts about one module of the program; its tree would need much memory."""

    path: str
    imports: frozenset[str]
    """The program's own modules that it imports anywhere, also for types only."""
    functions: dict[str, int]
    """Number of lines by location and name."""
    used_names: frozenset[str]
    classes: list[tuple[str, list[str]]]
    """The name of each class, and the names of its methods."""
    unassigned: list[str]
    """Attributes that a class looks for in itself and the module assigns nowhere, with their locations."""


@pytest.fixture(scope="module")
def program() -> list[ModuleFacts]:
    known = set(modules())
    found = []
    for path, tree in syntax_trees("engine", "gui"):
        nodes = list(ast.walk(tree))
        functions = [node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
        sizes = {
            f"{path}:{one.lineno} {one.name}": (one.end_lineno or one.lineno) - one.lineno + 1 for one in functions
        }
        classes = [
            (node.name, [one.name for one in node.body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)])
            for node in nodes
            if isinstance(node, ast.ClassDef)
        ]
        names = frozenset(names_in(nodes))
        unassigned = [f"{path}:{place}" for place in unassigned_attributes(nodes)]
        found.append(ModuleFacts(path, frozenset(imports(nodes, known)), sizes, names, classes, unassigned))
    return found


def imports(nodes: Iterable[ast.AST], known: set[str]) -> Iterator[str]:
    """The program's own modules that these nodes import."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                if inner in known or node.module in known:
                    yield inner if inner in known else node.module


def names_in(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """The names that code uses, also as strings; definitions are none."""
    for node in nodes:
        match node:
            case ast.Attribute(attr=name) | ast.Name(id=name) | ast.keyword(arg=str(name)):
                yield name
            case ast.Constant(value=str(text)) if text.isidentifier():
                yield text


def unassigned_attributes(nodes: list[ast.AST]) -> Iterator[str]:
    """The line and name of each attribute in `hasattr(self, "_name")` that no node assigns."""
    assigned = {node.attr for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)}
    for node in nodes:
        match node:
            case ast.Call(func=ast.Name(id="hasattr"), args=[ast.Name(id="self"), ast.Constant(value=str(name))]) if (
                name not in assigned
            ):
                yield f"{node.lineno} {name}"


def test_imports_have_no_cycles(program) -> None:
    graph = {dotted(module.path): module.imports - {dotted(module.path)} for module in program}
    graph["engine"] = frozenset()  # the public API imports the modules that it exports when they are first used
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_modules_are_short() -> None:
    sizes = {name: len(path.read_text("utf-8").splitlines()) for name, path in modules().items()}
    assert not {name: size for name, size in sizes.items() if size > LONGEST}


def test_functions_are_short(program) -> None:
    sizes = {name: size for module in program for name, size in module.functions.items()}
    assert not {name: size for name, size in sizes.items() if size > LONGEST_FUNCTION}


def test_number_of_modules_does_not_grow() -> None:
    agents = tuple(f"engine.corpus.transcripts.{package}." for package in ("agents", "parsers"))
    assert sum(not name.startswith(agents) for name in modules()) <= MAX_MODULES


def is_private(name: str) -> bool:
    """Whether an attribute is private; `_replace` and the like are the public methods of named tuples."""
    return name.startswith("_") and not name.startswith("__") and name not in ("_replace", "_asdict", "_fields")


@pytest.fixture(scope="module")
def tests() -> list[tuple[str, ast.Module, list[ast.AST]]]:
    """The path, the tree and all nodes of each file of tests; not longer than for this file: they need much memory."""
    return [(path, tree, list(ast.walk(tree))) for path, tree in syntax_trees("tests")]


def test_tests_use_few_private_attributes(tests) -> None:
    found = 0
    for node in (node for _, _, nodes in tests for node in nodes if isinstance(node, ast.Attribute)):
        own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
        found += is_private(node.attr) and not own
    assert found <= MAX_PRIVATE


def patched_name(node: ast.AST) -> str:
    """The name that a call of `monkeypatch.setattr` replaces, if it is written there."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "setattr":
        for argument in node.args[:2]:
            constants = [part.value for part in ast.walk(argument) if isinstance(part, ast.Constant)]
            written = "".join(value for value in constants if isinstance(value, str))
            if written:
                return written.rpartition(".")[2]
    return ""


def test_tests_replace_few_module_constants(tests) -> None:
    patched = (patched_name(node).lstrip("_") for _, _, nodes in tests for node in nodes)
    assert sum(name.isupper() for name in patched) <= MAX_PATCHED


def test_test_names_are_unique_and_at_most_60_characters(tests) -> None:
    for path, tree, _ in tests:
        names = [node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]
        assert len(set(names)) == len(names), path
        assert [name for name in names if len(name) > 60] == [], path


def test_attributes_named_in_hasattr_exist(program) -> None:
    """Finds `hasattr(self, "_timer")` after a renaming of `_timer`, which is always false."""
    assert [place for module in program for place in module.unassigned] == []


def test_methods_are_used_or_override_a_library(program) -> None:
    """Finds methods that nothing calls, such as one that was renamed only in its base class."""
    used = {name for module in program for name in module.used_names}
    unused = []
    for module in program:
        for of, methods in module.classes:
            uncalled = [name for name in methods if name not in used and not name.startswith("__")]
            if uncalled and of not in CALLED_BY_LIBRARIES:
                bases = getattr(import_module(dotted(module.path)), of).__mro__[1:]
                unused += [
                    f"{module.path} {of}.{name}" for name in uncalled if not any(hasattr(b, name) for b in bases)
                ]
    assert unused == []
