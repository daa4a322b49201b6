"""What embedding costs, in words: money, tokens and time. Pure functions."""

from datetime import date as day

from engine import EmbeddingEstimate
from gui.widgets.wording import counted, duration

_MILLION = 1_000_000
_CENT = 0.01


def money(dollars: float) -> str:
    """$0.08, $12.40; what is less than a cent is said so."""
    if dollars == 0:
        return "$0"
    return "under $0.01" if dollars < _CENT else f"${dollars:,.2f}"


def spent_words(tokens: int, cost: float | None) -> str:
    """What was sent and paid; empty where nothing was charged."""
    if not tokens:
        return ""
    return f"{tokens_text(tokens)}, {money(cost)}" if cost is not None else f"{tokens_text(tokens)}, price not known"


def tokens_text(tokens: int) -> str:
    return f"{tokens / _MILLION:.1f} million tokens" if tokens >= _MILLION else counted(tokens, "token")


def estimate_words(estimate: EmbeddingEstimate) -> str:
    """What completing the vectors takes, in one or two sentences."""
    if not estimate.chunks:
        return (
            f"All {counted(estimate.cached, 'passage')} have a vector of {estimate.model} already: nothing is sent, "
            "nothing is paid."
            if estimate.cached
            else "Nothing is indexed yet: what is found will be embedded as it comes."
        )
    kept = f", {estimate.cached:,} have their vector already" if estimate.cached else ""
    begin = f"{counted(estimate.chunks, 'passage')} to embed with {estimate.model}{kept}"
    time = duration(estimate.seconds)
    if estimate.batch:
        time = f"by batch jobs within {time}"
    elif estimate.seconds >= 1:
        time = f"about {time}"
    if estimate.cost == 0:
        return f"{begin}: {time}, no cost."
    return f"{begin}: about {tokens_text(estimate.tokens)}, {price_words(estimate)}, {time}."


def price_words(estimate: EmbeddingEstimate) -> str:
    """The cost of an estimate with where its price is from."""
    if estimate.cost is None or estimate.price is None:
        return "at a price that is not known here"
    own = "your own price with the discount for batch jobs" if estimate.batch else "your own price"
    origin = f"list price of {day_words(estimate.price_checked)}" if estimate.price_checked else own
    most = "" if estimate.most_cost is None else f", at most {money(estimate.most_cost)} if the jobs fail"
    return f"{money(estimate.cost)} at ${estimate.price:g} a million ({origin}){most}"


def embed_words(estimate: EmbeddingEstimate) -> str:
    """What embedding is called on a button: with the price where there is one."""
    if not estimate.cost:
        return "Embed"
    return f"Embed for {money(estimate.cost)}" if estimate.cost < _CENT else f"Embed for about {money(estimate.cost)}"


def day_words(text: str) -> str:
    """2026-11-22 -> 22 Nov 2026."""
    try:
        when = day.fromisoformat(text)
    except ValueError:
        return text
    return f"{when.day} {when:%b %Y}"
