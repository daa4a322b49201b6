"""Names who speaks in a snippet of a session as the conversation does: "You", where the index has "User"."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from engine import marked, tr
from gui.search.text_ranges import Range

_NAMES = {"User": marked("You"), "Assistant": marked("Assistant"), "Tool": marked("Tool"), "System": marked("System")}
"""As the index has them -> as they are shown."""
_LABEL = re.compile(rf"(?:\A|(?<=\n\n))(?:{'|'.join(_NAMES)})(?=: )")


def name_speakers(snippet: str, ranges: Sequence[Range]) -> tuple[str, list[Range]]:
    """The snippet with its speakers' other name, and the ranges in it; those of the name itself mark nothing said."""
    shown = {name: tr(other) for name, other in _NAMES.items()}
    labels = [found for found in _LABEL.finditer(snippet) if shown[found[0]] != found[0]]
    ends = [found.end() for found in labels]
    names = {found.span() for found in labels}
    shifts = [0, *accumulate(len(shown[found[0]]) - len(found[0]) for found in labels)]

    def moved(place: int) -> int:
        return place + shifts[bisect_right(ends, place)]

    said = [(moved(start), moved(end)) for start, end in ranges if (start, end) not in names]
    return _LABEL.sub(lambda found: shown[found[0]], snippet), said
