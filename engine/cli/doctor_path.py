"""`mnemoscope doctor PATH`: why a file is found, or not."""

import os
from argparse import Namespace
from collections.abc import Iterator
from datetime import datetime

from engine.base.formatting import plural, size
from engine.cli.output import print_issues, print_json, print_table, safe
from engine.cli.workspace import CliWorkspace, interruptible, opened
from engine.records import PathState


def explain(place: CliWorkspace, arguments: Namespace) -> int:
    """Print the state of a path. What is not there by that name is looked for in the current directory, too."""
    with interruptible() as token, opened(place) as manager:
        state = manager.explain_path(arguments.path, config=arguments.config, cancel=token)
        here = os.path.abspath(arguments.path)
        if state.state == "missing" and os.path.lexists(here):
            state = manager.explain_path(here, config=arguments.config, cancel=token)
    if arguments.json:
        print_json(state)
        return 0
    print(f"{state.state}  {safe(state.path or state.file)}")
    print(safe(state.sentence))
    print_table((name, safe(value)) for name, value in _facts(state))
    if state.contents is not None:
        print_issues("Passed over", state.contents.passed)
    return 0


def _facts(state: PathState) -> Iterator[tuple[str, str]]:
    if state.title:
        yield "Title", state.title
    if state.rule:
        yield "Rule", state.rule
    if state.origin is not None and state.origin.key:
        yield "Setting", f"{state.origin.key} = {state.origin.value}"
    if state.modified is not None:
        changed = datetime.fromtimestamp(state.modified).strftime("%Y-%m-%d %H:%M:%S")
        vectors = "" if state.vectors is None else f", {plural(state.vectors, 'vector')}"
        yield "As indexed", f"{plural(state.chunks, 'chunk')}{vectors}, {size(state.size)}, changed {changed}"
