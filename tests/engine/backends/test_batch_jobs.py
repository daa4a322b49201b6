"""Notes that are embedded by batch jobs, from the file to the search, with fakes of the three services."""

import importlib
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import msgspec
import pytest

from engine.backends import builtin
from engine.backends.builtin import BuiltinMemory
from engine.base.cancellation import CancelToken
from engine.embedding import openai_compatible
from engine.embedding.batch_jobs import runner
from engine.embedding.provider_selection import Selection
from engine.indexing import sync_scheduler
from engine.settings.options import BatchSettings, ChunkingSettings
from tests.helpers.embedding_servers.batch_servers import GeminiBatchServer, OpenAIBatchServer, VoyageBatchServer
from tests.helpers.embedding_servers.batch_work import BatchWork, Plan
from tests.helpers.embedding_servers.server import Drop, Hang, Request, Truncate

NOTES = 40
MODULES = {"openai": "openai_compatible", "gemini": "gemini", "voyage": "voyage"}


@pytest.fixture(params=[OpenAIBatchServer, GeminiBatchServer, VoyageBatchServer], ids=lambda kind: kind.provider)
def server(request) -> Iterator[BatchWork]:
    with request.param() as running:
        yield running
        assert running.doubled == []


@pytest.fixture
def openai() -> Iterator[BatchWork]:
    with OpenAIBatchServer() as running:
        yield running
        assert running.doubled == []


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    for number in range(NOTES):
        write(folder, number)
    return folder


def write(folder: Path, number: int) -> None:
    (folder / f"n{number}.md").write_text(
        f"# Note {number}\n\nPump {number} of colleague{number}x is tuned to {number * 7} bar.\n", "utf-8"
    )


@pytest.fixture
def opened(notes, tmp_path, monkeypatch):
    """Return a context manager that opens the notes: `opened(server, **batch_settings)`."""

    @contextmanager
    def open_(
        server: BatchWork, *, stays: bool = False, chunking: ChunkingSettings | None = None, **options
    ) -> Iterator[BuiltinMemory]:
        batch = BatchSettings(**{"enabled": True, "poll_interval_ms": 10} | options)
        settings = server.settings()
        remote = msgspec.structs.replace(settings.remote, batch=batch)
        store = msgspec.structs.replace(settings.store, path=str(tmp_path / "data"))
        settings = msgspec.structs.replace(settings, remote=remote, store=store, chunking=chunking or settings.chunking)
        module = importlib.import_module(f"engine.embedding.{MODULES[server.provider]}")
        monkeypatch.setattr(
            builtin, "select_provider", lambda s, **_: Selection(module.make(s, server.key), s.provider)
        )
        memory = BuiltinMemory(notes, settings, executor=None, background=stays)
        try:
            yield memory
        finally:
            memory.close()

    return open_


