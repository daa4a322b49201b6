import pytest

from engine import probe_provider
from engine.base.cancellation import CancelToken
from engine.base.errors import Cancelled, ProviderError
from engine.embedding import provider_selection
from engine.settings import Settings
from engine.settings.options import RemoteSettings
from tests.helpers.fake_provider import FakeProvider


class Watched(FakeProvider):
    def __init__(self) -> None:
        super().__init__(dims=7)
        self.closed = False

    def embed_query(self, text, *, cancel=None):
        if cancel is not None:
            cancel.checkpoint()
        return super().embed_query(text)

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Watched:
    watched = Watched()
    monkeypatch.setitem(provider_selection.FACTORIES, "openai", lambda settings, key: watched)
    return watched


def test_check_sends_one_word_and_measures_time(provider: Watched) -> None:
    probe = probe_provider(Settings(provider="openai"))
    assert (probe.ok, probe.error, probe.dims, probe.model) == (True, "", 7, provider.model)
    assert probe.milliseconds > 0
    assert provider.questions == ["ping"]
    assert provider.closed


def test_failure_shown_without_fallback(provider: Watched) -> None:
    provider.fails_queries = "The key is wrong."
    probe = probe_provider(Settings(provider="openai", fallback="embedded"))
    assert (probe.ok, probe.error, probe.dims) == (False, "The key is wrong.", None)
    assert provider.closed


def test_typed_key_is_tested(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "old")
    tried: list[str | None] = []

    def make(settings: Settings, key: str | None) -> FakeProvider:
        tried.append(key)
        raise ProviderError("Refused.")

    monkeypatch.setitem(provider_selection.FACTORIES, "openai", make)
    settings = Settings(provider="openai")
    assert not probe_provider(settings, " typed ").ok
    assert not probe_provider(settings).ok
    assert tried == ["typed", "old"]
    assert "The entered text is not a valid API key" in probe_provider(settings, "not a key").error
    assert tried == ["typed", "old"]


def test_fallback_is_tested_with_its_own_server_and_model(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[tuple[str, str, str | None]] = []

    def make(settings: Settings, key: str | None) -> FakeProvider:
        tried.append((settings.model, settings.remote.base_url, key))
        raise ProviderError("Refused.")

    monkeypatch.setitem(provider_selection.FACTORIES, "gemini", make)
    monkeypatch.setenv("GEMINI_API_KEY", "kept")
    monkeypatch.setenv("OTHER", "of another server")
    remote = RemoteSettings(base_url="https://models.example/v1", api_key_env="OTHER")
    settings = Settings(provider="openai", fallback="gemini", model="m", remote=remote)
    assert probe_provider(settings, "typed", fallback=True).error == "Refused."
    assert probe_provider(settings, fallback=True).error == "Refused."
    assert tried == [("", "", "typed"), ("", "", "kept")]


def test_no_provider_has_nothing_to_test() -> None:
    probe = probe_provider(Settings(provider="none"))
    assert (probe.ok, probe.model) == (False, "")
    assert "no search by meaning" in probe.error


def test_cancel_ends_check(provider: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        probe_provider(Settings(provider="openai"), cancel=token)
    assert provider.closed
