"""Batch jobs on the command line."""

import time

import msgspec
import pytest

from engine.cli.embedding_messages import awaiting_text, batch_lines, estimate_text, left_running
from engine.cli.output import progress_text
from engine.records import BatchJobStatus
from tests.helpers.fake_records import make_estimate, make_progress, make_status

JOB = BatchJobStatus(provider="openai", model="small", id="b1", state="in_progress", texts=1234, created=0.0, attempt=1)


def batch(**options):
    return msgspec.structs.replace(make_status().batch, **options)


def test_no_output_about_unused_jobs() -> None:
    assert list(batch_lines(batch(enabled=False))) == []


def test_open_jobs_are_shown_with_state_and_age() -> None:
    job = msgspec.structs.replace(JOB, created=time.time() - 7200, attempt=2)
    lines = list(batch_lines(batch(enabled=True, jobs=(job,))))
    assert lines == [
        ("Batch", "enabled (failures 0/2)"),
        ("Batch job", "openai, small: 1,234 texts, in_progress for about 2 hours, second try"),
    ]


def test_abandoned_job_reported_with_reason() -> None:
    lines = dict(batch_lines(batch(enabled=False, failures=2, last_error="Given up.", last_provider="voyage")))
    assert lines == {"Batch": "off (failures 2/2)", "Batch error": "Given up."}


@pytest.mark.parametrize(("jobs", "words"), [(0, ""), (1, "1 batch job continues"), (3, "3 batch jobs continue")])
def test_remote_jobs_reported(jobs: int, words: str) -> None:
    assert left_running(jobs).startswith(words)
    assert bool(left_running(jobs)) == bool(jobs)


def test_progress_line_shows_waiting_for_jobs() -> None:
    update = make_progress(waiting=2, completed=0, total=40, rate=0, seconds_left=None, current_file="", reused=0)
    assert progress_text(update, 61) == "Waiting for 2 batch jobs 0/40 · elapsed 1:01"


def test_estimate_includes_time_of_jobs() -> None:
    text = estimate_text(make_estimate(batch=True, seconds=86_400.0))
    assert "by batch jobs within about 24 hours" in text


def test_estimate_includes_job_failure_cost() -> None:
    estimate = make_estimate(batch=True, price=0.01, cost=0.5, most_cost=1.0)
    assert "$0.50, at most $1.00 if the jobs fail" in estimate_text(estimate)
    assert "costs $0.50 by batch jobs, at most $1.00 if they fail, and was not begun" in awaiting_text(estimate)
    assert "at most" not in estimate_text(make_estimate())
