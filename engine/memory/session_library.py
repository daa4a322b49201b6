"""The sessions of an index: listed, and compared by meaning."""

import shlex

from engine.base.errors import PathRefused
from engine.embedding.base import EmbeddingProvider
from engine.memory.session_similarity import likeness
from engine.records import SessionSummary
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

    def __init__(self, store: IndexStore, vectors: VectorIndex) -> None:
        self._store = store
        self._vectors = vectors

    def all(self) -> tuple[SessionSummary, ...]:
        """Every indexed session, newest first."""
        with self._store.read() as snapshot:
            return tuple(map(summary_of, sessions.sessions(snapshot)))

    def indexed_sizes(self) -> dict[str, int]:
        """Bytes of every transcript when it was last read, by its stable name."""
        with self._store.read() as snapshot:
            return {name: stored.size for name, stored in sessions.transcripts(snapshot).items()}

    def known(self, path: str) -> SessionSummary:
        """What is told of a session; raises `PathRefused` for one that the index does not hold."""
        with self._store.read() as snapshot:
            found = sessions.sessions(snapshot, path)
        if not found:
            raise PathRefused  # a transcript that the index does not hold (yet), or holds nothing of
        return summary_of(found[0])

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
        return tuple((summary_of(known[name]), cosine) for name, cosine in order[:most])


def summary_of(stored: StoredSession) -> SessionSummary:
    """What a window or a verb is told of a session."""
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
