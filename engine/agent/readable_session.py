"""A session as readable text: messages with speaker and time, and tool calls in a line each."""

import json
from collections.abc import Iterator
from datetime import datetime

from engine.base.formatting import plural
from engine.records import SessionMessage, SessionSummary, SessionText

_LONGEST_LINE = 100
_LONGEST_INPUT = 64 * 1024
"""Most characters of a tool's input that are searched for its subject."""


def readable_session(session: SessionText, *, full: bool) -> Iterator[str]:
    """Yield the lines of each message.

    Thinking, tool calls with their results, and branches that were left are one line each unless `full`.
    """
    for line in _head(session.summary):
        yield " ".join(line.split())
    if session.masked:
        yield f"Secrets are masked in {plural(session.masked, 'message')}."
    if session.unknown:
        kinds = ", ".join(f"{kind} ({count:,})" for kind, count in session.unknown)
        yield f"{unknown_items(sum(count for _, count in session.unknown))}: {kinds}."
    day = ""
    speaker, ordinal = "", 0  # of the message above
    left = 0
    for message, text in _parts(session.messages, full=full):
        if message.rewound and not full:
            left += message.kind == "text"
            continue
        if left:
            yield _left_branch(left)
            speaker, left = "", 0
        moment = None if message.time is None else datetime.fromtimestamp(message.time)
        if moment is not None and f"{moment:%Y-%m-%d}" != day:
            day = f"{moment:%Y-%m-%d}"
            yield f"\n--- {day} ---"
        says = says_who(message, aside=message.side and not session.summary.parent)
        if says and (says != speaker or (message.ordinal != ordinal and message.kind in ("text", "thinking"))):
            speaker, ordinal = says, message.ordinal
            yield f"\n{says}{'' if moment is None else f'  {moment:%H:%M}'}"
        yield text
    if left:
        yield _left_branch(left)


def _left_branch(messages: int) -> str:
    return f"\n[Left branch: {plural(messages, 'message')}]"


def unknown_items(count: int) -> str:
    """How many items of a transcript were not understood."""
    return f"{plural(count, 'item')} of unknown type"


def says_who(message: SessionMessage, *, aside: bool) -> str:
    """The speaker: the agent for a tool result; empty for text inserted by the program."""
    if message.role == "system":
        return ""
    left = " (left branch)" if message.rewound else ""
    return f"{'User' if message.role == 'user' else 'Assistant'}{' (aside)' if aside else ''}{left}"


def _head(summary: SessionSummary) -> Iterator[str]:
    yield summary.title or "Untitled"
    place = summary.project + (f" ({summary.branch})" if summary.branch else "")
    yield " · ".join(filter(None, (summary.agent, place, plural(summary.messages, "message"))))
    yield summary.path
    if summary.parent:
        yield f"Part of {summary.parent}"
    if summary.resume_command:
        yield f"Go on with: {summary.resume_command}"


def _parts(messages: tuple[SessionMessage, ...], *, full: bool) -> Iterator[tuple[SessionMessage, str]]:
    """Yield the printed text of each part; a folded call includes the length of its result."""
    results = {} if full else results_of(messages)
    taken = set(results.values())
    for number, message in enumerate(messages):
        if message.kind == "text" and message.role != "system":
            yield message, message.text
        elif full:
            yield message, f"\n[{label_of(message)}]\n{message.text}"
        elif number in results:
            yield message, f"  {folded_line(message)} → {_length(messages[results[number]])}"
        elif number not in taken:
            yield message, f"  {folded_line(message)}"


def results_of(messages: tuple[SessionMessage, ...]) -> dict[int, int]:
    """Return the position of each call's result, by position of the call: results follow in order, before the next
    speech."""
    found: dict[int, int] = {}
    waiting: list[int] = []
    for number, message in enumerate(messages):
        if message.kind == "tool-call":
            waiting.append(number)
        elif message.kind == "tool-result":
            call = next((call for call in waiting if messages[call].tool == message.tool), None)
            if call is not None:
                waiting.remove(call)
                found[call] = number
        elif message.role == "user":
            waiting.clear()
    return found


def label_of(message: SessionMessage) -> str:
    return {
        "text": "System",
        "thinking": "Thinking",
        "tool-call": message.tool or "Tool",
        "tool-result": f"{message.tool or 'Tool'}: result",
    }[message.kind]


def folded_line(message: SessionMessage) -> str:
    text = _subject(message.text) if message.kind == "tool-call" else message.text
    line = " ".join(text[: 4 * _LONGEST_LINE].split())
    if len(line) > _LONGEST_LINE:
        line = f"{line[: _LONGEST_LINE - 1]}…"
    return f"[{label_of(message)}] {line}".rstrip()


def _subject(given: str) -> str:
    """The subject of a call: usually the first string of its input is the command or the file."""
    if not given.startswith("{") or len(given) > _LONGEST_INPUT:
        return given
    try:
        values = json.loads(given).values()
    except (ValueError, RecursionError):
        return given
    return next((value for value in values if isinstance(value, str) and value.strip()), given)


def _length(result: SessionMessage) -> str:
    text = result.text.strip()
    return plural(text.count("\n") + 1, "line") if text else "nothing"
