"""Providers with fakes of their services."""

import importlib
from collections.abc import Callable, Iterator

import pytest

from engine.embedding import service_errors
from engine.embedding.provider_interface import EmbeddingProvider
from engine.providers.registry import provider_named
from tests.helpers.embedding_servers.gemini_server import GeminiServer
from tests.helpers.embedding_servers.openai_server import OpenAIServer
from tests.helpers.embedding_servers.server import FakeServer
from tests.helpers.embedding_servers.voyage_server import VoyageServer

Make = Callable[..., EmbeddingProvider]


@pytest.fixture(params=[OpenAIServer, GeminiServer, VoyageServer], ids=lambda kind: kind.provider)
def server(request) -> Iterator[FakeServer]:
    with request.param() as running:
        yield running


@pytest.fixture
def make() -> Iterator[Make]:
    """Create providers that are closed after the test: `make(server)`, with the server's key by default."""
    made: list[EmbeddingProvider] = []

    def provider_of(server: FakeServer, key: str | None = "", **options) -> EmbeddingProvider:
        module = importlib.import_module(f"engine.embedding.{provider_named(server.provider).module}")
        made.append(module.make(server.settings(**options), server.key if key == "" else key))
        return made[-1]

    yield provider_of
    for provider in made:
        provider.close()


@pytest.fixture
def provider(server, make) -> EmbeddingProvider:
    return make(server)


@pytest.fixture
def waits(monkeypatch) -> list[float]:
    """Record the waits between attempts, in seconds, instead of sleeping."""
    found: list[float] = []
    monkeypatch.setattr(service_errors, "pause", lambda seconds, cancel: found.append(seconds))
    return found
