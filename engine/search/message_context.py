"""The other side of a short hit in a session: the question before an answer, or the answer after a question."""

from collections.abc import Iterator

from engine.corpus.transcripts.message_offsets import MessageOffset, read_offsets
from engine.records import MemorySearchResult, MessageContext
from engine.store.snapshot import Snapshot, StoredChunk

_LITTLE = 120
"""Number of characters from which a message is understandable without another one."""
_LONGEST = 160
_MOST_CHUNKS = 2
"""Number of neighbouring chunks that are searched for the message."""
_OTHER = {"assistant": "user", "user": "assistant"}


def context_of(snapshot: Snapshot, result: MemorySearchResult, chunk: StoredChunk) -> MessageContext | None:
    """Return the beginning of the message before an answer or after a question that a search found.

    None for a note, and for a found message that is long enough to be understood alone.
    """
    hit = result.message
    if hit is None or chunk.message_offsets is None or hit.role not in _OTHER:
        return None
    spoken = list(_messages(chunk))
    own = sum(len(text) for offset, text in spoken if offset.ordinal == hit.ordinal)
    if own > _LITTLE or (spoken[0][0].ordinal == hit.ordinal and not _is_whole(chunk, spoken[0][0])):
        return None
    before = hit.role == "assistant"
    for found in (chunk, *_neighbours(snapshot, chunk, before=before)):
        messages = [
            (offset, text) for offset, text in _messages(found) if offset.role == _OTHER[hit.role] and text.strip()
        ]
        for offset, text in reversed(messages) if before else messages:
            if offset.ordinal < hit.ordinal if before else offset.ordinal > hit.ordinal:
                begin = _begin(text if _is_whole(found, offset) else f"…{text}")
                return MessageContext(role=offset.role, text=begin, line=offset.line, ordinal=offset.ordinal)
    return None


def _messages(chunk: StoredChunk) -> Iterator[tuple[MessageOffset, str]]:
    """Yield each message of a session's chunk with its location, without the speaker's name."""
    offsets = read_offsets(chunk.message_offsets or b"")
    ends = [*(offset.offset for offset in offsets[1:]), len(chunk.text)]
    for offset, end in zip(offsets, ends, strict=True):
        yield offset, chunk.text[offset.offset : end].removeprefix(_label(offset))


def _is_whole(chunk: StoredChunk, offset: MessageOffset) -> bool:
    """Whether a message begins in this chunk: the first one may be the rest of a long one."""
    return chunk.text.startswith(_label(offset), offset.offset)


def _label(offset: MessageOffset) -> str:
    from engine.corpus.transcripts.chunk_packing import SPEAKERS  # brings the chunking of sessions

    return f"{SPEAKERS.get(offset.role, offset.role)}: "


def _neighbours(snapshot: Snapshot, chunk: StoredChunk, *, before: bool) -> Iterator[StoredChunk]:
    """Yield the chunks before or after a chunk of the same session, the nearest first."""
    chunks = snapshot.tables.chunks
    compared, order = ("<", "DESC") if before else (">", "ASC")
    query = f"""SELECT id FROM {chunks} WHERE file_id = (SELECT file_id FROM {chunks} WHERE id = ?1)
        AND id {compared} ?1 ORDER BY id {order} LIMIT {_MOST_CHUNKS}"""
    ids = [id_ for (id_,) in snapshot.connection.execute(query, (chunk.id,))]
    chunks_by_id = snapshot.chunks(ids)
    yield from (chunks_by_id[id_] for id_ in ids if id_ in chunks_by_id)


def _begin(text: str) -> str:
    """Return the beginning of a text on one line, cut between words."""
    line = " ".join(text[: 4 * _LONGEST].split())
    if len(line) <= _LONGEST and len(text) <= 4 * _LONGEST:
        return line
    return f"{line[:_LONGEST].rpartition(' ')[0] or line[: _LONGEST - 1]}…"
