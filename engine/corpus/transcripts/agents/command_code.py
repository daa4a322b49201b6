"""Declares Command Code: where its sessions are, in which formats, and how to resume one."""

import os
from typing import TYPE_CHECKING

from engine.corpus.transcripts.agents import Agent, FoundFolders, described_changed, described_owner
from engine.corpus.user_environment import Machine

if TYPE_CHECKING:
    from engine.corpus.transcripts.formats import Formats

_FOLDER = os.path.join(f"{os.sep}.commandcode", "projects", "")
_DESCRIPTION = ".meta.json"
"""Ending of the file with a session's title."""


def _folders(machine: Machine) -> FoundFolders:
    yield "", machine.below_home(".commandcode", "projects")


def _formats() -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.parsers.command_code import CommandCodeFormat

    return Formats(lines=(CommandCodeFormat(),))


AGENT = Agent(
    name="command-code",
    label="Command Code",
    parser_version=3,
    resume="command-code --resume {id}",
    stores=((r"/\.commandcode/projects\Z", "command-code"),),
    folders=_folders,
    part_names=r"hooks-audit-.*\.jsonl|.*\.(?:checkpoints|prompts)\.jsonl",
    with_parts=(_FOLDER,),
    parts_changed=lambda path: described_changed(path, _FOLDER, _DESCRIPTION),
    part_of=lambda path: described_owner(path, _FOLDER, _DESCRIPTION),
    formats=_formats,
)
