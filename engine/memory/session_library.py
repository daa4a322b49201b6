"""Lists the sessions of an index, and finds similar ones by vectors."""

import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import islice

from engine.base import in_batches
from engine.base.errors import MnemoscopeError, PathRefused
from engine.base.formatting import plural
from engine.corpus.transcripts.message_offsets import read_ranges
from engine.corpus.transcripts.registry import resume_command
from engine.embedding.provider_interface import EmbeddingProvider
from engine.records import ModelUsage, SessionSummary
from engine.store import sessions
from engine.store.index import IndexStore
from engine.store.sessions import StoredSession
from engine.store.snapshot import Snapshot
from engine.store.vector_encoding import StoredModel, Vectors, decode
from engine.store.vectors import VectorIndex

_MIN_COSINE = 0.16
"""Least cosine of similar sessions."""
_CANDIDATES = 400
_SAMPLED_SESSIONS = 400
_SAMPLED_CHUNKS = 12
"""Sample for the component common to all sessions: number of evenly spread sessions, and of chunks of each."""
_ZERO_VECTORS = 8
"""Number of zero vectors included in the average, so that hardly anything is removed if there are few sessions."""
_BATCH_SIZE = 4000
"""Number of vectors held in memory at a time."""


def _similarities(
    snapshot: Snapshot, vectors: VectorIndex, model: StoredModel, file_id: int, others: Mapping[str, int]
) -> dict[str, float]:
    """Return the cosine of each session that is similar to the session `file_id`, by path.

    `others`: the file ids of the sessions to compare, by path. A session's cosine is that of its chunk nearest to the
    mean of the session `file_id`.
    """
    import numpy as np

    own = _mean_direction(snapshot, model, snapshot.chunks_of_files([file_id]))
    if own is None:
        return {}
    common = _mean_of_all(snapshot, model, [file_id, *others.values()])
    direction = own - common
    length = float(np.linalg.norm(direction))
    if not length:
        return {}
    direction = (direction / length).astype(np.float32)
    # Without this limit, most results would be the session's own chunks and notes: a long session would be similar to
    # none.
    allowed = snapshot.chunks_of_files(list(others.values()))
    ids, _ = vectors.search(snapshot, model, direction, _CANDIDATES, allowed=allowed)
    paths = {id_: chunk.path for id_, chunk in snapshot.chunks(ids.tolist()).items()}
    best: dict[str, float] = {}
    for id_, row in snapshot.vectors(model.id, model.dims, list(paths)):
        rest = decode([row], model.dims)[0] - common
        cosine = float(rest @ direction) / (float(np.linalg.norm(rest)) or 1.0)
        if cosine >= max(_MIN_COSINE, best.get(paths[id_], 0.0)):
            best[paths[id_]] = cosine
    return best


