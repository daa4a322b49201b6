"""`mnemoscope get`."""

import sys
from argparse import Namespace

from engine.agent.getting import read_named
from engine.cli.opening import find_place, opened
from engine.cli.output import print_json, safe_text
from engine.records import FileText, to_builtins


def run(arguments: Namespace) -> int:
    with opened(find_place(arguments)) as manager:
        text = read_named(manager, arguments.path, arguments.start, arguments.lines)
    if arguments.json:
        _print_json(text)
    else:
        _print_text(text)
    return 0


def _print_json(text: FileText) -> None:
    values = to_builtins(text)
    if not text.truncated:
        del values["truncated"]
    if text.next_from is None:
        del values["nextFrom"]
    print_json(values)


def _print_text(text: FileText) -> None:
    """The text as it is; a terminal gets it without what could command it."""
    terminal = sys.stdout.isatty()
    sys.stdout.write(safe_text(text.text) if terminal else text.text)
    # A slice comes without the end of its last line.
    if text.truncated or (terminal and text.text and not text.text.endswith("\n")):
        sys.stdout.write("\n")
    sys.stdout.flush()
    if text.next_from is not None:
        print(f"More from line {text.next_from}: --from {text.next_from}", file=sys.stderr)
    elif not text.lines:
        print("Nothing here: the file is empty, gone, or has fewer lines.", file=sys.stderr)
