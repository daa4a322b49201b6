from typing import Any

import pytest
from keyring.errors import InitError, KeyringLocked

from engine import KeyState, forget_key, key_state, store_key
from engine.base.cancellation import CancelToken
from engine.base.errors import Cancelled, ProviderError
from engine.embedding import keychain as keychain_room
from engine.embedding.api_keys import find_key, key_missing
from engine.providers.openai import PRESETS, Preset
from engine.settings import Settings
from engine.settings.options import RemoteSettings
from tests.helpers.background import wait_until
from tests.helpers.command_line import python
from tests.helpers.keychain import FakeKeychain

OPENAI = Settings(provider="openai")
SECRET = "sk-a-very-secret-key"


def at(base_url: str, provider: str = "openai", **remote: Any) -> Settings:
    return Settings(provider=provider, remote=RemoteSettings(base_url=base_url, **remote))


def found(provider: str, settings: Settings) -> tuple[str, str] | None:
    key = find_key(provider, settings)
    return None if key is None else (key.value, key.name)


@pytest.mark.parametrize(
    ("provider", "variable"),
    [
        ("openai", "OPENAI_API_KEY"),
        ("gemini", "GEMINI_API_KEY"),
        ("gemini", "GOOGLE_API_KEY"),
        ("voyage", "VOYAGE_API_KEY"),
    ],
)
def test_environment_has_priority(
    provider: str, variable: str, monkeypatch: pytest.MonkeyPatch, keychain: FakeKeychain
) -> None:
    keychain.secrets["mnemoscope", provider] = "other"
    monkeypatch.setenv(variable, f" {SECRET}\n")
    assert found(provider, Settings(provider=provider)) == (SECRET, variable)
    assert keychain.asked == []


def test_gemini_prefers_gemini_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_API_KEY", "shared")
    monkeypatch.setenv("GEMINI_API_KEY", "own")
    assert found("gemini", Settings(provider="gemini")) == ("own", "GEMINI_API_KEY")


def test_variable_of_settings_replaces_usual_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "usual")
    named = Settings(provider="openai", remote=RemoteSettings(api_key_env="WORK_KEY"))
    assert find_key("openai", named) is None
    assert "WORK_KEY" in key_missing("openai", named)
    monkeypatch.setenv("WORK_KEY", SECRET)
    assert found("openai", named) == (SECRET, "WORK_KEY")


