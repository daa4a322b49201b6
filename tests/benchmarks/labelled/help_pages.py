"""The help pages of a desktop in many languages, one note each; the query for a page is its summary, which no note
contains.

Queries in the language of the notes measure that language, the others how meaning reaches across languages. The package
is GNOME's; none of its text is part of this project.
"""

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

from tests.benchmarks.labelled.debian_packages import unpacked
from tests.benchmarks.labelled.labelled_query import LabelledQuery

LANGUAGES = ("en", "de", "es", "fr", "it", "ja", "ko", "nl", "pl", "pt", "ru", "cs", "el", "fi", "hu", "sv", "uk", "vi")
"""The built-in model doesn't know the last seven."""
_PACKAGE = "gnome-user-docs=43.0-2"
_SHA256 = "0d635a840747958ca84da778b40d341f1155603851f922c9a171f5a181d6a39f"
_BLOCKS = {"p", "code", "screen"}
_LEFT_OUT = {"info", "links", "media", "comment"}
_MIN = 200
"""Fewest characters of a page; shorter ones only list others."""


def write_help_pages(language: str, cache: Path, folder: Path) -> list[LabelledQuery]:
    """Write the translated pages in this language; the kind of a query is its language."""
    root = unpacked(_PACKAGE, _SHA256, cache) / "usr/share/help"
    queries = []
    for path in sorted((root / "C/gnome-help").glob("*.page")):
        pages = {of: _page(root / ("C" if of == "en" else of) / "gnome-help" / path.name) for of in LANGUAGES}
        summaries = {of: _text(page.find("info/desc")) for of, page in pages.items()}
        translated = {of: text for of, text in summaries.items() if text and (of == "en" or text != summaries["en"])}
        text = "\n\n".join(_markdown(pages[language]))
        if language in translated and len(text) >= _MIN:
            note = f"{path.stem}.md"
            (folder / note).write_text(f"{text}\n", "utf-8")
            queries += [LabelledQuery(summary, of, {note: 1}) for of, summary in translated.items()]
    return queries


def _page(path: Path) -> ET.Element:
    """Return the root of a page, its tags without their namespace."""
    root = ET.parse(path).getroot()
    for node in root.iter():
        node.tag = node.tag.rpartition("}")[2]
    return root


def _markdown(node: ET.Element, level: int = 1, indent: str = "") -> Iterator[str]:
    """Return the blocks of a page or a section, in reading order."""
    for child in node:
        if child.tag == "title":
            yield f"{'#' * level} {_text(child)}"
        elif child.tag in _BLOCKS:
            yield indent + _text(child)
            indent = " " * len(indent)
        elif child.tag not in _LEFT_OUT:
            deeper = level + (child.tag == "section")
            yield from _markdown(child, deeper, indent + "- " if child.tag == "item" else indent)


def _text(node: ET.Element | None) -> str:
    return "" if node is None else " ".join("".join(node.itertext()).split())
