"""What a note says about itself: its title."""

import msgspec

from engine.corpus import front_matter, markdown

_HEAD_CHARACTERS = 64 * 1024


class DocumentInfo(msgspec.Struct, frozen=True):
    title: str


def describe(text: str, name: str) -> DocumentInfo:
    """The title of the note of this stable name: from its front matter, its first heading, or its file name."""
    lines = text[:_HEAD_CHARACTERS].split("\n")
    front = markdown.front_matter_length(lines)
    named = front_matter.values(front_matter.inner_lines(lines)).get("title", "")
    title = markdown.plain_title(named) or _first_heading(lines[front:])
    return DocumentInfo(title or _file_title(name))


def _first_heading(lines: list[str]) -> str:
    fence, before, previous = "", "", ""
    for line in lines:
        if fence:
            fence = "" if markdown.closes_fence(line, fence) else fence
        elif found := markdown.atx_heading(line):
            return found[1]
        elif markdown.underline_mark(previous, line) and markdown.stands_alone(before, previous):
            return markdown.plain_title(previous)
        else:
            fence = markdown.fence_marks(line)
        before, previous = previous, line
    return ""


def _file_title(name: str) -> str:
    base = name.rpartition("/")[2]
    stem, dot, _ = base.rpartition(".")
    return stem if dot and stem else base
