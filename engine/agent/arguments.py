"""What agents give to tools: models write numbers as text at times, and out of every range."""

import math

_FURTHEST = 2**31 - 2


def count(value: object, most: int = _FURTHEST) -> int | None:
    """A whole number from 1 to `most`; what is more becomes that, what is less or no number at all None."""
    number = _number(value)
    if number is None or number < 1:
        return None
    return most if number >= most else int(number)


def share(value: object) -> float | None:
    """A number moved to between 0 and 1; None for what is none."""
    number = _number(value)
    return None if number is None else min(1.0, max(0.0, number))


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return None if math.isnan(number) else number