def test_openrouter_never_gets_the_key_of_openai(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    openrouter = at("https://openrouter.ai/api/v1")
    assert find_key("openai", openrouter) is None
    assert "OPENROUTER_API_KEY" in key_missing("openai", openrouter)
    monkeypatch.setenv("OPENROUTER_API_KEY", "sk-or-1")
    assert found("openai", openrouter) == ("sk-or-1", "OPENROUTER_API_KEY")
    assert found("openai", OPENAI) == (SECRET, "OPENAI_API_KEY")


@pytest.mark.parametrize("server", [preset for preset in PRESETS if not preset.needs_key], ids=lambda preset: preset.id)
def test_keyless_server_gets_no_key(server: Preset, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    assert find_key("openai", at(server.base_url)) is None
    assert find_key("openai", at(server.base_url.replace("127.0.0.1", "localhost") + "/")) is None
    assert not key_state("openai", at(server.base_url)).present
    named = at(server.base_url, api_key_env="OPENAI_API_KEY")
    assert found("openai", named) == (SECRET, "OPENAI_API_KEY")


def test_key_never_sent_unencrypted_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    assert find_key("openai", at("http://192.168.1.5:11434/v1", allow_http=True)) is None
    assert found("openai", at("https://work.example/v1")) == (SECRET, "OPENAI_API_KEY")
    monkeypatch.setenv("HOUSE_KEY", "own")
    named = at("http://192.168.1.5:11434/v1", allow_http=True, api_key_env="HOUSE_KEY")
    assert found("openai", named) == ("own", "HOUSE_KEY")


def test_fallback_uses_own_variable_and_server(monkeypatch: pytest.MonkeyPatch, keychain: FakeKeychain) -> None:
    monkeypatch.setenv("WORK_KEY", "for the work server")
    keychain.secrets["mnemoscope", "gemini"] = "own"
    settings = at("https://work.example/v1", api_key_env="WORK_KEY")
    assert found("gemini", settings) == ("own", "gemini")


def test_key_stored_per_server_and_removed(keychain: FakeKeychain) -> None:
    work = at("https://work.example:8443/v1")
    store_key("openai", work, f"  {SECRET} ")
    assert keychain.secrets == {("mnemoscope", "openai@work.example:8443"): SECRET}
    assert found("openai", work) == (SECRET, "openai@work.example:8443")
    for elsewhere in (OPENAI, at("https://api.openai.com/v1"), at("https://work.example/v1")):
        assert find_key("openai", elsewhere) is None
    forget_key("openai", work)
    forget_key("openai", work)
    assert keychain.secrets == {}


def test_full_default_address_uses_the_stored_key(keychain: FakeKeychain) -> None:
    store_key("openai", OPENAI, SECRET)
    assert found("openai", at("https://api.openai.com/v1")) == (SECRET, "openai")


def test_state_names_source_never_key(monkeypatch: pytest.MonkeyPatch, keychain: FakeKeychain) -> None:
    nothing = KeyState(present=False, origin=None, origin_text="", problem="")
    assert key_state("openai", OPENAI) == nothing
    assert key_state("embedded", Settings()) == nothing
    keychain.secrets["mnemoscope", "openai"] = SECRET
    state = key_state("openai", OPENAI)
    assert (state.present, state.origin, state.origin_text) == (True, "keychain", "the keychain")
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    named = key_state("openai", OPENAI)
    assert (named.origin, named.origin_text) == ("environment", "the environment variable OPENAI_API_KEY")
    for result in (state, named, find_key("openai", OPENAI)):
        assert SECRET not in repr(result)
        assert SECRET not in str(result)


def test_environment_works_without_keychain() -> None:
    assert key_state("openai", OPENAI) == KeyState(present=False, origin=None, origin_text="", problem="")
    forget_key("openai", OPENAI)
    with pytest.raises(ProviderError, match=r"has no keychain.*OPENAI_API_KEY instead"):
        store_key("openai", OPENAI, SECRET)


@pytest.mark.parametrize("text", ["", "  ", "two words", "key\r\nHost: evil", "schlüssel"])
def test_invalid_key_refused_without_repeating(
    text: str, keychain: FakeKeychain, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ProviderError, match="The entered text is not a valid API key") as caught:
        store_key("openai", OPENAI, text)
    assert not text.strip() or text.strip() not in str(caught.value)
    assert keychain.secrets == {}
    if text.strip():
        monkeypatch.setenv("OPENAI_API_KEY", text)
        assert "environment variable OPENAI_API_KEY is not a valid API key" in key_state("openai", OPENAI).problem


@pytest.mark.parametrize(
    ("failure", "expected"),
    [
        (KeyringLocked("no"), "is locked: unlock it"),
        (InitError("no"), "failed \\(InitError\\)"),
        (OSError(f"cannot find {SECRET}"), "failed \\(OSError\\)"),
    ],
)
def test_failing_keychain_is_one_sentence(keychain: FakeKeychain, failure: Exception, expected: str) -> None:
    keychain.fails = failure
    with pytest.raises(ProviderError, match=expected) as caught:
        find_key("openai", OPENAI)
    assert SECRET not in str(caught.value)


def test_hanging_keychain_abandoned_then_retried(keychain: FakeKeychain, monkeypatch: pytest.MonkeyPatch) -> None:
    keychain.secrets["mnemoscope", "openai"] = SECRET
    keychain.answers.clear()
    with monkeypatch.context() as impatient:
        impatient.setattr(keychain_room, "ANSWER_SECONDS", 0.05)
        for _ in range(3):
            assert "did not answer" in key_state("openai", OPENAI).problem
    assert keychain.asked == ["openai"], "only the first one waited"
    keychain.answers.set()
    wait_until(lambda: not key_state("openai", OPENAI).problem)
    assert found("openai", OPENAI) == (SECRET, "openai")


def test_a_cancel_ends_the_wait_for_the_keychain(keychain: FakeKeychain) -> None:
    keychain.answers.clear()
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        find_key("openai", OPENAI, cancel=token)


def test_a_key_in_the_environment_never_loads_the_keychain() -> None:
    code = (
        "import sys; from engine import Settings; from engine.embedding.api_keys import find_key; "
        "assert find_key('openai', Settings(provider='openai')); assert 'keyring' not in sys.modules"
    )
    done = python(code, env={"OPENAI_API_KEY": SECRET})
    assert done.returncode == 0, done.stderr
