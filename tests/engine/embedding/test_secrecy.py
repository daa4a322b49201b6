"""For any failure of a service, and any text that it repeats, the key is in neither the error nor the log."""

import base64
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.base.errors import ProviderError
from engine.embedding.provider_selection import select_provider
from engine.logs import configure_logging
from engine.settings import Settings
from engine.settings.options import RemoteSettings
from tests.helpers.embedding_servers.gemini_server import GeminiServer
from tests.helpers.embedding_servers.openai_server import OpenAIServer
from tests.helpers.embedding_servers.server import Drop, FakeServer, Fault, Say
from tests.helpers.embedding_servers.voyage_server import VoyageServer

PLAIN_KEY = "correct7horse7battery7staple"
"""Matches no known pattern of keys."""
NOTE = "Gunhild lent us the gauge."


def echoes(key: str) -> list[Fault]:
    """Return refusals that repeat the key wherever a careless server or proxy might."""
    message = f"Incorrect API key provided: {key}. Authorization: Bearer {key}"
    return [
        Say(401, {"error": {"message": message, "type": "invalid_request_error", "code": "invalid_api_key"}}),
        Say(403, {"error": {"code": 403, "message": message, "status": "PERMISSION_DENIED"}}),
        Say(400, {"detail": message}),
        Say(400, {"error": key}),
        Say(404, f"<html>{message}</html>".encode()),
        Say(422, {"detail": [{"loc": ["header"], "msg": message}]}),
        Say(302, b"", {"Location": f"https://user:{key}@elsewhere.example/{key}?key={key}"}),
        Say(200, f'{{"broken": "{key}'.encode()),
        Say(200, {"data": key}),
        Drop(),
    ]


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    monkeypatch.setattr("engine.logs.user_folder", lambda _: tmp_path / "logs")
    before = logging.getLogger().handlers[:]
    path = configure_logging()
    logging.getLogger("engine").setLevel(logging.DEBUG)  # not even details contain a key
    yield path
    logging.getLogger("engine").setLevel(logging.INFO)
    for handler in logging.getLogger().handlers[:]:
        if handler not in before:
            logging.getLogger().removeHandler(handler)
            handler.close()


@pytest.fixture
def server(request: pytest.FixtureRequest) -> Iterator[FakeServer]:
    with request.param() as fake:
        yield fake


@pytest.mark.parametrize("number", range(len(echoes(""))))
@pytest.mark.parametrize(
    ("server", "name", "variable"),
    [
        (OpenAIServer, "openai", "OPENAI_API_KEY"),
        (GeminiServer, "gemini", "GOOGLE_API_KEY"),
        (VoyageServer, "voyage", "VOYAGE_API_KEY"),
    ],
    indirect=["server"],
)
def test_no_key_in_errors_and_logs(
    server: FakeServer, name: str, variable: str, number: int, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, PLAIN_KEY)
    monkeypatch.setattr("engine.embedding.service_errors.pause", lambda seconds, cancel: None)
    server.faults.extend(echoes(PLAIN_KEY)[number] for _ in range(10))
    remote = RemoteSettings(base_url=server.base_url)
    selection = select_provider(Settings(provider=name, remote=remote))
    assert selection.provider is not None, selection.unavailable_reason
    try:
        selection.provider.embed_documents([NOTE])
    except ProviderError as error:
        logging.getLogger("engine.tests").exception("Embedding failed")
        message = f"{error} {error!r}"
    else:
        pytest.fail("the fault had no effect")
    finally:
        selection.provider.close()
    logging.getLogger("engine.tests").warning("%r %r", selection, selection.provider)
    for text in (message, log.read_text(), repr(vars(selection.provider))):
        assert PLAIN_KEY not in text
        assert base64.b64encode(PLAIN_KEY.encode()).decode() not in text
        assert NOTE not in text
