"""Pending batch jobs, stored in `user.sqlite` so that a restart doesn't request the same texts again.

A job is recorded before it is sent to the provider, then with its input file, then with the provider's job id. After a
kill, the next start can therefore tell how far the job got.
"""

from collections.abc import Iterable, Mapping

import apsw
import msgspec

from engine.store.stored_models import ModelName
from engine.store.user_data import UserData


class StoredJob(msgspec.Struct, frozen=True):
    """A batch job that is running, or whose results are not all fetched yet."""

    name: str
    """Our own name for the job; used to find it if the provider's response to its creation was lost."""
    model: ModelName
    created: float
    """Time immediately before the job was created."""
    attempt: int
    """1, or 2 for the single retry of a job that took too long."""
    texts: int
    """Number of texts in the job."""
    input_file: str = ""
    """The provider's id of the uploaded file; empty before the upload, in which case there is no job either."""
    id: str = ""
    """The provider's id of the job; empty if it is unknown whether the job exists."""
    state: str = ""
    """Last known state, as named by the provider."""
    stopped: float | None = None
    """Time at which the job was cancelled because it took too long."""


class BatchJobs:
    """Stores the unfinished batch jobs of one workspace. Thread-safe."""

    def __init__(self, user: UserData) -> None:
        self._user = user

    @property
    def usable(self) -> bool:
        """Whether jobs can be recorded; if not, none must be created."""
        return self._user.can_save

    def open(self) -> tuple[StoredJob, ...]:
        """Return all unfinished jobs of all models, oldest first."""
        query = """SELECT name, provider, model, provider_key, created, attempt, texts, input_file, job, state, stopped
                   FROM batch_jobs ORDER BY created, name"""
        with self._user.reading() as connection:
            return tuple(
                StoredJob(name, ModelName(provider, model, key), *rest)
                for name, provider, model, key, *rest in connection.execute(query)
            )

    def texts(self, name: str) -> dict[bytes, int]:
        """Return the estimated tokens of each text of a job that has no result yet, by the text's hash."""
        query = "SELECT hash, tokens FROM batch_texts WHERE job = ?"
        with self._user.reading() as connection:
            return dict(connection.execute(query, (name,)))

    def begin(self, job: StoredJob, texts: Mapping[bytes, int], *, instead_of: str = "") -> None:
        """Record a job that is about to be created; in the same transaction, remove the job named `instead_of`.

        `texts`: estimated tokens by hash.
        """
        with self._user.writing() as connection:
            _forget(connection, instead_of)
            connection.execute(
                "INSERT INTO batch_jobs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (job.name, *job.model, job.created, job.attempt, job.texts, "", "", "", None),
            )
            rows = ((job.name, hash_, tokens) for hash_, tokens in texts.items())
            connection.executemany("INSERT INTO batch_texts VALUES (?, ?, ?)", rows)

    def update(self, job: StoredJob) -> None:
        """Update the stored state of a job."""
        with self._user.writing() as connection:
            connection.execute(
                "UPDATE batch_jobs SET created = ?, input_file = ?, job = ?, state = ?, stopped = ? WHERE name = ?",
                (job.created, job.input_file, job.id, job.state, job.stopped, job.name),
            )

    def mark_delivered(self, name: str, hashes: Iterable[bytes]) -> None:
        """Record that results for these texts of a job were stored. Their vectors must have been stored before."""
        with self._user.writing() as connection:
            rows = ((name, hash_) for hash_ in hashes)
            connection.executemany("DELETE FROM batch_texts WHERE job = ? AND hash = ?", rows)

    def end(self, name: str) -> None:
        """Remove a job that has no more results to deliver."""
        with self._user.writing() as connection:
            _forget(connection, name)


def _forget(connection: apsw.Connection, name: str) -> None:
    connection.execute("DELETE FROM batch_texts WHERE job = ?", (name,))
    connection.execute("DELETE FROM batch_jobs WHERE name = ?", (name,))
