"""Behaviour specific to OpenAI, and differences of the servers with a compatible API."""

import logging

import numpy as np
import pytest

from engine.base.errors import ProviderError
from engine.embedding import openai_compatible
from engine.embedding.service_errors import ATTEMPTS
from engine.providers.openai import PRESETS, preset_of
from engine.settings import Settings
from engine.settings.options import RemoteSettings
from tests.helpers.command_line import python
from tests.helpers.embedding_servers.openai_server import OpenAIServer, packed
from tests.helpers.embedding_servers.server import Change, Say

TEXTS = ["first note", "second note", "third note"]


@pytest.fixture
def server():
    with OpenAIServer() as running:
        yield running


@pytest.fixture
def local():
    """A typical local server: any model, no key, and no known properties."""
    with OpenAIServer(dims=48, key=None) as running:
        yield running


def test_own_server_needs_no_key_or_known_model(local, make):
    provider = make(local, None, model="home-made", prices={})
    assert provider.dims is None
    assert provider.price == 0
    assert not provider.remote
    assert provider.embed_documents(TEXTS).shape == (3, 48)
    assert provider.dims == 48
    assert "authorization" not in local.requests[0].headers


def test_first_response_sets_vector_length(local, make):
    provider = make(local, None, model="home-made")
    provider.embed_query("pumps")
    local.faults.append(local.resized(7))
    with pytest.raises(ProviderError, match="vectors of 7 dimensions instead of 48: set dimensions = 7"):
        provider.embed_query("pumps")


def test_openai_is_asked_for_base64_vectors(server, make, monkeypatch):
    monkeypatch.setattr(openai_compatible, "owner_of", lambda base_url: "openai")
    provider = make(server, model="openai/text-embedding-3-small")
    vectors = provider.embed_documents(TEXTS)
    assert vectors == pytest.approx(np.array([server.vector(text) for text in TEXTS]), abs=1e-6)
    assert server.requests[0].json["encoding_format"] == "base64"
    assert server.requests[0].json["model"] == "text-embedding-3-small"


def test_other_servers_get_vendor_name_and_numbers(local, make):
    make(local, None, model="openai/text-embedding-3-small", dimensions=48).embed_query("pumps")
    body = local.requests[0].json
    assert body == {
        "input": ["pumps"],
        "model": "openai/text-embedding-3-small",
        "encoding_format": "float",
        "dimensions": 48,
    }


def test_open_models_get_their_task_prefixes(local, make):
    provider = make(local, None, model="nomic-embed-text:latest", dimensions=64)
    local.dims = 64
    provider.embed_query("pumps")
    provider.embed_documents(["pumps"])
    sent = [text for request in local.requests for text in request.json["input"]]
    assert sent == ["search_query: pumps", "search_document: pumps"]
    assert provider.key != make(local, None, model="home-made", dimensions=64).key


def test_base64_vectors_are_read_when_not_requested(local, make):
    def pack(body):
        for item in body["data"]:
            item["embedding"] = packed(item["embedding"])

    local.faults.append(Change(pack))
    vectors = make(local, None, model="home-made").embed_documents(TEXTS)
    assert vectors == pytest.approx(np.array([local.vector(text) for text in TEXTS]), abs=1e-6)


@pytest.mark.parametrize("given", [None, 0, 99, -1, "1", True])
def test_unassignable_vectors_unused(server, make, waits, given):
    server.faults.append(Change(lambda body: body["data"][2].update(index=given), usable=False))
    with pytest.raises(ProviderError, match="does not say which vector belongs to which text"):
        make(server).embed_documents(TEXTS)
    assert waits == []
    assert make(server).embed_documents(TEXTS).shape == (3, 1536)
    assert server.answered == dict.fromkeys(TEXTS, 1)


def test_single_embedding_without_index_is_accepted(local, make):
    local.faults.append(Change(lambda body: body["data"][0].pop("index"), usable=False))
    assert make(local, None, model="home-made").embed_query("pumps").shape == (48,)


def test_length_refusals_shorten_later_parts(local, make, waits):
    provider = make(local, None, model="home-made")
    message = "input (1202 tokens) is too large to process. increase the physical batch size (current batch size: 512)"

    def refuse_long(body):
        if any(len(text) > 900 for text in body["input"]):
            return Say(500, {"error": {"code": 500, "message": message, "type": "server_error"}})
        return None

    local.judge = refuse_long
    text = "pumps and lighthouses. " * 150
    vectors = provider.embed_documents([text, "short"])
    assert vectors.shape == (2, 48)
    assert waits == []
    sent = len(local.requests)
    provider.embed_documents([text])
    assert len(local.requests) == sent + 1


