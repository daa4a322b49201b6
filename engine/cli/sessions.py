"""`mnemoscope sessions [list|show ID|files ID|touching PATH|export ID|context ID|stats]`: read past sessions."""

from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import islice
from pathlib import Path

from engine.base.cancellation import CancelToken
from engine.base.errors import MnemoscopeError
from engine.base.formatting import dollars, folder_name, plural, printable
from engine.base.private_files import exporting
from engine.cli.output import print_json, safe
from engine.cli.workspace import (
    CliWorkspace,
    find_workspace,
    found_session_folders,
    interruptible,
    opened,
    setting_line,
)
from engine.corpus.transcripts.registry import agents_named
from engine.memory.memory_interface import insight_of
from engine.memory.session_library import find_session, short_names
from engine.records import ExportFormat, FileUse, SessionStats, SessionSummary, SessionText, StatsRow

_HEADINGS = ("sessions", "messages", "active", "in", "cached", "written", "out", "cost")
_UNKNOWN = "unknown"
_THIS_MACHINE = "this machine"
_WIDEST_NAME = 24
_MAX_VALUES = 12
"""Maximum number of agents, projects, models or machines that are named if none matches."""


def run(arguments: Namespace) -> int:
    workspace = find_workspace(arguments)
    with interruptible() as token, opened(workspace) as manager:
        known = manager.sessions()
        if not known:
            raise MnemoscopeError(_no_sessions_message(workspace, arguments, token))
        if arguments.action == "list":
            _list(arguments, known)
            return 0
        if arguments.action == "stats":
            _print_stats(known, arguments, workspace.settings.sessions.prices)
            return 0
        if arguments.action == "touching":
            _list_uses(arguments, known, insight_of(manager).uses_of_file(arguments.path, token))
            return 0
        path = find_session(arguments.id, known).path
        if arguments.action == "files":
            _list_files(arguments, insight_of(manager).session_files(path, token))
            return 0
        try:
            session = manager.read_session(path, cancel=token)
        except FileNotFoundError:
            raise MnemoscopeError(f"The transcript of {path} no longer exists: run mnemoscope index.") from None
    if arguments.action == "export":
        return _export(arguments, session, workspace)
    from engine.agent.session_export import readable_session, session_context  # a list needs no texts of sessions

    if arguments.action == "context":
        context = session_context(session, arguments.characters or workspace.settings.sessions.context_max_chars)
        if arguments.json:
            print_json({"context": context})
        else:
            print(context, end="")
        return 0
    if arguments.json:
        print_json(session)
    else:
        for lines in readable_session(session, full=arguments.full):
            print(lines)
    return 0


def _no_sessions_message(workspace: CliWorkspace, arguments: Namespace, token: CancelToken) -> str:
    if workspace.settings.sessions.folders:
        return "No sessions are indexed yet: run mnemoscope index."
    found = found_session_folders(token)
    note = "" if found else ", or where yours are,"
    line = setting_line("defaults.sessions", "folders", found or ["~/.claude/projects"], arguments.config, note=note)
    return f"No session folder is listed: add {line}, then run mnemoscope index."


# --- export ---------------------------------------------------------------------------------------------------------


def _export(arguments: Namespace, session: SessionText, workspace: CliWorkspace) -> int:
    """Print the export, or write it to a file, completely or not at all. Notes and transcripts are never replaced.

    A pipe or a device, such as /dev/stdout, is written to.
    """
    from engine.agent.session_export import export_session

    if arguments.output is None or str(arguments.output) == "-":
        text = export_session(session, arguments.format or "markdown")
        if arguments.json:
            print_json({"text": text, "session": session.summary.path})
        else:
            print(printable(text, prose=True), end="")
        return 0
    path = arguments.output.expanduser()
    own = (
        workspace.folder,
        *(workspace.folder / Path(folder).expanduser() for folder in workspace.settings.sessions.folders),
    )
    try:
        if path.exists() and any(path.resolve().is_relative_to(folder.resolve()) for folder in own):
            raise MnemoscopeError(f"{path} is one of your notes or transcripts: choose another file.")
        is_special = path.exists() and not (path.is_file() or path.is_dir())
        with path.open("wb") if is_special else exporting(path.resolve()) as file:
            kind: ExportFormat = arguments.format or (
                "markdown" if path.suffix.lower() in (".md", ".markdown") else "html"
            )
            file.write(export_session(session, kind).encode("utf-8", "replace"))
    except OSError as error:
        raise MnemoscopeError(f"{path} cannot be written: {error.strerror or error}.") from None
    if arguments.json:
        print_json({"file": str(path), "session": session.summary.path})
    else:
        print(safe(f"Written to {path}."))
    return 0


# --- list -----------------------------------------------------------------------------------------------------------


