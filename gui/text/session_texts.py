"""Texts about sessions and agents that several views show. Pure functions."""

import re
from datetime import date
from itertools import count

from engine import IMAGE_LINE, agent_label, marked, tr, tr_count
from gui.text.formatting import day_and_month, duration, long_date, weekday, weekday_and_day

UNTITLED = marked("Untitled session")
_MINUTE, _HOUR = 60, 3600
_WEEK_DAYS = 7
IMAGE_SCHEME = "image"
"""Scheme of the link to an image of a session."""
_SPECIAL = re.compile(r"([\\`*_\[\]<>!~&])")


def agent_name(agent: str) -> str:
    """Return the display name of an agent: "claude-code" -> "Claude Code"; an unknown id is returned unchanged."""
    return agent_label(agent) or tr("Unknown agent")


def day_title(day: date | None, today: date) -> str:
    """Return a heading for a day: "Today", "Yesterday", "Sunday" within a week, "Sunday 8 February", "7 January
    2025"."""
    if day is None:
        return tr("No date")
    passed = (today - day).days
    if passed in (0, 1):
        return tr("Yesterday") if passed else tr("Today")
    if 1 < passed < _WEEK_DAYS:
        return weekday(day)
    return weekday_and_day(day) if day.year == today.year else long_date(day)


def days_title(first: date, last: date, today: date) -> str:
    """Return a heading for a range of days: "3 May – 17 November"; days of other years include the year."""
    days = [day_and_month(day) if day.year == today.year else long_date(day) for day in (first, last)]
    return " \N{EN DASH} ".join(days)


def work_time(seconds: float | None) -> str:
    """Format the time of work in a session: "22 min", "1 h 27 min"; empty if unknown or zero."""
    if not seconds:
        return ""
    if seconds < _MINUTE:
        return tr("under 1 min")
    if seconds < _HOUR:
        return tr("{minutes} min", minutes=int(seconds // _MINUTE))
    return duration(seconds)


def hits_text(hits: int) -> str:
    return tr_count("{count:,} match", "{count:,} matches", hits)


def message_count(messages: int) -> str:
    """Return "2 messages"; empty for 0, which also stands for an unknown number."""
    return tr_count("{count:,} message", "{count:,} messages", messages) if messages else ""


def unknown_count(items: int) -> str:
    """Return "2 entries of unknown type"; empty for 0."""
    return tr_count("{count:,} entry of unknown type", "{count:,} entries of unknown type", items) if items else ""


def found_by(hits: int, *, similar: bool) -> str:
    """Return how a search found a session: the number of hits, or that it is only similar in meaning."""
    return tr("meaning only") if similar else hits_text(hits) if hits else ""


def images_before(text: str) -> int:
    """Return the number of images that the beginning of a message names."""
    return len(IMAGE_LINE.findall(text))


def with_image_links(text: str, message: int, first: int) -> str:
    """Return Markdown with a link for each image, `image:<message>/<number>`, numbered from `first` on."""
    numbers = count(first)

    def link(name: re.Match[str]) -> str:
        words = _SPECIAL.sub(r"\\\1", tr("Image: {name}", name=name[1]) if name[1] else tr("Image"))
        return f"[{words}]({IMAGE_SCHEME}:{message}/{next(numbers)})"

    return IMAGE_LINE.sub(link, text)
