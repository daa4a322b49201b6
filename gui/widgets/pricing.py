"""Texts about the cost of embedding: money, tokens and time. Pure functions."""

from datetime import date as day

from engine import EmbeddingEstimate, ModelUsage, UsageTotal, marked, number, tr, tr_count
from gui.widgets.formatting import duration, grouped, short_date

_THOUSAND, _MILLION = 1000, 1_000_000
CENT = 0.01


def money(dollars: float) -> str:
    """$0.08, $12.40; less than a cent is written as such."""
    if dollars == 0:
        return tr("$0")
    return tr("under $0.01") if dollars < CENT else tr("${dollars:,.2f}", dollars=dollars)


def spent_words(tokens: int, cost: float | None) -> str:
    """Return what was sent and what it cost; empty if nothing was charged."""
    if not tokens:
        return ""
    sent = tokens_text(tokens)
    return f"{sent}, {money(cost)}" if cost is not None else tr("{tokens}, price not known", tokens=sent)


def tokens_text(tokens: int) -> str:
    if tokens >= _MILLION:
        return tr("{millions:.1f} million tokens", millions=tokens / _MILLION)
    return tr_count("{count:,} token", "{count:,} tokens", tokens)


def cost_text(spent: UsageTotal) -> str:
    """What sessions cost: $3.10; at least that where a part is unknown; empty where all of it is."""
    if spent.cost is None:
        return ""
    return money(spent.cost) if spent.cost_complete else tr("at least {cost}", cost=money(spent.cost))


def sent_and_received(spent: UsageTotal | ModelUsage) -> str:
    """Tokens of sessions: those sent in all, with the cache's, and those received."""
    counts = (spent.input_tokens, spent.cache_read_tokens, spent.cache_write_tokens)
    sent = sum(count for count in counts if count is not None)
    parts = [
        "" if all(count is None for count in counts) else tr("{tokens} in", tokens=short_count(sent)),
        "" if spent.output_tokens is None else tr("{tokens} out", tokens=short_count(spent.output_tokens)),
    ]
    return ", ".join(filter(None, parts))


def usage_lines(spent: UsageTotal | ModelUsage) -> tuple[str, ...]:
    """The numbers of tokens, one a line; what is not recorded is unknown."""
    unknown = tr("unknown")
    rows = (
        (marked("Sent: {tokens}"), spent.input_tokens),
        (marked("Read from the cache: {tokens}"), spent.cache_read_tokens),
        (marked("Written to the cache: {tokens}"), spent.cache_write_tokens),
        (marked("Received: {tokens}"), spent.output_tokens),
    )
    return tuple(tr(words, tokens=unknown if count is None else grouped(count)) for words, count in rows)


def short_count(count: int) -> str:
    """812, 4.1k, 1.2M."""
    for size, unit in ((_MILLION, marked("{count}M")), (_THOUSAND, marked("{count}k"))):
        if count >= size:
            return tr(unit, count=number(count / size, ".1f" if count < 10 * size else ".0f"))
    return grouped(count)


def estimate_words(estimate: EmbeddingEstimate) -> str:
    """What completing the vectors takes, in one or two sentences."""
    if not estimate.chunks and not estimate.cached:
        return tr("Nothing is indexed yet: passages will be embedded as they are found.")
    if not estimate.chunks:
        return tr_count(
            "All {count:,} passage have a vector of {model} already: nothing is sent, nothing is paid.",
            "All {count:,} passages have a vector of {model} already: nothing is sent, nothing is paid.",
            estimate.cached,
            model=estimate.model,
        )
    due, time = _due(estimate), duration(estimate.seconds)
    if estimate.batch:
        time = tr("by batch jobs within {time}", time=time)
    elif estimate.seconds >= 1:
        time = tr("about {time}", time=time)
    if estimate.cost == 0:
        return tr("{due}: {time}, no cost.", due=due, time=time)
    tokens, price = tokens_text(estimate.tokens), price_words(estimate)
    return tr("{due}: about {tokens}, {price}, {time}.", due=due, tokens=tokens, price=price, time=time)


def _due(estimate: EmbeddingEstimate) -> str:
    if not estimate.cached:
        return tr_count(
            "{count:,} passage to embed with {model}",
            "{count:,} passages to embed with {model}",
            estimate.chunks,
            model=estimate.model,
        )
    return tr_count(
        "{count:,} passage to embed with {model}, {kept:,} have their vector already",
        "{count:,} passages to embed with {model}, {kept:,} have their vector already",
        estimate.chunks,
        model=estimate.model,
        kept=estimate.cached,
    )


def price_words(estimate: EmbeddingEstimate) -> str:
    """The cost of an estimate with where its price is from."""
    if estimate.cost is None or estimate.price is None:
        return tr("at a price that is not known here")
    if estimate.price_checked:
        origin = tr("list price of {day}", day=day_words(estimate.price_checked))
    else:
        origin = tr("your own price with the discount for batch jobs") if estimate.batch else tr("your own price")
    cost, price = money(estimate.cost), estimate.price
    if estimate.most_cost is None:
        return tr("{cost} at ${price:g} a million ({origin})", cost=cost, price=price, origin=origin)
    return tr(
        "{cost} at ${price:g} a million ({origin}), at most {most} if the jobs fail",
        cost=cost,
        price=price,
        origin=origin,
        most=money(estimate.most_cost),
    )


def embed_words(estimate: EmbeddingEstimate) -> str:
    """Button label for embedding: with the price if there is one."""
    if not estimate.cost:
        return tr("Embed")
    cost = money(estimate.cost)
    return tr("Embed for {cost}", cost=cost) if estimate.cost < CENT else tr("Embed for about {cost}", cost=cost)


def day_words(text: str) -> str:
    """2026-11-22 -> 22 Nov 2026."""
    try:
        when = day.fromisoformat(text)
    except ValueError:
        return text
    return short_date(when)
