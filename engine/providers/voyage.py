"""Declare the provider Voyage AI: its models, prices, hosts and key variables."""

from engine.base.language import marked
from engine.providers import Calibration, ModelMetadata, Provider

_PRICES = "https://docs.voyageai.com/docs/pricing"
_CHECKED = "2026-11-22"

_VOYAGE_3 = Calibration(low=0.20, high=0.60, weight=0.4)


def _voyage(model: str, price: float, batch: float) -> ModelMetadata:
    sizes = (256, 512, 1024, 2048)
    return ModelMetadata("voyage", model, 1024, sizes, 32_000, price, batch, _VOYAGE_3, _PRICES, _CHECKED)


VOYAGE = Provider(
    name="voyage",
    label="Voyage AI",
    sentence=marked("Voyage's service."),
    aliases=("voyageai", "voyage-ai"),
    module="voyage",
    owner="Voyage AI",
    hosts=("api.voyageai.com", "ai.mongodb.com"),
    key_variables=("VOYAGE_API_KEY",),
    models=(
        _voyage("voyage-4-large", 0.12, 0.08),
        _voyage("voyage-4", 0.06, 0.04),
        _voyage("voyage-4-lite", 0.02, 0.0134),
        _voyage("voyage-code-4", 0.12, 0.08),
        _voyage("voyage-3-large", 0.18, 0.12),
        _voyage("voyage-3.5", 0.06, 0.04),
        _voyage("voyage-3.5-lite", 0.02, 0.0134),
        _voyage("voyage-code-3", 0.18, 0.12),
        ModelMetadata("voyage", "voyage-finance-2", 1024, (1024,), 32_000, 0.12, 0.08, _VOYAGE_3, _PRICES, _CHECKED),
        ModelMetadata("voyage", "voyage-law-2", 1024, (1024,), 16_000, 0.12, 0.08, _VOYAGE_3, _PRICES, _CHECKED),
    ),
)
