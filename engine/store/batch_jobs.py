"""Texts that are in batch jobs, stored in `user.sqlite`, so that a restart doesn't send them a second time.

A job is stored before it is sent to its provider, then with its input file, then with its id there. After a crash in
between, the next start finds out how far it got.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import apsw

from engine.store.stored_models import ModelName
from engine.store.user_data import UserData


@dataclass(frozen=True)
class StoredJob:
    """A job that is running, or whose results are not all stored."""

    name: str
    """Ours: what it is found by where the provider's answer to its creation never arrived."""
    model: ModelName
    created: float
    """When it was about to be."""
    attempt: int
    """1, or 2 for the one retry of a job that took too long."""
    texts: int
    """Number of texts in the job."""
    input_file: str = ""
    """The provider's id of the uploaded file; empty before it is uploaded, and then there is no job either."""
    id: str = ""
    """The provider's id of the job; empty if it is unknown whether the provider has it."""
    state: str = ""
    """The provider's own word, as last seen."""
    stopped: float | None = None
    """Time at which it was cancelled because it took too long."""


class BatchJobs:
    """The rows of all jobs of one workspace. Thread-safe."""

    def __init__(self, user: UserData) -> None:
        self._user = user

    @property
    def usable(self) -> bool:
        """Whether jobs can be written down: where not, none may be created."""
        return self._user.keeps

    def open(self) -> tuple[StoredJob, ...]:
        """All jobs of all models, oldest first."""
        query = """SELECT name, provider, model, provider_key, created, attempt, texts, input_file, job, state, stopped
                   FROM batch_jobs ORDER BY created, name"""
        with self._user.reading() as connection:
            return tuple(
                StoredJob(name, ModelName(provider, model, key), *rest)
                for name, provider, model, key, *rest in connection.execute(query)
            )

    def texts(self, name: str) -> dict[bytes, int]:
        """The texts that a job still owes, by their hashes, with their estimated tokens."""
        query = "SELECT hash, tokens FROM batch_texts WHERE job = ?"
        with self._user.reading() as connection:
            return dict(connection.execute(query, (name,)))

    def begin(self, job: StoredJob, texts: Mapping[bytes, int], *, instead_of: str = "") -> None:
        """Write down a job that is about to be created, in one step with the end of the one that it replaces.

        `texts`: their hashes and estimated tokens.
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
        """Store a job's new state."""
        with self._user.writing() as connection:
            connection.execute(
                "UPDATE batch_jobs SET created = ?, input_file = ?, job = ?, state = ?, stopped = ? WHERE name = ?",
                (job.created, job.input_file, job.id, job.state, job.stopped, job.name),
            )

    def arrived(self, name: str, hashes: Iterable[bytes]) -> None:
        """These texts have their vectors; the caller has stored them before."""
        with self._user.writing() as connection:
            rows = ((name, hash_) for hash_ in hashes)
            connection.executemany("DELETE FROM batch_texts WHERE job = ? AND hash = ?", rows)

    def end(self, name: str) -> None:
        """Remove a job of which no more results are expected."""
        with self._user.writing() as connection:
            _forget(connection, name)


def _forget(connection: apsw.Connection, name: str) -> None:
    connection.execute("DELETE FROM batch_texts WHERE job = ?", (name,))
    connection.execute("DELETE FROM batch_jobs WHERE name = ?", (name,))
