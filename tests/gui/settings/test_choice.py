import msgspec

from engine import Settings
from gui.settings.engine_and_model_choice import EmbeddingChoice


def test_choice_round_trips_through_settings():
    settings = Settings(provider="openai", model="m", dimensions=256, fallback="embedded")
    settings = msgspec.structs.replace(
        settings, remote=msgspec.structs.replace(settings.remote, base_url="https://host/v1", approved=("gemini",))
    )
    assert EmbeddingChoice.of(settings).applied_to(Settings()) == settings


def test_changes_contain_only_differences_and_unset_values():
    before = EmbeddingChoice("openai", model="m", dimensions=256)
    assert before.changes(before) == {}
    now = before.with_provider("gemini")
    assert now.changes(before) == {"provider": "gemini", "model": "", "dimensions": None}


def test_provider_change_drops_model_and_server():
    """Otherwise the new provider's texts would be sent to the old server."""
    assert EmbeddingChoice("openai", model="m", base_url="https://host/v1").with_provider("voyage") == EmbeddingChoice(
        "voyage"
    )


def test_consent_list_is_sorted_and_revocable():
    choice = EmbeddingChoice("auto").with_approved("voyage", True).with_approved("openai", True)
    assert choice.approved == ("openai", "voyage")
    assert choice.with_approved("openai", False).approved == ("voyage",)
