"""What a note says about itself: its title."""

import re

import msgspec

from engine.corpus import markdown

_HEAD_CHARACTERS = 64 * 1024
_TITLE_LINE = re.compile(r"(?:title|\"title\")[ \t]*[:=][ \t]*(.+)", re.IGNORECASE)
_COMMENT = re.compile(r"[ \t]#.*")
_ESCAPE = re.compile(r"\\(.)")


class DocumentInfo(msgspec.Struct, frozen=True):
    title: str


def describe(text: str, name: str) -> DocumentInfo:
    """The title of the note of this stable name: from its front matter, its first heading, or its file name."""
    lines = text[:_HEAD_CHARACTERS].split("\n")
    front = markdown.front_matter_length(lines)
    title = _front_matter_title(lines[1:front]) or _first_heading(lines[front:])
    return DocumentInfo(title or _file_title(name))


def _front_matter_title(lines: list[str]) -> str:
    for line in lines:
        if match := _TITLE_LINE.fullmatch(line.rstrip()[:400]):
            return markdown.plain_title(_unquoted(match[1].strip()))
    return ""


def _unquoted(value: str) -> str:
    """A YAML or TOML scalar as text; what spans several lines counts as none."""
    if value[:1] in ("|", ">"):
        return ""
    if value[:1] == '"' and (end := _closing_quote(value)):
        return _ESCAPE.sub(r"\1", value[1:end])
    if value[:1] == "'" and len(value) > 1:
        return value[1:].rpartition("'")[0].replace("''", "'")
    return _COMMENT.sub("", value)


def _closing_quote(value: str) -> int:
    match = re.match(r'"(?:[^"\\]|\\.)*"', value)
    return match.end() - 1 if match else 0


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
