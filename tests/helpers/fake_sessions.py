"""A dozen past sessions of several agents for tests of the window, and many more for tests with a long list.

Times are fixed: `NOW` is the evening of Wednesday 11 February 2026, local time.
"""

import json
import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

from engine import SessionMessage, SessionSummary, SessionText

NOW = datetime(2026, 2, 11, 21, 40).timestamp()
SECRET = "sk-test-0123456789abcdefghij"
"""Part of one message of `VALVE`; masked unless a session is read with `reveal`."""
MASK = "sk-tes…ghij"

VALVE = "sessions/claude-code/greenhouse/3f6c0a1e-valve.jsonl"
UNTITLED = "sessions/openclaw/main/0c11-untitled.jsonl"

Part = tuple[str, str] | tuple[str, str, str]
"""Kind, text and, for tools, the tool's name."""
Turn = tuple[str, Sequence[Part]]
"""Role and the parts of one message."""


def make_session_summary(path: str = "sessions/claude-code/greenhouse/a.jsonl", **changes: Any) -> SessionSummary:
    """Return a session that ended an hour ago; every field may be replaced."""
    fields: dict[str, Any] = {
        "path": path,
        "agent": "claude-code",
        "id": path.rpartition("/")[2].removesuffix(".jsonl"),
        "title": "Fix the valve controller",
        "project": "/home/ines/src/greenhouse",
        "branch": "main",
        "started": NOW - 3600,
        "ended": NOW,
        "messages": 2,
        "bytes": 4_000,
        "parent": "",
        "resume_command": "",
    }
    fields |= changes
    times = fields["started"], fields["ended"]
    active = None if None in times else max(0.0, times[1] - times[0])  # without a long pause
    return SessionSummary(**({"active_seconds": active} | fields))


def make_session(turns: Sequence[Turn], *, minutes: float = 1.0, side: bool = False, **changes: Any) -> SessionText:
    """Return a session with messages `minutes` apart, one part per line; `changes` apply to the summary."""
    summary = make_session_summary(**changes)
    start = summary.started
    messages = []
    for ordinal, (role, parts) in enumerate(turns, 1):
        for part in parts:
            messages.append(
                SessionMessage(
                    role=role,  # type: ignore[arg-type]
                    kind=part[0],  # type: ignore[arg-type]
                    text=part[1],
                    line=len(messages) + 2,
                    ordinal=ordinal,
                    id=f"{summary.id}-{ordinal}",
                    time=None if start is None else start + (ordinal - 1) * minutes * 60,
                    tool=part[2] if len(part) > 2 else "",
                    side=side,
                )
            )
    spoken = {message.ordinal for message in messages if message.kind == "text"}
    metadata: dict[str, Any] = {
        "messages": len(spoken),
        "ended": None if start is None else start + max(0, len(turns) - 1) * minutes * 60,
        "bytes": sum(len(message.text) for message in messages) + 90 * len(messages),
    }
    metadata = {name: value for name, value in metadata.items() if name not in changes}
    summary = make_session_summary(**({"path": summary.path} | changes | metadata))
    return SessionText(summary=summary, messages=tuple(messages), masked=0, unknown=())


def leave(session: SessionText, *ordinals: int) -> SessionText:
    """Return the session with these messages in branches that the user abandoned."""
    messages = tuple(_changed(message, rewound=message.ordinal in ordinals) for message in session.messages)
    return SessionText(summary=session.summary, messages=messages, masked=session.masked, unknown=session.unknown)


def masked(session: SessionText, *, reveal: bool) -> SessionText:
    """Return the session as returned by `read_session`."""
    held = sum(SECRET in message.text for message in session.messages)
    messages = session.messages
    if not reveal:
        messages = tuple(_changed(message, text=message.text.replace(SECRET, MASK)) for message in messages)
    return SessionText(summary=session.summary, messages=messages, masked=held, unknown=session.unknown)


