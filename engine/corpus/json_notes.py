"""Converts notes that are stored as JSON to Markdown: the cards of a canvas, and the cells of a notebook.

`.canvas` is JSON Canvas 1.0 (2024-03-11, jsoncanvas.org), `.ipynb` the Jupyter notebook formats 3 and 4
(nbformat.readthedocs.io). The same text is indexed, shown and returned to agents, so lines are the same everywhere.
Files are parsed in steps, at most 500 levels deep and 64 MiB large.
"""

import re
from collections.abc import Iterable, Iterator
from io import BytesIO
from typing import Any, NamedTuple

from engine.base import lazy_pattern, skip_reasons
from engine.base.bounded_json import DividedStrings, built
from engine.corpus import markdown_line_types
from engine.corpus.transcripts.json_values import items

ENDINGS = (".canvas", ".ipynb")
LARGEST = 64 * 1024 * 1024
"""Largest file in bytes; larger ones are neither indexed nor shown as Markdown."""
_BLOCK = 64 * 1024
_MAX_OUTPUT = 20_000
"""Maximum number of characters of the outputs of one cell."""
_MAX_NAME = 60
_MAX_GROUPS = 100
"""Maximum number of groups that are read; cards in other groups are listed before the groups."""
_ESCAPES = lazy_pattern(r"\x1b\[[0-9;?]*[A-Za-z]")
_TICKS = lazy_pattern(r"^ {0,3}(`{3,})", re.MULTILINE)
_OUTPUT = "Output"
"""The line between the code of a cell and its output."""
_LANGUAGE = lazy_pattern(r"[\w+#.-]{1,40}")
_NO_TEXT = ("<Figure size", "<IPython.core")
"""Beginnings of output text that only stands for a picture or a widget."""


def is_json_note(name: str) -> bool:
    """Whether the file with this name is a canvas or a notebook."""
    return name.lower().endswith(ENDINGS)


def readable(data: bytes, name: str) -> str:
    """Return a canvas or notebook as Markdown. Raises ValueError, with a sentence, for any other content."""
    import ijson

    if len(data) > LARGEST:
        raise ValueError(skip_reasons.LARGE_JSON_NOTE.message(limit=LARGEST))
    try:
        document = built(ijson.basic_parse(DividedStrings(BytesIO(data)), use_float=True, buf_size=_BLOCK))
    except (ijson.JSONError, UnicodeDecodeError) as error:
        raise ValueError(skip_reasons.BROKEN_DOCUMENT.message(what=str(error).partition("\n")[0])) from None
    if not isinstance(document, dict):
        raise ValueError(skip_reasons.NO_JSON_NOTE.message())
    if name.lower().endswith(".canvas"):
        parts = _canvas(document)
    else:
        if document.get("nbformat") not in (3, 4):
            raise ValueError(skip_reasons.OTHER_NOTEBOOK.message())
        parts = _notebook(document)
    text = "\n\n".join(part for part in (_clean(part).strip("\n") for part in parts) if part)
    return f"{text}\n" if text else ""


# --- canvas -----------------------------------------------------------------------------------------------------------


def _canvas(canvas: dict[str, Any]) -> Iterator[str]:
    """Yield the cards from top to bottom, those in a group below its label, then the labels of lines between cards."""
    nodes = [node for node in items(canvas, "nodes") if isinstance(node, dict)]
    groups = sorted((node for node in nodes if node.get("type") == "group"), key=_position)
    # Of nested groups, the smallest one is the card's.
    areas = sorted((_Area.of(group, number) for number, group in enumerate(groups[:_MAX_GROUPS])), key=_Area.size)
    cards = sorted((node for node in nodes if node.get("type") != "group"), key=_position)
    inside: dict[int, list[dict[str, Any]]] = {}
    for card in cards:
        across, down = _centre_of(card)
        number = next((area.group for area in areas if area.contains(across, down)), -1)
        inside.setdefault(number, []).append(card)
    yield from _separated(inside.get(-1, ()))
    for number, group in enumerate(groups):
        label = " ".join(_string(group.get("label")).split())
        yield f"# {label}" if label else "---" if inside.get(number) else ""
        yield from _separated(inside.get(number, ()))
    lines = list(_labelled_lines(items(canvas, "edges"), nodes))
    yield "\n".join(["---", "", *lines] if lines else [])


_ENDS = ("fromNode", "toNode")


