"""Citations as `search` prints them: `path#L5-L9`, `path#L5`, or `path:5-9`."""

import re
from typing import NamedTuple

_CITED = re.compile(r"(?P<path>.+)(?:#L(?P<first>\d{1,9})(?:-L(?P<last>\d{1,9}))?|:(?P<from>\d{1,9})-(?P<to>\d{1,9}))")


class Citation(NamedTuple):
    path: str
    first: int
    last: int
    """At least `first`."""


def parse_citation(text: str) -> Citation | None:
    """The lines that a text names; None where it names none, as the path of a file does."""
    found = _CITED.fullmatch(text)
    if found is None:
        return None
    first = int(found["first"] or found["from"])
    return Citation(found["path"], first, max(first, int(found["last"] or found["to"] or first)))
