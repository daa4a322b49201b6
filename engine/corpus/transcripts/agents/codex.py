"""Declares Codex CLI, which names sessions in separate files, and compresses those that have not changed for a
week; and copies of it: TRAE's command line and Augure Code (checked against agentsview, August and September 2026), and
Open Interpreter since its version 1 (checked against claude-code-history-viewer, August 2026).
"""

import os
import zlib
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from engine.corpus.transcripts.agents import JSON_LINES, Agent, FoundFolders
from engine.corpus.user_environment import Machine

if TYPE_CHECKING:
    from engine.corpus.transcripts.formats import Formats


def _folders(machine: Machine) -> FoundFolders:
    for folder in (machine.folder_in("CODEX_HOME"), machine.below_home(".codex")):
        if folder:
            yield "", os.path.join(folder, "sessions")
            yield "archived", os.path.join(folder, "archived_sessions")


def _named(path: str, memo: dict[str, Any]) -> int:
    """Return when a session was named, in nanoseconds. If that is unknown, return a time less than a second after the
    last change of the rollout, which depends on the name.
    """
    if not os.path.basename(path).startswith("rollout-"):
        return 0
    from engine.corpus.transcripts.codex_names import given_name  # imports the JSON reader

    name, time = given_name(path, memo)
    if time or not name:
        return int(time * 1e9)
    with suppress(OSError):
        return os.stat(path).st_mtime_ns + zlib.crc32(name.encode()) % 10**9
    return 0


def _trae_folders(machine: Machine) -> FoundFolders:
    yield "", machine.below_home(".trae", "cli", "sessions")
    yield "archived", machine.below_home(".trae", "cli", "archived_sessions")


def _interpreter_folders(machine: Machine) -> FoundFolders:
    variables = ("INTERPRETER_HOME", "OPEN_INTERPRETER_HOME")
    folder = next(filter(None, map(machine.folder_in, variables)), machine.below_home(".openinterpreter"))
    yield "", os.path.join(folder, "sessions")
    yield "archived", os.path.join(folder, "archived_sessions")


def _augure_folders(machine: Machine) -> FoundFolders:
    yield "", machine.below_home(".augure", "sessions")


def _formats(agent: str) -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.parsers.codex import CodexFormat

    return Formats(lines=(CodexFormat(agent),))


AGENT = Agent(
    name="codex",
    label="Codex",
    resume="codex resume {id}",
    usual="~/.codex/sessions",
    stores=((r"/\.codex/sessions\Z", "codex"), (r"/\.codex/archived_sessions\Z", "codex-archive")),
    folders=_folders,
    files=(JSON_LINES, r"rollout-.*\.jsonl\.zst"),
    with_parts=("rollout-",),
    list_changed=_named,
    parser_version=2,
    formats=partial(_formats, "codex"),
)
TRAE = Agent(
    name="trae-cli",
    label="TRAE CLI",
    resume="traex resume {id}",
    stores=((r"/\.trae/cli/sessions\Z", "trae-cli"), (r"/\.trae/cli/archived_sessions\Z", "trae-cli-archive")),
    folders=_trae_folders,
    parser_version=2,
    formats=partial(_formats, "trae-cli"),
)
OPEN_INTERPRETER = Agent(
    name="open-interpreter",
    label="Open Interpreter",
    stores=(
        (r"/\.openinterpreter/sessions\Z", "open-interpreter"),
        (r"/\.openinterpreter/archived_sessions\Z", "open-interpreter-archive"),
    ),
    folders=_interpreter_folders,
    parser_version=2,
    formats=partial(_formats, "open-interpreter"),
)
AUGURE_CODE = Agent(
    name="augure-code",
    label="Augure Code",
    resume="augure resume {id}",
    stores=((r"/\.augure/sessions\Z", "augure-code"),),
    folders=_augure_folders,
    parser_version=2,
    formats=partial(_formats, "augure-code"),
)
