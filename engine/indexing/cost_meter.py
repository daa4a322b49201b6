"""What the providers of one sync are paid."""

from typing import Protocol

_TOKENS_A_PRICE = 1_000_000


class Charged(Protocol):
    """Something that costs money: an embedding provider, its batch jobs."""

    @property
    def tokens_used(self) -> int: ...

    @property
    def price(self) -> float | None:
        """US dollars for a million of them; None where it is not known."""


class CostMeter:
    """Tokens and US dollars of what it watches, from the moment on at which it began to."""

    def __init__(self) -> None:
        self._watched: list[tuple[Charged, int]] = []

    def watch(self, charged: Charged) -> None:
        """Count what this costs from now on."""
        self._watched.append((charged, charged.tokens_used))

    @property
    def tokens(self) -> int:
        return sum(charged.tokens_used - before for charged, before in self._watched)

    @property
    def cost(self) -> float | None:
        """US dollars; None where the price of some of the tokens is not known."""
        total = 0.0
        for charged, before in self._watched:
            tokens = charged.tokens_used - before
            if tokens and charged.price is None:
                return None
            total += tokens * (charged.price or 0.0) / _TOKENS_A_PRICE
        return total
