"""Functions and classes of locked packages, one note each, with queries for their names written in three ways."""

import ast
import hashlib
import re
import textwrap
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

from tests.benchmarks.labelled.labelled_query import LabelledQuery

KINDS = {"written": "identifiers as written", "parts": "their parts as words", "style": "in another case style"}
_PACKAGES = ("boto3", "click", "flask", "hypothesis", "jinja2", "requests", "rich", "urllib3", "werkzeug")
_SHORTEST = 60
"""Fewest characters of a docstring."""
_QUERIES = 150
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_STYLES: tuple[Callable[[Sequence[str]], str], ...] = (
    "_".join,
    "-".join,
    lambda parts: "".join(part.title() for part in parts),
    lambda parts: parts[0] + "".join(part.title() for part in parts[1:]),
)


def write_identifiers(folder: Path) -> list[LabelledQuery]:
    """Write a note for each definition; each query is answered by the notes that define the name it spells."""
    defined: dict[tuple[str, ...], dict[str, str]] = defaultdict(dict)
    for package in _PACKAGES:
        (folder / package).mkdir()
        for number, (name, text) in enumerate(_definitions(package)):
            note = f"{package}/{number:04}.md"
            (folder / note).write_text(f"```python\n{text}\n```\n", "utf-8")
            defined[tuple(part.lower() for part in _PART.findall(name))][note] = name
    several = [parts for parts in defined if len(parts) > 1]
    chosen = sorted(several, key=lambda parts: _hash(" ".join(parts)))[:_QUERIES]
    return [query for parts in chosen for query in _queries(parts, defined[parts])]


def _queries(parts: Sequence[str], notes: dict[str, str]) -> Iterator[LabelledQuery]:
    gains = dict.fromkeys(notes, 1)
    name = next(iter(notes.values()))
    others = [text for style in _STYLES if (text := style(parts)) not in notes.values()]
    yield LabelledQuery(name, "written", gains)
    yield LabelledQuery(" ".join(parts), "parts", gains)
    yield LabelledQuery(others[_hash(name)[0] % len(others)], "style", gains)


def _definitions(package: str) -> Iterator[tuple[str, str]]:
    """Yield the name of each public definition with a docstring, and its source up to the end of the docstring."""
    spec = find_spec(package)
    assert spec is not None
    assert spec.origin is not None
    for path in sorted(Path(spec.origin).parent.rglob("*.py")):
        source = path.read_text("utf-8")
        lines = source.splitlines()
        for node in ast.walk(ast.parse(source)):
            if not isinstance(node, (ast.ClassDef, ast.FunctionDef)) or node.name.startswith("_"):
                continue
            if len(ast.get_docstring(node) or "") >= _SHORTEST:
                yield node.name, textwrap.dedent("\n".join(lines[node.lineno - 1 : node.body[0].end_lineno]))


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()
