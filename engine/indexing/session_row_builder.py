"""Makes the database rows of one session: its metadata and its chunks.

Chunks are packed from the messages that the settings select, with secrets masked. The transcript has a row of its own,
with how far it was read, or why nothing of it is indexed.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

import msgspec

from engine.base.cancellation import CancelToken
from engine.corpus.folder_walk import LATEST_NS, FoundFile
from engine.corpus.transcripts.chunk_packing import ChunkPacker, IndexedMessage, SessionChunk
from engine.corpus.transcripts.message_offsets import write_ranges
from engine.corpus.transcripts.messages import Message, SessionMetadata
from engine.corpus.transcripts.token_usage import Request
from engine.corpus.transcripts.tool_uses import ToolUse, readable_tool_text, stored_command, stored_path, uses_of
from engine.indexing.commit_groups import Change
from engine.indexing.note_preparation import ChunkRows
from engine.redaction.secret_masking import redact
from engine.settings import Settings
from engine.settings.options import SessionSettings
from engine.store import sessions
from engine.store.writer import NewFile, NewSession, NewToolUse, StoredRequest, StoredUsage, Writer
from engine.text import analyse_both

_MAX_WAITING = 64
_HEXADECIMAL = re.compile("[0-9a-f-]{0,36}")


def session_file(  # noqa: PLR0913 - the parts of a row
    file: FoundFile, name: str, metadata: SessionMetadata, count: int, chunks: ChunkRows | None, *, hash: str, size: int
) -> NewFile:
    """Return all database rows of one session; without `chunks` it is listed, but searches don't find it yet."""
    title = redact(metadata.title) if metadata.title else metadata.opening  # `opening` is already masked
    project, branch = _masked_name(metadata.project), _masked_name(metadata.branch)
    language, rows = ("", ()) if chunks is None else (chunks.language or "", chunks)
    return NewFile(
        source="sessions",
        path=name,
        hash=hash,
        # A session's date is that of its last message, not of the export.
        mtime_ns=file.mtime_ns if metadata.ended is None else min(int(metadata.ended * 1e9), LATEST_NS),
        size=size,
        title=title,
        language=language,
        title_tokens=analyse_both(title, language) if rows else "",
        name_tokens="",  # the file name is a number, and the project folder says nothing about a passage
        chunks=rows,
        session=NewSession(
            transcript=file.name,
            agent=metadata.agent,
            id=_masked_id(metadata.id),
            project=project,
            branch=branch,
            parent=_masked_id(metadata.parent),
            started=metadata.started,
            ended=metadata.ended,
            messages=count,
            bytes=size,
            unknown=metadata.unknown,
            rewound=write_ranges(metadata.rewound),
            active=metadata.active,
            pauses=write_ranges(metadata.pauses),
        ),
        usage=()
        if chunks is None
        else tuple(StoredUsage(model, *msgspec.structs.astuple(used)) for model, used in metadata.usage.items()),
    )


def _masked_id(id: str) -> str:
    """Return an id with secrets masked; most ids are plain hexadecimal, which has nothing to mask."""
    return id if _HEXADECIMAL.fullmatch(id) else redact(id)


@lru_cache(maxsize=64)
def _masked_name(text: str) -> str:
    """Return the path of a project, or a branch name, with secrets masked; cached, since many sessions share them."""
    return redact(text)


FilesOfCalls = dict[int, tuple[tuple[int, str], ...]]
"""Line and stored path of the files of each tool call, by the call's number."""


