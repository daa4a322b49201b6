"""Behaviour specific to Gemini."""

from collections.abc import Iterator

import pytest

from engine.base.errors import ProviderError
from engine.embedding import gemini
from engine.settings import Settings
from engine.settings.options import RemoteSettings
from tests.helpers.embedding_servers.gemini_server import GeminiServer


@pytest.fixture
def server() -> Iterator[GeminiServer]:
    with GeminiServer() as running:
        yield running


@pytest.fixture
def server2() -> Iterator[GeminiServer]:
    with GeminiServer(model="gemini-embedding-2") as running:
        yield running


def test_first_model_uses_task_field(server, make):
    provider = make(server, dimensions=768)
    provider.embed_query("pumps")
    provider.embed_documents(["pumps", "valves"])
    question, documents = server.requests
    assert question.path == "/v1beta/models/gemini-embedding-001:embedContent"
    assert question.json["taskType"] == "RETRIEVAL_QUERY"
    assert documents.path == "/v1beta/models/gemini-embedding-001:batchEmbedContents"
    assert documents.json["requests"][1] == {
        "model": "models/gemini-embedding-001",
        "content": {"parts": [{"text": "valves"}]},
        "taskType": "RETRIEVAL_DOCUMENT",
        "outputDimensionality": 768,
    }


def test_gemini_embedding_2_gets_task_as_prefix(server2, make):
    provider = make(server2)
    provider.embed_query("pumps")
    provider.embed_documents(["valves"])
    question, documents = server2.requests
    assert question.json == {
        "model": "models/gemini-embedding-2",
        "content": {"parts": [{"text": "task: search result | query: pumps"}]},
    }
    assert documents.json["requests"] == [
        {"model": "models/gemini-embedding-2", "content": {"parts": [{"text": "title: none | text: valves"}]}}
    ]


def test_vectors_by_task_not_mixed(server, server2, make):
    first, second = make(server), make(server2)
    assert first.key != second.key
    assert first.limits.input_tokens < second.limits.input_tokens


@pytest.mark.parametrize(
    "name", ["models/gemini-embedding-001", "gemini/gemini-embedding-001", "google/gemini-embedding-001", ""]
)
def test_names_of_other_programs_are_understood(server, make, name):
    provider = make(server, model=name)
    assert provider.model == "gemini-embedding-001"
    assert provider.embed_query("pumps").shape == (3072,)


def test_openai_address_uses_same_service(server, make):
    remote = RemoteSettings(base_url=f"{server.base_url}/openai/")
    assert make(server, remote=remote).embed_query("pumps").shape == (3072,)


def test_key_in_header_never_in_url(server, make):
    make(server).embed_query("pumps")
    assert server.key not in server.requests[0].path
    assert server.requests[0].headers["x-goog-api-key"] == server.key


def test_error_names_missing_key_or_unknown_model(server, make):
    with pytest.raises(ProviderError, match=r"no API key for gemini: .* GEMINI_API_KEY"):
        gemini.make(Settings(provider="gemini"), None)
    with pytest.raises(ProviderError, match=r"Gemini does not know the model or the address .*: check model"):
        make(server, model="text-embedding-004").embed_query("pumps")
