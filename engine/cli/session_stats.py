"""Prints the statistics of sessions."""

from argparse import Namespace
from collections.abc import Sequence

from engine.base.formatting import plural
from engine.cli.output import print_json, safe
from engine.records import SessionStats, StatsRow

_HEADINGS = ("sessions", "messages", "time", "in", "cached", "written", "out", "cost")
_UNKNOWN = "unknown"


def print_stats(stats: SessionStats, arguments: Namespace) -> None:
    if arguments.json:
        print_json(stats)
        return
    rows = [(arguments.by or "", *_HEADINGS), *map(_cells, stats.rows), ("total", *_cells(stats.total)[1:])]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for name, *cells in rows:
        right = (f"{cell:>{width}}" for cell, width in zip(cells, widths[1:], strict=True))
        print(f"{name:<{widths[0]}}  {'  '.join(right)}".rstrip())
    for note in _notes(stats):
        print(note)


def _cells(row: StatsRow) -> Sequence[str]:
    usage = row.usage
    counts = (usage.input_tokens, usage.cache_read_tokens, usage.cache_write_tokens, usage.output_tokens)
    return (
        safe(row.name) or _UNKNOWN,
        f"{row.sessions:,}",
        f"{row.messages:,}",
        _duration(row.seconds),
        *(_UNKNOWN if count is None else f"{count:,}" for count in counts),
        _cost(row),
    )


def _cost(row: StatsRow) -> str:
    """With a plus where a part of it is unknown."""
    if row.usage.cost is None:
        return _UNKNOWN
    return f"${row.usage.cost:,.2f}{'' if row.usage.cost_complete else '+'}"


def _duration(seconds: float) -> str:
    minutes = round(seconds / 60)
    return f"{minutes // 60:,}:{minutes % 60:02}"


def _notes(stats: SessionStats) -> Sequence[str]:
    notes = []
    if stats.total.without_usage:
        notes.append(f"{plural(stats.total.without_usage, 'session')} without recorded tokens.")
    if stats.unpriced:
        notes.append(f"No price is known of {safe(', '.join(stats.unpriced))}; a plus marks the costs that lack it.")
    dates = sorted({source.date for source in stats.prices if source.date})
    if dates and stats.total.usage.cost is not None:
        notes.append(f"Costs are as recorded, else by list prices of {dates[0]} to {dates[-1]}.")
    return notes
