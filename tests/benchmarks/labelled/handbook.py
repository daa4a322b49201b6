"""The Debian handbook in ten languages, a note for each section, with questions written for this in each of them.

Queries in the language of the notes measure that language, the others how meaning reaches across languages. The package
is Debian's; none of its text is part of this project.
"""

import re
import tomllib
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

from tests.benchmarks.labelled.debian_packages import unpacked
from tests.benchmarks.labelled.labelled_query import LabelledQuery

LANGUAGES = {
    "en": "en-US",
    "de": "de-DE",
    "es": "es-ES",
    "fr": "fr-FR",
    "it": "it-IT",
    "pt": "pt-BR",
    "ru": "ru-RU",
    "ar": "ar-MA",
    "ja": "ja-JP",
    "zh": "zh-CN",
}
"""The folder of each language of the queries."""
_PACKAGE = "debian-handbook=11.20220922"
_SHA256 = "3d5dbeac1f1afc9c094eab9d0f701f6ecff99c4927d5a4794cf6c85678134faa"
_HEADINGS = {"h1", "h2", "h3", "h4"}
"""Elements with a heading; a deeper section is part of the one around it."""
_BLOCKS = {"div", "p", "ul", "ol", "li", "dl", "dt", "dd", "pre", "table", "tbody", "tr", "td"}
_LEFT_OUT = {"toc", "titlepage", "docnav"}


def write_handbook(language: str, cache: Path, folder: Path) -> list[LabelledQuery]:
    """Write the sections in this language; the queries are in all languages, and their kind is their language.

    Those of kind "de later" were written after the ranking had been tuned on the others.
    """
    root = unpacked(_PACKAGE, _SHA256, cache) / "usr/share/doc/debian-handbook/html"
    for name, text in _sections(root / LANGUAGES[language]).items():
        (folder / f"{_file_name(name)}.md").write_text(text, "utf-8")
    questions = tomllib.loads(Path(__file__).parent.joinpath("handbook", "questions.toml").read_text("utf-8"))
    return [
        LabelledQuery(
            entry[of],
            f"{of} later" if entry["kind"] == "later question" else of,
            {f"{_file_name(entry['name'])}.md": 1},
        )
        for entry in questions["section"]
        for of in LANGUAGES
    ]


def off_topic() -> dict[str, list[str]]:
    """Return queries that no section answers, by language."""
    read = tomllib.loads(Path(__file__).parent.joinpath("handbook", "off_topic.toml").read_text("utf-8"))
    return {language: entry["questions"] for language, entry in read.items()}


def _file_name(name: str) -> str:
    return re.sub(r"[^\w.-]+", "_", name)


def _sections(folder: Path) -> dict[str, str]:
    """Return the Markdown of the sections with text of their own, by file and anchor, which all languages share."""
    found: dict[str, str] = {}
    for path in sorted(folder.glob("*.html")):
        for node in ET.parse(path).iter():
            title = _heading(node)
            if title is None or _tag(title) not in _HEADINGS:
                continue
            anchor = next((part.get("id") for part in title.iter() if part.get("id")), None)
            blocks = list(_blocks(node))
            if anchor and any(prose for prose, _ in blocks):
                named = _squeezed("".join(title.itertext()))
                found[f"{path.stem}#{anchor}"] = "\n\n".join([f"# {named}", *(text for _, text in blocks)]) + "\n"
    return found


def _blocks(node: ET.Element, indent: str = "") -> Iterator[tuple[bool, str]]:
    """Yield the blocks below a node in reading order, up to the next section, and whether each is prose."""
    text = node.text or ""
    for child in node:
        if _tag(child) in _BLOCKS and not _classes(child) & {"url", "title"}:
            if _squeezed(text):
                yield True, indent + _squeezed(text)
                indent = " " * len(indent)
            for block in _block(child, indent):
                yield block
                indent = " " * len(indent)
            text = ""
        elif _tag(child) == "p":
            yield False, f"**{_squeezed(''.join(child.itertext()))}**"
        else:
            text += _inline(child)
        text += child.tail or ""
    if _squeezed(text):
        yield True, indent + _squeezed(text)


def _block(node: ET.Element, indent: str) -> Iterator[tuple[bool, str]]:
    title = _heading(node)
    if _classes(node) & _LEFT_OUT or (title is not None and _tag(title) in _HEADINGS):
        return
    if title is not None:
        yield False, f"**{_squeezed(''.join(title.itertext()))}**"
    if _tag(node) == "pre":
        yield False, "```\n" + "".join(node.itertext()).strip("\n") + "\n```"
    elif "table-contents" in _classes(node):
        rows = [[_squeezed(_inline(cell)) for cell in row] for row in node.iter() if _tag(row) == "tr"]
        yield False, "\n".join(f"| {' | '.join(row)} |" for row in [rows[0], ["---"] * len(rows[0]), *rows[1:]])
    else:
        yield from _blocks(node, indent + "- " if _tag(node) in {"li", "dd"} else indent)


def _inline(node: ET.Element, in_code: bool = False) -> str:
    mark = "" if in_code else {"code": "`", "em": "*"}.get(_tag(node), "")
    parts = [node.text or ""]
    for child in node:
        parts += [_inline(child, in_code or mark == "`"), child.tail or ""]
    inner = "".join(parts)
    return f"{mark}{inner}{mark}" if inner.strip() else inner


def _heading(node: ET.Element) -> ET.Element | None:
    """Return the title element of a chapter, section or sidebar."""
    page = next((child for child in node if "titlepage" in _classes(child)), None)
    return None if page is None else next((part for part in page.iter() if "title" in _classes(part)), None)


def _tag(node: ET.Element) -> str:
    return node.tag.rpartition("}")[2]


def _classes(node: ET.Element) -> set[str]:
    return set(node.get("class", "").split())


def _squeezed(text: str) -> str:
    return " ".join(text.split())
