"""The tags of a note: those of its front matter, and every #tag in its text."""

import re
from collections.abc import Iterator, Sequence

from engine.corpus import front_matter, markdown
from engine.text.folding import fold

TAGS_VERSION = 1
"""Raise it when the same note would get other tags: notes are then read again."""
TAGS_FINGERPRINT = f"tags {TAGS_VERSION}"
"""In what the index says its rows depend on."""

_HEAD_CHARACTERS = 64 * 1024
_LINE = 4096
"""Of a longer line, so many characters are looked at."""
_MOST = 500
_LONGEST = 100
_KEY = re.compile(r"(?:tags?|\"tags?\")[ \t]*[:=][ \t]*(.*)", re.IGNORECASE)
_ITEM = re.compile(r"[ \t]*-[ \t]+(.+)")
_COMMENT = re.compile(r"(?:^|[ \t])#[ \t].*")
_BETWEEN = re.compile(r"[,\[\]\s]+")
_HASHTAG = re.compile(r"(?:^|(?<=[\s(,;]))#([\w\-/]+)")
_CODE = re.compile(r"(`+)(?:(?!\1).)*\1")
_FENCES = ("```", "~~~")


def indexed_by(fingerprint: object) -> bool:
    """Whether an index that says this of itself holds the tags of its notes."""
    return isinstance(fingerprint, str) and fingerprint.endswith(TAGS_FINGERPRINT)


def tags_of(text: str) -> tuple[str, ...]:
    """The note's tags, folded, without #, sorted; at most 500. A nested one is `garden/greenhouse`."""
    found: set[str] = set()
    for raw in _all_tags(text):
        tag = fold(raw.strip("\"'").removeprefix("#").strip("/"))
        # An issue's number is no tag.
        if tag and len(tag) <= _LONGEST and not tag.isdigit():
            found.add(tag)
        if len(found) == _MOST:
            break
    return tuple(sorted(found))


def _all_tags(text: str) -> Iterator[str]:
    lines = text[:_HEAD_CHARACTERS].split("\n")
    front = markdown.front_matter_length(lines)
    yield from _front_matter_tags(front_matter.inner_lines(lines))
    if "#" in text:
        yield from _hashtags(text, sum(len(line) + 1 for line in lines[:front]))


def _front_matter_tags(lines: Sequence[str]) -> Iterator[str]:
    listed = False
    for line in lines:
        if found := _KEY.fullmatch(line[:_LINE].rstrip()):
            values = _COMMENT.sub("", found[1])
            listed = not values
            yield from _BETWEEN.split(values)
        elif listed and (item := _ITEM.fullmatch(line[:_LINE].rstrip())):
            yield _COMMENT.sub("", item[1]).strip()
        elif line.strip():
            listed = False


def _hashtags(text: str, start: int) -> Iterator[str]:
    """Those outside of code, line by line."""
    fence = ""
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        line = text[start : min(end, start + _LINE)]
        start = end + 1
        if fence:
            fence = "" if markdown.closes_fence(line, fence) else fence
        elif line.lstrip().startswith(_FENCES):
            fence = markdown.fence_marks(line)
        elif "#" in line:
            yield from _HASHTAG.findall(_CODE.sub(" ", line) if "`" in line else line)
