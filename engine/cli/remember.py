"""`mnemoscope remember SESSION|--latest|--hook`: save a note that summarises a session."""

import sys
from argparse import Namespace

from engine.agent.session_note import Remembered, remember, update_index
from engine.base.bounded_json import decode_json
from engine.base.errors import MnemoscopeError
from engine.base.formatting import plural
from engine.cli.output import print_json, safe
from engine.cli.workspace import CliWorkspace, find_workspace, interruptible, opened

_SYNC_SECONDS = 15.0
"""Longest wait of an agent's new session for the index; text is indexed first, vectors may follow later."""

_LONGEST_HOOK = 64 * 1024


def run(arguments: Namespace) -> int:
    workspace = find_workspace(arguments)
    session = _session_of_hook() if arguments.hook else arguments.session
    # At a terminal a user runs this; a hook has no terminal.
    by_agent = not (sys.stdin is not None and sys.stdin.isatty()) and not sys.stdout.isatty()
    with interruptible() as token, opened(workspace) as manager:
        if arguments.latest or arguments.hook:
            update_index(manager, _SYNC_SECONDS, token)  # the newest session may still be missing from the list
        done = remember(
            manager,
            workspace.folder,
            workspace.settings,
            session,
            messages=arguments.messages,
            slug=arguments.slug or "",
            again=arguments.again,
            write=not arguments.dry_run,
            by_agent=by_agent,
            cancel=token,
        )
        if done.written is not None:
            update_index(manager, _SYNC_SECONDS, token)
    _print_result(arguments, workspace, done)
    return 0


def _session_of_hook() -> str:
    """Return the id of the session that an agent's hook passes on standard input."""
    try:
        hook = decode_json("" if sys.stdin is None else sys.stdin.read(_LONGEST_HOOK).strip(), dict)
    except ValueError:
        hook = None
    session = hook.get("session_id") if isinstance(hook, dict) else None
    if not isinstance(session, str) or not session.strip():
        raise MnemoscopeError("Standard input is not the JSON of a hook with a session_id: name a session.")
    return session.strip()


def _print_result(arguments: Namespace, workspace: CliWorkspace, done: Remembered) -> None:
    note = done.note
    exists = bool(note.existing) and not arguments.again
    if done.written is not None:
        path = done.written.path
    else:
        path = note.existing if exists else f"memory/{note.date}-{note.slug}.md"
    file = workspace.folder / path
    if done.notice:
        print("mnemoscope:", safe(done.notice), file=sys.stderr)
    if arguments.json:
        values = {
            "path": path,
            "file": str(file),
            "session": note.session,
            "messages": note.messages,
            "written": done.written is not None,
        }
        values |= {"existing": True} if exists else {}
        values |= {"text": note.text} if arguments.dry_run else {}
        print_json(values | ({"notice": done.notice} if done.notice else {}))
    elif exists:
        print(safe(f"This session already has a note: {file}"))
    elif arguments.dry_run:
        message_count = f"{note.messages:,} of {plural(note.session_messages, 'message')}"
        print(safe(f"Would be written to {file}, with {message_count}:"), end="\n\n")
        print(note.text, end="")
    else:
        print(safe(str(file)))