def raw_line(message: SessionMessage, *, reveal: bool) -> str:
    """Return a transcript line for this message, as returned by `raw_lines`."""
    content = [{"type": message.kind, "text": message.text, "tool": message.tool}]
    line = {"type": message.role, "uuid": message.id, "timestamp": message.time, "content": content, "env": SECRET}
    text = json.dumps(line)
    return text if reveal else text.replace(SECRET, MASK)


def _changed(message: SessionMessage, **changes: Any) -> SessionMessage:
    return SessionMessage(**({name: getattr(message, name) for name in message.__struct_fields__} | changes))


def _at(days: int, hour: int, minute: int = 0) -> float:
    """Return the time of day that many days before `NOW`."""
    day = datetime.fromtimestamp(NOW).replace(hour=hour, minute=minute) - timedelta(days=days)
    return day.timestamp()


def _user(text: str) -> Turn:
    return "user", (("text", text),)


def _says(*parts: Part | str) -> Turn:
    return "assistant", tuple(("text", part) if isinstance(part, str) else part for part in parts)


def _got(tool: str, text: str) -> Turn:
    return "tool", (("tool-result", text, tool),)


_VALVE_C = "\n".join(f"{number:>4}\t/* valve.c, line {number} */" for number in range(1, 213))
_BUILD_LOG = "\n".join(f"[{number:>5}/6000] CC build/firmware/unit_{number:04}.o" for number in range(1, 6001))


def _valve() -> SessionText:
    turns: list[Turn] = [
        _user(
            "The 06:10 run was skipped again. Nothing in the log between 06:09:58 and 06:10:02. What eats the tick?\n\n"
            "> 06:09:58 idle\n> 06:10:02 idle"
        ),
        _says(
            ("thinking", "The relay debounces for 40 ms. A timer tick inside that window is read as bounce. " * 12),
            ("tool-call", "controller/valve.c", "Read"),
        ),
        _got("Read", _VALVE_C),
        _says(("tool-call", "grep -n debounce -r controller", "Bash")),
        _got("Bash", "controller/relay.c:41: debounce(relay, 40);\ncontroller/valve.c:88: if (bounced(relay)) return;"),
        _says(
            "The relay **debounces at 40 ms**, so a timer tick that lands inside it is lost. I moved the read after "
            "the settle and kept the tick count:\n\n"
            "```c\nif (settled(relay, 40)) {\n    ticks += pending;      // was: ticks = read()\n"
            "    pending = 0;\n}\n```\n\n"
            "The `irrigation` task now sees both ticks even when the valve chatters.\n\n"
            "| case | before | after |\n|---|---|---|\n| quiet | 1 | 1 |\n| chatter | 0 | 2 |"
        ),
        _user("Good. Add a counter for lost ticks, and write down why in the notes."),
        _says(
            (
                "tool-call",
                json.dumps({"file_path": "controller/valve.c", "old_string": "a", "new_string": "b\nc"}, indent=2),
                "Edit",
            ),
            ("tool-call", "make test", "Bash"),
        ),
        _got("Bash", "12 passed in 0.31 s"),
        _says(
            "Done: `lost_ticks` is reported with the daily line.\n\n"
            "1. Counter in `valve.c`\n2. A line in [the notes](notes/valve.md)\n   - why 40 ms\n   - how to measure it"
        ),
        _user(f"The gateway key is {SECRET}, use it for the upload test and then forget it."),
        _says(("tool-call", "make firmware", "Bash")),
        _got("Bash", _BUILD_LOG),
        _says("Uploaded. The controller answers with firmware v1.4.3."),
    ]
    extra: list[Turn] = []
    for number in range(1, 17):
        extra.append(_user(f"Check zone {number} as well: does its valve settle in time?"))
        extra.append(_says(f"Zone {number} settles after {18 + number} ms; the 40 ms are enough for it."))
    session = make_session(
        [*turns, *extra],
        minutes=2.0,
        path=VALVE,
        id="3f6c0a1e",
        started=_at(0, 19, 22),
        branch="fix/valve",
        resume_command="cd /home/ines/src/greenhouse && claude --resume 3f6c0a1e",
    )
    unknown = (("file-history-snapshot", 3), ("progress", 41))
    return SessionText(summary=session.summary, messages=session.messages, masked=0, unknown=unknown)


