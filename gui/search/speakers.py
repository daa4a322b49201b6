"""Names who speaks in a snippet of a session as the conversation does: "You", where the index has "User"."""

import re
from bisect import bisect_right
from collections.abc import Sequence

from gui.search.ranges import Range

_INDEXED, _SHOWN = "User", "You"
_LABEL = re.compile(rf"(?:\A|(?<=\n\n)){_INDEXED}(?=: )")


def name_speakers(snippet: str, ranges: Sequence[Range]) -> tuple[str, list[Range]]:
    """The snippet with its speakers' other name, and the ranges in it; those of the name itself mark nothing said."""
    labels = [found.start() for found in _LABEL.finditer(snippet)]
    ends = [start + len(_INDEXED) for start in labels]
    names = set(zip(labels, ends, strict=True))
    shorter = len(_INDEXED) - len(_SHOWN)

    def moved(place: int) -> int:
        return place - shorter * bisect_right(ends, place)

    said = [(moved(start), moved(end)) for start, end in ranges if (start, end) not in names]
    return _LABEL.sub(_SHOWN, snippet), said
