"""OpenAI's provider against a server that rejects what the real one rejects."""

import numpy as np
import pytest

from engine.embedding import openai_compatible, retrying
from engine.embedding.base import EmbeddingProvider, PartialAnswer
from engine.errors import ProviderError
from engine.settings import Settings
from engine.settings.options import RemoteSettings
from tests.helpers.embedding_servers import openai_server
from tests.helpers.embedding_servers.openai_server import KEY, OpenAIServer
from tests.helpers.embedding_servers.server import Change, Drop, Truncate

TEXTS = [f"note {number} about pumps" for number in range(12)]


@pytest.fixture
def server():
    with OpenAIServer() as running:
        yield running


@pytest.fixture
def waits(monkeypatch):
    """Waits between tries, in seconds, none of which is waited for."""
    found: list[float] = []
    monkeypatch.setattr(retrying, "pause", lambda seconds, cancel: found.append(seconds))
    return found


@pytest.fixture
def provider(server):
    made = make(server)
    yield made
    made.close()


def make(server: OpenAIServer, key: str | None = KEY, **options) -> EmbeddingProvider:
    remote = RemoteSettings(base_url=server.base_url)
    prices = {"openai/text-embedding-3-small": 0.02}
    return openai_compatible.make(Settings(**{"provider": "openai", "remote": remote, "prices": prices} | options), key)


def test_vectors_come_in_the_order_of_their_texts(server, provider):
    vectors = provider.embed_documents(TEXTS)
    assert vectors.shape == (12, 1536)
    assert vectors.dtype == np.float32
    for text, vector in zip(TEXTS, vectors, strict=True):
        assert vector == pytest.approx(server.vector(text), abs=1e-6)
    assert provider.embed_query(TEXTS[3]) == pytest.approx(vectors[3])
    assert provider.tokens_used == server.tokens > 0


@pytest.mark.parametrize(
    "fault",
    [
        openai_server.too_many({"Retry-After": "7"}),
        openai_server.too_many(),
        openai_server.server_error(),
        Drop(),
        Truncate(announced=True),
        Truncate(announced=False),
        openai_server.without(1, 5),
        Change(lambda body: body["data"].reverse()),
        Change(lambda body: body["data"][4].update(embedding=[float("nan")] * 1536)),
        Change(lambda body: body["data"][2].update(index=3)),
    ],
    ids="429-after 429 500 dropped cut cut-silently fewer shuffled nan twice-the-same-place".split(),
)
def test_after_a_fault_that_ends_all_vectors_are_there_and_none_was_paid_for_twice(server, provider, waits, fault):
    server.faults.append(fault)
    try:
        vectors = provider.embed_documents(TEXTS)
    except ProviderError:
        vectors = provider.embed_documents(TEXTS)  # nobody could tell which vector was whose
    assert vectors == pytest.approx(np.array([server.vector(text) for text in TEXTS]), abs=1e-6)
    assert server.answered == dict.fromkeys(TEXTS, 1)


def test_what_arrived_before_a_lasting_fault_is_handed_over(server, provider, waits):
    server.faults.extend([openai_server.without(1, 5), openai_server.quota()])
    with pytest.raises(PartialAnswer, match="no credit left") as caught:
        provider.embed_documents(TEXTS)
    assert sorted(caught.value.arrived) == [place for place in range(12) if place not in {1, 5}]
    assert caught.value.arrived[7] == pytest.approx(server.vector(TEXTS[7]), abs=1e-6)
    assert waits == []
