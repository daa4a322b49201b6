"""Declares Claude Code: where its sessions are, in which format, and how to resume one."""

import os
from typing import TYPE_CHECKING

from engine.corpus.transcripts.agents import Agent, FoundFolders
from engine.corpus.user_environment import Machine

if TYPE_CHECKING:
    from engine.corpus.transcripts.formats import Formats


def _folders(machine: Machine) -> FoundFolders:
    # The folder that a variable names is listed in addition to the default one: both may contain sessions.
    named = (machine.folder_in("CLAUDE_CONFIG_DIR"), machine.below_home(".claude"))
    for folder in (*named, *(os.path.join(home, "claude") for home in machine.config_homes())):
        if folder:
            yield "", os.path.join(folder, "projects")


def _formats() -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.parsers.claude_code import ClaudeCodeFormat

    return Formats(lines=(ClaudeCodeFormat(),))


AGENT = Agent(
    name="claude-code",
    label="Claude Code",
    resume="claude --resume {id}",
    usual="~/.claude/projects",
    stores=((r"/\.?claude/projects\Z", "claude"),),
    folders=_folders,
    formats=_formats,
)