def _mean_of_all(snapshot: Snapshot, model: StoredModel, file_ids: Iterable[int]) -> Vectors:
    """Return the mean vector (dims,) common to all sessions; almost zero for few sessions."""
    import numpy as np

    files = sorted(file_ids)
    spread = files[:: -(-len(files) // _SAMPLED_SESSIONS)]
    total = np.zeros(model.dims)
    count = 0
    for file_id in spread:
        chunks = snapshot.chunks_of_files([file_id])
        mean = _mean_direction(snapshot, model, list(islice(chunks, 0, None, -(-len(chunks) // _SAMPLED_CHUNKS) or 1)))
        if mean is not None:
            total += mean
            count += 1
    return (total / (count + _ZERO_VECTORS)).astype(np.float32)


def _mean_direction(snapshot: Snapshot, model: StoredModel, ids: list[int]) -> Vectors | None:
    """Return the mean direction (dims,) of the vectors of these chunks; None without vectors."""
    import numpy as np

    total = np.zeros(model.dims)
    for batch in in_batches(ids, _BATCH_SIZE):
        rows = [vector for _, vector in snapshot.vectors(model.id, model.dims, batch)]
        if rows:
            total += decode(rows, model.dims).sum(axis=0, dtype=np.float64)
    length = float(np.linalg.norm(total))
    return (total / length).astype(np.float32) if length else None


class SessionLibrary:
    """Lists the sessions of one workspace, and finds similar ones. Thread-safe."""

    def __init__(self, store: IndexStore, vectors: VectorIndex) -> None:
        self._store = store
        self._vectors = vectors

    def all(self) -> tuple[SessionSummary, ...]:
        """Return summaries of all indexed sessions, newest first."""
        with self._store.read() as snapshot:
            usage = sessions.usage_of_sessions(snapshot)
            return tuple(summary_of(session, usage.get(session.file_id, ())) for session in sessions.sessions(snapshot))

    def indexed_sizes(self) -> dict[str, int]:
        """Return the size in bytes of each transcript when it was last read, by stable name."""
        with self._store.read() as snapshot:
            return {name: stored.size for name, stored in sessions.transcripts(snapshot).items()}

    def summary(self, path: str) -> SessionSummary:
        """Return the summary of a session; raises `PathRefused` if it is not in the index."""
        with self._store.read() as snapshot:
            found = sessions.sessions(snapshot, path)
            if not found:
                raise PathRefused  # not indexed (yet), or without indexed content
            file_id = found[0].file_id
            usage = sessions.usage_of_sessions(snapshot, file_id)
        return summary_of(found[0], usage.get(file_id, ()))

    def similar(
        self, path: str, provider: EmbeddingProvider | None, most: int
    ) -> tuple[tuple[SessionSummary, float], ...]:
        """Return at most `most` sessions similar to this one, most similar first, each with its cosine."""
        if provider is None:
            return ()
        with self._store.read() as snapshot:
            model = snapshot.stored_model(provider.id, provider.model, provider.key)
            others = {name: file.id for name, file in snapshot.files("sessions").items()}
            file_id = others.pop(path, None)
            if model is None or file_id is None:
                return ()
            best = _similarities(snapshot, self._vectors, model, file_id, others)
            known = {session.path: session for session in sessions.sessions(snapshot)}
        order = sorted((item for item in best.items() if item[0] in known), key=lambda item: (-item[1], item[0]))
        return tuple((summary_of(known[name]), cosine) for name, cosine in order[:most])


def summary_of(stored: StoredSession, usage: tuple[ModelUsage, ...] = ()) -> SessionSummary:
    """Convert a stored session to a summary for display."""
    # Unpacked as a whole, since looking up each field by its name takes longer than all the rest.
    (
        path, title, agent, id, project, branch, parent, started, ended, messages, size, unknown, _, modified, machine,
        active, pauses, _,
    ) = stored  # fmt: skip
    command = ""
    if id and not (parent or machine or id.startswith("-")):  # an option of the agent, not an id
        command = resume_command(agent, shlex.quote(id))
        command = command and _cd_command(project) + command
    # By position, which takes half the time.
    return SessionSummary(
        path, agent, id, title, project, branch, started, ended, messages, size, parent, command, modified, unknown,
        usage, None, machine, active, read_ranges(pauses) if pauses else (),
    )  # fmt: skip


@lru_cache(maxsize=1024)
def _cd_command(project: str) -> str:
    """Return the beginning of a shell command that changes to this folder; empty if `project` is not a path."""
    home, path = ("~/", project[2:]) if project.startswith("~/") else ("", project)  # a shell expands no quoted tilde
    is_path = home or path.startswith("/") or path[1:2] == ":"
    return f"cd {home}{shlex.quote(path)} && " if is_path else ""


# --- User-friendly names of sessions: the stable name, the id, or a prefix of the id ---------------------------------

_SHORT_ID = 8
_SHARED_START = re.compile(r"(?:[A-Za-z]+[-_](?=[0-9a-f]{8}|20\d\d-))?(?:20\d\d-?[01]\d-?[0-3]\d[-_T])?")
"""The part of an id that others have too: a word such as iFlow's `session-`, and a date."""
_MAX_CANDIDATES = 4


def short_names(known: Sequence[SessionSummary]) -> dict[str, str]:
    """Return the shortest name that `show` accepts for each session, by stable name.

    That is a unique prefix of the session's id, else its stable name.
    """
    times = Counter(session.id for session in known)
    beginnings: Counter[str] = Counter()
    for id in times:
        beginnings.update(id[:length] for length in range(_SHORT_ID, len(id) + 1))

    def name(session: SessionSummary) -> str:
        if not session.id or times[session.id] > 1:
            return session.path  # for example a reset session, whose archive has the same id
        shared = _SHARED_START.match(session.id)
        lengths = range(_SHORT_ID + (shared.end() if shared else 0), len(session.id))
        return next((session.id[:length] for length in lengths if beginnings[session.id[:length]] == 1), session.id)

    return {session.path: name(session) for session in known}


def find_session(id: str, known: Sequence[SessionSummary]) -> SessionSummary:
    """Return the session with this stable name, id, prefix of an id, or part of a title.

    Raises `MnemoscopeError` unless there is exactly one.
    """
    words = id.casefold()
    conditions: tuple[Callable[[SessionSummary], bool], ...] = (
        lambda session: session.path == id,
        lambda session: session.id == id,
        lambda session: session.id.startswith(id),
        lambda session: words in session.title.casefold(),
    )
    matching = next(filter(None, (list(filter(condition, known)) for condition in conditions)), [])
    if not matching:
        raise MnemoscopeError(f"No session has the id {id}, or a title with it: see mnemoscope sessions.")
    if len(matching) == 1:
        return matching[0]
    names = short_names(known)
    candidates = ", ".join(names[session.path] for session in matching[:_MAX_CANDIDATES])
    more = ", …" if len(matching) > _MAX_CANDIDATES else ""
    named = f"begin with {id}" if matching[0].id.startswith(id) else f"have {id} in their titles"
    raise MnemoscopeError(f"{plural(len(matching), 'session')} {named}: {candidates}{more}")
