"""Common base of the fake batch APIs: files, jobs and their outcomes."""

import email
import json
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from email import policy
from typing import Any

from tests.helpers.embedding_servers.server import FakeServer, Refusal, Request, Route

FINAL = {"completed", "failed", "expired", "cancelled"}


@dataclass
class Plan:
    """The outcome of one job."""

    end: str = "completed"
    """One of FINAL; with any other value the job runs until it is cancelled."""
    looks: int = 1
    """Number of status requests that find it running."""
    done: int | None = None
    """Number of completed texts; None means all."""
    refused: Mapping[int, str] = field(default_factory=dict)
    """Errors of the texts at these positions; TEXT is replaced by the text itself."""
    missing: AbstractSet[int] = frozenset()
    """Positions of texts that are missing from the results."""
    empty: AbstractSet[int] = frozenset()
    """Positions of texts with an empty vector."""
    problem: str = "The job could not be processed."
    """Error message if the whole job fails."""
    shuffled: bool = True


@dataclass
class Job:
    id: str
    name: str
    """Name given by the client."""
    input_file: str
    lines: list[tuple[str, Any]]
    """Key and body."""
    plan: Plan
    word: str = "validating"
    looks: int = 0
    output: str = ""
    errors: str = ""
    answered: int = 0
    failed: int = 0
    problem: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)


class BatchWork(FakeServer):
    """Base of the fakes with batch jobs; `answered` counts vectors by their `texts`."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.plans: deque[Plan] = deque()
        """Plans of the next jobs; without one, a job succeeds at the second status request."""
        self.files: dict[str, bytes] = {}
        self.jobs: dict[str, Job] = {}
        self.doubled: list[str] = []
        """Texts that were submitted while another job for them was running."""
        self.offers_jobs = True
        self._work = threading.Lock()

    # --- specific to each service ---------------------------------------------------------------------------------

    def job_routes(self) -> Mapping[tuple[str, str], Route]:
        raise NotImplementedError

    def text_of(self, job: Job, body: Any) -> str:
        raise NotImplementedError

    def result(self, job: Job, key: str, body: Any, *, empty: bool) -> tuple[bool, Any]:
        """Return whether a text gets a vector, and its result line. Raises `Refusal`."""
        raise NotImplementedError

    def refusal_line(self, key: str, message: str) -> Any:
        raise NotImplementedError

    # --- shared ---------------------------------------------------------------------------------------------------

    def routes(self) -> Mapping[tuple[str, str], Route]:
        found = dict(super().routes())
        if self.offers_jobs:
            with self._work:
                found |= self.job_routes()
        return found

    def store(self, content: bytes, prefix: str) -> str:
        id_ = f"{prefix}{len(self.files) + 1}"
        self.files[id_] = content
        return id_

    def begin(self, name: str, input_file: str, lines: list[tuple[str, Any]], id_: str, **options: Any) -> Job:
        plan = self.plans.popleft() if self.plans else Plan()
        job = Job(id_, name, input_file, lines, plan, options=options)
        running = {text for other in self.jobs.values() if other.word not in FINAL for text in self.texts(other)}
        self.doubled += [text for text in self.texts(job) if text in running]
        self.jobs[id_] = job
        return job

    def texts(self, job: Job) -> list[str]:
        return [self.text_of(job, body) for _, body in job.lines]

    def look(self, job: Job) -> None:
        """Advance a job by one step."""
        if job.word in FINAL:
            return
        job.looks += 1
        if job.word == "cancelling":
            self.finish(job, "cancelled")
        elif job.looks > job.plan.looks and job.plan.end in FINAL:
            self.finish(job, job.plan.end)
        else:
            job.word = "in_progress"

    def finish(self, job: Job, word: str) -> None:
        job.word = word
        if word == "failed":
            job.problem = job.plan.problem
        done = len(job.lines) if job.plan.done is None and word == "completed" else job.plan.done or 0
        output, errors = [], []
        for index, (key, body) in enumerate(job.lines[:done]):
            if index in job.plan.missing:
                continue
            if index in job.plan.refused:
                quoted = job.plan.refused[index].replace("TEXT", self.text_of(job, body))
                errors.append(self.refusal_line(key, quoted))
                continue
            try:
                good, line = self.result(job, key, body, empty=index in job.plan.empty)
            except Refusal as refusal:
                errors.append(self.refusal_line(key, json.dumps(refusal.reply.body)))
                continue
            output.append(line)
            if good:
                self.count([self.text_of(job, body)], 1)
        if job.plan.shuffled:
            output.reverse()
        job.answered, job.failed = len(output), len(errors)
        self.keep_results(job, output, errors)

    def keep_results(self, job: Job, output: Sequence[Any], errors: Sequence[Any]) -> None:
        raise NotImplementedError

    def fail_validation(self, job: Job, problem: str) -> None:
        job.word, job.problem = "failed", problem


def jsonl(lines: Sequence[Any]) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def parts_of(request: Request) -> list[email.message.EmailMessage]:
    """Return the parts of a multipart body."""
    head = f"Content-Type: {request.headers.get('content-type', '')}\r\n\r\n".encode()
    message = email.message_from_bytes(head + request.body, policy=policy.HTTP)
    return list(message.iter_parts()) if message.is_multipart() else []
