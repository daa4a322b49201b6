"""Syntax trees of the project's own source files, for tests of all code."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.helpers.garbage_collection import without_collection

ROOT = Path(__file__).parents[2]


def syntax_trees(*folders: str) -> Iterator[tuple[str, ast.Module]]:
    """Return the path below the project's root and the tree of each Python file in these folders, in order.

    No garbage is collected meanwhile: the passes over all trees took twice as long as reading them.
    """
    with without_collection():
        for folder in folders:
            paths = sorted((ROOT / folder).rglob("*.py"))
            assert paths, f"there is no source file in {folder}"
            for path in paths:
                yield path.relative_to(ROOT).as_posix(), ast.parse(path.read_text("utf-8"))
