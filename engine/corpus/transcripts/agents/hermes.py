"""Declares Hermes Agent: where its sessions are, in which format, and how to resume one."""

import os
from typing import TYPE_CHECKING

from engine.corpus.transcripts.agents import Agent, FoundFolders
from engine.corpus.user_environment import Machine

if TYPE_CHECKING:
    from engine.corpus.transcripts.formats import Formats


def _folders(machine: Machine) -> FoundFolders:
    for folder in (machine.folder_in("HERMES_HOME"), machine.below_home(".hermes")):
        if folder:
            yield "", os.path.join(folder, "state.db")
            yield "profiles", os.path.join(folder, "profiles")


def _formats() -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.parsers.hermes import HERMES_DATABASE

    return Formats(databases=(HERMES_DATABASE,))


AGENT = Agent(
    name="hermes",
    label="Hermes Agent",
    parser_version=3,
    resume="hermes --resume {id}",
    stores=((r"/\.hermes(?:/state\.db)?\Z", "hermes"), (r"/\.hermes/profiles\Z", "hermes-profiles")),
    folders=_folders,
    files=(),
    databases=r"state\.db",
    formats=_formats,
)
