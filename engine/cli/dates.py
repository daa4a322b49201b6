"""Dates as options of the command line."""

import argparse

from engine.text.dates import EXAMPLES, Period, parse_period


def parse_since(text: str) -> float:
    """Seconds since the epoch at the start of what the text names, or that long ago. Raises `ArgumentTypeError`."""
    return _parse(text).start


def parse_until(text: str) -> float:
    """Seconds since the epoch at the end of what the text names, or that long ago."""
    return _parse(text).end


def _parse(text: str) -> Period:
    period = parse_period(text)
    if period is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no date: use {EXAMPLES}")
    return period
