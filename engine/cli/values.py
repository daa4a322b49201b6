"""What the options of the verbs take; each raises what argparse turns into a line on stderr."""

import argparse
import math
from pathlib import Path


def folder(text: str) -> Path:
    """A path that is not empty."""
    return Path(nonempty(text))


def nonempty(text: str) -> str:
    """A text that is more than spaces."""
    if not text.strip():
        raise argparse.ArgumentTypeError("is empty")
    return text


def count(text: str) -> int:
    """A whole number from 1."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 1")
    return number


def days(text: str) -> float:
    """A number of days, 0 or more."""
    try:
        number = float(text)
    except ValueError:
        number = -1
    if not 0 <= number < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of days")
    return number


def share(text: str) -> float:
    """A number from 0 to 1."""
    try:
        number = float(text)
    except ValueError:
        number = -1
    if not 0 <= number <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 0 to 1")
    return number
