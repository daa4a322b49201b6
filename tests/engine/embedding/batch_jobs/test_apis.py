"""Each provider's batch API, over real HTTP, with a fake that rejects the same requests as the real service."""

import hashlib
import io
import threading

import numpy as np
import pytest

from engine.base.cancellation import CancelToken
from engine.base.errors import Cancelled
from engine.embedding import openai_compatible
from engine.embedding.batch_jobs import job_files
from engine.embedding.batch_jobs.batch_api import BatchApi, BatchUnavailable, JobNotFound, Result, batches_of
from engine.embedding.batch_jobs.job_files import Text, groups
from engine.embedding.embedded_model import EmbeddedProvider
from engine.embedding.provider_interface import normalised
from engine.embedding.service_errors import Redirected, Refused, Transient
from engine.settings import Settings
from engine.settings.options import RemoteSettings
from tests.helpers.embedding_servers.batch_servers import GeminiBatchServer, OpenAIBatchServer, VoyageBatchServer
from tests.helpers.embedding_servers.batch_work import Plan
from tests.helpers.embedding_servers.server import Drop, Hang, Reply, Truncate

TEXTS = [f"Note {number} – “pumps” \ud83d\u2028 and a tab\t" for number in range(6)]


def key_of(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "replace")).digest()


def begin(api: BatchApi, texts=TEXTS, name: str = "a" * 32):
    group = next(groups([Text(key_of(text), text, 9) for text in texts], api, 10**6))
    with group.lines:
        file = api.upload(name, group.lines)
    return file, api.create(name, file)


def ended(api: BatchApi, id_: str):
    while (job := api.poll(id_)).state == "running":
        pass
    return job


def results(api: BatchApi, job) -> dict[bytes, Result]:
    found: list[Result] = []
    api.results(job, found.append)
    assert len({result.hash for result in found}) == len(found)
    return {result.hash: result for result in found}


def test_all_texts_return_under_their_keys(server, api):
    _, job = begin(api)
    assert job.state == "running"
    job = ended(api, job.id)
    assert (job.state, job.answered, job.problem) == ("completed", 6, "")
    found = results(api, job)
    assert found.keys() == {key_of(text) for text in TEXTS}
    for text in TEXTS:
        sent = text.encode("utf-8", "replace").decode()
        assert normalised(found[key_of(text)].vector) == pytest.approx(np.array(server.vector(sent)), abs=1e-6)
    assert server.answered == {text.encode("utf-8", "replace").decode(): 1 for text in TEXTS}


def test_batch_vectors_equal_those_of_direct_requests(server, api, provider):
    _, job = begin(api)
    found = results(api, ended(api, job.id))
    direct = provider.embed_documents(TEXTS)
    assert normalised([found[key_of(text)].vector for text in TEXTS]) == pytest.approx(direct, abs=1e-6)


def test_text_error_reported(server, api):
    server.plans.append(Plan(refused={1: "too long by far"}, missing={2}, empty={3}))
    _, job = begin(api)
    found = results(api, ended(api, job.id))
    assert found.keys() == {key_of(TEXTS[place]) for place in (0, 1, 3, 4, 5)}
    assert found[key_of(TEXTS[1])].vector is None
    assert "too long by far" in found[key_of(TEXTS[1])].problem
    assert found[key_of(TEXTS[3])].vector is None


@pytest.mark.parametrize("word", ["failed", "expired", "cancelled"])
def test_failed_jobs_keep_results(server, api, word):
    server.plans.append(Plan(end=word, done=2, problem="Enqueued token limit reached"))
    _, job = begin(api)
    job = ended(api, job.id)
    assert job.state == word
    assert len(results(api, job)) == 2
    assert ("Enqueued" in job.problem) == (word == "failed")


def test_a_job_can_be_stopped(server, api):
    server.plans.append(Plan(end="never", done=3))
    _, job = begin(api)
    assert api.poll(job.id).state == "running"
    api.stop(job.id)
    job = ended(api, job.id)
    assert (job.state, len(results(api, job))) == ("cancelled", 3)


def test_job_is_found_by_name_among_many(server, api, monkeypatch):
    monkeypatch.setattr("engine.embedding.batch_jobs.files_and_batches._JOBS_PER_PAGE", 2)
    monkeypatch.setattr("engine.embedding.gemini._JOBS_PER_PAGE", 2)
    file, job = begin(api, name="b" * 32)
    for number in range(5):
        begin(api, [f"another text {number}"])
    found = api.find("b" * 32, file)
    assert found is not None
    assert found.id == job.id
    assert api.find("c" * 32, "file-unknown") is None


def test_files_are_deleted(server, api):
    file, job = begin(api)
    job = ended(api, job.id)
    assert len(server.files) == 2
    api.discard([file, "file-that-is-gone", *job.files])
    assert server.files == {}


def test_missing_job_api_differs_from_refusal(server, api):
    server.offers_jobs = False
    with pytest.raises(BatchUnavailable, match="embedded directly"):
        begin(api)
    with pytest.raises(JobNotFound):
        api.poll("batches/b9")
    server.offers_jobs = True
    server.faults.append(server.unauthorized())
    with pytest.raises(Refused) as refused:
        begin(api)
    assert not isinstance(refused.value, BatchUnavailable)
    assert server.key not in str(refused.value)


