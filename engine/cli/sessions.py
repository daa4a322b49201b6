"""`mnemoscope sessions [list|show ID]`."""

from argparse import Namespace
from collections.abc import Sequence
from datetime import datetime

from engine.agent.readable_session import readable_session
from engine.base.errors import MnemoscopeError
from engine.base.formatting import plural
from engine.cli.output import print_json, safe
from engine.cli.workspace import CliWorkspace, find_place, interruptible, opened
from engine.memory.session_library import short_names, wanted_session
from engine.records import SessionSummary
from engine.settings import settings_path


def run(arguments: Namespace) -> int:
    place = find_place(arguments)
    with interruptible() as token, opened(place) as manager:
        known = manager.sessions()
        if not known:
            raise MnemoscopeError(_nothing(place, arguments))
        if arguments.action == "list":
            _list(arguments, known)
            return 0
        path = wanted_session(arguments.id, known).path
        try:
            session = manager.read_session(path, cancel=token)
        except FileNotFoundError:
            raise MnemoscopeError(f"The transcript of {path} is not there any more.") from None
    if arguments.json:
        print_json(session)
    else:
        for lines in readable_session(session, full=arguments.full):
            print(lines)
    return 0


def _nothing(place: CliWorkspace, arguments: Namespace) -> str:
    if place.settings.sessions.folders:
        return "No sessions are indexed yet: run mnemoscope index."
    return (
        f'No session folder is listed: add folders = ["~/.claude/projects"], or where yours are, under '
        f"[defaults.sessions] in {arguments.config or settings_path()}, then run mnemoscope index."
    )


# --- list -----------------------------------------------------------------------------------------------------------


def _list(arguments: Namespace, known: Sequence[SessionSummary]) -> None:
    found = [session for session in known if _fits(session, arguments)]
    shown = found[: arguments.max]
    if arguments.json:
        print_json({"sessions": shown, "total": len(found)})
        return
    names = short_names(known)
    agent_width = max((len(session.agent) for session in shown), default=0)
    name_width = max((len(names[session.path]) for session in shown), default=0)
    for session in shown:
        title = f"{'(part) ' if session.parent else ''}{session.title or 'Untitled'}"
        project = f"  [{_folder_name(session.project)}]" if session.project else ""
        line = (
            f"{names[session.path]:<{name_width}}  {_moment(_last(session))}  {session.agent:<{agent_width}}  "
            f"{session.messages:>5,}  {title}{project}"
        )
        print(safe(line))
    if not found:
        print("No session matches.")
    elif len(found) > len(shown):
        print(f"{len(shown):,} of {plural(len(found), 'session')}; --max shows more.")


def _fits(session: SessionSummary, arguments: Namespace) -> bool:
    """Return whether a session passes the filters; its days are those from its first to its last message."""
    if arguments.agent and session.agent.casefold() != arguments.agent.casefold():
        return False
    if arguments.project and arguments.project.casefold() not in session.project.casefold():
        return False
    if arguments.since is not None and (_last(session) or 0) < arguments.since:
        return False
    return arguments.until is None or (session.started or _last(session) or 0) < arguments.until


def _last(session: SessionSummary) -> float | None:
    return session.started if session.ended is None else session.ended


def _moment(time: float | None) -> str:
    return f"{datetime.fromtimestamp(time):%Y-%m-%d %H:%M}" if time is not None else f"{'no date':<16}"


def _folder_name(project: str) -> str:
    return project.rstrip("/\\").replace("\\", "/").rpartition("/")[2] or project