def _list(arguments: Namespace, known: Sequence[SessionSummary]) -> None:
    matching = _matching(known, arguments)
    listed = matching[: arguments.max]
    if arguments.json:
        print_json({"sessions": listed, "total": len(matching)})
        return
    names = short_names(known)
    agent_width = max((len(session.agent) for session in listed), default=0)
    name_width = _width(names[session.path] for session in listed)
    for session in listed:
        title = f"{'(part) ' if session.parent else ''}{session.title or 'Untitled'}"
        project = f"  [{folder_name(session.project)}]" if session.project else ""
        project += f"  @{session.machine}" if session.machine else ""
        unknown = f"  ({_unknown_items(session.unknown)})" if session.unknown else ""
        line = (
            f"{_column(names[session.path], name_width)}  {_time_text(session.last)}  {session.agent:<{agent_width}}  "
            f"{session.messages:>5,}  {title}{project}{unknown}{_long_name(names[session.path])}"
        )
        print(safe(line))
    if not matching:
        print("No session matches.", *_available_values(known, arguments))
    elif len(matching) > len(listed):
        print(f"{len(listed):,} of {plural(len(matching), 'session')}; --max shows more.")


def _width(names: Iterable[str]) -> int:
    """Return the width of a column of names, without counting long ids."""
    return max((len(name) for name in names if len(name) <= _WIDEST_NAME), default=1)


def _column(name: str, width: int) -> str:
    """Return a name, padded; "…" for a long path, which is printed at the end of its line."""
    return f"{'…' if _long_name(name) else name:<{width}}"


def _long_name(name: str) -> str:
    """Return the end of a line: a long path, or the name of a session whose id is not unique; else empty."""
    return f"  {name}" if len(name) > _WIDEST_NAME and "/" in name else ""


def _matching(known: Sequence[SessionSummary], arguments: Namespace) -> Sequence[SessionSummary]:
    agents = _agents(known, arguments)
    return [session for session in known if session.agent in agents and _passes_filters(session, arguments)]


def _agents(known: Sequence[SessionSummary], arguments: Namespace) -> frozenset[str]:
    names = {session.agent for session in known}
    return agents_named(arguments.agent, names) if arguments.agent else frozenset(names)


def _available_values(known: Sequence[SessionSummary], arguments: Namespace) -> Iterator[str]:
    """Yield the existing agents, projects, models or machines in a sentence each, if none is the requested one."""
    agents, part = _agents(known, arguments), (arguments.agent or "").casefold()
    if not agents:
        yield f"There are sessions of these agents: {_most_common(session.agent for session in known)}."
    elif others := sorted({session.agent for session in known if part in session.agent} - agents):
        yield f"There are also sessions of {', '.join(others)}."
    project = (arguments.project or "").casefold()
    if not any(project in session.project.casefold() for session in known):
        names = _most_common(folder_name(session.project) for session in known if session.project)
        yield f"There are sessions of these projects: {names}." if names else "No session has a project."
    model, models = (arguments.model or "").casefold(), [usage.model for session in known for usage in session.usage]
    if model and not any(model in name.casefold() for name in models):
        names = _most_common(filter(None, models))
        yield f"There are sessions with these models: {names}." if names else "No session names a model."
    machine, machines = (arguments.machine or "").casefold(), [session.machine for session in known]
    if machine and machine not in map(str.casefold, machines):
        names = _most_common(filter(None, machines))
        yield f"There are sessions from these machines: {names}." if names else "All sessions are from this machine."


def _most_common(names: Iterable[str]) -> str:
    counts = Counter(names)
    listed = [safe(name) for name, _ in counts.most_common(_MAX_VALUES)]
    return ", ".join(listed) + (" and others" if len(counts) > len(listed) else "")


def _passes_filters(session: SessionSummary, arguments: Namespace) -> bool:
    """Return whether a session passes all filters but the agent's; its days last from its first to its last message."""
    if arguments.machine and arguments.machine.casefold() != session.machine.casefold():
        return False
    if arguments.project and arguments.project.casefold() not in session.project.casefold():
        return False
    model = (arguments.model or "").casefold()
    if model and not any(model in usage.model.casefold() for usage in session.usage):
        return False
    if arguments.since is not None and (session.last or 0) < arguments.since:
        return False
    return arguments.until is None or (session.started or session.last or 0) < arguments.until


def _unknown_items(count: int) -> str:
    from engine.agent.session_export import unknown_items  # few sessions have one

    return unknown_items(count)


def _time_text(time: float | None) -> str:
    return f"{datetime.fromtimestamp(time):%Y-%m-%d %H:%M}" if time is not None else f"{'no date':<16}"


# --- stats -----------------------------------------------------------------------------------------------------------


