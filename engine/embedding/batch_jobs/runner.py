"""Run the batch jobs of one model: create and poll them, store their results and end failed ones.

No text is submitted twice: a job is stored before it is sent. The response may be lost, and a killed process may leave
a request that the provider still works on; in both cases the next run asks the provider for the job by its name.
"""

import itertools
import random
import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from engine.base import lazy_logger
from engine.base.cancellation import CancelToken, pause
from engine.base.errors import ProviderError
from engine.base.language import tr, tr_count
from engine.embedding.batch_jobs.batch_api import (
    MIN_TEXTS,
    BatchApi,
    BatchPolicy,
    BatchUnavailable,
    JobNotFound,
    RemoteJob,
    Result,
)
from engine.embedding.batch_jobs.job_files import Group, Text, groups
from engine.embedding.provider_interface import normalised
from engine.embedding.service_errors import (
    MAX_DELAY_SECONDS,
    AnswerTooLarge,
    NoAccess,
    Refused,
    Transient,
    quoted,
    quotes,
)
from engine.settings.options import BatchSettings
from engine.store.batch_jobs import BatchJobs, StoredJob
from engine.store.stored_models import ModelName
from engine.store.vector_encoding import StoredModel

if TYPE_CHECKING:
    from engine.embedding.provider_interface import Vectors

log = lazy_logger(__name__)

_CREATE_TRIES = 3
_SETTLING_SECONDS = 30.0
"""Time after which a creation request has either taken effect or never will."""
_STORED_PER_BATCH = 64
_MAX_FAILURES = 5
"""Number of consecutive failed polls after which the sync stops and leaves the jobs to a later one."""
_RESULT_SECONDS = 31 * 86_400.0
"""No provider stores results for longer."""
_STOP_SECONDS = 15 * 60.0
"""According to providers, cancelling a job takes up to ten minutes."""
_BEYOND_WINDOW_SECONDS = 3600.0


class BatchContext(NamedTuple):
    """Data that the batch jobs of one model need in one sync."""

    api: BatchApi
    name: ModelName
    jobs: BatchJobs
    policy: BatchPolicy
    settings: BatchSettings
    token: CancelToken


class Uncertain(Exception):
    """It is unknown whether a job was created."""

    def __init__(self, job: StoredJob, failure: ProviderError) -> None:
        super().__init__()
        self.job = job
        self.failure = failure


class JobCreator:
    """Creates jobs for one sync, on one thread."""

    def __init__(self, context: BatchContext) -> None:
        self._api, self._name, self._jobs, self._policy, self._settings, self._token = context

    def create(self, group: Group, *, attempt: int, instead_of: str) -> StoredJob | None:
        """Create a job for these texts, replacing the job named `instead_of`; None if that failed.

        Raises `Uncertain`, and `ProviderError` if a direct request would fail in the same way.
        """
        job = StoredJob(uuid.uuid4().hex, self._name, time.time(), attempt, len(group.texts))
        self._jobs.begin(job, group.texts, instead_of=instead_of)
        try:
            input_file = self._api.upload(job.name, group.lines, cancel=self._token)
            job = self.updated(job, input_file=input_file, created=time.time())
            remote = self._send(job)
        except ProviderError as error:
            self._jobs.end(job.name)
            self.discard((job.input_file,))
            self._count(error, attempt)
            return None
        log.info("A batch job of %s texts was created at %s", len(group.texts), self._name.provider)
        return self.updated(job, id=remote.id, state=remote.word)

    def confirmed(self, job: StoredJob) -> StoredJob | None:
        """Return a job of an earlier run if the provider has it; otherwise remove it."""
        if job.input_file and not job.id:
            found_job = self._search(job)
            if found_job is not None:
                job = self.updated(job, id=found_job.id, state=found_job.word)
        if job.id:
            return job
        self._jobs.end(job.name)
        self.discard((job.input_file,))
        return None

    def updated(self, job: StoredJob, **known: object) -> StoredJob:
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
        """Find a job whose creation was not confirmed; None once it certainly doesn't exist."""
        while True:
            settled = not 0 <= time.time() - job.created < _SETTLING_SECONDS  # the clock may have been set back
            remote_job = self._api.find(job.name, job.input_file, cancel=self._token)
            if remote_job is not None or settled:
                return remote_job
            pause(self._settings.poll_interval_ms / 1000, self._token)

    def _send(self, job: StoredJob) -> RemoteJob:
        """Create a job for an uploaded input file. Raises `Uncertain` if it is unknown whether it was created."""
        for tries in itertools.count(1):
            try:
                return self._api.create(job.name, job.input_file, cancel=self._token)
            except Transient as error:
                failure = error
            usual = min(0.3 * 2.0 ** (tries - 1), 2.0) * random.uniform(1.0, 1.2)
            pause(usual if failure.after is None else min(failure.after, MAX_DELAY_SECONDS), self._token)
            # The job may have been created even though the response was lost.
            try:
                remote_job = self._api.find(job.name, job.input_file, cancel=self._token)
            except ProviderError:
                raise Uncertain(job, failure) from None
            if remote_job is not None:
                return remote_job
            if tries == _CREATE_TRIES:
                raise failure
        raise AssertionError("The tries are counted")

    def _count(self, error: ProviderError, attempt: int) -> None:
        """Record why a job could not be created."""
        if isinstance(error, BatchUnavailable):
            self._policy.unavailable(self._name.provider, error)
        elif isinstance(error, NoAccess):
            self._policy.record(self._name.provider, str(error))
            raise error
        else:
            self._policy.failed(self._name.provider, str(error), attempt)


