"""The provider of an open memory and the keychain, which may be locked and unlocked later."""

import threading

import pytest

from engine.backends import builtin
from engine.backends.builtin import BuiltinMemory
from engine.base.errors import Closed, ProviderError
from engine.embedding import provider_selection
from engine.embedding.provider_selection import Selection, select_provider
from engine.records import SyncReport
from engine.settings.options import RemoteSettings, SyncSettings
from tests.helpers.background import wait_until
from tests.helpers.fake_provider import FakeProvider
from tests.helpers.keychain import FakeKeychain

QUIET = SyncSettings(on_session_start=False, watch=False)


@pytest.fixture
def memory(open_memory, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> BuiltinMemory:
    """Open a memory that selects its provider as the program does: a service that needs a key, or `embedded`."""

    def service(_settings, key: str | None) -> FakeProvider:
        if key is None:
            raise ProviderError("There is no key.")
        return FakeProvider(id="openai")

    monkeypatch.setitem(provider_selection.FACTORIES, "openai", service)
    monkeypatch.setitem(provider_selection.FACTORIES, "embedded", lambda settings, key: FakeProvider(id="embedded"))
    memory = open_memory(provider="openai", fallback=getattr(request, "param", "none"))
    monkeypatch.setattr(builtin, "select_provider", select_provider)
    return memory


def test_status_names_key_and_recipient(memory: BuiltinMemory, keychain: FakeKeychain) -> None:
    keychain.secrets["mnemoscope", "openai"] = "the-very-key"
    status = memory.status()
    assert status.provider == "openai"
    assert status.custom["keyOrigin"] == "the keychain"
    assert status.custom["consent"] == "named as provider"
    assert "the-very-key" not in repr(status)


@pytest.mark.parametrize("memory", ["none", "embedded"], indirect=True)
def test_provider_test_uses_key_added_since(memory: BuiltinMemory, keychain: FakeKeychain) -> None:
    assert memory.status().provider in {"none", "embedded"}
    stood_in = memory.status().fallback is not None
    assert memory.probe_embedding().ok is stood_in
    keychain.secrets["mnemoscope", "openai"] = "key"
    assert memory.probe_embedding().ok
    status = memory.status()
    assert (status.provider, status.fallback, status.custom["providerUnavailableReason"]) == ("openai", None, None)
    memory.sync()
    assert memory.status().pending_vectors == 0


@pytest.mark.parametrize("memory", ["embedded"], indirect=True)
def test_manual_update_replaces_fallback_provider(memory: BuiltinMemory, keychain: FakeKeychain) -> None:
    assert memory.sync().vectors_embedded > 0
    assert memory.status().provider == "embedded"
    keychain.secrets["mnemoscope", "openai"] = "key"
    assert memory.sync(reason="manual").vectors_embedded > 0
    assert memory.status().provider == "openai"


def test_only_a_manual_update_reads_the_new_key(memory: BuiltinMemory, keychain: FakeKeychain) -> None:
    assert memory.sync().vectors_embedded == 0
    prompts = len(keychain.asked)
    memory.sync(reason="watch")
    memory.search("irrigation")
    memory.status()
    assert len(keychain.asked) == prompts, "only actions of the user prompt for the password again"
    keychain.secrets["mnemoscope", "openai"] = "key"
    assert memory.sync(reason="watch").vectors_embedded == 0
    assert memory.sync(reason="manual").vectors_embedded > 0


@pytest.mark.parametrize("memory", ["embedded"], indirect=True)
def test_fallback_provider_is_made_once_while_key_is_missing(
    memory: BuiltinMemory, keychain: FakeKeychain, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[FakeProvider] = []

    def make(*_: object) -> FakeProvider:
        made.append(FakeProvider(id="embedded"))
        return made[-1]

    monkeypatch.setitem(provider_selection.FACTORIES, "embedded", make)
    assert memory.search("irrigation", mode="keyword").results == ()
    assert memory.probe_embedding().ok
    assert memory.sync().vectors_embedded > 0
    assert memory.search("irrigation").mode == "hybrid"
    assert [provider for provider in made if provider.embedded or provider.questions] == made[:1]


def test_closing_ends_the_wait_for_the_keychain(memory: BuiltinMemory, keychain: FakeKeychain) -> None:
    keychain.answers.clear()
    failures: list[Exception] = []

    def look() -> None:
        try:
            memory.status()
        except Exception as error:
            failures.append(error)

    looking = threading.Thread(target=look)
    looking.start()
    while not keychain.asked:
        assert looking.is_alive()
    memory.close()
    looking.join()
    assert [type(failure) for failure in failures] == [Closed]


def test_close_ends_sync_waiting_for_keychain(memory: BuiltinMemory, keychain: FakeKeychain) -> None:
    keychain.answers.clear()
    reports: list[SyncReport] = []
    syncing = threading.Thread(target=lambda: reports.append(memory.sync()))
    syncing.start()
    while not keychain.asked:
        assert syncing.is_alive()
    assert memory.search("irrigation", mode="keyword").results
    memory.close()
    syncing.join()
    assert [(report.cancelled, report.error, report.files_indexed) for report in reports] == [(True, "", 4)]


def test_status_available_while_model_loads(open_memory, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = threading.Event()

    def load(settings, **_options) -> Selection:
        loaded.wait(60)
        return Selection(None, settings.provider)

    memory = open_memory(background=True, provider="embedded", sync=QUIET)
    monkeypatch.setattr(builtin, "select_provider", load)
    status = memory.status()
    loaded.set()
    assert status.custom["providerUnavailableReason"] == "The model is still being loaded."


@pytest.mark.usefixtures("memory")
def test_status_available_while_keychain_locked(
    open_memory, keychain: FakeKeychain, monkeypatch: pytest.MonkeyPatch
) -> None:
    keychain.secrets["mnemoscope", "openai"] = "key"
    keychain.answers.clear()
    memory = open_memory(background=True, provider="openai", sync=QUIET)
    monkeypatch.setattr(builtin, "select_provider", select_provider)
    notified = threading.Event()
    memory.add_status_listener(notified.set)
    status = memory.status()
    assert (status.provider, status.requested_provider) == ("none", "openai")
    assert "Waiting for the keychain" in status.custom["providerUnavailableReason"]
    syncing = threading.Thread(target=memory.sync)
    syncing.start()
    wait_until(lambda: memory.search("irrigation", mode="keyword").results != ())
    assert memory.status().provider == "none"
    notified.clear()
    keychain.answers.set()
    syncing.join()
    assert notified.is_set()
    assert (memory.status().provider, memory.status().pending_vectors) == ("openai", 0)


@pytest.mark.usefixtures("memory")
def test_close_does_not_wait_for_keychain(open_memory, keychain: FakeKeychain, monkeypatch: pytest.MonkeyPatch) -> None:
    keychain.answers.clear()
    memory = open_memory(background=True, provider="openai", sync=QUIET)
    monkeypatch.setattr(builtin, "select_provider", select_provider)
    assert memory.status().provider == "none"
    memory.close()
    with pytest.raises(Closed):
        memory.status()


def test_words_are_searched_without_the_keychain(memory: BuiltinMemory, keychain: FakeKeychain) -> None:
    keychain.answers.clear()
    assert memory.search("irrigation", mode="keyword").mode == "keyword"
    assert keychain.asked == []


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"fallback": "openai"}, {"provider": "openai", "server": "api.openai.com"}),
        ({"fallback": "gguf"}, None),
        ({"provider": "auto", "fallback": "voyage"}, {"provider": "voyage", "server": "api.voyageai.com"}),
        (
            {"provider": "auto", "fallback": "openai", "remote": RemoteSettings(base_url="http://127.0.0.1:1/v1")},
            None,
        ),
        (
            {"provider": "auto", "fallback": "openai", "remote": RemoteSettings(base_url="https://work.example/v1")},
            {"provider": "openai", "server": "work.example"},
        ),
    ],
)
def test_status_names_remote_fallback(open_memory, changes, expected) -> None:
    memory = open_memory(use=FakeProvider(id="embedded"), **changes)
    assert memory.status().custom["remoteFallback"] == expected


def test_status_of_fallback_in_use_names_no_other(open_memory, monkeypatch: pytest.MonkeyPatch) -> None:
    used = Selection(FakeProvider(id="openai"), "gguf", fallback_from="gguf", fallback_reason="No file.")
    memory = open_memory(provider="gguf", fallback="openai")
    monkeypatch.setattr(builtin, "select_provider", lambda *_, **__: used)
    assert memory.status().custom["remoteFallback"] is None


def test_status_names_providers_without_consent_or_key(open_memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    monkeypatch.setitem(provider_selection.FACTORIES, "embedded", lambda settings, key: FakeProvider(id="embedded"))
    memory = open_memory(provider="auto", remote=RemoteSettings(approved=("gemini",)))
    monkeypatch.setattr(builtin, "select_provider", select_provider)
    custom = memory.status().custom
    assert [sentence for sentence in custom["skippedProviders"] if "openai" in sentence] == [
        "openai: you have not agreed to send texts there."
    ]
    assert "gemini: there is no API key." in custom["skippedProviders"]
    assert (custom["remote"], custom["consent"], custom["keyOrigin"]) == (False, None, None)
