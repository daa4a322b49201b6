"""Declare the provider Gemini (Google): its models, prices, hosts and key variables."""

from engine.base.language import marked
from engine.providers import Calibration, ModelMetadata, Provider

_PRICES = "https://ai.google.dev/gemini-api/docs/pricing"
_CHECKED = "2026-11-22"

_GEMINI_1 = Calibration(low=0.50, high=0.75, weight=0.4)
_GEMINI_2 = Calibration(low=0.35, high=0.70, weight=0.4)


def _gemini(model: str, input_tokens: int, price: float, batch: float, calibration: Calibration) -> ModelMetadata:
    dimensions = range(128, 3073)
    return ModelMetadata("gemini", model, 3072, dimensions, input_tokens, price, batch, calibration, _PRICES, _CHECKED)


GEMINI = Provider(
    name="gemini",
    label="Google Gemini",
    sentence=marked("Google's service."),
    aliases=("google", "google-genai"),
    module="gemini",
    owner="Google",
    hosts=("generativelanguage.googleapis.com",),
    key_variables=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    models=(
        _gemini("gemini-embedding-001", 2048, 0.15, 0.075, _GEMINI_1),
        _gemini("gemini-embedding-2", 8192, 0.20, 0.10, _GEMINI_2),
        _gemini("gemini-embedding-2-preview", 8192, 0.20, 0.10, _GEMINI_2),
    ),
)
