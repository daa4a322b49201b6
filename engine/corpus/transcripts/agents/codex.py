"""Declares Codex CLI, which names sessions in separate files, and compresses those that have not changed for a
week; and copies of it: TRAE's command line and Augure Code (checked against agentsview, August and September 2026), and
Open Interpreter since its version 1 (checked against claude-code-history-viewer, August 2026).
"""

import os
from typing import Any

from engine.corpus.transcripts.agents import JSON_LINES, Agent, paths, time_with


def _named(path: str, memo: dict[str, Any]) -> int:
    """Return when a session was named, in nanoseconds; if that is unknown, `time_with` its name."""
    if not os.path.basename(path).startswith("rollout-"):
        return 0
    from engine.corpus.transcripts.codex_names import given_name  # imports the JSON reader

    name, time = given_name(path, memo)
    return int(time * 1e9) if time else time_with(path, name)


AGENT = Agent(
    name="codex",
    label="Codex",
    resume="codex resume {id}",
    usual="~/.codex/sessions",
    stores=((r"/\.codex/sessions\Z", "codex"), (r"/\.codex/archived_sessions\Z", "codex-archive")),
    folders=paths(
        "$CODEX_HOME/sessions",
        "archived: $CODEX_HOME/archived_sessions",
        "~/.codex/sessions",
        "archived: ~/.codex/archived_sessions",
    ),
    files=(JSON_LINES, r"rollout-.*\.jsonl\.zst"),
    with_parts=("rollout-",),
    list_changed=_named,
    parser_version=2,
    formats=(".codex:CodexFormat",),
)
TRAE = Agent(
    name="trae-cli",
    label="TRAE CLI",
    resume="traex resume {id}",
    stores=((r"/\.trae/cli/sessions\Z", "trae-cli"), (r"/\.trae/cli/archived_sessions\Z", "trae-cli-archive")),
    folders=paths("~/.trae/cli/sessions", "archived: ~/.trae/cli/archived_sessions"),
    parser_version=2,
    formats=(".codex:CodexFormat",),
)
OPEN_INTERPRETER = Agent(
    name="open-interpreter",
    label="Open Interpreter",
    stores=(
        (r"/\.openinterpreter/sessions\Z", "open-interpreter"),
        (r"/\.openinterpreter/archived_sessions\Z", "open-interpreter-archive"),
    ),
    folders=paths(
        "($INTERPRETER_HOME|$OPEN_INTERPRETER_HOME|~/.openinterpreter)/sessions",
        "archived: ($INTERPRETER_HOME|$OPEN_INTERPRETER_HOME|~/.openinterpreter)/archived_sessions",
    ),
    parser_version=2,
    formats=(".codex:CodexFormat",),
)
AUGURE_CODE = Agent(
    name="augure-code",
    label="Augure Code",
    resume="augure resume {id}",
    stores=((r"/\.augure/sessions\Z", "augure-code"),),
    folders=paths("~/.augure/sessions"),
    parser_version=2,
    formats=(".codex:CodexFormat",),
)