@pytest.fixture
def limit_jobs(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Return a function that lowers the service's limits of one job."""
    usual = openai_compatible.JOB_LIMITS
    return lambda **lower: monkeypatch.setattr(openai_compatible, "JOB_LIMITS", msgspec.structs.replace(usual, **lower))


def assert_complete(memory: BuiltinMemory, server: BatchWork, *, texts: int = NOTES) -> None:
    """Check that every chunk has its vector, no text was answered twice, and no job is left here or at the service."""
    assert memory.status().pending_vectors == 0
    answered = {text: times for text, times in server.answered.items() if "bar" in text}
    assert set(answered.values()) == {1}
    assert len(answered) == texts
    assert memory.status().batch.jobs == ()
    found = memory.search("pump 7 of colleague7x is tuned")
    assert found.mode == "hybrid"
    assert found.results[0].path == "n7.md"


def direct(server: BatchWork) -> list[Request]:
    """Return the requests that embed notes directly, without those for queries."""
    return [
        request
        for request in server.requests
        if request.path.endswith((":batchEmbedContents", "/v1/embeddings")) and b"bar" in request.body
    ]


def test_notes_are_embedded_by_one_job(server, opened):
    with opened(server) as memory:
        report = memory.sync(approve=True)
        assert (report.error, report.vectors_embedded, report.batch_jobs) == ("", NOTES, 0)
        assert len(server.jobs) == 1
        assert direct(server) == []
        assert server.files == {}  # no uploaded texts remain there
        status = memory.status().batch
        assert (status.enabled, status.failures, status.last_error) == (True, 0, None)
        assert_complete(memory, server)


def test_pending_job_reported(openai, opened):
    updates = []
    with opened(openai) as memory:
        memory.sync(approve=True, progress=updates.append)
    waiting = [update for update in updates if update.waiting]
    assert {(update.phase, update.waiting, update.total) for update in waiting} == {("embedding", 1, NOTES)}
    assert updates[-1].waiting == 0


def test_job_cost_uses_list_price(openai, opened):
    with opened(openai) as memory:
        report = memory.sync(approve=True)
        assert report.tokens == openai.tokens > 0
        assert report.cost == pytest.approx(openai.tokens * 0.01 / 1e6)  # half of the price in the settings


def test_estimate_with_batch_jobs_has_their_price_and_time(openai, opened):
    with opened(openai, enabled=False) as memory:
        memory.sync(approve=True, reason="cli")
    with opened(openai) as memory:
        settings = openai.settings()
        remote = msgspec.structs.replace(settings.remote, batch=BatchSettings(enabled=True))
        estimate = memory.estimate_embedding(msgspec.structs.replace(settings, remote=remote, dimensions=512))
        assert (estimate.batch, estimate.price, estimate.seconds) == (True, pytest.approx(0.01), 86_400)


def test_few_texts_do_not_wait_for_a_job(openai, opened, notes):
    with opened(openai) as memory:
        memory.sync(approve=True)
        write(notes, 99)
        assert memory.sync().vectors_embedded == 1
        assert len(openai.jobs) == 1
        assert len(direct(openai)) == 1
        assert_complete(memory, openai, texts=NOTES + 1)


def test_parallel_jobs_stay_within_the_limit(openai, opened, notes, limit_jobs):
    limit_jobs(requests=35)
    for number in range(NOTES, 140):
        write(notes, number)
    running: list[int] = []
    openai.after = lambda request: running.append(sum(job.word != "completed" for job in openai.jobs.values()))
    with opened(openai, concurrency=2) as memory:
        assert memory.sync(approve=True).error == ""
        assert len(openai.jobs) == 4
        assert max(running) == 2
        assert_complete(memory, openai, texts=140)


@pytest.mark.parametrize("word", ["failed", "expired", "cancelled"])
def test_texts_missing_from_failed_job_are_embedded_directly(openai, opened, word):
    openai.plans.append(Plan(end=word, done=15, problem="The queue is full of tokens"))
    with opened(openai) as memory:
        assert memory.sync(approve=True).error == ""
        batch = memory.status().batch
        assert (batch.failures, batch.enabled, batch.last_provider) == (1, True, openai.provider)
        assert ("queue is full" in batch.last_error) == (word == "failed")
        assert_complete(memory, openai)
        assert openai.files == {}


def test_bad_line_is_skipped_and_others_are_read(server, opened):
    server.plans.append(Plan(refused={3: "cannot be tokenized"}, missing={4}, empty={5}))
    with opened(server) as memory:
        assert memory.sync(approve=True).error == ""
        batch = memory.status().batch
        assert (batch.failures, batch.enabled) == (0, True)
        assert "3 of 40 texts" in batch.last_error
        assert "cannot be tokenized" in batch.last_error
        assert len(server.jobs) == 1
        assert_complete(memory, server)


def test_a_job_without_any_vector_has_failed(server, opened):
    server.plans.append(Plan(refused=dict.fromkeys(range(NOTES), "no such model")))
    with opened(server) as memory:
        assert memory.sync(approve=True).error == ""
        assert memory.status().batch.failures == 1
        assert_complete(memory, server)


def test_two_failures_disable_jobs_until_restart(openai, opened, notes):
    openai.plans += [Plan(end="failed"), Plan(end="failed")]
    with opened(openai) as memory:
        memory.sync(approve=True)
        for number in range(100, 140):
            write(notes, number)
        memory.sync(approve=True)
        assert (memory.status().batch.failures, memory.status().batch.enabled) == (2, False)
        for number in range(200, 240):
            write(notes, number)
        memory.sync(approve=True)
        assert len(openai.jobs) == 2
        assert_complete(memory, openai, texts=120)
    for number in range(300, 340):
        write(notes, number)
    with opened(openai) as memory:
        memory.sync(approve=True)
        assert len(openai.jobs) == 3
        assert memory.status().batch.failures == 0


def test_a_job_that_succeeds_forgives_the_failure_before(openai, opened, notes):
    openai.plans.append(Plan(end="failed"))
    with opened(openai) as memory:
        memory.sync(approve=True)
        for number in range(100, 140):
            write(notes, number)
        memory.sync(approve=True)
        batch = memory.status().batch
        assert (batch.failures, batch.last_error, batch.enabled) == (0, None, True)


def test_service_without_jobs_uses_direct_requests(server, opened):
    server.offers_jobs = False
    with opened(server) as memory:
        assert memory.sync(approve=True).error == ""
        batch = memory.status().batch
        assert not batch.enabled
        assert "no batch jobs" in batch.last_error
        assert_complete(memory, server)


def test_slow_job_cancelled_and_retried(openai, opened):
    openai.plans.append(Plan(end="never", done=5))
    with opened(openai, timeout_minutes=0.001) as memory:
        # The second job ends at its first poll, however late that is.
        openai.plans.append(Plan(looks=0))
        assert memory.sync(approve=True).error == ""
        first, second = openai.jobs.values()
        assert (first.word, second.word) == ("cancelled", "completed")
        assert len(second.lines) == NOTES - 5
        assert memory.status().batch.failures == 0
        assert_complete(memory, openai)


def test_second_slow_job_falls_back_to_direct(openai, opened):
    openai.plans += [Plan(end="never", done=2), Plan(end="never", done=3)]
    with opened(openai, timeout_minutes=0.001) as memory:
        assert memory.sync(approve=True).error == ""
        batch = memory.status().batch
        assert (batch.failures, batch.enabled) == (2, False)
        assert "given up" in batch.last_error
        assert_complete(memory, openai)


def test_job_that_finishes_while_being_stopped_succeeds(openai, opened):
    openai.plans.append(Plan(end="never"))

    def finish(request: Request) -> None:
        if request.path.endswith("/cancel"):
            (job,) = openai.jobs.values()
            openai.finish(job, "completed")

    openai.after = finish
    with opened(openai, timeout_minutes=0.001) as memory:
        memory.sync(approve=True)
        assert memory.status().batch.failures == 0
        assert_complete(memory, openai)


def test_unstoppable_job_is_abandoned_after_timeout(openai, opened, monkeypatch):
    monkeypatch.setattr(runner, "_STOP_SECONDS", 0.05)
    openai.plans.append(Plan(end="never"))

    def failing_provider(request: Request) -> None:
        for job in openai.jobs.values():
            if job.word == "cancelling":
                job.word = "in_progress"

    openai.after = failing_provider
    with opened(openai, timeout_minutes=0.001) as memory:
        openai.plans.append(Plan(looks=0))
        assert memory.sync(approve=True).error == ""
        assert memory.status().pending_vectors == 0
        assert openai.doubled  # there was no other way
        openai.doubled.clear()


# --- without waiting -----------------------------------------------------------------------------------------------


def test_next_sync_fetches_results_if_first_did_not_wait(openai, opened):
    openai.plans.append(Plan(looks=0))
    with opened(openai, wait=False) as memory:
        report = memory.sync(approve=True)
        assert (report.error, report.vectors_pending, report.batch_jobs) == ("", NOTES, 1)
        (job,) = memory.status().batch.jobs
        assert (job.provider, job.texts, job.attempt) == (openai.provider, NOTES, 1)
        assert job.state
        assert job.created == pytest.approx(memory.status().last_sync.started, abs=60)
        assert memory.search("pump").mode == "keyword"
        report = memory.sync()
        assert (report.vectors_embedded, report.batch_jobs) == (NOTES, 0)
        assert len(openai.jobs) == 1
        assert_complete(memory, openai)


def test_running_program_polls_batch_job(openai, opened, monkeypatch):
    monkeypatch.setattr(sync_scheduler, "_BATCH_POLL_SECONDS", 0.05)
    openai.plans.append(Plan(looks=3))
    with opened(openai, wait=False, stays=True) as memory:
        done = threading.Event()
        memory.add_status_listener(lambda: done.set() if not memory.status().pending_vectors else None)
        memory.sync(approve=True)
        assert done.wait(60)
        assert len(openai.jobs) == 1


def test_new_texts_do_not_wait_for_job(openai, opened, notes):
    openai.plans.append(Plan(looks=5))
    with opened(openai, wait=False) as memory:
        memory.sync(approve=True)
        write(notes, 77)
        report = memory.sync(approve=True)
        assert (report.vectors_embedded, report.vectors_pending, report.batch_jobs) == (1, NOTES, 1)


def test_disabling_jobs_still_collects_results(openai, opened):
    with opened(openai, wait=False) as memory:
        memory.sync(approve=True)
    with opened(openai, enabled=False) as memory:
        memory.sync(approve=True)
        memory.sync(approve=True)
        assert len(openai.jobs) == 1
        assert direct(openai) == []
        assert_complete(memory, openai)


# --- interruption --------------------------------------------------------------------------------------------------


def test_cancel_leaves_batch_job_running_and_reports_it(openai, opened):
    openai.plans.append(Plan(end="completed", looks=3))
    token = CancelToken()
    openai.after = lambda request: token.cancel() if openai.jobs and request.method == "GET" else None
    with opened(openai) as memory:
        report = memory.sync(approve=True, cancel=token)
        assert (report.cancelled, report.batch_jobs) == (True, 1)
        assert not any("ancel" in request.path for request in openai.requests)
        openai.after = lambda request: None
        assert memory.sync().vectors_embedded == NOTES
        assert len(openai.jobs) == 1
        assert_complete(memory, openai)


def test_restart_continues_job(openai, opened):
    with opened(openai, wait=False) as memory:
        memory.sync(approve=True)
    with opened(openai) as memory:
        assert len(memory.status().batch.jobs) == 1
        assert memory.sync().vectors_embedded == NOTES
        assert len(openai.jobs) == 1
        assert_complete(memory, openai)


def test_changed_notes_come_first_while_a_job_runs(openai, opened, notes):
    openai.plans.append(Plan(looks=4))
    with opened(openai, stays=True) as memory:

        def change(request: Request) -> None:
            if request.path.startswith("/v1/batches/batch_1") and not (notes / "n500.md").exists():
                write(notes, 500)
                memory.indexing.dirty = True

        openai.after = change
        memory.sync(approve=True)
        assert "n500.md" in {result.path for result in memory.search("pump 500").results}
        assert len(openai.jobs) == 1
        assert_complete(memory, openai, texts=NOTES + 1)


@pytest.mark.parametrize(
    "fault", [Drop(), Truncate(announced=True), Truncate(announced=False)], ids=["dropped", "cut", "cut-silently"]
)
def test_lost_creation_response_makes_no_second_job(server, opened, fault):
    server.takes_fault = lambda request: (
        request.method == "POST" and request.path.endswith(("/batches", ":asyncBatchEmbedContent"))
    )
    server.faults.append(fault)
    with opened(server) as memory:
        assert memory.sync(approve=True).error == ""
        assert len(server.jobs) == 1
        assert direct(server) == []
        assert_complete(memory, server)


def test_nothing_resent_while_job_state_unknown(openai, opened, monkeypatch):
    monkeypatch.setattr("engine.embedding.service_errors.pause", lambda seconds, cancel: None)
    openai.takes_fault = lambda request: "/batches" in request.path
    openai.faults += [Truncate(announced=True), *[openai.trouble() for _ in range(4)]]
    with opened(openai) as memory:
        report = memory.sync(approve=True)
        assert report.error
        assert (len(openai.jobs), direct(openai)) == (1, [])
        (job,) = memory.status().batch.jobs
        assert (job.id, job.state) == ("", "being created")
        assert memory.sync(approve=True).error == ""
        assert len(openai.jobs) == 1
        assert_complete(memory, openai)


def test_nothing_resent_while_retry_state_unknown(openai, opened, limit_jobs, monkeypatch):
    """Another job continues meanwhile, so the sync doesn't end with the failed request."""
    monkeypatch.setattr("engine.embedding.service_errors.pause", lambda seconds, cancel: None)
    limit_jobs(requests=35)
    openai.plans += [Plan(end="never"), Plan(end="never")]
    openai.takes_fault = lambda request: len(openai.jobs) >= 1 and request.path.startswith("/v1/batches?")
    openai.faults += [openai.trouble() for _ in range(4)]

    def lose(request: Request) -> None:
        # The response to the creation of the second job.
        if (request.method, request.path) == ("POST", "/v1/batches") and len(openai.jobs) == 2:
            raise ConnectionResetError

    openai.after = lose
    with opened(openai, timeout_minutes=0.001) as memory:
        memory.sync(approve=True)
        openai.after = lambda request: None
        memory.sync(approve=True)
        memory.sync(approve=True)
        assert memory.status().pending_vectors == 0
        assert openai.doubled == []
        assert set(openai.answered.values()) == {1}


def test_failed_job_creation_uses_direct_requests(server, opened, monkeypatch):
    monkeypatch.setattr(runner, "pause", lambda seconds, cancel: None)
    server.takes_fault = lambda request: (
        request.method == "POST" and request.path.endswith(("/batches", ":asyncBatchEmbedContent"))
    )
    server.faults += [server.trouble() for _ in range(3)]
    with opened(server) as memory:
        assert memory.sync(approve=True).error == ""
        assert server.jobs == {}
        assert memory.status().batch.failures == 1
        assert server.files == {}
        assert_complete(memory, server)


@pytest.mark.parametrize("kind", ["unauthorized", "out_of_quota"])
def test_refused_key_or_used_up_credit_ends_sync(server, opened, kind):
    server.faults.append(getattr(server, kind)())
    with opened(server) as memory:
        report = memory.sync(approve=True)
        assert report.error
        assert server.key not in report.error
        assert direct(server) == []
        assert memory.status().batch.jobs == ()
        assert memory.sync(approve=True).error == ""
        assert_complete(memory, server)


def test_failed_status_request_is_not_a_failed_job(openai, opened, monkeypatch):
    monkeypatch.setattr("engine.embedding.service_errors.pause", lambda seconds, cancel: None)
    openai.takes_fault = lambda request: request.method == "GET" and bool(openai.jobs)
    openai.faults += [openai.trouble() for _ in range(9)]
    with opened(openai) as memory:
        assert memory.sync(approve=True).error == ""
        assert memory.status().batch.failures == 0
        assert_complete(memory, openai)


def test_repeated_errors_end_sync_and_later_continue(openai, opened, monkeypatch):
    monkeypatch.setattr("engine.embedding.service_errors.pause", lambda seconds, cancel: None)
    openai.takes_fault = lambda request: request.method == "GET" and bool(openai.jobs)
    openai.faults += [openai.trouble() for _ in range(20)]
    with opened(openai) as memory:
        report = memory.sync(approve=True)
        assert report.error
        assert report.batch_jobs == 1
        assert memory.sync().error == ""
        assert (len(openai.jobs), direct(openai)) == (1, [])
        assert_complete(memory, openai)


@pytest.mark.parametrize("announced", [True, False])
def test_truncated_results_are_read_again(server, opened, announced):
    server.takes_fault = lambda request: "content" in request.path or "download" in request.path
    if server.provider == "voyage":
        server.takes_fault = lambda request: request.path.startswith("/storage")
    server.faults.append(Truncate(announced=announced))
    with opened(server) as memory:
        assert memory.sync(approve=True).error == ""
        assert direct(server) == []
        assert memory.status().batch.failures == 0
        assert_complete(memory, server)


def test_expired_results_are_requested_again(server, opened):
    with opened(server, wait=False) as memory:
        memory.sync(approve=True)
        for job in server.jobs.values():
            server.finish(job, "completed")
        server.answered.clear()
        server.files.clear()
        assert memory.sync(approve=True).error == ""
        assert memory.status().batch.failures == 1
        assert_complete(memory, server)


def test_all_jobs_together_fit_into_the_queue_of_a_small_account(openai, opened, limit_jobs, monkeypatch):
    limit_jobs(queued_tokens=900)
    monkeypatch.setattr(runner, "MIN_TEXTS", 1)
    with opened(openai, concurrency=3) as memory:
        memory.sync(approve=True)
        with closing(openai_compatible.make(openai.settings(), openai.key)) as provider:
            sizes = [sum(map(provider.count_tokens, openai.texts(job))) for job in openai.jobs.values()]
        assert len(sizes) > 1
        assert max(sizes) <= 900 // 3
        assert_complete(memory, openai)


def test_job_lost_by_service_is_repeated(server, opened):
    with opened(server, wait=False) as memory:
        memory.sync(approve=True)
        server.jobs.clear()
        assert memory.sync(approve=True).error == ""
        assert "no longer knows" in memory.status().batch.last_error
        assert_complete(memory, server)


def test_a_hanging_upload_can_be_cancelled(server, opened):
    hang = Hang()
    server.faults.append(hang)
    token = CancelToken()
    canceller = threading.Thread(target=lambda: (hang.reached.wait(60), token.cancel()))
    canceller.start()
    with opened(server) as memory:
        report = memory.sync(approve=True, cancel=token)
        canceller.join()
        assert (report.cancelled, server.jobs) == (True, {})
        assert memory.sync(approve=True).error == ""
        assert_complete(memory, server)


def test_texts_unfit_for_a_job_are_sent_directly(openai, opened, notes):
    (notes / "long.md").write_text("# Long\n\n" + "pumps and valves " * 60_000, "utf-8")
    with opened(openai, chunking=ChunkingSettings(tokens=20_000)) as memory:
        assert memory.sync(approve=True).error == ""
        assert memory.status().pending_vectors == 0
        assert direct(openai) or all("valves" in str(request.body) for request in direct(openai))
        assert sum(len(job.lines) for job in openai.jobs.values()) == NOTES


def test_other_models_jobs_wait_for_return(openai, opened):
    with opened(openai, wait=False) as memory:
        memory.sync(approve=True)
    other = openai.model
    openai.model = "text-embedding-3-large"
    with opened(openai, wait=False) as memory:
        memory.sync(approve=True)
        assert {job.model for job in memory.status().batch.jobs} == {other, "text-embedding-3-large"}
        openai.doubled.clear()  # each model needs its own vectors
        memory.sync(approve=True)
        memory.sync(approve=True)
        assert [job.model for job in memory.status().batch.jobs] == [other]
    openai.model = other
    with opened(openai) as memory:
        assert memory.sync(approve=True).vectors_embedded == NOTES
        assert len(openai.jobs) == 2
        assert memory.status().batch.jobs == ()


def test_other_models_expired_jobs_forgotten(openai, opened, monkeypatch):
    with opened(openai, wait=False) as memory:
        memory.sync(approve=True)
    openai.doubled.clear()
    openai.model = "text-embedding-3-large"
    monkeypatch.setattr(runner, "_RESULT_SECONDS", 0.0)
    with opened(openai) as memory:
        memory.sync(approve=True)
        assert memory.status().batch.jobs == ()
        assert memory.status().pending_vectors == 0
    openai.doubled.clear()  # each model needs its own vectors


def test_change_without_new_text_leaves_no_text_unembedded(openai, opened):
    openai.offers_jobs = False
    with opened(openai) as memory:
        touched = []

        def touch(update) -> None:
            if update.phase == "embedding" and not touched:
                touched.append(update)
                memory.indexing.dirty = True

        assert memory.sync(approve=True, progress=touch).vectors_embedded == NOTES
        assert touched
        assert_complete(memory, openai)


def test_failing_jobs_cost_no_more_than_the_estimate(openai, opened):
    openai.plans += [Plan(end="failed"), Plan(end="failed")]
    with opened(openai) as memory:
        report = memory.sync(approve=True)
        (model,) = memory.stored_models()
        memory.purge_model(model.provider, model.model, model.key)
        estimate = memory.estimate_embedding()
        assert (estimate.batch, estimate.chunks) == (True, NOTES)
        assert estimate.cost < report.cost <= estimate.most_cost


def test_job_errors_quote_no_passage(server, opened):
    server.plans.append(Plan(refused={3: "Too odd: TEXT", 4: "TEXT is odd."}))
    with opened(server) as memory:
        memory.sync(approve=True)
        problem = memory.status().batch.last_error
        assert "texts of a batch job have no vector" in problem
        assert "Pump" not in problem
        assert_complete(memory, server)


def test_rebuild_is_published_before_its_jobs_have_ended(openai, opened):
    with opened(openai) as memory:
        memory.sync(approve=True)
        (model,) = memory.stored_models()
        memory.purge_model(model.provider, model.model, model.key)
        openai.plans.append(Plan(end="never"))
        token = CancelToken()
        seen = []

        def look(request: Request) -> None:
            if request.path == "/v1/batches/batch_2":
                seen.append(memory.status().generation)
                if len(seen) == 5:
                    token.cancel()

        openai.after = look
        assert memory.sync(force=True, approve=True, cancel=token).cancelled
        assert seen[-1] == 2, "keywords are indexed before the batch job ends"
        assert len(openai.jobs) == 2
