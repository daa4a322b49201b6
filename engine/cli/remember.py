"""`mnemoscope remember SESSION|--latest`."""

import sys
from argparse import Namespace

from engine.agent.remembering import Remembered, remember, update_index
from engine.cli.opening import Place, find_place, interruptible, opened
from engine.cli.output import print_json, safe, safe_text
from engine.wording import plural

_SYNC_SECONDS = 15.0
"""An agent that begins a new session shall not wait longer for the index; text comes first, vectors may come later."""


def run(arguments: Namespace) -> int:
    place = find_place(arguments)
    # At a terminal it is the person who asks; a hook has neither end of one.
    by_agent = not (sys.stdin is not None and sys.stdin.isatty()) and not sys.stdout.isatty()
    with interruptible() as token, opened(place) as manager:
        if arguments.latest:
            update_index(manager, _SYNC_SECONDS, token)  # the newest session may not be listed yet
        done = remember(
            manager,
            place.folder,
            place.settings,
            None if arguments.latest else arguments.session,
            messages=arguments.messages,
            slug=arguments.slug or "",
            again=arguments.again,
            write=not arguments.dry_run,
            by_agent=by_agent,
            cancel=token,
        )
        if done.written is not None:
            update_index(manager, _SYNC_SECONDS, token)
    _tell(arguments, place, done)
    return 0


def _tell(arguments: Namespace, place: Place, done: Remembered) -> None:
    note = done.note
    there = bool(note.existing) and not arguments.again
    path = (
        done.written.path if done.written else (note.existing if there else "") or f"memory/{note.date}-{note.slug}.md"
    )
    file = place.folder / path
    if done.notice:
        print("mnemoscope:", safe(done.notice), file=sys.stderr)
    if arguments.json:
        told = {
            "path": path,
            "file": str(file),
            "session": note.session,
            "messages": note.messages,
            "written": done.written is not None,
        }
        told |= {"existing": True} if there else {}
        told |= {"text": note.text} if arguments.dry_run else {}
        print_json(told | ({"notice": done.notice} if done.notice else {}))
    elif there:
        print(safe(f"This session is remembered already: {file}"))
    elif arguments.dry_run:
        taken = f"{note.messages:,} of {plural(note.said, 'message')}"
        print(safe(f"Would be written to {file}, with {taken}:"), end="\n\n")
        print(safe_text(note.text), end="")
    else:
        print(safe(str(file)))
