"""`mnemoscope get`: print a note or session, or some lines of it."""

import sys
from argparse import Namespace

from engine.agent.memory_tools import read_named
from engine.base.formatting import plural, printable
from engine.cli.output import print_json, unfiltered
from engine.cli.workspace import find_workspace, opened
from engine.records import FileText, to_builtins


def run(arguments: Namespace) -> int:
    with opened(find_workspace(arguments)) as manager:
        text = read_named(manager, arguments.path, arguments.start, arguments.lines)
    if arguments.json:
        _print_json(text)
    else:
        _print_text(text, raw=arguments.raw)
    return int(text.total_lines is None)


def _print_json(text: FileText) -> None:
    values = to_builtins(text)
    if not text.truncated:
        del values["truncated"]
    if text.next_from is None:
        del values["nextFrom"]
    if text.total_lines is None:
        del values["totalLines"]
        values["missing"] = True
    print_json(values)


def _print_text(text: FileText, *, raw: bool) -> None:
    terminal = sys.stdout.isatty()
    if raw:
        sys.stdout.flush()
        # Bypasses the text layer, which would change the line ends on Windows.
        unfiltered(sys.stdout).buffer.write(text.text.encode("utf-8", "backslashreplace"))
    else:
        unfiltered(sys.stdout).write(printable(text.text, prose=True))
    # A slice comes without the end of its last line.
    if text.truncated or (terminal and text.text and not text.text.endswith("\n")):
        sys.stdout.write("\n")
    sys.stdout.flush()
    if text.next_from is not None:
        print(f"There is more: continue with --from {text.next_from}", file=sys.stderr)
    elif text.total_lines is None:
        print(f"mnemoscope: {text.path}: There is no such file: check its name for typos.", file=sys.stderr)
    elif not text.lines:
        print(f"No such line: the file has {plural(text.total_lines, 'line')}.", file=sys.stderr)
