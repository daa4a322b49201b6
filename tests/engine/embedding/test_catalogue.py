import datetime

import pytest

from engine.embedding import gemini, openai_compatible, voyage
from engine.embedding.model_catalog import metadata_of, price_of
from engine.providers.registry import PROVIDERS
from engine.settings import Settings
from engine.settings.options import RemoteSettings

METADATA = [metadata for provider in PROVIDERS for metadata in provider.models]


@pytest.mark.parametrize("metadata", METADATA, ids=lambda metadata: metadata.model)
def test_every_row_has_source_and_is_consistent(metadata) -> None:
    assert metadata.source.startswith("https://")
    assert datetime.date.fromisoformat(metadata.checked) > datetime.date(2026, 11, 1)
    assert metadata.dims in metadata.dimensions
    assert metadata.input_tokens >= 256
    assert 0 <= metadata.calibration.low < metadata.calibration.high <= 1
    assert 0 < metadata.calibration.weight <= 1
    assert metadata.price is None or 0 < metadata.price < 1
    if metadata.batch_price is not None:
        assert 0 < metadata.batch_price < metadata.price
    assert metadata_of(metadata.provider, metadata.model) is metadata


def test_the_default_models_are_listed() -> None:
    for provider, module in (("openai", openai_compatible), ("gemini", gemini), ("voyage", voyage)):
        metadata = metadata_of(provider, module.MODEL)
        assert metadata is not None
        assert metadata.price is not None


def test_models_are_found_by_their_server_names() -> None:
    assert metadata_of("openai", "openai/text-embedding-3-small").dims == 1536
    assert metadata_of("openai", "nomic-embed-text:latest").dims == 768
    assert metadata_of("openai", "home-made") is None
    assert metadata_of("gemini", "text-embedding-3-small") is None


def price(base_url: str = "", model: str = "text-embedding-3-small", **prices: float) -> float | None:
    named = {name.replace("__", "/").replace("_", "-"): value for name, value in prices.items()}
    settings = Settings(provider="openai", remote=RemoteSettings(base_url=base_url), prices=named)
    return price_of(settings, "openai", model)


def test_user_price_has_priority() -> None:
    assert price() == 0.02
    assert price(openai__text_embedding_3_small=0.5) == 0.5
    assert price("http://127.0.0.1:11434/v1", openai__text_embedding_3_small=0.5) == 0.5
    assert price(model="home-made") is None
    assert price(model="home-made", openai__home_made=1.5) == 1.5


def test_list_price_applies_to_own_server_only() -> None:
    assert price("https://api.openai.com/v1") == 0.02
    assert price("https://eu.api.openai.com/v1") == 0.02
    assert price("https://openrouter.ai/api/v1") is None
    assert price("http://192.168.1.7:8080/v1") is None
    assert price("http://localhost:1234/v1") == 0
    assert price("http://localhost:1234/v1", model="home-made") == 0


def test_price_depends_on_own_address_only() -> None:
    settings = Settings(provider="openai", remote=RemoteSettings(base_url="http://localhost:11434/v1"))
    assert price_of(settings, "voyage", "voyage-4") == 0.06
