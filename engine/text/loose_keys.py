"""Keys by which an index finds looser forms of a word; they follow the stems of a text, once each.

`+setup` is in the keys of "set-up", `+username` in those of `getUserName` and `+3.11` in those of `python3.11`.
`:rehcisrevneknark` is the stem of "Krankenversicherung" from back to front, so that the beginning `:rehcisrev` finds
all compounds with "Versicherung" at their end. No other token begins with either sign.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from engine.text.scripts import script_of
from engine.text.tokens import Piece

JOINED, REVERSED = "+", ":"
COMPOUNDING = frozenset({"danish", "dutch", "estonian", "finnish", "german", "hungarian", "norwegian", "swedish"})
"""Languages that write a compound as one word."""

SHORTEST_END = 4
"""Characters of the shortest stem that is looked for at the end of compounds."""
_SHORTEST_COMPOUND = SHORTEST_END + 3
_LONGEST_COMPOUND = 40
_SHORTEST_JOINED, _LONGEST_JOINED = 4, 24
_MOST = 6
"""Pieces of an identifier, the whole among them."""
_LONGEST_SUFFIX = 3
"""Characters after a dot: node.js is also written as one word, `os.replace` is not."""
_BETWEEN = frozenset(("", "-", "_", "\u2010", "\u2011"))
_NUMBERED = re.compile(r"[^\W\d_]{2,}(\d+(?:\.\d+)+)")


def ending_key(stem: str) -> str:
    """The key of a word that may be a compound; "" for any other."""
    fits = _SHORTEST_COMPOUND <= len(stem) <= _LONGEST_COMPOUND and stem.isalpha() and script_of(stem[0]) == "latin"
    return REVERSED + stem[::-1] if fits else ""


class Key(NamedTuple):
    start: int
    end: int
    """Within the word group."""
    token: str


def joined_keys(word: str, found: Sequence[Piece]) -> Iterator[Key]:
    """The keys of one identifier or hyphenated word with these pieces: neighbouring parts as one word."""
    if len(found) > _MOST:
        return
    whole = found[0].token
    if not whole.isalpha() and (numbered := _NUMBERED.fullmatch(whole)):
        yield Key(found[0].end - len(numbered[1]), found[0].end, JOINED + numbered[1])
        return
    last, outer = found[1], whole
    for part in found[2:]:
        if part.start < last.end:  # the first part of a camelCase word, which is a part itself
            last, outer = part, last.token
            continue
        gap = word[last.end : part.start]
        if gap in _BETWEEN or (gap == "." and len(part.token) <= _LONGEST_SUFFIX and part is found[-1]):
            joined = last.token + part.token
            if _SHORTEST_JOINED <= len(joined) <= _LONGEST_JOINED and not joined.isdigit() and joined != outer:
                yield Key(last.start, part.end, JOINED + joined)
        last = part