def _labelled_lines(edges: Iterable[Any], nodes: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Yield each line between cards that has a label, with the names of its cards."""
    names = {node.get("id"): _name(node) for node in nodes if isinstance(node.get("id"), str)}
    for edge in edges:
        if isinstance(edge, dict) and (label := " ".join(_string(edge.get("label")).split())):
            ends = (names.get(end, "") if isinstance(end := edge.get(key), str) else "" for key in _ENDS)
            yield f"- {' → '.join(filter(None, ends))}: {label}"


def _separated(cards: "list[dict[str, Any]] | tuple[()]") -> Iterator[str]:
    for number, card in enumerate(cards):
        if text := _card(card):
            yield f"---\n\n{text}" if number else text


def _card(card: dict[str, Any]) -> str:
    match card.get("type"):
        case "text":
            return _closed(_string(card.get("text")))
        case "file":
            file = _string(card.get("file"))
            is_note = file.lower().endswith((".md", *ENDINGS))
            return f"{'' if is_note else '!'}[[{file}{_string(card.get('subpath'))}]]"
        case "link":
            return f"<{_string(card.get('url'))}>"
    return ""


def _name(node: dict[str, Any]) -> str:
    """Return the beginning of a card's text, on one line."""
    text = _string(node.get("label")) if node.get("type") == "group" else _card(node).removeprefix("!")
    first = next((line for line in text.split("\n") if line.strip()), "")
    return markdown_line_types.plain_title(first.lstrip("# "))[:_MAX_NAME]


def _position(node: dict[str, Any]) -> tuple[float, float]:
    return _number(node.get("y")), _number(node.get("x"))


class _Area(NamedTuple):
    """The rectangle of a canvas group."""

    left: float
    right: float
    top: float
    bottom: float
    group: int

    @classmethod
    def of(cls, group: dict[str, Any], number: int) -> "_Area":
        left, top = _number(group.get("x")), _number(group.get("y"))
        return cls(left, left + _number(group.get("width")), top, top + _number(group.get("height")), number)

    def size(self) -> float:
        return (self.right - self.left) * (self.bottom - self.top)

    def contains(self, across: float, down: float) -> bool:
        return self.left <= across <= self.right and self.top <= down <= self.bottom


def _centre_of(card: dict[str, Any]) -> tuple[float, float]:
    across = _number(card.get("x")) + _number(card.get("width")) / 2
    return across, _number(card.get("y")) + _number(card.get("height")) / 2


# --- notebook ---------------------------------------------------------------------------------------------------------


def _notebook(notebook: dict[str, Any]) -> Iterator[str]:
    language = _language(notebook.get("metadata"))
    for cell in _cells(notebook):
        code = cell.get("cell_type") == "code"
        source = _string(cell.get("source", cell.get("input") if code else ""))  # `input`, `language`: format 3
        if cell.get("cell_type") == "heading":
            yield f"{'#' * int(max(1, min(6, _number(cell.get('level', 1)))))} {' '.join(source.split())}"
        elif not code:
            yield _closed(source)
        elif source.strip():
            yield _fenced(source, language or _known(cell.get("language")))
        if code:
            output = "\n".join(filter(None, map(_output, items(cell, "outputs"))))
            if output := _ESCAPES.sub("", output).strip("\n"):
                if source.strip():
                    yield _OUTPUT  # else the two blocks of code look like one
                more = "\n…" if len(output) > _MAX_OUTPUT else ""
                yield _fenced(output[:_MAX_OUTPUT] + more, "")


def _cells(notebook: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the cells of a notebook, which format 3 stores in worksheets."""
    for part in (notebook, *items(notebook, "worksheets")):
        if isinstance(part, dict):
            yield from (cell for cell in items(part, "cells") if isinstance(cell, dict))


def _known(language: object) -> str:
    return language if isinstance(language, str) and _LANGUAGE.fullmatch(language) else ""


def _language(metadata: object) -> str:
    for key, field in (("language_info", "name"), ("kernelspec", "language")):
        about = metadata.get(key) if isinstance(metadata, dict) else None
        if name := _known(about.get(field) if isinstance(about, dict) else ""):
            return name
    return ""


def _output(output: object) -> str:
    if not isinstance(output, dict):
        return ""
    match output.get("output_type"):
        case "stream":
            return _string(output.get("text")).rstrip("\n")
        case "error" | "pyerr":
            return f"{_string(output.get('ename'))}: {_string(output.get('evalue'))}"
        case "execute_result" | "display_data" | "pyout":
            data = output.get("data", output)  # in format 3, the data is in the output itself
            if not isinstance(data, dict):
                return ""
            texts = (_string(data.get(kind)).rstrip("\n") for kind in ("text/markdown", "text/plain", "text"))
            text = next(filter(None, texts), "")
            return "" if text.startswith(_NO_TEXT) else text
    return ""


def _fenced(text: str, language: str) -> str:
    text = _clean(text)
    ticks = max((len(found) for found in _TICKS.findall(text)), default=2) + 1
    marks = "`" * max(3, ticks)
    text = text.strip("\n")
    return f"{marks}{language}\n{text}\n{marks}"


# --- values of any type -----------------------------------------------------------------------------------------------


def _closed(text: str) -> str:
    """Return the text with its last fenced code closed, which would otherwise include all that follows."""
    text = _clean(text)
    fence = ""
    for line in text.split("\n") if "```" in text or "~~~" in text else ():
        if fence and markdown_line_types.is_below_item(line, fence):
            fence = ""
        if not fence:
            fence = markdown_line_types.fence_marks(line)
        elif markdown_line_types.closes_fence(line, fence):
            fence = ""
    return f"{text}\n{fence}" if fence else text


def _clean(text: str) -> str:
    """Return text that can be stored: valid Unicode, with "\\n" line ends."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
    return text.encode("utf-8", "replace").decode()


def _string(value: object) -> str:
    """Return a string, or the lines of a list of strings joined; "" for any other value."""
    if isinstance(value, list):
        return "".join(part for part in value if isinstance(part, str))
    return value if isinstance(value, str) else ""


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
