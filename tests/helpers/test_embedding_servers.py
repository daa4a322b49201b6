"""Test that the fakes refuse the same requests as the real services."""

import http.client
import json
from typing import Any

import pytest

from tests.helpers.embedding_servers import gemini_server, openai_server, voyage_server
from tests.helpers.embedding_servers.gemini_server import GeminiServer
from tests.helpers.embedding_servers.openai_server import OpenAIServer
from tests.helpers.embedding_servers.server import FakeServer
from tests.helpers.embedding_servers.voyage_server import VoyageServer

OPENAI = {"model": "text-embedding-3-small", "input": ["pumps"]}
VOYAGE = {"model": "voyage-4-large", "input": ["pumps"]}
PART = {"model": "models/gemini-embedding-001", "content": {"parts": [{"text": "pumps"}]}}
BATCH = "/v1beta/models/gemini-embedding-001:batchEmbedContents"
LONG = "pumps " * 30_000


def send(
    server: FakeServer,
    path: str,
    body: Any,
    *,
    method: str = "POST",
    key: str | None = "",
    type_: str = "application/json",
) -> tuple[int, Any]:
    """Return status and body of the response; `key` replaces the right one, None sends none."""
    key = server.key if key == "" else key
    headers = {"Content-Type": type_}
    if key is not None:
        headers |= {"x-goog-api-key": key} if server.provider == "gemini" else {"Authorization": f"Bearer {key}"}
    connection = http.client.HTTPConnection(server.origin.removeprefix("http://"))
    try:
        connection.request(method, path, json.dumps(body), headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


OPENAI_ANSWERS: list[tuple[dict[str, Any], int]] = [
    ({}, 200),
    ({"input": "pumps"}, 200),
    ({"input": ["pumps"] * 2048}, 200),
    ({"dimensions": 256, "encoding_format": "base64", "user": "me"}, 200),
    ({"input": []}, 400),
    ({"input": [""]}, 400),
    ({"input": ["pumps", " \n"]}, 400),
    ({"input": [3]}, 400),
    ({"input": None}, 400),
    ({"input": ["pumps"] * 2049}, 400),
    ({"input": [LONG]}, 400),
    ({"input": ["pumps " * 5000] * 50}, 400),
    ({"encoding_format": "md5"}, 400),
    ({"dimensions": 1537}, 400),
    ({"dimensions": 0}, 400),
    ({"dimensions": 512, "model": "text-embedding-ada-002"}, 400),
    ({"input_type": "query"}, 400),
    ({"model": None}, 400),
    ({"model": "text-embedding-9"}, 404),
]
"""Changes of a valid request, and the status that the service answers with."""


def test_openai_request_gets_the_status_of_its_fault() -> None:
    with OpenAIServer() as server:
        for changes, status in OPENAI_ANSWERS:
            server.answered.clear()
            found, body = send(server, "/v1/embeddings", OPENAI | changes)
            assert found == status, changes
            assert ("error" in body) == (status != 200), changes
            assert bool(server.answered) == (status == 200), changes


def test_openai_requires_key_method_and_json() -> None:
    with OpenAIServer() as server:
        assert send(server, "/v1/embeddings", OPENAI, key=None)[0] == 401
        assert send(server, "/v1/embeddings", OPENAI, key="sk-other")[1]["error"]["code"] == "invalid_api_key"
        assert send(server, "/v1/embeddings", OPENAI, method="GET")[0] == 405
        assert send(server, "/v1/embedding", OPENAI)[0] == 404
        assert send(server, "/v1/embeddings", OPENAI, type_="text/plain")[0] == 415
        assert not server.answered
    with OpenAIServer(dims=8, key=None) as server:
        assert send(server, "/v1/embeddings", OPENAI | {"model": "home-made"}, key=None)[0] == 200


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({}, 200),
        ({"taskType": "RETRIEVAL_DOCUMENT", "title": "Pumps", "outputDimensionality": 128}, 200),
        ({"taskType": "RETRIEVAL"}, 400),
        ({"taskType": "RETRIEVAL_QUERY", "title": "Pumps"}, 400),
        ({"outputDimensionality": 64}, 400),
        ({"outputDimensionality": 4096}, 400),
        ({"model": "models/gemini-embedding-2"}, 400),
        ({"content": {"parts": [{"text": " "}]}}, 400),
        ({"content": {"parts": [{"text": LONG}]}}, 400),
        ({"autoTruncate": True}, 400),
    ],
)
def test_gemini_request_gets_the_status_of_its_fault(changes: dict[str, Any], status: int) -> None:
    with GeminiServer() as server:
        assert send(server, BATCH, {"requests": [PART | changes]})[0] == status
        assert send(server, BATCH.replace("batchEmbedContents", "embedContent"), PART | changes)[0] == status
        assert server.answered == ({"pumps": 2} if status == 200 else {})


