"""Declares GitHub Copilot's chat in Visual Studio, which writes the spans of a conversation into several files.

All files of a folder are read with the first one, by name; the others are parts of it.
"""

import os
from typing import Any

from engine.corpus.transcripts.agents import TRACES, Agent, paths, trace_files


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


AGENT = Agent(
    name="visual-studio-copilot",
    label="Visual Studio Copilot",
    parser_version=3,
    stores=((r"/VSGitHubCopilotLogs/traces\Z", "visual-studio"),),
    folders=paths(
        "($LOCALAPPDATA|~/AppData/Local)/Temp/VSGitHubCopilotLogs/traces",
        "~/Library/Caches/VSGitHubCopilotLogs/traces",
        "~/.cache/VSGitHubCopilotLogs/traces",
    ),
    joined=TRACES,
    with_parts=(TRACES,),
    list_changed=_changed,
    part_of=_first_trace,
    formats=(".visual_studio:VisualStudioTraces",),
)
