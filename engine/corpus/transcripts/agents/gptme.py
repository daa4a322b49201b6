"""Declares gptme: where its sessions are, in which format, and how to resume one."""

import os
from typing import TYPE_CHECKING

from engine.corpus.transcripts.agents import Agent, FoundFolders, sidecar_changed, sidecar_owner
from engine.corpus.user_environment import Machine

if TYPE_CHECKING:
    from engine.corpus.transcripts.formats import Formats


def _folders(machine: Machine) -> FoundFolders:
    named = machine.folder_in("GPTME_LOGS_HOME")
    if named:
        yield "", named
    mac = machine.below_home("Library", "Application Support")
    for home in (*machine.data_homes(), mac):
        yield "", os.path.join(home, "gptme", "logs")


def _formats() -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.parsers.gptme import GptmeFormat

    return Formats(lines=(GptmeFormat(),))


AGENT = Agent(
    name="gptme",
    label="gptme",
    resume="gptme --name {id}",
    stores=((r"/gptme/logs\Z", "gptme"),),
    folders=_folders,
    neighbour_parts=("conversation.jsonl", "branches|views"),  # states before changes, and shortened ones
    with_parts=("conversation.jsonl",),
    parts_changed=lambda path: sidecar_changed(path, "conversation.jsonl", "config.toml"),
    part_of=lambda path: sidecar_owner(path, "conversation.jsonl", "config.toml"),
    formats=_formats,
)
