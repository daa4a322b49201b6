"""Citations: the location of a passage, as written in every answer and accepted in every request."""

import re
from typing import NamedTuple

from engine.records.search import LAST_LINE

_CITED = re.compile(r"(?P<path>.+)(?:#L(?P<first>\d{1,9})(?:-L(?P<last>\d{1,9}))?|:(?P<from>\d{1,9})-(?P<to>\d{1,9}))")


class Citation(NamedTuple):
    path: str
    first: int
    last: int
    """At least `first`."""


def cite(path: str, first: int | None = None, last: int | None = None) -> str:
    """`path#L5-L9`, `path#L5` for one line, the path alone for a file without lines or up to its `LAST_LINE`."""
    if first is None or last == LAST_LINE:
        return path
    return f"{path}#L{first}" if last is None or last <= first else f"{path}#L{first}-L{last}"


def parse_citation(text: str) -> Citation | None:
    """The lines that a text names, also as `path:5-9`; None where it names none, as the path of a file does."""
    found = _CITED.fullmatch(text)
    if found is None:
        return None
    first = int(found["first"] or found["from"])
    return Citation(found["path"], first, max(first, int(found["last"] or found["to"] or first)))