def _print_stats(known: Sequence[SessionSummary], arguments: Namespace, prices: str) -> None:
    from engine.insight.session_stats import load_prices, session_stats  # other actions print no cost

    matching = _matching(known, arguments)
    stats = session_stats(matching, load_prices(prices), arguments.by)
    if arguments.json:
        print_json(stats)
        return
    if not matching:
        print("No session matches.", *_available_values(known, arguments))
        return
    unnamed = _THIS_MACHINE if arguments.by == "machine" else _UNKNOWN
    named = ((safe(row.name) or unnamed, *_cells(row)) for row in stats.rows)
    rows = [(arguments.by or "", *_HEADINGS), *named, ("total", *_cells(stats.total))]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for name, *cells in rows:
        aligned = (f"{cell:>{width}}" for cell, width in zip(cells, widths[1:], strict=True))
        print(f"{name:<{widths[0]}}  {'  '.join(aligned)}".rstrip())
    # Sub-agents' sessions are not counted as sessions.
    if parts := len(matching) - stats.total.sessions:
        print(f"{plural(parts, 'session')} of sub-agents: the usage is counted with the main session.")
    if copies := sum(map(_is_copy, matching)):
        print(f"{plural(copies, 'session')} with copied requests only: the usage is counted with the original session.")
    for note in _notes(stats):
        print(note)


def _is_copy(session: SessionSummary) -> bool:
    """Whether all recorded requests of a session were copied from another one."""
    known = [usage for usage in session.usage if usage.has_numbers]
    return bool(known) and all(usage.is_copied for usage in known)


def _cells(row: StatsRow) -> Sequence[str]:
    usage = row.usage
    counts = (usage.input_tokens, usage.cache_read_tokens, usage.cache_write_tokens, usage.output_tokens)
    return (
        f"{row.sessions:,}",
        f"{row.messages:,}",
        _duration(row.seconds),
        *(_UNKNOWN if count is None else f"{count:,}" for count in counts),
        _cost(row),
    )


def _cost(row: StatsRow) -> str:
    """Return the cost of a row as text, followed by a plus if some of it is unknown."""
    cost = row.usage.cost
    if cost is None:
        return _UNKNOWN
    return dollars(cost) if row.usage.cost_complete else f"${cost:,.2f}+"


def _duration(seconds: float | None) -> str:
    if seconds is None:
        return _UNKNOWN
    minutes = round(seconds / 60)
    return f"{minutes // 60:,}:{minutes % 60:02}"


def _notes(stats: SessionStats) -> Sequence[str]:
    notes = []
    if stats.total.without_usage:
        notes.append(f"{plural(stats.total.without_usage, 'session')} without recorded tokens.")
    if stats.unpriced:
        notes.append(f"No price is known for {safe(', '.join(stats.unpriced))}; a plus marks costs without it.")
    dates = sorted({source.date for source in stats.prices if source.date})
    if dates and stats.total.usage.cost is not None:
        own = "".join(f"by {safe(source.source)}, else " for source in stats.prices if not source.date)
        notes.append(f"Costs are as recorded, else {own}by list prices of {dates[0]} to {dates[-1]}.")
    return notes


# --- files and touching ---------------------------------------------------------------------------------------------


def _list_files(arguments: Namespace, uses: Sequence[FileUse]) -> None:
    if arguments.json:
        print_json({"files": uses})
        return
    for path, kinds in _kinds(uses, lambda use: use.path).items():
        print(safe(f"{kinds:<14}  {path}"))
    if not uses:
        print("No tool call of this session names a file.")


def _list_uses(arguments: Namespace, known: Sequence[SessionSummary], uses: Sequence[FileUse]) -> None:
    matching = {session.path for session in _matching(known, arguments)}
    kinds = _kinds((use for use in uses if use.session in matching), lambda use: use.session)
    listed = dict(islice(kinds.items(), arguments.max))
    if arguments.json:
        print_json({"uses": [use for use in uses if use.session in listed]})
        return
    names = short_names(known)
    newest = {use.session: use for use in reversed(uses) if use.session in listed}
    width = _width(names.get(path, path) for path in listed)
    agent_width = max((len(use.agent) for use in newest.values()), default=0)
    kinds_width = max(map(len, listed.values()), default=0)
    for path, done in listed.items():
        use = newest[path]
        project = f"  [{folder_name(use.project)}]" if use.project else ""
        title = use.title or "Untitled"
        name = names.get(path, path)
        used = f"{use.agent:<{agent_width}}  {done:<{kinds_width}}"
        line = f"{_column(name, width)}  {_time_text(use.time)}  {used}  {title}{project}{_long_name(name)}"
        print(safe(line))
    if not uses:
        print("No session read or changed a matching file.")
    elif not kinds:
        print("No session matches.", *_available_values(known, arguments))
    elif len(kinds) > len(listed):
        print(f"{len(listed):,} of {plural(len(kinds), 'session')}; --max shows more.")


def _kinds(uses: Iterable[FileUse], key: Callable[[FileUse], str]) -> dict[str, str]:
    """Return the kinds of use of each file, or in each session, such as "created, edited"."""
    kinds: dict[str, set[str]] = {}
    for use in uses:
        kinds.setdefault(key(use), set()).add(use.kind)
    return {name: ", ".join(sorted(names)) for name, names in kinds.items()}
