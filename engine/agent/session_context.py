"""A block of text with which another agent can continue a session: goal, decisions, files and last state.

It is made from the session's own words, with secrets masked, and has at most a chosen number of characters.
"""

from collections.abc import Iterable, Iterator

from engine.corpus.transcripts.messages import first_sentence
from engine.corpus.transcripts.tool_uses import stored_path, uses_of
from engine.records import SessionText
from engine.settings.options import LEAST_CONTEXT

_CUT = " […]"
_DECISIONS = "Decisions and requests, newest first"
_GOAL, _LAST = 0.3, 0.35
"""Shares of the goal, and of the last message of each speaker."""


def session_context(session: SessionText, limit: int) -> str:
    """The block, at most `limit` characters (500 at least). `session` was read with its secrets masked."""
    limit = max(LEAST_CONTEXT, limit)
    said = [message for message in session.messages if message.kind == "text" and not message.side]
    asked = [message.text.strip() for message in said if message.role == "user"]
    answered = [message.text.strip() for message in said if message.role == "assistant"]
    head = _head(session)
    room = limit - len(head)
    sections = [
        ("Goal", cut(asked[0], int(room * _GOAL)) if asked else ""),
        ("Last request", cut(asked[-1], int(room * _LAST / 2)) if len(asked) > 1 else ""),
        ("Last answer", cut(answered[-1], int(room * _LAST / 2), end=True) if answered else ""),
    ]
    room -= sum(len(_section(*section)) for section in sections)
    files = _list(_files(session), room // 2)
    room -= len(_section("Files", files))
    decisions = _list(
        (f"- {first_sentence(text)}" for text in reversed(asked[1:-1])), room - len(_section("x" * 30, "y"))
    )
    ordered = (
        sections[0],
        (_DECISIONS, decisions),
        ("Files", files),
        *sections[1:],
    )
    return (head + "".join(_section(*section) for section in ordered)).rstrip()[:limit] + "\n"


def _head(session: SessionText) -> str:
    summary = session.summary
    facts = (
        summary.agent,
        f"in {summary.project}" if summary.project else "",
        f"on branch {summary.branch}" if summary.branch else "",
    )
    title = " ".join(summary.title.split()) or "Untitled session"
    return cut(f"Continue this session of {' '.join(filter(None, facts))}.\nTitle: {title}\n", LEAST_CONTEXT // 2)


def _section(title: str, text: str) -> str:
    return f"\n## {title}\n{text}\n" if text else ""


def _list(lines: Iterable[str], room: int) -> str:
    """As many of these lines as there is room for."""
    kept: list[str] = []
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            break
        kept.append(line)
    return "\n".join(kept)


def cut(text: str, most: int, *, end: bool = False) -> str:
    """The beginning of a text, or its end, at most so many characters."""
    if len(text) <= most:
        return text
    room = max(0, most - len(_CUT))
    return f"{_CUT.strip()} {text[len(text) - room :].lstrip()}" if end else f"{text[:room].rstrip()}{_CUT}"


# --- files ----------------------------------------------------------------------------------------------------------


def _files(session: SessionText) -> Iterator[str]:
    """Files in the calls of tools, changed ones first, each the most recent first."""
    changed: dict[str, None] = {}
    read: dict[str, None] = {}
    for message in reversed(session.messages):
        for use in uses_of(message):
            if use.kind != "command" and (path := stored_path(use.value, session.summary.project)):
                (read if use.kind == "read" else changed)[path] = None
    yield from (f"- {path} (changed)" for path in changed)
    yield from (f"- {path} (read)" for path in read if path not in changed)
