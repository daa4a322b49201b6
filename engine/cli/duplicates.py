"""`mnemoscope duplicates`: list passages that occur more than once."""

from argparse import Namespace
from collections.abc import Iterator, Sequence

from engine.base.formatting import plural
from engine.cli.output import LiveLine, print_json, safe
from engine.cli.workspace import find_workspace, interruptible, opened
from engine.memory.memory_interface import insight_of
from engine.records import DuplicateGroup, cite, duplicate_title


def run(arguments: Namespace) -> int:
    workspace = find_workspace(arguments)
    with interruptible() as token, opened(workspace) as manager, LiveLine() as line:
        insight = insight_of(manager)
        report = insight.duplicates(token, lambda share: line.show(f"Comparing the notes: {share:.0%}"))
        hidden: frozenset[str] = frozenset() if arguments.all else insight.hidden_duplicates()
    groups = [group for group in report.groups if group.key not in hidden]
    hidden_count = len(report.groups) - len(groups)
    if arguments.json:
        print_json({"groups": groups, "total": report.found, "files": report.files, "hidden": hidden_count})
        return 0
    for text in _lines(groups):
        print(text)
    if not report.files:
        print("No notes are indexed, and only notes are compared. Run mnemoscope index if the folder has notes.")
        return 0
    left_out = report.found - len(report.groups)
    also = [f"{hidden_count:,} hidden (--all lists them)"] if hidden_count else []
    also += [f"{left_out:,} more not listed"] if left_out else []
    print(", ".join([f"{plural(len(groups), 'group')} among {plural(report.files, 'note')}", *also]) + ".")
    return 0


def _lines(groups: Sequence[DuplicateGroup]) -> Iterator[str]:
    for group in groups:
        yield f"{duplicate_title(group)}, {plural(group.words, 'word')} in {plural(group.files, 'note')}:"
        yield from (f"  {safe(cite(it.path, it.start_line, it.end_line))}" for it in group.members)
        if group.files > len(group.members):
            yield f"  … and {group.files - len(group.members):,} more"
        yield ""
