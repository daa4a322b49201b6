"""Texts of the conversation's entries: speaker, time, and one line about a tool's input and amount of output."""

import re
from collections.abc import Callable
from datetime import date, datetime

from engine import SessionMessage, tr, tr_count
from gui.conversation.entries import Conversation, Entry
from gui.widgets.formatting import exact, short_date, weekday_and_date

_LOOKED_AT = 2_000
_SHOWN = 240
_TELLING = re.compile(
    r'"(?:command|cmd|file_path|path|notebook_path|pattern|query|url|description|prompt|title|name|id)":\s*'
    r'"((?:[^"\\]|\\.)*)"'
)
_ANY_TEXT = re.compile(r'"(?:[^"\\]|\\.)*":\s*"((?:[^"\\]|\\.)+)"')
_BLANKS = re.compile(r"\s+")


def clock(moment: float | None) -> str:
    """19:22, in local time; empty if unknown."""
    if moment is None:
        return ""
    try:
        return f"{datetime.fromtimestamp(moment):%H:%M}"
    except (ValueError, OverflowError, OSError):
        return ""


def day_text(day: int, fits: Callable[[str], bool] = lambda _: True) -> str:
    """Wednesday 11 February 2026, of an ordinal; 11 Feb 2026 where that has no room."""
    words = weekday_and_date(date.fromordinal(day))
    return words if fits(words) else short_date(date.fromordinal(day))


def first_words(text: str) -> str:
    """The beginning of a text on one line."""
    return _BLANKS.sub(" ", text[:_SHOWN]).strip()


def summary(conversation: Conversation, entry: Entry) -> tuple[str, str, str]:
    """A folded entry in one line: what it is, its first words, and how much there is."""
    first = conversation.message(entry)
    if entry.kind == "thinking":
        size = tr_count("{count:,} character", "{count:,} characters", len(first.text))
        return tr("Thinking"), first_words(first.text), size
    last = conversation.session.messages[entry.parts[-1]]
    size = tr_count("{count:,} line", "{count:,} lines", entry.lines)
    if first.kind == "tool-call":
        return first.tool or tr("Tool"), _asked(first), size if len(entry.parts) > 1 else tr("no result")
    name = tr("{tool} result", tool=last.tool) if last.tool else tr("Tool result")
    return name, first_words(last.text), size


def _asked(call: SessionMessage) -> str:
    """The most informative part of a call's input."""
    start = call.text[:_LOOKED_AT]
    if not start.startswith("{"):
        return first_words(start)
    found = _TELLING.search(start) or _ANY_TEXT.search(start)
    return first_words(found[1].replace("\\n", " ").replace('\\"', '"')) if found else first_words(start)


def spoken(conversation: Conversation, number: int, *, folded: bool) -> str:
    """An entry for screen readers: speaker, time, and text."""
    entry = conversation.entries[number]
    who = f"{entry.speaker}, {exact(entry.time)}" if entry.time is not None else entry.speaker
    if entry.kind in ("user", "speech"):
        what = conversation.message(entry).text[:_LOOKED_AT]
    else:
        what = " · ".join(part for part in summary(conversation, entry) if part)
        what = ", ".join((what, tr("folded") if folded else tr("unfolded")))
    return f"{who}: {what}"
