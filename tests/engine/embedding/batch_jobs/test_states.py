"""Job states, in the known formats of each provider."""

import pytest

from engine.embedding import gemini
from engine.embedding.batch_jobs import files_and_batches
from engine.embedding.service_errors import Transient


@pytest.mark.parametrize(
    ("reply", "state"),
    [
        ({"done": False, "metadata": {"state": "BATCH_STATE_PENDING"}}, "running"),
        ({"done": False, "metadata": {"state": "BATCH_STATE_RUNNING"}}, "running"),
        ({"done": True, "metadata": {"state": "BATCH_STATE_SUCCEEDED"}}, "completed"),
        ({"done": True, "metadata": {"state": "JOB_STATE_SUCCEEDED"}}, "completed"),
        ({"done": True, "metadata": {"state": "BATCH_STATE_CANCELLED"}}, "cancelled"),
        ({"done": True, "metadata": {"state": "BATCH_STATE_EXPIRED"}}, "expired"),
        ({"done": True, "metadata": {"state": "BATCH_STATE_FAILED"}, "error": {"message": "no"}}, "failed"),
        ({"done": True}, "completed"),
        ({"done": True, "error": {"code": 3, "message": "no"}}, "failed"),
        ({"metadata": {"state": "BATCH_STATE_OF_TOMORROW"}}, "running"),
        ({"state": "BATCH_STATE_SUCCEEDED", "metadata": {"state": "BATCH_STATE_RUNNING"}}, "completed"),
        ({}, "running"),
    ],
)
def test_gemini_job_states_are_mapped(reply, state):
    found = gemini.read_job({"name": "batches/b1", **reply})
    assert found.state == state
    assert found.problem == ("no" if state == "failed" else "")


@pytest.mark.parametrize(
    "reply",
    [
        {"response": {"responsesFile": "files/out"}},
        {"metadata": {"output": {"responsesFile": "files/out"}}},
        {"output": {"responsesFile": "files/out"}},
    ],
)
def test_gemini_results_found_in_all_known_fields(reply):
    assert gemini.read_job({"name": "batches/b1", "done": True, **reply}).files == ("files/out",)


def test_counts_of_gemini_written_as_strings_are_read():
    stats = {"requestCount": "5", "successfulRequestCount": "3", "failedRequestCount": "1", "pendingRequestCount": "1"}
    reply = {"name": "batches/b1", "done": True, "metadata": {"state": "BATCH_STATE_SUCCEEDED", "batchStats": stats}}
    assert gemini.read_job(reply).answered == 4
    reply["metadata"]["batchStats"] = {"successfulRequestCount": "many"}
    assert gemini.read_job(reply).answered == 0


@pytest.mark.parametrize("word", ["validating", "in_progress", "finalizing", "cancelling", "partially_completed", ""])
def test_unknown_job_state_counts_as_running(word):
    found = files_and_batches.read_job({"id": "b1", "status": word})
    assert (found.state, found.answered) == ("running", None)


@pytest.mark.parametrize("errors", [None, {}, {"data": []}, {"data": [{}]}, {"data": None}, []])
def test_job_fails_without_a_message(errors):
    found = files_and_batches.read_job({"id": "b1", "status": "failed", "errors": errors})
    assert (found.state, found.problem) == ("failed", "")


def test_an_answer_without_a_name_is_broken():
    with pytest.raises(Transient):
        files_and_batches.read_job({"status": "completed"})
    with pytest.raises(Transient):
        gemini.read_job({"name": "nonsense"})