class BatchRunner:
    """Runs the jobs for one sync, on one thread."""

    def __init__(
        self,
        context: BatchContext,
        model: StoredModel,
        *,
        save: "Callable[[Sequence[bytes], Vectors], None]",
        texts_of: Callable[[Iterable[bytes]], Iterable[Text]],
    ) -> None:
        """`save` stores unit vectors (n, dims) by hash; `texts_of` finds the texts that are still indexed."""
        self._api, self._name, self._jobs, self._policy, self._settings, self._token = context
        self._creator = JobCreator(context)
        self._model = model
        self._save = save
        self._texts_of = texts_of
        self._open: dict[str, StoredJob] = {}
        self._missing: dict[str, dict[bytes, int]] = {}
        """Missing texts of each open job, with their tokens."""
        self._incomplete: set[str] = set()
        """Jobs whose results ended too early once."""
        self._failures = 0
        self.released: set[bytes] = set()
        """Texts that no job will deliver; they are to be embedded directly."""
        self.tokens_used = 0

    @property
    def price(self) -> float | None:
        """US dollars per million `tokens_used`."""
        return self._api.price

    @property
    def works(self) -> bool:
        """Whether new jobs may be created."""
        return self._settings.enabled and self._jobs.usable and not self._policy.disabled

    @property
    def open(self) -> int:
        """Number of batch jobs that are running."""
        return len(self._open)

    @property
    def expected(self) -> set[bytes]:
        """Texts that running jobs are expected to deliver."""
        return set().union(*self._missing.values())

    # --- start ----------------------------------------------------------------------------------------------------

    def resume(self) -> None:
        """Resume the jobs of earlier runs; query the provider for those whose creation was not confirmed.

        Jobs of other models wait until their model is selected again, as long as their results may still exist.
        """
        for job in self._jobs.open():
            if job.model == self._name and job.name not in self._open:
                self._resume(job)
            elif job.model != self._name and time.time() - job.created > _RESULT_SECONDS:
                self._jobs.end(job.name)

    def submit(self, group: Group, *, attempt: int = 1, instead_of: str = "") -> None:
        """Create a job for these texts, replacing the job named `instead_of`.

        If that fails or isn't worth it, the texts are released. Raises `ProviderError` if a direct request would fail
        in the same way.
        """
        with group.lines:
            if len(group.texts) < MIN_TEXTS:
                self.released |= group.texts.keys()
                return
            try:
                job = self._creator.create(group, attempt=attempt, instead_of=instead_of)
            except Uncertain as uncertain:
                self._missing[uncertain.job.name] = dict(group.texts)  # until it is certain that no job has them
                raise ProviderError(str(uncertain.failure)) from None
            except ProviderError:
                self.released |= group.texts.keys()
                raise
        if job is None:
            self.released |= group.texts.keys()
            return
        self._open[job.name] = job
        self._missing[job.name] = dict(group.texts)

    def _resume(self, job: StoredJob) -> None:
        confirmed = self._creator.confirmed(job)
        if confirmed is not None:
            self._open[job.name] = confirmed
            self._missing[job.name] = self._jobs.texts(job.name)

    # --- polling --------------------------------------------------------------------------------------------------

    def poll(self) -> None:
        """Poll all open jobs, and store the results of those that have ended.

        A failed poll does not end a job. After repeated failures, the sync ends with a `ProviderError` and leaves the
        jobs to a later one.
        """
        for job in tuple(self._open.values()):
            self._token.checkpoint()
            try:
                self._poll_job(job)
                self._failures = 0
            except Transient:
                self._failures += 1
                if self._failures >= _MAX_FAILURES:
                    raise

    def _poll_job(self, job: StoredJob) -> None:
        try:
            remote = self._api.poll(job.id, cancel=self._token)
            if remote.state != "running":
                self._collect(job, remote)
                return
        except (JobNotFound, AnswerTooLarge) as error:
            self._fail(job, str(error))
            return
        except NoAccess:
            raise
        except Refused as error:  # expired files, or a job of another key
            self._fail(job, str(error))
            return
        if remote.word != job.state:
            job = self._open[job.name] = self._creator.updated(job, state=remote.word)
        self._check_deadline(job)

    def _check_deadline(self, job: StoredJob) -> None:
        """Cancel a job that takes too long; its results so far are still used."""
        now = time.time()
        if job.stopped is not None:
            if now - job.stopped >= _STOP_SECONDS:
                self._ended(job, RemoteJob(job.id, "cancelled", job.state))
            return
        waits = self._settings.wait and self._settings.enabled
        seconds = self._settings.timeout_minutes * 60 if waits else self._api.limits.seconds + _BEYOND_WINDOW_SECONDS
        if now - (max(job.created, self._policy.since) if waits else job.created) < seconds:
            return
        try:
            self._api.stop(job.id, cancel=self._token)
        except Refused:
            log.info("A batch job could not be stopped; perhaps it has just ended")
        self._open[job.name] = self._creator.updated(job, stopped=now)

    def _collect(self, job: StoredJob, remote: RemoteJob) -> None:
        """Store a job's results while reading them."""
        expected = self._missing[job.name]
        arrived: list[Result] = []
        received = 0
        problem = ""

        def receive(result: Result) -> None:
            nonlocal received, problem
            received += 1
            if result.hash not in expected:
                return
            if self._is_valid(result):
                arrived.append(result)
            else:
                problem = problem or self._repeatable(result)
            if len(arrived) >= _STORED_PER_BATCH:
                self._store_vectors(job, arrived)

        try:
            self._api.results(remote, receive, cancel=self._token)
        finally:
            self._store_vectors(job, arrived)
        if remote.answered is not None and received < remote.answered and job.name not in self._incomplete:
            self._incomplete.add(job.name)
            raise Transient(tr("The results of {service}'s batch job ended too early.", service=self._api.service))
        self._ended(job, remote, problem)

    def _repeatable(self, result: Result) -> str:
        """The provider's message about a text, unless it quotes the text: errors are shown and logged."""
        texts = [found.text for found in self._texts_of([result.hash])] if result.problem else []
        return result.problem if texts and not quotes(result.problem, texts) else ""

    def _is_valid(self, result: Result) -> bool:
        """Whether a vector is valid."""
        import numpy as np

        vector = result.vector
        if vector is None or len(vector) != self._model.dims:
            return False
        return bool(np.isfinite(vector).all() and vector.any())

    def _store_vectors(self, job: StoredJob, arrived: list[Result]) -> None:
        """Store vectors, then mark their texts as delivered; a kill in between loses nothing."""
        if not arrived:
            return
        import numpy as np

        expected = self._missing[job.name]
        vectors = {result.hash: result.vector for result in arrived}  # duplicates count once
        self._save(list(vectors), normalised(np.stack([vector for vector in vectors.values() if vector is not None])))
        self._jobs.mark_delivered(job.name, vectors)
        counted = {result.hash: result.tokens for result in arrived}
        for hash_, tokens in counted.items():
            estimated = expected.pop(hash_)
            self.tokens_used += estimated if tokens is None else tokens
        arrived.clear()

    # --- end of a job ---------------------------------------------------------------------------------------------

    def _ended(self, job: StoredJob, remote: RemoteJob, problem: str = "") -> None:
        """Finish a job that has no more results. `problem`: the provider's reason for a missing vector."""
        expected = len(self._missing[job.name])
        quote = quoted(remote.problem or problem)
        if not expected or (remote.state == "completed" and expected < job.texts):
            self._policy.succeeded()
            if expected:
                message = tr_count(
                    "{count:,} of {texts:,} texts of a batch job has no vector{quote}: it is embedded directly.",
                    "{count:,} of {texts:,} texts of a batch job have no vector{quote}: they are embedded directly.",
                    expected,
                    texts=job.texts,
                    quote=quote,
                )
                self._policy.record(self._name.provider, message)
            self._close(job)
        elif job.stopped is not None:
            minutes = (job.stopped - job.created) / 60
            self._timed_out(
                job, tr("A batch job did not finish within {minutes:,.3g} minutes and was given up.", minutes=minutes)
            )
        else:
            message = (
                tr("A batch job returned no vectors{quote}.", quote=quote)
                if remote.state == "completed"
                else tr("A batch job ended as {state}{quote}.", state=remote.state, quote=quote)
            )
            self._fail(job, message)
        self._creator.discard((job.input_file, *remote.files))

    def _timed_out(self, job: StoredJob, problem: str) -> None:
        """Retry a job's missing texts once."""
        expected = self._missing[job.name]
        if job.attempt > 1 or not self.works or len(expected) < MIN_TEXTS:
            self._fail(job, problem)
            return
        self._policy.record(self._name.provider, tr("{problem} The texts are submitted once more.", problem=problem))
        del self._open[job.name], self._missing[job.name]
        for group in groups(self._texts_of(expected), self._api, self._api.limits.queued_tokens):
            self.submit(group, attempt=2, instead_of=job.name)
        self._jobs.end(job.name)  # if none of its texts is indexed any more

    def _fail(self, job: StoredJob, problem: str) -> None:
        self._policy.failed(self._name.provider, problem, job.attempt)
        self._close(job)

    def _close(self, job: StoredJob) -> None:
        """Remove a job and release its missing texts to be embedded directly."""
        self._jobs.end(job.name)
        del self._open[job.name]
        self.released |= self._missing.pop(job.name).keys()