def test_gemini_requires_key_method_and_valid_batches() -> None:
    with GeminiServer() as server:
        assert send(server, BATCH, {"requests": [PART]}, key=None)[0] == 403
        refused = send(server, BATCH, {"requests": [PART]}, key="AIzaOther")
        assert (refused[0], refused[1]["error"]["details"][0]["reason"]) == (400, "API_KEY_INVALID")
        assert send(server, BATCH, {"requests": [PART]}, method="GET")[0] == 404
        assert send(server, BATCH.replace("001", "009"), {"requests": [PART]})[0] == 404
        assert send(server, BATCH, {"requests": [PART] * 101})[0] == 400
        assert send(server, BATCH, {"requests": []})[0] == 400
        assert send(server, BATCH, {"requests": [PART], "model": "x"})[0] == 400
        assert send(server, BATCH, {"requests": [{"content": PART["content"]}]})[0] == 400
        assert not server.answered


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({}, 200),
        ({"input": "pumps", "input_type": "query", "truncation": False, "output_dimension": 2048}, 200),
        ({"input": ["pumps"] * 1000, "encoding_format": "base64"}, 200),
        ({"input": ["pumps"] * 1001}, 400),
        ({"input": []}, 400),
        ({"input": [""]}, 400),
        ({"input": [LONG], "truncation": False}, 400),
        ({"input": ["pumps " * 15_000] * 9}, 400),
        ({"input_type": "passage"}, 400),
        ({"output_dimension": 768}, 400),
        ({"encoding_format": "float"}, 400),
        ({"dimensions": 256}, 400),
        ({"model": "voyage-99"}, 400),
    ],
)
def test_voyage_request_gets_the_status_of_its_fault(changes: dict[str, Any], status: int) -> None:
    with VoyageServer() as server:
        found, body = send(server, "/v1/embeddings", VOYAGE | changes)
        assert found == status
        assert ("detail" in body) == (status != 200)
        assert bool(server.answered) == (status == 200)


def test_voyage_requires_key_and_method() -> None:
    with VoyageServer() as server:
        assert send(server, "/v1/embeddings", VOYAGE, key=None)[0] == 401
        assert send(server, "/v1/embeddings", VOYAGE, key="pa-other")[0] == 401
        assert send(server, "/v1/embeddings", VOYAGE, method="GET")[0] == 405
        assert send(server, "/v1/embedding", VOYAGE)[0] == 404
        assert not server.answered


def test_fake_server_bug_fails_the_test() -> None:
    def broken(request: object) -> None:
        raise KeyError("a bug")

    server = OpenAIServer()
    server.before = broken
    server.__enter__()
    with pytest.raises(http.client.RemoteDisconnected):
        send(server, "/v1/embeddings", OPENAI)
    with pytest.raises(AssertionError, match="The fake itself failed"):
        server.__exit__()


def test_fake_keys_have_service_prefixes() -> None:
    """Ensure that the tests also cover the masking of keys."""
    assert openai_server.KEY.startswith("sk-")
    assert gemini_server.KEY.startswith("AIza")
    assert voyage_server.KEY.startswith("pa-")
