"""No text or key leaves the machine before the user has agreed to the provider, and only that provider gets them."""

import socket
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from engine import probe_provider, store_key
from engine.backends import builtin
from engine.backends.builtin import BuiltinMemory
from engine.base.errors import ProviderError
from engine.embedding import provider_selection
from engine.embedding.provider_selection import select_provider
from engine.settings import Settings
from engine.settings.options import RemoteSettings, StoreSettings
from engine.settings.search_settings import VectorSettings
from tests.helpers.embedding_servers import gemini_server, voyage_server
from tests.helpers.embedding_servers.gemini_server import GeminiServer
from tests.helpers.embedding_servers.openai_server import KEY, OpenAIServer
from tests.helpers.embedding_servers.server import FakeServer
from tests.helpers.embedding_servers.voyage_server import VoyageServer
from tests.helpers.fake_provider import FakeProvider
from tests.helpers.keychain import FakeKeychain

KEYS = ("OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "VOYAGE_API_KEY", "OPENROUTER_API_KEY")
REMOTE = ("openai", "gemini", "voyage")


@pytest.fixture
def server(request: pytest.FixtureRequest) -> Iterator[FakeServer]:
    """A server of OpenAI's API, unless the test requests another kind."""
    with getattr(request, "param", lambda: OpenAIServer(dims=64))() as fake:
        yield fake


@pytest.fixture
def reached(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Every address that was resolved or connected to."""
    seen: list[object] = []
    look_up, connect = socket.getaddrinfo, socket.socket.connect

    def noted_look_up(host, *rest, **options):
        seen.append(host)
        return look_up(host, *rest, **options)

    def noted_connect(self, address):
        seen.append(address)
        return connect(self, address)

    monkeypatch.setattr(socket, "getaddrinfo", noted_look_up)
    monkeypatch.setattr(socket.socket, "connect", noted_connect)
    return seen


@pytest.fixture
def open_real(workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Open memories that select their provider as the program does; only the built-in model is a fake."""
    monkeypatch.setitem(provider_selection.FACTORIES, "embedded", lambda settings, key: FakeProvider(id="embedded"))
    opened: list[BuiltinMemory] = []

    def open_(settings: Settings) -> BuiltinMemory:
        store = msgspec.structs.replace(settings.store, path=str(tmp_path / "data"))
        memory = BuiltinMemory(
            workspace, msgspec.structs.replace(settings, store=store), executor=None, background=False
        )
        opened.append(memory)
        return memory

    assert builtin.select_provider is select_provider
    yield open_
    for memory in opened:
        memory.close()


def use_everything(memory: BuiltinMemory) -> None:
    memory.sync(approve=True)
    memory.search("irrigation timer", min_score=0.0)
    memory.search("irrigation timer", min_score=0.0, explain=True)
    memory.probe_embedding()
    memory.estimate_embedding()
    for provider in REMOTE:
        try:
            memory.estimate_embedding(Settings(provider=provider))
        except ProviderError:
            continue
    memory.sync(force=True, approve=True)
    memory.status()


def agreed(*names: str, base_url: str = "") -> RemoteSettings:
    return RemoteSettings(approved=names, base_url=base_url)


NOWHERE = {
    "the defaults": Settings(),
    "words only": Settings(provider="none"),
    "auto": Settings(provider="auto"),
    "the built-in one, though others are agreed to": Settings(provider="embedded", remote=agreed(*REMOTE)),
    "no vectors": Settings(provider="openai", store=StoreSettings(vector=VectorSettings(enabled=False))),
}


@pytest.mark.parametrize("settings", NOWHERE.values(), ids=NOWHERE.keys())
def test_nothing_is_sent_without_consent_despite_keys(
    settings: Settings,
    server: OpenAIServer,
    reached: list[object],
    open_real,
    keychain: FakeKeychain,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in KEYS:
        monkeypatch.setenv(name, KEY)
    for name in (*REMOTE, f"openai@{server.origin.removeprefix('http://')}"):
        keychain.secrets["mnemoscope", name] = KEY
    for base_url in ("", server.base_url):
        remote = msgspec.structs.replace(settings.remote, base_url=base_url)
        use_everything(open_real(msgspec.structs.replace(settings, remote=remote)))
    assert server.requests == []
    assert reached == []


def test_consent_applies_to_the_named_provider_only(
    server: OpenAIServer, reached: list[object], open_real, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    memory = open_real(Settings(provider="auto", remote=agreed("gemini", "voyage", base_url=server.base_url)))
    use_everything(memory)
    assert memory.status().provider == "embedded"
    assert reached == []


@pytest.mark.parametrize(
    ("server", "name", "header", "key"),
    [
        (GeminiServer, "gemini", "x-goog-api-key", gemini_server.KEY),
        (VoyageServer, "voyage", "authorization", voyage_server.KEY),
    ],
    indirect=["server"],
)
def test_services_are_used_only_if_named(
    server: FakeServer, name: str, header: str, key: str, reached: list[object], open_real, keychain: FakeKeychain
) -> None:
    host = server.origin.removeprefix("http://")
    store_key(name, Settings(provider=name, remote=agreed(base_url=server.base_url)), key)
    assert list(keychain.secrets) == [("mnemoscope", f"{name}@{host}")]
    use_everything(open_real(Settings(remote=agreed(*REMOTE, base_url=server.base_url))))
    assert server.requests == []
    memory = open_real(Settings(provider=name, remote=agreed(base_url=server.base_url)))
    assert memory.sync(approve=True).vectors_pending == 0
    assert {request.headers[header].removeprefix("Bearer ") for request in server.requests} == {key}
    assert {address for address in reached if isinstance(address, tuple)} == {("127.0.0.1", int(host.split(":")[1]))}


@pytest.mark.parametrize(
    ("how", "settings"),
    [
        ("named as provider", Settings(provider="openai", model="m")),
        ("agreed to", Settings(provider="auto", model="m", remote=agreed("openai"))),
    ],
)
def test_texts_are_sent_only_to_the_approved_provider(
    how: str,
    settings: Settings,
    server: OpenAIServer,
    reached: list[object],
    open_real,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    remote = msgspec.structs.replace(settings.remote, base_url=server.base_url)
    memory = open_real(msgspec.structs.replace(settings, remote=remote))
    assert memory.sync().vectors_pending == 0
    status = memory.status()
    assert (status.provider, status.custom["consent"]) == ("openai", how)
    assert status.custom["server"] == server.origin.removeprefix("http://")
    assert memory.search("timer", mode="keyword").remote is False, "a server on this machine is not remote"
    assert any("Tomatoes limp" in text for text in server.answered)
    port = int(server.origin.rpartition(":")[2])
    assert {address for address in reached if isinstance(address, tuple)} == {("127.0.0.1", port)}
    assert {request.headers["authorization"] for request in server.requests} == {f"Bearer {KEY}"}


def test_provider_gets_nothing_after_consent_is_withdrawn(
    server: OpenAIServer, open_real, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    remote = agreed("openai", base_url=server.base_url)
    memory = open_real(Settings(provider="auto", model="m", remote=remote))
    memory.sync()
    memory.close()
    before = len(server.requests)
    assert before
    (workspace / "new.md").write_text("# New\n\nA secret of mine.\n")
    remote = msgspec.structs.replace(remote, approved=())
    use_everything(open_real(Settings(provider="auto", model="m", remote=remote)))
    assert len(server.requests) == before


def test_a_test_of_settings_sends_one_word_and_no_text(server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
    remote = agreed(base_url=server.base_url)
    probe = probe_provider(Settings(provider="openai", model="m", remote=remote), KEY)
    assert (probe.ok, probe.error, probe.dims, probe.model) == (True, "", 64, "m")
    assert [request.json["input"] for request in server.requests] == [["ping"]]


def test_key_never_stored(
    server: OpenAIServer, open_real, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    caplog.set_level("DEBUG")
    settings = Settings(provider="openai", model="m", remote=agreed(base_url=server.base_url))
    memory = open_real(settings)
    use_everything(memory)
    records = repr(memory.status()) + repr(memory.stored_models()) + repr(select_provider(settings))
    memory.close()
    for file in (tmp_path / "data").rglob("*"):
        assert not file.is_file() or KEY.encode() not in file.read_bytes(), file
    assert KEY not in records
    assert KEY not in caplog.text
