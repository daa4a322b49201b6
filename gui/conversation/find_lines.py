"""A conversation as lines to search (its pieces, from 1), and the hit that a search result opens."""

from collections.abc import Sequence
from dataclasses import dataclass

from engine import CancelToken
from gui.conversation.entries import Conversation
from gui.viewer.matches import Finder, Hit


@dataclass(frozen=True)
class ConversationLines:
    """The protocol `Lines` over a conversation. Any thread."""

    conversation: Conversation

    @property
    def line_count(self) -> int:
        return len(self.conversation.pieces)

    def lines(self, first: int, last: int) -> Sequence[str]:
        numbers = range(max(1, first), min(last, self.line_count) + 1)
        return [self.conversation.searchable(number - 1) for number in numbers]


_MOST_PIECES = 2_000
"""So much is looked through for the first hit of a session that was opened at no line."""


@dataclass(frozen=True)
class Landing:
    """The target of a search result: an entry, and the first hit in it."""

    entry: int
    hit: Hit | None


def landing(conversation: Conversation, line: int | None, finder: Finder | None, token: CancelToken) -> Landing:
    """The first hit in this line of the transcript, or in all; without any, the line itself or the beginning."""
    if line is None:
        entry, pieces = 0, list(range(min(_MOST_PIECES, len(conversation.pieces))))
    else:
        entry, pieces = conversation.at_line(line)
    for piece in pieces if finder is not None else ():
        token.checkpoint()
        assert finder is not None
        found = finder(conversation.searchable(piece))
        if found:
            return Landing(conversation.entry_of_piece[piece], Hit(piece + 1, *found[0]))
    return Landing(entry, None)
