"""The sessions of an index: listed, read from their transcripts with secrets masked, compared by meaning."""

import shlex
from collections import defaultdict
from pathlib import Path

import msgspec

from engine.backends.likeness import likeness
from engine.control import CancelToken
from engine.corpus.transcripts.messages import Message
from engine.corpus.transcripts.stores import locate_transcript, names_session
from engine.embedding.base import EmbeddingProvider
from engine.errors import PathRefused, TranscriptUnreadable
from engine.records import FileText, SessionMessage, SessionSummary, SessionText
from engine.redaction.masks import redact
from engine.settings import Settings
from engine.store import sessions
from engine.store.index import IndexStore
from engine.store.sessions import StoredSession
from engine.store.vectors import VectorIndex

_RESUME = {
    "claude-code": "claude --resume {id}",
    "codex": "codex resume {id}",
    "opencode": "opencode --session {id}",
}


class SessionLibrary:
    """The sessions of one workspace. Thread-safe."""

    def __init__(self, settings: Settings, store: IndexStore, vectors: VectorIndex) -> None:
        self._settings = settings
        self._store = store
        self._vectors = vectors

    def holds(self, path: str) -> bool:
        """Whether a stable name is that of a session, known or not."""
        return names_session(path, self._settings)

    def all(self) -> tuple[SessionSummary, ...]:
        """Every indexed session, newest first."""
        with self._store.read() as snapshot:
            return tuple(map(_summary, sessions.sessions(snapshot)))

    def indexed_sizes(self) -> dict[str, int]:
        """Bytes of every transcript when it was last read, by its stable name."""
        with self._store.read() as snapshot:
            return {name: stored.size for name, stored in sessions.transcripts(snapshot).items()}

    def read(self, path: str, *, reveal: bool, cancel: CancelToken | None) -> SessionText:
        """See `MemorySearchManager.read_session`."""
        from engine.corpus.transcripts.reading import read_session

        file, key = self._locate(path)
        try:
            found = read_session(file, key, cancel)
        except ValueError as error:
            raise TranscriptUnreadable(f"The transcript of this session cannot be read now: {error}") from error
        if found is None:
            raise FileNotFoundError(path)
        masked = 0
        messages = []
        for message in found.messages:
            if cancel is not None:
                cancel.checkpoint()
            safe = _masked(message)
            masked += safe.text != message.text
            messages.append(_shown(message if reveal else safe))
        return SessionText(
            summary=self._known(path),
            messages=tuple(messages),
            masked=masked,
            unknown=tuple(sorted(found.unknown.items())),
        )

    def read_file(self, path: str, *, start: int | None, lines: int | None) -> FileText:
        """A transcript as text: what was said on a line of it stands on the line of that number, others are empty."""
        spoken: dict[int, list[str]] = defaultdict(list)
        for message in self.read(path, reveal=False, cancel=None).messages:
            if message.kind == "text" and message.role != "system":
                spoken[message.line].append(f"{message.role.capitalize()}: {' '.join(message.text.split())}")
        last = max(spoken, default=0)
        first = max(1, start or 1)
        end = min(last, first + lines - 1) if lines and lines > 0 else last
        text = "\n".join(" ".join(spoken.get(line, ())) for line in range(first, end + 1))
        return FileText(
            path=path,
            text=text,
            from_line=first,
            lines=max(0, end - first + 1),
            truncated=end < last,
            next_from=end + 1 if end < last else None,
        )

    def raw(self, path: str, line: int, *, reveal: bool) -> str:
        """See `MemorySearchManager.raw_message`."""
        from engine.corpus.transcripts.reading import raw_line

        file, key = self._locate(path)
        data = None if key else raw_line(file, line)
        if data is None:
            raise FileNotFoundError(f"{path}, line {line}")
        text = data.decode("utf-8", "replace")
        return text if reveal else redact(text)

    def locate(self, path: str) -> Path:
        """Absolute path of the transcript that a session is read from. Raises `PathRefused`, FileNotFoundError."""
        return self._locate(path)[0]

    def similar(
        self, path: str, provider: EmbeddingProvider | None, most: int
    ) -> tuple[tuple[SessionSummary, float], ...]:
        """The sessions that are like this one in meaning, the most alike first."""
        if provider is None:
            return ()
        with self._store.read() as snapshot:
            model = snapshot.stored_model(provider.id, provider.model, provider.key)
            others = {name: file.id for name, file in snapshot.files("sessions").items()}
            file_id = others.pop(path, None)
            if model is None or file_id is None:
                return ()
            best = likeness(snapshot, self._vectors, model, file_id, others)
            known = {session.path: session for session in sessions.sessions(snapshot)}
        order = sorted((item for item in best.items() if item[0] in known), key=lambda item: (-item[1], item[0]))
        return tuple((_summary(known[name]), cosine) for name, cosine in order[:most])

    def _locate(self, path: str) -> tuple[Path, str]:
        return locate_transcript(path, self._settings)

    def _known(self, path: str) -> SessionSummary:
        with self._store.read() as snapshot:
            found = sessions.sessions(snapshot, path)
        if not found:
            raise PathRefused  # a transcript that the index does not hold (yet), or holds nothing of
        return _summary(found[0])


def _summary(stored: StoredSession) -> SessionSummary:
    command = _RESUME.get(stored.agent, "") if stored.id and not stored.parent else ""
    if command:
        command = command.format(id=shlex.quote(stored.id))
        if stored.project.startswith(("/", "~")) or stored.project[1:2] == ":":
            command = f"cd {shlex.quote(stored.project)} && {command}"
    return SessionSummary(
        path=stored.path,
        agent=stored.agent,
        id=stored.id,
        title=stored.title,
        project=stored.project,
        branch=stored.branch,
        started=stored.started,
        ended=stored.ended,
        messages=stored.messages,
        bytes=stored.bytes,
        parent=stored.parent,
        resume_command=command,
    )


def _masked(message: Message) -> Message:
    return msgspec.structs.replace(message, text=redact(message.text), id=redact(message.id), tool=redact(message.tool))


def _shown(message: Message) -> SessionMessage:
    return SessionMessage(
        role=message.role,
        kind=message.kind,
        text=message.text,
        line=message.line,
        ordinal=message.ordinal,
        id=message.id,
        time=message.time,
        tool=message.tool,
        side=message.side,
    )
