"""The messages in the chunks of sessions; a short message is shown with the one before or after it."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from engine.records import FileRange, FoundMessage, MessageContext
from engine.store.snapshot import Snapshot, StoredChunk

if TYPE_CHECKING:
    from engine.corpus.transcripts.message_offsets import MessageOffset

_CLEAR_ALONE = 120
"""Number of characters from which a message is understandable alone."""
_LONGEST_CONTEXT = 160
_CHUNKS_AROUND = 2
"""Number of neighbouring chunks that are searched for the other message."""
_OTHER = {"assistant": "user", "user": "assistant"}

NearChunks = tuple[tuple[StoredChunk, ...], tuple[StoredChunk, ...]]
"""The chunks before and after a chunk of the same session, the nearest first, as far as they were read."""
NO_CHUNKS: NearChunks = (), ()


def offsets_of(chunk: StoredChunk) -> "Sequence[MessageOffset]":
    """Return the locations of the messages in a session's chunk; none for a note."""
    if chunk.message_offsets is None:
        return ()
    from engine.corpus.transcripts.message_offsets import read_offsets  # many searches find notes alone

    return read_offsets(chunk.message_offsets)


def offset_at(chunk: StoredChunk, position: int) -> "MessageOffset":
    """Return the message of a session's chunk that contains this position in the text."""
    first, *others = offsets_of(chunk)
    return next((offset for offset in reversed(others) if offset.offset <= position), first)


def spans_of(chunk: StoredChunk, roles: frozenset[str]) -> list[FileRange]:
    """Return the (start, end) offsets of messages by these roles in a session's chunk."""
    offsets = offsets_of(chunk)
    ends = [*(offset.offset for offset in offsets[1:]), len(chunk.text)]
    return [(offset.offset, end) for offset, end in zip(offsets, ends, strict=False) if offset.role in roles]


def found_message(offset: "MessageOffset", chunk: StoredChunk) -> FoundMessage:
    """Return the message that a match is in."""
    from engine.corpus.transcripts.message_offsets import in_ranges

    return FoundMessage(
        ordinal=offset.ordinal,
        id=offset.id,
        role=offset.role,
        agent=chunk.agent,
        project=chunk.project,
        machine=chunk.machine,
        rewound=in_ranges(offset.line, chunk.rewound),
    )


def message_context(hit: FoundMessage, chunk: StoredChunk, near: NearChunks) -> MessageContext | None:
    """Return the beginning of the message before an answer or after a question that a search found.

    None for a found message that is long enough to be understood alone. `near`: see `neighbours`.
    """
    spoken = list(_messages_in(chunk))
    if hit.role not in _OTHER or sum(len(text) for at, text in spoken if at.ordinal == hit.ordinal) > _CLEAR_ALONE:
        return None
    if spoken[0][0].ordinal == hit.ordinal and not _is_whole(chunk, spoken[0][0]):
        return None
    before = hit.role == "assistant"
    for found in (chunk, *near[0 if before else 1]):
        messages = [
            (offset, text) for offset, text in _messages_in(found) if offset.role == _OTHER[hit.role] and text.strip()
        ]
        for offset, text in reversed(messages) if before else messages:
            if offset.ordinal < hit.ordinal if before else offset.ordinal > hit.ordinal:
                begin = _begin(text if _is_whole(found, offset) else f"…{text}")
                return MessageContext(role=offset.role, text=begin, line=offset.line, ordinal=offset.ordinal)
    return None


def sides_to_read(chunk: StoredChunk) -> tuple[bool, bool]:
    """Return whether the chunks before and after a chunk may have the context of a message that is found in it."""
    spoken = [(offset, text) for offset, text in _messages_in(chunk) if offset.role in _OTHER]
    lengths = Counter[int]()
    for offset, text in spoken:
        lengths[offset.ordinal] += len(text)
    short = [(offset.role, offset.ordinal) for offset, _ in spoken if lengths[offset.ordinal] <= _CLEAR_ALONE]
    if not short:
        return False, False
    questions = [offset.ordinal for offset, text in spoken if offset.role == "user" and text.strip()]
    answers = [offset.ordinal for offset, text in spoken if offset.role == "assistant" and text.strip()]
    return (
        any(role == "assistant" and not (questions and questions[0] < ordinal) for role, ordinal in short),
        any(role == "user" and not (answers and answers[-1] > ordinal) for role, ordinal in short),
    )


def neighbours(snapshot: Snapshot, sides: Mapping[int, tuple[bool, bool]]) -> dict[int, NearChunks]:
    """Return the chunks before and after each chunk of a session, by its id; `sides`: which of both are read."""
    near = {
        id_: (_ids_next_to(snapshot, id_, "<", "DESC") if before else [], _ids_next_to(snapshot, id_) if after else [])
        for id_, (before, after) in sides.items()
        if before or after
    }
    chunks = snapshot.chunks([id_ for ids in near.values() for side in ids for id_ in side])

    def read(ids: Sequence[int]) -> tuple[StoredChunk, ...]:
        return tuple(chunks[id_] for id_ in ids if id_ in chunks)

    return {id_: (read(before), read(after)) for id_, (before, after) in near.items()}


def _ids_next_to(snapshot: Snapshot, id_: int, compared: str = ">", order: str = "ASC") -> list[int]:
    """Return the ids of the chunks after a chunk of the same session, the nearest first; before it with < and DESC."""
    chunks = snapshot.tables.chunks
    query = f"""SELECT id FROM {chunks} WHERE file_id = (SELECT file_id FROM {chunks} WHERE id = ?1)
        AND id {compared} ?1 ORDER BY id {order} LIMIT {_CHUNKS_AROUND}"""
    return [id_ for (id_,) in snapshot.connection.execute(query, (id_,))]


def _messages_in(chunk: StoredChunk) -> "Iterator[tuple[MessageOffset, str]]":
    """Yield each message of a session's chunk with its location, without the speaker's name."""
    offsets = offsets_of(chunk)
    ends = [*(offset.offset for offset in offsets[1:]), len(chunk.text)]
    for offset, end in zip(offsets, ends, strict=False):
        yield offset, chunk.text[offset.offset : end].removeprefix(_label(offset))


def _is_whole(chunk: StoredChunk, offset: "MessageOffset") -> bool:
    """Whether a message begins in this chunk: the first one may be the rest of a long one."""
    return chunk.text.startswith(_label(offset), offset.offset)


def _label(offset: "MessageOffset") -> str:
    from engine.corpus.transcripts.chunk_packing import SPEAKERS  # imports the chunking of sessions

    return f"{SPEAKERS.get(offset.role, offset.role)}: "


def _begin(text: str) -> str:
    """Return the beginning of a text on one line, cut between words."""
    line = " ".join(text[: 4 * _LONGEST_CONTEXT].split())
    if len(line) <= _LONGEST_CONTEXT and len(text) <= 4 * _LONGEST_CONTEXT:
        return line
    return f"{line[:_LONGEST_CONTEXT].rpartition(' ')[0] or line[: _LONGEST_CONTEXT - 1]}…"
