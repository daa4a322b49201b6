"""Declares Cline, an extension of VS Code and a command line, and the copies of it that store the same.

Roo Code and its command line were checked in version 3.52 of April 2026 (`apps/cli/src/lib/task-history`). Zoo Code
continues it (checked in version 3.82). Kilo Code
was such a copy before version 7, and its command line before version 1 (`cli/src/utils/paths.ts`); since then they are
another program (`kilo`).
"""

import os
import re

from engine.corpus.transcripts.agents import Agent, FoundFolders, beside
from engine.corpus.transcripts.agents.copilot_chat import user_folders
from engine.corpus.user_environment import Machine

TASKS = r"ui_messages\.json"
"""Pattern of the name of a task's transcript."""
CHECKPOINTS = ("", "checkpoints")
"""Folder next to it with copies of the project."""
_EXTENSION = "saoudrizwan.claude-dev"
_EDITORS = "Code,Code - Insiders,VSCodium,Code - OSS,Cursor,Windsurf,Trae,Positron,Antigravity,Kiro".split(",")
"""Folders of VS Code and of editors made from it."""
_MESSAGES = ".messages.json"


def _extension_tasks(machine: Machine, extension: str) -> FoundFolders:
    """Yield an extension's task folders in each editor based on VS Code."""
    for editor, folder in user_folders(machine, _EDITORS):
        yield "" if editor == "Code" else editor, os.path.join(folder, "globalStorage", extension, "tasks")


def _extension_agent(name: str, label: str, extensions: tuple[str, ...], command_line: tuple[str, ...] = ()) -> Agent:
    """An extension that began as a copy of Cline, and stores its tasks in the same way.

    `command_line`: the folder below the home folder in which its command line stores them; empty without one.
    """

    def folders(machine: Machine) -> FoundFolders:
        for extension in extensions:
            yield from _extension_tasks(machine, extension)
        if command_line:
            yield "command line", machine.below_home(*command_line)

    return Agent(
        name=name,
        label=label,
        stores=tuple(
            (rf"/{re.escape(folder)}\Z", name)
            for folder in filter(None, (*(f"{extension}/tasks" for extension in extensions), "/".join(command_line)))
        ),
        folders=folders,
        files=(TASKS,),
        parts=(CHECKPOINTS,),
        parser_version=2,
        formats=(".cline:ClineTask",),
    )


def _folders(machine: Machine) -> FoundFolders:
    yield from _extension_tasks(machine, _EXTENSION)
    data = machine.folder_in("CLINE_DATA_DIR") or os.path.join(
        machine.folder_in("CLINE_DIR") or machine.below_home(".cline"), "data"
    )
    yield "", machine.folder_in("CLINE_SESSION_DATA_DIR") or os.path.join(data, "sessions")
    yield "command line", os.path.join(data, "tasks")


def _described_session(path: str) -> str:
    """Return the messages of the session that a file `<id>/<id>.json` describes."""
    folder, name = os.path.split(path)
    id_ = os.path.basename(folder)
    return os.path.join(folder, id_ + _MESSAGES) if id_ and name == f"{id_}.json" else ""


AGENT = Agent(
    name="cline",
    label="Cline",
    stores=(
        (rf"/{_EXTENSION}/tasks\Z", "cline"),
        (r"/\.cline/data/tasks\Z", "cline-tasks"),
        (r"/\.cline/data/sessions\Z", "cline-sessions"),
    ),
    folders=_folders,
    files=(TASKS, r".*\.messages\.json"),
    parts=(CHECKPOINTS,),
    with_parts=(_MESSAGES,),
    part_at=beside(".json", _MESSAGES).part,
    part_of=_described_session,
    parser_version=3,
    formats=(".cline:ClineTask", ".cline_session:ClineSession"),
)
ROO_CODE = _extension_agent(
    "roo-code",
    "Roo Code",
    ("rooveterinaryinc.roo-cline", "rooveterinaryinc.roo-code-nightly"),
    (".vscode-mock", "global-storage", "tasks"),
)
ZOO_CODE = _extension_agent("zoo-code", "Zoo Code", ("zoocodeorganization.zoo-code",))
KILO_CODE = _extension_agent("kilo-code", "Kilo Code", ("kilocode.kilo-code",), (".kilocode", "cli", "global", "tasks"))
