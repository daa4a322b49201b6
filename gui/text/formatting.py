"""Formats counts, sizes, dates, times and the costs of embedding in the language of the window.

Pure functions; the current time is a parameter or read from the clock.
"""

import time
from collections.abc import Sequence
from datetime import date, datetime
from datetime import date as day

from engine import EmbeddingEstimate, ModelUsage, UsageTotal, has_pages, marked, number, page_of, tr, tr_count

_MINUTE, _HOUR, _DAY = 60, 3600, 86_400
_UNITS = ("KB", "MB", "GB", "TB")
_KILO = 1000


def shown_headings(path: str, headings: Sequence[str]) -> tuple[str, ...]:
    """Return the headings to show above a passage; the page of a document is named in the window's language."""
    page = page_of(headings[0]) if headings and has_pages(path) else 0
    return (tr("Page {page}", page=page), *headings[1:]) if page else tuple(headings)


def short_path(path: str, home: str) -> str:
    """Return the path with `~` for the home folder."""
    start = home.rstrip("/\\")
    rest = path[len(start) :]
    return "~" + rest if start and path.startswith(start) and rest[:1] in ("", "/", "\\") else path


def size_text(count: float) -> str:
    """Format a number of bytes in decimal units: "812 bytes", "1.2 MB", "118 MB"."""
    if count < _KILO:
        return tr_count("{count:,} byte", "{count:,} bytes", int(count))
    unit = -1
    while count >= _KILO and unit < len(_UNITS) - 1:
        count /= _KILO
        unit += 1
    return f"{number(count, '.1f' if count < 9.95 else '.0f')} {_UNITS[unit]}"


def files_text(count: int) -> str:
    return tr_count("{count:,} file", "{count:,} files", count)


def passages_text(count: int) -> str:
    return tr_count("{count:,} passage", "{count:,} passages", count)


def vectors_text(count: int) -> str:
    return tr_count("{count:,} vector", "{count:,} vectors", count)


def notes_text(count: int) -> str:
    return tr_count("{count:,} note", "{count:,} notes", count)


def sessions_text(count: int) -> str:
    return tr_count("{count:,} session", "{count:,} sessions", count)


