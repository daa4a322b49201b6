"""Finds the tags of a note: those of its front matter, and every #tag in its text."""

import re
from collections.abc import Iterator

from engine.base.index_rule_versions import TAGS_VERSION
from engine.corpus import markdown_line_types
from engine.corpus.front_matter import FrontMatter
from engine.corpus.note_structure import Structure
from engine.text.folding import fold

_LINE = 4096
"""Most characters of a line that are searched for tags."""
_MOST = 500
_LONGEST = 100
_BETWEEN = re.compile(r"[,\[\]\s]+")
HASHTAG = re.compile(r"(?:^|(?<=[\s(,;]))#([\w\-/]+)")
"""A tag in the text of a note, outside of code; one of digits alone is the number of an issue."""


def indexed_by(fingerprint: object) -> bool:
    """Whether an index with this fingerprint contains the tags of its notes."""
    return isinstance(fingerprint, str) and fingerprint.endswith(f"tags {TAGS_VERSION}")


def tags_of(text: str, front: FrontMatter | None, structure: Structure | None = None) -> tuple[str, ...]:
    """Return the note's tags, folded, without #, sorted; at most 500. A nested tag is written `garden/greenhouse`.

    `front` is the note's front matter, `structure` that of another format than Markdown.
    """
    found: set[str] = set()
    for raw in _all_tags(text, front) if structure is None else structure.tags:
        tag = fold(raw.strip("\"'").removeprefix("#").strip("/"))
        # An issue's number is no tag.
        if tag and len(tag) <= _LONGEST and not tag.isdigit():
            found.add(tag)
        if len(found) == _MOST:
            break
    return tuple(sorted(found))


def _all_tags(text: str, front: FrontMatter | None) -> Iterator[str]:
    start = 0
    if front is not None:
        yield from _front_matter_tags(front)
        for _ in range(front.length):
            start = text.find("\n", start) + 1 or len(text)
    if "#" in text:
        yield from _hashtags(text, start)


def _front_matter_tags(front: FrontMatter) -> Iterator[str]:
    for key in ("tags", "tag"):
        for item in front.items(key):
            # Between commas or brackets a space separates tags, too; an item on a separate line is one tag.
            yield from (item,) if front.kind(key) == "block" else _BETWEEN.split(item)


def _hashtags(text: str, start: int) -> Iterator[str]:
    """Yield the #tags in a text from `start` on, outside of code, line by line."""
    fence = ""
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        line = text[start : min(end, start + _LINE)]
        start = end + 1
        if fence:
            fence = "" if markdown_line_types.closes_fence(line, fence) else fence
        elif line.lstrip().startswith(markdown_line_types.FENCES):
            fence = markdown_line_types.fence_marks(line)
        elif "#" in line:
            yield from HASHTAG.findall(markdown_line_types.CODE_SPAN.sub(" ", line) if "`" in line else line)