class SessionUses:
    """Collects model requests, and files and commands of tool calls, until the session's project is known."""

    def __init__(self, line: int = 0, waiting: FilesOfCalls | None = None) -> None:
        """`line`: line of the transcript at which reading resumes; `waiting`: see `waiting_calls`."""
        self._line = line
        self._found: list[tuple[Message, ToolUse] | None] = []
        """None for a file of a call that has failed."""
        self._open: dict[int, range] = {}
        """The part of `_found` of each call without a result."""
        self._waiting = dict(waiting or {})
        self._failed: list[tuple[int, str]] = []
        """Files of calls that were stored before their result was read."""
        self.requests: list[Request] = []

    def add(self, messages: Iterable[Message]) -> None:
        for message in messages:
            first = len(self._found)
            self._found += ((message, use) for use in uses_of(message))
            if not message.call:
                continue
            before, own = self._waiting.pop(message.call, ()), self._open.pop(message.call, range(0))
            if message.kind == "tool-call":
                self._open[message.call] = range(first, len(self._found))
            elif message.failed:
                self._failed += before
                for number in own:
                    self._found[number] = None if self._ends_with_failure(number) else self._found[number]

    def _ends_with_failure(self, number: int) -> bool:
        """Return whether a use doesn't count if its call has failed."""
        found = self._found[number]
        return found is not None and found[1] not in uses_of(msgspec.structs.replace(found[0], failed=True))

    def waiting_calls(self, project: str) -> FilesOfCalls:
        """Return the last 64 calls without a result, for which the next reading may find one."""
        calls = dict(self._waiting)
        for call, numbers in self._open.items():
            uses = (self._found[number] for number in numbers if self._ends_with_failure(number))
            stored = ((made.line, _stored(use, project)) for made, use in filter(None, uses))
            calls[call] = tuple((line, path) for line, path in stored if path)
        return {call: calls[call] for call in [call for call, files in calls.items() if files][-_MAX_WAITING:]}

    def add_to(self, new: NewFile, project: str) -> NewFile:
        """Return the session's rows with the collected tool uses and requests added."""
        end = new.mtime_ns / 1e9
        rows = (
            NewToolUse(made.line, made.ordinal, use.kind, value, end if made.time is None else made.time)
            for made, use in filter(None, self._found)
            if (value := _stored(use, project))
        )
        return msgspec.structs.replace(
            new,
            tool_uses=tuple(rows),
            requests=tuple(StoredRequest(*msgspec.structs.astuple(request)) for request in self.requests),
            uses_from=self._line,
            failed_files=tuple(self._failed),
        )


def _stored(use: ToolUse, project: str) -> str:
    return stored_command(use.value) if use.kind == "command" else _stored_path(use.value, project)


_stored_path = lru_cache(maxsize=1024)(stored_path)


class TranscriptChunker:
    """Packs the messages of one session, added in order, into chunks."""

    def __init__(self, settings: Settings, token: CancelToken, open: tuple[IndexedMessage, ...] = ()) -> None:
        """`open`: messages of the last, incomplete chunk, if the session is continued."""
        self._session_settings = settings.sessions
        self._token = token
        self._packer = ChunkPacker(settings.chunking.tokens, settings.chunking.overlap, open)

    @property
    def open(self) -> tuple[IndexedMessage, ...]:
        """Messages of the chunk that is not full yet."""
        return self._packer.open

    def add(self, messages: Iterable[Message]) -> None:
        """Append messages. Raises Cancelled."""
        for message in messages:
            self._token.checkpoint()
            if is_indexed(message, self._session_settings):
                self._packer.add(indexed_message(message))

    def take_full(self) -> list[SessionChunk]:
        """Return the chunks that have become full since the last call."""
        return self._packer.take_full()

    def finish(self) -> list[SessionChunk]:
        """Return the last chunks, full or not."""
        return self._packer.finish()


def is_indexed(message: Message, settings: SessionSettings) -> bool:
    """Return whether a message is indexed under these settings."""
    if message.role == "system" or not message.text.strip():
        return False
    if message.kind == "thinking":
        return settings.thinking
    return settings.tools or message.kind not in ("tool-call", "tool-result")


def indexed_message(message: Message) -> IndexedMessage:
    """Return the indexed text of a message, with secrets masked; tool calls and results without JSON, as shown."""
    text = redact(message.text)
    if message.kind in ("tool-call", "tool-result"):
        shown = readable_tool_text(msgspec.structs.replace(message, text=text)).text
        text = redact(shown) if shown != text else text  # an escape may have hidden a secret
    return IndexedMessage(message.author, text, message.line, message.ordinal, redact(message.id))


def record_transcript(writer: Writer, file: FoundFile, state: bytes | None, rule: str = "", detail: str = "") -> None:
    """Store that a transcript was read, and the `state` at which reading it resumes."""
    read = sessions.StoredTranscript(file.name, file.mtime_ns, file.size, rule, detail)
    sessions.record_transcript(writer, read, state)


def skipped_transcript(file: FoundFile, rule: str, detail: str) -> Change:
    """Return a change that removes a transcript's rows and stores why it is not indexed."""

    def change(writer: Writer) -> tuple[list[int], list[int]]:
        removed = sessions.forget_transcript(writer, file.name)
        record_transcript(writer, file, None, rule, detail)
        return [], removed

    return change