def test_text_refused_at_every_length_raises(local, make, waits):
    message = "the input length exceeds the context length"
    local.judge = lambda body: Say(400, {"error": {"message": message, "type": "invalid_request_error"}})
    with pytest.raises(ProviderError, match="says that a text is too long"):
        make(local, None, model="home-made").embed_documents(["pumps " * 400])
    assert len(local.requests) < 10


def test_a_missing_key_is_named_before_anything_is_sent():
    with pytest.raises(ProviderError, match=r"no API key for openai: .* OPENAI_API_KEY"):
        openai_compatible.make(Settings(provider="openai"), None)
    remote = RemoteSettings(base_url="https://openrouter.ai/api/v1")
    with pytest.raises(ProviderError, match=r"openrouter\.ai: .* OPENROUTER_API_KEY"):
        openai_compatible.make(Settings(provider="openai", remote=remote), None)


def test_unknown_model_error_names_setting(server, make, waits):
    with pytest.raises(ProviderError, match=r"does not know the model or the address .*: check model and base_url"):
        make(server, model="text-embedding-9").embed_query("pumps")
    assert waits == []


def test_error_names_unreachable_server(make, waits):
    with OpenAIServer(dims=48, key=None) as gone:
        provider = make(gone, None)
    with pytest.raises(ProviderError, match=r"^The server 127\.0\.0\.1:\d+ cannot be reached \([^[]+\): is it"):
        provider.embed_query("pumps")
    assert len(waits) == ATTEMPTS - 1


@pytest.mark.parametrize(
    ("base_url", "says"),
    [
        ("ftp://host/v1", "is not a URL"),
        ("http://me:secret@127.0.0.1/v1", "no password"),
        ("http://127.0.0.1/v1?key=secret", "no password, nothing after"),
        ("http://192.168.1.5:8080/v1", "set remote.allow_http = true"),
    ],
)
def test_texts_are_sent_to_no_doubtful_address(base_url, says):
    with pytest.raises(ProviderError, match=says) as caught:
        openai_compatible.make(Settings(provider="openai", remote=RemoteSettings(base_url=base_url)), "key")
    assert "secret" not in str(caught.value)


def test_http_to_another_machine_can_be_allowed():
    remote = RemoteSettings(base_url="http://192.168.1.5:8080/v1/", allow_http=True)
    provider = openai_compatible.make(Settings(provider="openai", remote=remote), None)
    assert provider.remote
    assert provider.price is None
    provider.close()


def test_sdk_never_logs_text(server, make, caplog):
    logging.getLogger("openai").setLevel(logging.DEBUG)
    caplog.set_level(logging.DEBUG)
    make(server).embed_query("a very private question")
    assert "private" not in caplog.text


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.id)
def test_presets_have_valid_urls(preset):
    remote = RemoteSettings(base_url=preset.base_url)
    settings = Settings(provider="openai", model=preset.model or "loaded", remote=remote)
    provider = openai_compatible.make(settings, "a-key-for-it")
    assert provider.remote == preset.needs_key
    provider.close()
    assert preset_of(preset.base_url.upper().replace("127.0.0.1", "localhost") + "/") is preset


@pytest.mark.parametrize("base64", [False, True], ids=["numbers", "packed"])
def test_query_and_documents_send_the_same_request(server, make, monkeypatch, base64):
    """A query is sent without the SDK."""
    if base64:
        monkeypatch.setattr(openai_compatible, "owner_of", lambda base_url: "openai")
    provider = make(server, dimensions=256)
    query, document = provider.embed_query("pumps"), provider.embed_documents(["pumps"])[0]
    assert query == pytest.approx(document)
    first, second = server.requests
    assert (first.method, first.path, first.json) == (second.method, second.path, second.json)
    assert dict(first.headers) == dict(second.headers) | {"content-length": first.headers["content-length"]}


def test_query_imports_no_sdk(local):
    code = (
        "import sys; from engine.embedding.openai_compatible import make; from engine.settings import Settings; "
        "from engine.settings.options import RemoteSettings; "
        f"settings = Settings(provider='openai', model='m', remote=RemoteSettings(base_url={local.base_url!r})); "
        "assert make(settings, None).embed_query('pumps').shape == (48,); "
        "sys.exit('openai' in sys.modules)"
    )
    assert python(code).returncode == 0
