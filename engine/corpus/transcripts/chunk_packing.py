"""Packs the messages of a session into chunks, and records where each message begins.

Consecutive messages share a chunk as long as they fit: a question and the beginning of its answer mean more together. A
message that doesn't fit is split like a note, together with the short text before it.
"""

import msgspec

from engine.corpus.chunk_boundaries import CHARACTERS_PER_TOKEN, weigh
from engine.corpus.chunking import chunk_text
from engine.corpus.transcripts.message_offsets import MessageOffset

SPEAKERS = {"user": "User", "assistant": "Assistant", "tool": "Tool", "system": "System"}
PART_SEPARATOR = "\n\n"
_SMALL_SHARE = 4
_GOOD_SHARE = 3  # measured: with 2, nDCG@10 falls by .014; with a chunk for each question, by .008


class IndexedMessage(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One part of a message, with secrets masked, for the index."""

    role: str
    text: str
    line: int
    ordinal: int
    id: str

    @property
    def with_speaker(self) -> str:
        return f"{SPEAKERS[self.role]}: {self.text}"


class SessionChunk(msgspec.Struct, frozen=True):
    start_line: int
    end_line: int
    """Lines of the transcript, from 1, both included."""
    text: str
    heading: tuple[str, ...]
    message_offsets: tuple[MessageOffset, ...]
    """Where each message begins in `text`. The first has offset 0, even if the chunk begins within a message."""


class ChunkPacker:
    """Packs messages into chunks, in order.

    The messages of the last chunk, `open`, are packed again when the session has grown.
    """

    def __init__(self, tokens: int, overlap: int, open: tuple[IndexedMessage, ...] = ()) -> None:
        """`open`: open messages of an earlier packer, whose last chunk is replaced."""
        self._tokens, self._overlap = tokens, overlap
        self._limit = tokens * CHARACTERS_PER_TOKEN
        self._open = list(open)
        self._weight = sum(map(_weight, open))
        self._full: list[SessionChunk] = []

    @property
    def open(self) -> tuple[IndexedMessage, ...]:
        """Messages of the last chunk, which is not full yet."""
        return tuple(self._open)

    def add(self, message: IndexedMessage) -> None:
        weight = _weight(message)
        if weight > self._limit:
            if self._weight * _SMALL_SHARE > self._limit:
                self._close()
            self._open.append(message)
            self._close()
            return
        # A question starts a new topic: it opens a chunk if the one before it is full enough.
        turns = message.role == "user" and self._weight * _GOOD_SHARE > self._limit
        if self._open and (turns or self._weight + weight > self._limit):
            self._close()
        self._open.append(message)
        self._weight += weight

    def take_full(self) -> list[SessionChunk]:
        """Return the chunks that have become full since the last call."""
        full, self._full = self._full, []
        return full

    def finish(self) -> list[SessionChunk]:
        """Return the chunks since the last call of `take_full`, the last one made of the open messages."""
        return self._full + self._chunks_of(self._open)

    def _close(self) -> None:
        self._full += self._chunks_of(self._open)
        self._open, self._weight = [], 0

    def _chunks_of(self, parts: list[IndexedMessage]) -> list[SessionChunk]:
        if not parts:
            return []
        text = PART_SEPARATOR.join(part.with_speaker for part in parts)
        offsets, offset = list[MessageOffset](), 0
        for part in parts:
            offsets.append(MessageOffset(offset, part.line, part.ordinal, part.id, part.role))
            offset += len(part.with_speaker) + len(PART_SEPARATOR)
        if weigh(text) <= self._limit:
            return [SessionChunk(parts[0].line, parts[-1].line, text, (), tuple(offsets))]
        made, after = list[SessionChunk](), 0
        for chunk in chunk_text(text, tokens=self._tokens, overlap=self._overlap):
            # Exact slices in order, which may overlap; each starts after the start of the previous one.
            start = text.index(chunk.text, after)
            after = start + 1
            inside = _offsets_within(offsets, start, start + len(chunk.text))
            made.append(SessionChunk(inside[0].line, inside[-1].line, chunk.text, chunk.heading, inside))
        return made


def _weight(message: IndexedMessage) -> int:
    return weigh(message.with_speaker) + len(PART_SEPARATOR)


def _offsets_within(offsets: list[MessageOffset], start: int, end: int) -> tuple[MessageOffset, ...]:
    """Return the messages that overlap a slice of the text, with offsets from the beginning of the slice."""
    first = max(at for at, offset in enumerate(offsets) if offset.offset <= start)
    return tuple(
        MessageOffset(max(0, offset.offset - start), offset.line, offset.ordinal, offset.id, offset.role)
        for offset in offsets[first:]
        if offset.offset < end
    )
