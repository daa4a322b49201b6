"""Real text that hides planted notes; every machine with the development lock has it.

Docstrings of the standard library and of locked packages, one note per module; the sentences of Qt's translations in
sixteen languages, a dozen per note; and the sample workspace, which is written as people write. The text differs
somewhat in other versions of Python or of the packages.
"""

import ast
import struct
import sysconfig
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from itertools import islice
from pathlib import Path

from tests.benchmarks.measuring import ROOT

_PACKAGES = ("anyio", "hypothesis", "more_itertools", "numpy", "pydantic", "rich", "sortedcontainers")
_SKIPPED = ("ensurepip", "idlelib", "lib2to3", "site-packages", "test", "tests")
_MIN = 300
_MAX = 20_000
"""Most characters of one module."""
_LANGUAGES = ("ar", "cs", "de", "es", "fr", "it", "ja", "ko", "nl", "pl", "pt_BR", "ru", "sv", "tr", "uk", "zh_CN")
_DENSE = {"ja": 16, "ko": 16, "zh_CN": 16}
_SENTENCE = 40
"""Fewest characters of a translation that counts as a sentence; dense scripts need fewer."""
_SENTENCES = 12
_QM_MAGIC = bytes.fromhex("3cb86418caef9c95cd211cbf60a1bddd")
_QM_MESSAGES, _QM_END, _QM_TRANSLATION, _QM_OBSOLETE = 0x69, 1, 3, 5
_NO_TEXT = 0xFFFFFFFF


def write_haystack(folder: Path) -> int:
    """Write the notes and return their number."""
    return _write(folder, (*_docstrings(), *_translations(), *_sample()))


def write_docstrings(folder: Path) -> int:
    """Write only the long notes, one per module, and return their number."""
    return _write(folder, _docstrings())


def _write(folder: Path, notes: Iterable[tuple[str, str]]) -> int:
    count = 0
    for name, text in notes:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        count += 1
    return count


def _docstrings() -> Iterator[tuple[str, str]]:
    roots = [("python", Path(sysconfig.get_path("stdlib")))]
    for package in _PACKAGES:
        spec = find_spec(package)
        if spec is not None and spec.origin is not None:
            roots.append((package, Path(spec.origin).parent))
    for name, root in roots:
        for path in sorted(root.rglob("*.py")):
            parts = path.relative_to(root).parts
            if set(parts) & set(_SKIPPED):
                continue
            if text := _documentation(path):
                module = ".".join(parts).removesuffix(".py")
                yield f"haystack/{name}/{module}.md", f"# {module}\n\n{text}\n"


def _documentation(path: Path) -> str:
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):
        return ""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef)
    found = [ast.get_docstring(node) for node in ast.walk(tree) if isinstance(node, kinds)]
    text = "\n\n".join(filter(None, found))
    return text[:_MAX] if len(text) >= _MIN else ""


def _translations() -> Iterator[tuple[str, str]]:
    spec = find_spec("PySide6")
    assert spec is not None
    assert spec.origin is not None
    folder = Path(spec.origin).parent / "Qt" / "translations"
    for language in _LANGUAGES:
        least = _DENSE.get(language, _SENTENCE)
        entries = [text for path in sorted(folder.glob(f"*_{language}.qm")) for text in _entries(path.read_bytes())]
        sentences = dict.fromkeys(text for text in entries if len(text) >= least)
        left = iter(sentences)
        for number in range(-(-len(sentences) // _SENTENCES)):
            yield f"haystack/qt/{language}-{number:03}.md", "\n\n".join(islice(left, _SENTENCES)) + "\n"


def _entries(raw: bytes) -> Iterator[str]:
    """Return the translated texts of a .qm file."""
    assert raw.startswith(_QM_MAGIC)
    at = len(_QM_MAGIC)
    while at < len(raw):
        section, length = struct.unpack_from(">BI", raw, at)
        at += 5
        if section == _QM_MESSAGES:
            yield from _messages(raw[at : at + length])
        at += length


def _messages(raw: bytes) -> Iterator[str]:
    at = 0
    while at < len(raw):
        tag, at = raw[at], at + 1
        if tag == _QM_END:
            continue
        (length,) = struct.unpack_from(">I", raw, at)
        at += 4
        if tag == _QM_OBSOLETE or length == _NO_TEXT:
            continue
        if tag == _QM_TRANSLATION:
            yield raw[at : at + length].decode("utf-16-be")
        at += length


def _sample() -> Iterator[tuple[str, str]]:
    sample = ROOT / "resources" / "sample"
    for path in sorted(sample.rglob("*.md")):
        yield f"haystack/sample/{path.relative_to(sample).as_posix()}", path.read_text("utf-8")