def duration(seconds: float) -> str:
    """Format seconds in the two largest units: "4 s", "1 min 55 s", "2 h 03 min", "24 h"."""
    if seconds < 1:
        return tr("under 1 s")
    whole = round(seconds)
    if whole < _MINUTE:
        return tr("{seconds} s", seconds=whole)
    if whole < _HOUR:
        return tr("{minutes} min {seconds} s", minutes=whole // _MINUTE, seconds=whole % _MINUTE)
    hours, minutes = whole // _HOUR, whole % _HOUR // _MINUTE
    return tr("{hours} h {minutes:02} min", hours=hours, minutes=minutes) if minutes else tr("{hours} h", hours=hours)


def ago(moment: float, now: float | None = None) -> str:
    """Format a past time: relative for a day ("just now", "14 s ago", "3 h ago"), then as a date ("3 Mar 2026")."""
    passed = (time.time() if now is None else now) - moment
    if passed >= _DAY or passed < -_MINUTE:
        return date_of(moment)
    if passed < 5:
        return tr("just now")
    if passed < _MINUTE:
        return tr("{seconds} s ago", seconds=int(passed))
    if passed < _HOUR:
        return tr("{minutes} min ago", minutes=int(passed // _MINUTE))
    return tr("{hours} h ago", hours=int(passed // _HOUR))


def date_of(moment: float) -> str:
    """Format a time as its local date: 3 Mar 2026."""
    when = _local(moment)
    return short_date(when) if when else tr("unknown date")


def dates_of(first: float, last: float) -> str:
    """Format the local dates of two times: 3 Mar – 3 Aug 2026."""
    start, end = _local(first), _local(last)
    return short_days(start.date(), end.date()) if start and end else date_of(last if end else first)


def exact(moment: float) -> str:
    """Format a time with date and seconds for tooltips: 3 Mar 2026, 14:05:09."""
    when = _local(moment)
    return tr("{date}, {time}", date=short_date(when), time=f"{when:%H:%M:%S}") if when else tr("unknown date")


def clock_time(moment: float) -> str:
    """Format a time without its date: 14:05."""
    when = _local(moment)
    return f"{when:%H:%M}" if when else tr("unknown time")


def _local(moment: float) -> datetime | None:
    """Return the local time of a timestamp; None if no calendar date, since a file's time may be any number."""
    try:
        return datetime.fromtimestamp(moment)
    except (ValueError, OverflowError, OSError):
        return None


_WEEKDAYS = (
    marked("Monday"),
    marked("Tuesday"),
    marked("Wednesday"),
    marked("Thursday"),
    marked("Friday"),
    marked("Saturday"),
    marked("Sunday"),
)
_MONTHS = (
    marked("January"),
    marked("February"),
    marked("March"),
    marked("April"),
    marked("May"),
    marked("June"),
    marked("July"),
    marked("August"),
    marked("September"),
    marked("October"),
    marked("November"),
    marked("December"),
)
_SHORT_MONTHS = (
    marked("Jan"),
    marked("Feb"),
    marked("Mar"),
    marked("Apr"),
    marked("May"),
    marked("Jun"),
    marked("Jul"),
    marked("Aug"),
    marked("Sep"),
    marked("Oct"),
    marked("Nov"),
    marked("Dec"),
)


def weekday(day: date) -> str:
    """Format a date as its weekday: Sunday."""
    return tr(_WEEKDAYS[day.weekday()])


def short_date(day: date) -> str:
    """Format a date with a short month: 8 Feb 2026."""
    return tr("{day} {month} {year}", day=day.day, month=tr(_SHORT_MONTHS[day.month - 1]), year=day.year)


def short_days(first: date, last: date) -> str:
    """Format a range of days, with the year once if it is the same: 9 Feb – 3 Mar 2026; 9 Feb 2026."""
    if first == last:
        return short_date(last)
    start = short_day(first) if first.year == last.year else short_date(first)
    return f"{start} \N{EN DASH} {short_date(last)}"


def long_date(day: date) -> str:
    """Format a date: 8 February 2026."""
    return tr("{day} {month} {year}", day=day.day, month=_month(day), year=day.year)


def day_and_month(day: date) -> str:
    """Format a date without its year: 8 February."""
    return tr("{day} {month}", day=day.day, month=_month(day))


def short_day(day: date) -> str:
    """Format a date without its year, with a short month: 8 Feb."""
    return tr("{day} {month}", day=day.day, month=tr(_SHORT_MONTHS[day.month - 1]))


def weekday_and_day(day: date) -> str:
    """Format a date with its weekday, without its year: Sunday 8 February."""
    return tr("{weekday} {day} {month}", weekday=weekday(day), day=day.day, month=_month(day))


def weekday_and_date(day: date) -> str:
    """Format a date with its weekday: Sunday 8 February 2026."""
    return tr("{weekday} {date}", weekday=weekday(day), date=long_date(day))


def month_and_year(day: date) -> str:
    """Format a date as its month: February 2026."""
    return tr("{month} {year}", month=_month(day), year=day.year)


def short_month_and_year(day: date) -> str:
    """Format a date as its short month: Feb 2026."""
    return tr("{month} {year}", month=tr(_SHORT_MONTHS[day.month - 1]), year=day.year)


def _month(day: date) -> str:
    return tr(_MONTHS[day.month - 1])


_THOUSAND, _MILLION = 1000, 1_000_000
CENT = 0.01


def money(dollars: float) -> str:
    """Format an amount in dollars: $0.08, $12.40; “under $0.01” below a cent."""
    if dollars == 0:
        return tr("$0")
    return tr("under $0.01") if dollars < CENT else tr("${dollars:,.2f}", dollars=dollars)


def spent_text(tokens: int, cost: float | None) -> str:
    """Describe how many tokens were sent and what they cost; empty if nothing was charged."""
    if not tokens:
        return ""
    sent = tokens_text(tokens)
    return f"{sent}, {money(cost)}" if cost is not None else tr("{tokens}, price not known", tokens=sent)


def tokens_text(tokens: int) -> str:
    if tokens >= _MILLION:
        return tr("{millions:.1f} million tokens", millions=tokens / _MILLION)
    return tr_count("{count:,} token", "{count:,} tokens", tokens)


def cost_text(usage: UsageTotal) -> str:
    """Format the cost of sessions: $3.10, "at least" if a part is unknown; empty if all of it is."""
    if usage.cost is None:
        return ""
    if usage.cost_complete:
        return money(usage.cost)
    return tr("at least {cost}", cost=tr("${dollars:,.2f}", dollars=usage.cost))


def sent_and_received(usage: UsageTotal | ModelUsage) -> str:
    """Describe the tokens of sessions: sent, including those from the cache, and received."""
    counts = (usage.input_tokens, usage.cache_read_tokens, usage.cache_write_tokens)
    sent = sum(count for count in counts if count is not None)
    parts = [
        "" if all(count is None for count in counts) else tr("{tokens} sent", tokens=short_count(sent)),
        "" if usage.output_tokens is None else tr("{tokens} received", tokens=short_count(usage.output_tokens)),
    ]
    return ", ".join(filter(None, parts))


def usage_lines(usage: UsageTotal | ModelUsage) -> tuple[str, ...]:
    """Return one line for each kind of token count; counts that were not recorded are called unknown."""
    unknown = tr("unknown")
    rows = (
        (marked("Sent, not cached: {tokens}"), usage.input_tokens),
        (marked("Read from the cache: {tokens}"), usage.cache_read_tokens),
        (marked("Written to the cache: {tokens}"), usage.cache_write_tokens),
        (marked("Received: {tokens}"), usage.output_tokens),
    )
    return tuple(tr(words, tokens=unknown if count is None else number(count)) for words, count in rows)


def short_count(count: int) -> str:
    """Format a number briefly: 812, 4.1k, 1.2M."""
    for size, unit in ((_MILLION, marked("{count}M")), (_THOUSAND, marked("{count}k"))):
        if count >= size:
            return tr(unit, count=number(count / size, ".1f" if count < 10 * size else ".0f"))
    return number(count)


def estimate_text(estimate: EmbeddingEstimate) -> str:
    """Describe the estimated work of embedding all missing vectors in one or two sentences."""
    if not estimate.chunks and not estimate.cached:
        return tr("No file is indexed yet: passages will be embedded when files are indexed.")
    if not estimate.chunks:
        return tr_count(
            "The only passage already has a vector of {model}: saving sends and bills nothing.",
            "All {count:,} passages already have a vector of {model}: saving sends and bills nothing.",
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
    tokens, price = tokens_text(estimate.tokens), price_text(estimate)
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
        "{count:,} passage to embed with {model}, {kept:,} already have a vector",
        "{count:,} passages to embed with {model}, {kept:,} already have a vector",
        estimate.chunks,
        model=estimate.model,
        kept=estimate.cached,
    )


def price_text(estimate: EmbeddingEstimate) -> str:
    """Return the cost of an estimate, with the source of the price."""
    if estimate.cost is None or estimate.price is None:
        return tr("at an unknown price")
    if estimate.price_checked:
        origin = tr("the list price of {day}", day=day_text(estimate.price_checked))
    else:
        origin = (
            tr("the price in your settings, less the discount for batch jobs")
            if estimate.batch
            else tr("the price in your settings")
        )
    cost, price = money(estimate.cost), estimate.price
    if estimate.most_cost is None:
        return tr("{cost} at ${price:g} per million tokens ({origin})", cost=cost, price=price, origin=origin)
    return tr(
        "{cost} at ${price:g} per million tokens ({origin}), at most {most} if the jobs fail",
        cost=cost,
        price=price,
        origin=origin,
        most=money(estimate.most_cost),
    )


def embed_label(estimate: EmbeddingEstimate) -> str:
    """Return the label of the button that embeds, with the price if there is one."""
    if not estimate.cost:
        return tr("Embed")
    cost = money(estimate.cost)
    return tr("Embed for {cost}", cost=cost) if estimate.cost < CENT else tr("Embed for about {cost}", cost=cost)


def day_text(text: str) -> str:
    """Format an ISO date: 2026-11-22 -> 22 Nov 2026."""
    try:
        when = day.fromisoformat(text)
    except ValueError:
        return text
    return short_date(when)
