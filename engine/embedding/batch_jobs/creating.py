"""Creates batch jobs such that no text is submitted twice.

Jobs are stored before they are sent. A response may be lost, and a killed process may leave a request that the provider
still works on; in both cases the provider is queried for the job by name.
"""

import itertools
import logging
import random
import time
import uuid
from collections.abc import Iterable

import msgspec

from engine.base.cancellation import CancelToken
from engine.base.errors import ProviderError
from engine.embedding.batch_jobs.base import BatchApi, BatchUnavailable, RemoteJob
from engine.embedding.batch_jobs.lines import Group
from engine.embedding.batch_jobs.policy import BatchPolicy
from engine.embedding.retry import MOST_DELAY_SECONDS, Transient, pause
from engine.embedding.service_errors import NoAccess
from engine.settings.options import BatchSettings
from engine.store.batch_jobs import BatchJobs, StoredJob
from engine.store.stored_models import ModelName

log = logging.getLogger(__name__)

_CREATE_TRIES = 3
_SETTLING_SECONDS = 30.0
"""Time after which a creation request has either taken effect or never will."""


class Uncertain(Exception):
    """It is unknown whether a job was created."""

    def __init__(self, job: StoredJob, failure: ProviderError) -> None:
        super().__init__()
        self.job = job
        self.failure = failure


class JobCreator:
    """Creates jobs for one sync, on one thread."""

    def __init__(
        self,
        api: BatchApi,
        name: ModelName,
        jobs: BatchJobs,
        policy: BatchPolicy,
        settings: BatchSettings,
        token: CancelToken,
    ) -> None:
        self._api = api
        self._name = name
        self._jobs = jobs
        self._policy = policy
        self._settings = settings
        self._token = token

    def create(self, group: Group, *, attempt: int, instead_of: str) -> StoredJob | None:
        """Create a job for these texts, replacing the job named `instead_of`; None if that failed.

        Raises `Uncertain`, and `ProviderError` if a direct request would fail in the same way.
        """
        job = StoredJob(uuid.uuid4().hex, self._name, time.time(), attempt, len(group.texts))
        self._jobs.begin(job, group.texts, instead_of=instead_of)
        try:
            input_file = self._api.upload(job.name, group.lines, cancel=self._token)
            job = self.noted(job, input_file=input_file, created=time.time())
            remote = self._send(job)
        except ProviderError as error:
            self._jobs.end(job.name)
            self.discard((job.input_file,))
            self._count(error, attempt)
            return None
        log.info("A batch job of %s texts was created at %s", len(group.texts), self._name.provider)
        return self.noted(job, id=remote.id, state=remote.word)

    def confirmed(self, job: StoredJob) -> StoredJob | None:
        """Return a job of an earlier run if the provider has it; otherwise remove it."""
        if job.input_file and not job.id:
            found = self._search(job)
            if found is not None:
                job = self.noted(job, id=found.id, state=found.word)
        if job.id:
            return job
        self._jobs.end(job.name)
        self.discard((job.input_file,))
        return None

    def noted(self, job: StoredJob, **known: object) -> StoredJob:
        """Update and store the job's status."""
        job = msgspec.structs.replace(job, **known)
        self._jobs.update(job)
        return job

    def discard(self, files: Iterable[str]) -> None:
        """Delete the user's texts at the provider. Failures are ignored, because the files expire there."""
        try:
            self._api.discard([file for file in files if file], cancel=self._token)
        except ProviderError as error:
            log.info("Files of a batch job could not be deleted: %s", type(error).__name__)

    def _search(self, job: StoredJob) -> RemoteJob | None:
        """Find a job whose creation was not confirmed; None once it is certain that there is none."""
        while True:
            settled = time.time() - job.created >= _SETTLING_SECONDS
            found = self._api.find(job.name, job.input_file, cancel=self._token)
            if found is not None or settled:
                return found
            pause(self._settings.poll_interval_ms / 1000, self._token)

    def _send(self, job: StoredJob) -> RemoteJob:
        """Create a job for an uploaded input file. Raises `Uncertain` if it is unknown whether it was created."""
        for tries in itertools.count(1):
            try:
                return self._api.create(job.name, job.input_file, cancel=self._token)
            except Transient as error:
                failure = error
            usual = min(0.3 * 2.0 ** (tries - 1), 2.0) * random.uniform(1.0, 1.2)
            pause(usual if failure.after is None else min(failure.after, MOST_DELAY_SECONDS), self._token)
            # The job may have been created even though the response was lost.
            try:
                found = self._api.find(job.name, job.input_file, cancel=self._token)
            except ProviderError:
                raise Uncertain(job, failure) from None
            if found is not None:
                return found
            if tries == _CREATE_TRIES:
                raise failure
        raise AssertionError("The tries are counted")

    def _count(self, error: ProviderError, attempt: int) -> None:
        """Record why a job could not be created."""
        if isinstance(error, BatchUnavailable):
            self._policy.unavailable(self._name.provider, error)
        elif isinstance(error, NoAccess):
            self._policy.note(self._name.provider, str(error))
            raise error
        else:
            self._policy.failed(self._name.provider, str(error), attempt)
