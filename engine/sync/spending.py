"""What the providers of one sync are paid."""

from engine.embedding.base import EmbeddingProvider

_TOKENS_A_PRICE = 1_000_000


class Spending:
    """Tokens and US dollars of the providers that it watches, from the moment on at which it began to."""

    def __init__(self) -> None:
        self._watched: list[tuple[EmbeddingProvider, int]] = []

    def watch(self, provider: EmbeddingProvider) -> None:
        """Count what this provider is sent from now on."""
        self._watched.append((provider, provider.tokens_used))

    @property
    def tokens(self) -> int:
        return sum(provider.tokens_used - before for provider, before in self._watched)

    @property
    def cost(self) -> float | None:
        """US dollars; None where the price of some of the tokens is not known."""
        total = 0.0
        for provider, before in self._watched:
            tokens = provider.tokens_used - before
            if tokens and provider.price is None:
                return None
            total += tokens * (provider.price or 0.0) / _TOKENS_A_PRICE
        return total
