"""Declares Claude Code, Cowork in Claude's desktop program, which runs it in a folder of its own for each session, and
two programs that write the same transcripts: Qoder, with a description next to each, and OpenClaude (both checked
against agentsview, August 2026; Qoder's command line against users' reports of versions 1.1.21 and 1.1.47).

Cowork's folders are those that the public source of agentsview lists (August 2026):
`local-agent-mode-sessions/<organisation>/<workspace>/local_<id>/.claude/projects`, next to `local_<id>.json`, which
describes the session. `audit.jsonl` in `local_<id>` has the same messages.

A session that is sent to the background continues under another id, in a transcript that begins with all its lines;
`continued-in` at the end of the old one names it (versions 2.1.238 to 2.1.289, notes of agentsview, August 2026). The
same mark is left where the new one begins with a summary.
"""

import os
import re

from engine.corpus.transcripts.agents import (
    LINES_END,
    QODER_DESCRIPTION,
    QODER_PROJECTS,
    Agent,
    beside,
    by_pattern,
    description_of,
    lower_ranked,
    paths,
)

_SESSIONS = "local-agent-mode-sessions"
# The audit of a session has the same messages as its transcript.
_BY_SESSION = by_pattern(rf"(.*/{_SESSIONS}/.*)/audit\.jsonl", rf"(?=.*/{_SESSIONS}/)(.*?)/\.claude/projects/.*")
_PROJECTS = f"{os.sep}projects{os.sep}"
_HEAD, _END = 256 * 1024, 64 * 1024
"""Bytes at the beginning and at the end of a transcript that are searched for the marks of a continued session."""
_CONTINUED = re.compile(rb'"continuedInSessionId":\s*"([\w-]{1,64})"')
_SPOKEN = re.compile(rb'"type":\s*"(?:user|assistant)"')


def _continued_in(path: str) -> str:
    if _PROJECTS not in path or not path.endswith(LINES_END):
        return ""
    seen = [path]
    while after := _successor(seen[-1]):
        if after in seen:
            return ""  # of transcripts that name each other, none continues all others
        seen.append(after)
    return seen[-1] if len(seen) > 1 else ""


def _successor(path: str) -> str:
    """Return the transcript that a transcript names at its end, if that begins with the same message."""
    from engine.base.errors import PathRefused
    from engine.corpus.safe_open import open_binary
    from engine.corpus.transcripts.jsonl import parse_line

    try:
        with open_binary(path) as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - _END))
            _, mark, last = file.read(_END).rpartition(b'"continued-in"')
            named = _CONTINUED.search(last) if mark else None
            if named is None or _SPOKEN.search(last):
                return ""  # the user has gone on in the old one
            file.seek(0)
            lines = map(parse_line, file.read(_HEAD).split(b"\n"))
            first = next((line for line in lines if line and line.get("type") in ("user", "assistant")), {})
        root, after = first.get("uuid"), os.path.join(os.path.dirname(path), f"{named[1].decode()}{LINES_END}")
        with open_binary(after) as file:
            begins = isinstance(root, str) and f'"uuid":"{root}"'.encode(errors="replace") in file.read(_HEAD)
        return after if begins else ""
    except (OSError, PathRefused):
        return ""


AGENT = Agent(
    name="claude-code",
    parser_version=4,
    label="Claude Code",
    resume="claude --resume {id}",
    usual="~/.claude/projects",
    stores=((rf"\A(?!.*/{_SESSIONS}/).*/\.?claude/projects\Z", "claude"),),
    # Both the folder that a variable names and the default one may contain sessions.
    folders=paths("$CLAUDE_CONFIG_DIR/projects", "~/.claude/projects", "config/claude/projects"),
    part_names=r"wf_[^/]*/journal\.jsonl",  # which sub-agents of a workflow started and ended
    continued_in=_continued_in,
    formats=(".claude_code:ClaudeCodeFormat",),
)
COWORK = Agent(
    name="claude-cowork",
    parser_version=4,
    label="Claude Cowork",
    stores=((rf"/{_SESSIONS}\Z", "claude-cowork"),),
    folders=paths(
        f"programs/Claude/{_SESSIONS}",
        f"($LOCALAPPDATA|~/AppData/Local)/Packages/Claude_pzs8sxrjxfjjc/LocalCache/Roaming/Claude/{_SESSIONS}",
    ),
    neighbour_parts=("audit.jsonl", r"outputs|uploads"),
    watched=r"[^/]+(?:/[^/]+(?:/local_[^/]+(?:/\.claude(?:/projects(?:/.+)?)?)?)?)?",
    with_parts=(_SESSIONS,),
    part_at=description_of,
    copies=(lower_ranked(_BY_SESSION),),
    with_copies=(_SESSIONS,),
    formats=(".claude_code:ClaudeCodeFormat",),
)
QODER = Agent(
    name="qoder",
    parser_version=4,
    label="Qoder",
    stores=((rf"{QODER_PROJECTS}\Z", "qoder"),),
    folders=paths(
        "~/.qoder/projects",
        "~/.qoder-cn/projects",
        "~/.qoderwork/projects",
        "programs/Qoder/SharedClientCache/cli/projects",
    ),
    with_parts=("oder",),
    part_at=description_of,
    part_of=beside(QODER_DESCRIPTION, folder="oder").owner,
    formats=(".claude_code:ClaudeCodeFormat",),
)
OPENCLAUDE = Agent(
    name="openclaude",
    parser_version=4,
    label="OpenClaude",
    stores=((r"/\.?openclaude/projects\Z", "openclaude"),),
    folders=paths("($OPENCLAUDE_CONFIG_DIR|~/.openclaude)/projects"),
    formats=(".claude_code:ClaudeCodeFormat",),
)
