"""Behaviour specific to Voyage."""

from collections.abc import Iterator

import numpy as np
import pytest

from engine.base.errors import ProviderError
from engine.embedding import voyage
from engine.settings import Settings
from tests.helpers.embedding_servers.voyage_server import KEY, VoyageServer


@pytest.fixture
def server() -> Iterator[VoyageServer]:
    with VoyageServer() as running:
        yield running


def test_queries_and_documents_distinguished(server, make):
    provider = make(server, model="voyage/voyage-4-large", dimensions=512)
    provider.embed_query("pumps")
    provider.embed_documents(["pumps", "valves"])
    question, documents = (request.json for request in server.requests)
    assert question["input_type"] == "query"
    assert documents == {
        "input": ["pumps", "valves"],
        "input_type": "document",
        "model": "voyage-4-large",
        "truncation": False,
        "output_dimension": 512,
    }


def test_voyage_is_asked_for_base64_vectors(server, make, monkeypatch):
    monkeypatch.setattr(voyage, "owner_of", lambda base_url: "voyage")
    vectors = make(server).embed_documents(["pumps", "valves"])
    assert vectors == pytest.approx(np.array([server.vector("pumps"), server.vector("valves")]), abs=1e-6)
    assert server.requests[0].json["encoding_format"] == "base64"


@pytest.mark.parametrize(("key", "host"), [(KEY, "api.voyageai.com"), ("al-fake-0123456789", "ai.mongodb.com")])
def test_atlas_keys_use_other_address_same_vectors(key, host):
    settings = Settings(provider="voyage")
    http = voyage.open_http(settings, key)
    assert http.base_url == f"https://{host}/v1"
    http.close()
    providers = [voyage.make(settings, each) for each in (KEY, key)]
    assert providers[0].key == providers[1].key
    assert providers[0].price == 0.12
    for provider in providers:
        provider.close()


def test_error_names_missing_key_or_unknown_model(server, make):
    with pytest.raises(ProviderError, match=r"no API key for voyage: .* VOYAGE_API_KEY"):
        voyage.make(Settings(provider="voyage"), None)
    with pytest.raises(ProviderError, match=r'Voyage refused the request .*"Model voyage-99 is not supported\."'):
        make(server, model="voyage-99").embed_query("pumps")
