"""The choices of the embedding page, without widgets: from settings, and back to them."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

import engine
from engine import Settings

REMOTE = engine.remote_names()


@dataclass(frozen=True)
class EmbeddingChoice:
    """The options of the page, as in `Settings`."""

    provider: str
    model: str = ""
    dimensions: int | None = None
    fallback: str = "none"
    base_url: str = ""
    agreed: tuple[str, ...] = ()
    batch: bool = False
    model_path: str = ""
    prices: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, settings: Settings) -> "EmbeddingChoice":
        return cls(
            provider=settings.provider,
            model=settings.model,
            dimensions=settings.dimensions,
            fallback=settings.fallback,
            base_url=settings.remote.base_url,
            agreed=settings.remote.agreed,
            batch=settings.remote.batch.enabled,
            model_path=settings.local.model_path,
            prices=settings.prices,
        )

    @property
    def own_model(self) -> str:
        """The default model; empty if only the server knows it."""
        preset = engine.preset_of(self.base_url) if self.provider == "openai" and self.base_url else None
        known = engine.models_of(self.provider)
        return preset.model if preset is not None else known[0].model if known else ""

    @property
    def price(self) -> float | None:
        """The user's price of a million tokens, in US dollars; None for the list price."""
        return self.prices.get(self._priced)

    def with_price(self, price: float | None) -> "EmbeddingChoice":
        others = {name: dollars for name, dollars in self.prices.items() if name != self._priced}
        return replace(self, prices=others if price is None else others | {self._priced: price})

    @property
    def _priced(self) -> str:
        return f"{self.provider}/{self.model or self.own_model}"

    @property
    def remote(self) -> bool:
        """Whether the provider is a server, which may be a local one."""
        return self.provider in REMOTE

    @property
    def needs_key(self) -> bool:
        """Whether an API key is known to be required; False for a server at another address."""
        if self.provider != "openai":
            return self.remote
        preset = engine.preset_of(self.base_url) if self.base_url else engine.PRESETS[0]
        return preset is not None and preset.needs_key

    @property
    def may_batch(self) -> bool:
        """Whether batch jobs are available; of the known OpenAI-compatible servers only OpenAI has them."""
        preset = engine.preset_of(self.base_url) if self.base_url else None
        return self.remote and (self.provider != "openai" or preset is None or preset is engine.PRESETS[0])

    def with_provider(self, provider: str) -> "EmbeddingChoice":
        """Return the choice of another provider, with its default model and server."""
        return replace(self, provider=provider, model="", dimensions=None, base_url="")

    def with_agreed(self, provider: str, agreed: bool) -> "EmbeddingChoice":
        kept = tuple(name for name in REMOTE if (agreed if name == provider else name in self.agreed))
        return replace(self, agreed=kept)

    def applied_to(self, settings: Settings) -> Settings:
        """Return the settings with this choice."""
        copy = msgspec.structs.replace
        return copy(
            settings,
            provider=self.provider,
            model=self.model,
            dimensions=self.dimensions,
            fallback=self.fallback,
            prices=dict(self.prices),
            remote=copy(
                settings.remote,
                base_url=self.base_url,
                agreed=self.agreed,
                batch=copy(settings.remote.batch, enabled=self.batch),
            ),
            local=copy(settings.local, model_path=self.model_path),
        )

    def changes(self, before: "EmbeddingChoice") -> dict[str, Any]:
        """Options to save, by their names in the settings file; None removes an option from the file."""
        pairs = (
            ("provider", self.provider, before.provider),
            ("model", self.model, before.model),
            ("dimensions", self.dimensions, before.dimensions),
            ("fallback", self.fallback, before.fallback),
            ("remote.base_url", self.base_url, before.base_url),
            ("remote.agreed", self.agreed, before.agreed),
            ("remote.batch.enabled", self.batch, before.batch),
            ("local.model_path", self.model_path, before.model_path),
            ("prices", dict(self.prices), before.prices),
        )
        return {name: now for name, now, then in pairs if now != then}