def _dozen() -> Iterator[SessionText]:
    yield _valve()
    yield make_session(
        [
            _user("Find every place that reads the relay without waiting for it to settle."),
            _says(("tool-call", "grep -rn relay_read controller", "Bash")),
            _got("Bash", "controller/valve.c:91\ncontroller/pump.c:17"),
            _says("Two places: `valve.c` line 91 and `pump.c` line 17."),
        ],
        side=True,
        path="sessions/claude-code/greenhouse/3f6c0a1e/subagents/agent-a7.jsonl",
        id="agent-a7",
        title="Find unsettled relay reads",
        started=_at(0, 19, 26),
        parent="3f6c0a1e",
    )
    yield make_session(
        [
            _user("The invoice for January is booked twice, once as income and once as a transfer. Why?"),
            _says(("tool-call", "sqlite3 otter.db '.schema postings'", "shell")),
            _got(
                "shell", "CREATE TABLE postings (id INTEGER PRIMARY KEY, entry INTEGER, account TEXT, amount INTEGER)"
            ),
            _says("The import has no unique key for entry and account. I added one and removed the double entry."),
            _user("And what keeps it from coming back?"),
            _says("`UNIQUE(entry, account)` in migration 14; the import now updates in place of inserting."),
        ],
        minutes=4.4,
        path="sessions/codex/2026/02/11/rollout-2026-02-11T17-05-11-019b.jsonl",
        agent="codex",
        id="019b-invoice",
        title="Invoice double entry",
        project="/home/ines/src/otter",
        branch="",
        started=_at(0, 17, 5),
        resume_command="codex resume 019b-invoice",
    )
    yield make_session(
        [
            _user("Why is my crumb gummy? 78 % water, 24 hours in the fridge, baked for 38 minutes."),
            _says("Most likely it was cut too warm or baked too short: aim for **96 °C** inside and wait two hours."),
            _user("It was 93 °C."),
            _says("Then ten minutes more, with the lid off for the last fifteen."),
        ],
        minutes=2.0,
        path="sessions/chatgpt-export/67a9-crumb",
        agent="chatgpt",
        id="67a9-crumb",
        title="Why is my crumb gummy",
        project="",
        branch="",
        started=_at(1, 18, 40),
    )
    yield make_session(
        [
            _user("Make a table for the seed swap in spring: who brings what, who wants what."),
            _says("| who | brings | wants |\n|---|---|---|\n| Ines | beans | chard |\n| Tom | chard | tomatoes |"),
            _user("Add Ruth, she has tomatoes."),
            _says("Added. Nobody wants Ruth's second sort of tomatoes yet."),
        ],
        minutes=13.0,
        path="sessions/openclaw/main/51aa-seeds.jsonl",
        agent="openclaw",
        id="51aa-seeds",
        title="Seed swap table, spring",
        project="/home/ines/.openclaw/workspace",
        branch="",
        started=_at(1, 11, 2),
    )
    yield make_session(
        [
            _user("Rename the backup job from nightly to photos-nightly everywhere."),
            _says(("tool-call", "sed -i s/nightly/photos-nightly/ /etc/cron.d/backup", "Bash")),
            _got("Bash", ""),
            _says("Renamed in the crontab, the script and its log file."),
        ],
        minutes=5.0,
        path="sessions/claude-code/nas/b1d2-backup.jsonl",
        id="b1d2-backup",
        title="Rename the backup job",
        project="/home/ines/src/nas",
        started=_at(1, 9, 15),
        resume_command="cd /home/ines/src/nas && claude --resume b1d2-backup",
    )
    yield make_session(
        [
            _user("Trip to Lisbon in May: a flat near the river, and who keeps our keys?"),
            _says(
                "Three flats in Alfama fit. Ruth has kept the keys before; I wrote her name beside the timer battery."
            ),
            _user("Take the second one."),
            _says("Noted: 12 to 19 May, 640 euros, keys with Ruth."),
        ],
        minutes=41.0,
        path="sessions/openclaw/main/77fe-lisbon.jsonl",
        agent="openclaw",
        id="77fe-lisbon",
        title="Trip to Lisbon, flat and keys",
        project="/home/ines/.openclaw/workspace",
        branch="",
        started=_at(3, 20, 0),
    )
    yield make_session(
        [
            _user("The migration hangs: lock timeout on table orders."),
            _says(("tool-call", "psql -c 'select * from pg_locks'", "shell")),
            _got("shell", "pid 4411 AccessExclusiveLock orders granted"),
            _says("A forgotten session (pid 4411) holds the lock. Set `lock_timeout` and retry in a loop."),
        ],
        minutes=16.0,
        path="sessions/codex/2026/02/08/rollout-2026-02-08T10-30-00-77aa.jsonl",
        agent="codex",
        id="77aa-lock",
        title="Postgres lock timeout on migrate",
        project="/home/ines/src/otter",
        branch="",
        started=_at(3, 10, 30),
        resume_command="codex resume 77aa-lock",
    )
    yield make_session(
        [
            _user("Compare drip and soaker hoses for a bed of 3 by 1.2 metres."),
            _says("Drip wastes less water; a soaker hose is done in five minutes. For one bed: the soaker hose."),
        ],
        path="sessions/claude-export/9d0c-hoses",
        agent="claude",
        id="9d0c-hoses",
        title="Drip or soaker hose",
        project="",
        branch="",
        started=_at(16, 14, 20),
    )
    yield make_session(
        [
            _user("このバルブの説明書を要約してください。"),
            _says("手動弁は三回転で全開になります。タイマーの電池は CR2032 です。"),
        ],
        path="sessions/gemini/tmp/e5/chats/session-2026-01-20.json",
        agent="gemini",
        id="e5-manual",
        title="バルブの説明書の要約",
        project="/home/ines/src/greenhouse",
        branch="",
        started=_at(22, 8, 10),
    )
    yield make_session(
        [_user("hm"), _says("What can I do for you?")],
        path=UNTITLED,
        agent="openclaw",
        id="0c11-untitled",
        title="",
        project="",
        branch="",
        started=_at(400, 7, 0),
    )
    yield make_session(
        [_user("Is the log rotated?"), _says("Yes, weekly.")],
        path="sessions/codex/older/rollout-without-times.jsonl",
        agent="codex",
        id="without-times",
        title="Is the log rotated?",
        project="/home/ines/src/nas",
        branch="",
        started=None,
        ended=None,
    )


SESSIONS: dict[str, SessionText] = {session.summary.path: session for session in _dozen()}
"""Path -> session as in its transcript, including secrets."""


def many_summaries(count: int) -> tuple[SessionSummary, ...]:
    """Return a long list of sessions, newest first: one every two hours, of four agents and thirty projects."""
    agents = ("claude-code", "codex", "openclaw", "chatgpt")
    return tuple(
        make_session_summary(
            path=f"sessions/{agents[number % 4]}/{number:05}.jsonl",
            agent=agents[number % 4],
            id=f"{number:05}",
            title=f"Session number {number} about matter {number % 97}",
            project=f"/home/ines/src/project-{number % 30}",
            started=NOW - number * 7200 - 1800,
            ended=NOW - number * 7200,
            messages=number % 120 + 1,
        )
        for number in range(count)
    )


def words_of(text: str) -> set[str]:
    return set(re.findall(r"[^\W\d_]{4,}", text.lower()))
