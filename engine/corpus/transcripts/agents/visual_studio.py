"""Declares GitHub Copilot's chat in Visual Studio, which writes the spans of a conversation into several files.

All files of a folder are read with the first one, by name; the others are parts of it.
"""

import os
from typing import TYPE_CHECKING, Any

from engine.corpus.transcripts.agents import TRACES, Agent, FoundFolders, trace_files
from engine.corpus.user_environment import Machine

if TYPE_CHECKING:
    from engine.corpus.transcripts.formats import Formats


def _folders(machine: Machine) -> FoundFolders:
    caches = (machine.below_home("Library", "Caches"), machine.below_home(".cache"))
    for folder in (os.path.join(machine.data_homes()[1], "Temp"), *caches):
        yield "", os.path.join(folder, "VSGitHubCopilotLogs", "traces")


def _first_trace(path: str) -> str:
    """Return the trace file with which another one is read; empty for other files, and for the first one itself."""
    if not path.endswith(TRACES):
        return ""
    try:
        first = next(iter(trace_files(path)), path)
    except OSError:
        return ""
    return "" if first == path else first


def _changed(path: str, memo: dict[str, Any]) -> int:
    """Return when a trace file in the same folder was last changed, in nanoseconds; else 0."""
    if not path.endswith(TRACES):
        return 0
    key = TRACES + os.path.dirname(path)
    if key not in memo:
        try:
            memo[key] = max(os.lstat(trace).st_mtime_ns for trace in trace_files(path))
        except (OSError, ValueError):
            return 0
    return int(memo[key])


def _formats() -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.parsers.visual_studio import VisualStudioTraces

    return Formats(documents=(VisualStudioTraces(),))


AGENT = Agent(
    name="visual-studio-copilot",
    label="Visual Studio Copilot",
    parser_version=3,
    stores=((r"/VSGitHubCopilotLogs/traces\Z", "visual-studio"),),
    folders=_folders,
    joined=TRACES,
    with_parts=(TRACES,),
    list_changed=_changed,
    part_of=_first_trace,
    formats=_formats,
)