def test_job_creation_is_not_retried(server, api):
    group = next(groups([Text(key_of(text), text, 9) for text in TEXTS], api, 10**6))
    with group.lines:
        file = api.upload("a" * 32, group.lines)
    server.faults.append(server.trouble())
    with pytest.raises(Transient):
        api.create("a" * 32, file)
    assert server.jobs == {}


@pytest.mark.parametrize("fault", [Drop, lambda: Truncate(announced=True)], ids=["dropped", "cut"])
def test_other_requests_are_retried(server, api, waits, fault):
    server.plans.append(Plan(looks=9))
    server.faults.append(fault())
    file, job = begin(api)
    assert server.files.keys() >= {file}
    server.faults.append(fault())
    assert api.poll(job.id).state == "running"
    server.faults.append(fault())
    assert api.find("a" * 32, file) is not None


def test_retried_upload_is_complete(server, api, waits):
    server.faults.append(server.trouble())
    file, _ = begin(api)
    assert len(server.files[file].splitlines()) == 6


def test_cancel_ends_request_immediately(server, api):
    _, job = begin(api)
    hang = Hang()
    server.faults.append(hang)
    token = CancelToken()

    def cancel():
        hang.reached.wait(60)
        token.cancel()

    canceller = threading.Thread(target=cancel)
    canceller.start()
    with pytest.raises(Cancelled):
        api.poll(job.id, cancel=token)
    canceller.join()


def test_input_file_with_a_repeated_text_is_refused(server, api):
    line = api.line(key_of("a").hex(), "a")
    file = api.upload("a" * 32, io.BytesIO(line + line))
    job = ended(api, api.create("a" * 32, file).id)
    assert job.state == "failed"
    assert job.problem


def test_unreadable_result_lines_are_skipped(server, api):
    _, job = begin(api)
    job = ended(api, job.id)
    for file in job.files:
        server.files[file] = b'not json\n{"custom_id": 3, "key": "zz"}\n\n' + server.files[file] + b"[1"
    found: list[Result] = []
    api.results(job, found.append)
    assert [result.hash for result in found].count(b"") == 3
    assert sum(result.vector is not None for result in found) == 6


def test_nan_in_json_is_not_a_vector(server, api):
    _, job = begin(api, TEXTS[:1])
    job = ended(api, job.id)
    (file,) = job.files
    name = key_of(TEXTS[0]).hex()
    response = '{"status_code": 200, "body": {"data": [{"embedding": [NaN, 1]}]}, "embedding": {"values": [NaN, 1]}}'
    server.files[file] = f'{{"custom_id": "{name}", "key": "{name}", "response": {response}}}\n'.encode()
    found = results(api, job)[key_of(TEXTS[0])].vector
    assert found is not None
    assert not np.isfinite(found).all()


def test_voyages_storage_is_followed_without_the_key(make):
    with VoyageBatchServer() as server:
        api = batches_of(make(server))
        _, job = begin(api)
        results(api, ended(api, job.id))
        stored = [request for request in server.requests if request.path.startswith("/storage/")]
        assert len(stored) == 1
        assert not {"authorization", "x-goog-api-key"} & stored[0].headers.keys()


@pytest.mark.parametrize(
    "location",
    ["http://example.org/out", "http://user:word@127.0.0.1/out", "", "ftp://127.0.0.1/out"],
)
def test_download_stays_on_host(make, location):
    with VoyageBatchServer() as server:
        api = batches_of(make(server))
        _, job = begin(api)
        job = ended(api, job.id)
        server.content = lambda request: Reply(307, b"", {"Location": location})
        with pytest.raises(Redirected, match="redirects") as refused:
            results(api, job)
        assert "word" not in str(refused.value)


def test_redirect_to_this_machine_refused():
    redirect = Redirected("elsewhere", 302, "http://127.0.0.1:8080/secret")
    with pytest.raises(Redirected):
        job_files._target("https://api.voyageai.com/v1/files/x/content", redirect)
    outside = Redirected("elsewhere", 302, "https://storage.example.org/x?sig=1")
    assert job_files._target("https://api.voyageai.com/v1/files/x", outside).host == "storage.example.org"


@pytest.mark.parametrize("provider_id", ["openai", "gemini", "voyage"])
def test_price_is_the_batch_price(provider_id, make):
    kind = {"openai": OpenAIBatchServer, "gemini": GeminiBatchServer, "voyage": VoyageBatchServer}[provider_id]
    with kind() as server:
        api = batches_of(make(server))
        # The server's settings set 0.02 for direct requests; the discount is that of the price list.
        assert api.price == pytest.approx(0.02 * (2 / 3 if provider_id == "voyage" else 0.5), rel=0.01)


def test_service_without_jobs_offers_none():
    assert batches_of(EmbeddedProvider()) is None
    for address in ("http://127.0.0.1:11434/v1", "http://127.0.0.1:1234/v1", "https://openrouter.ai/api/v1"):
        settings = Settings(provider="openai", model="m", remote=RemoteSettings(base_url=address))
        assert batches_of(openai_compatible.make(settings, "sk-1")) is None
    assert batches_of(openai_compatible.make(Settings(provider="openai"), "sk-1")) is not None
