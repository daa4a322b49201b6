"""Declares ForgeCode: where its sessions are, and in which format."""

import os
from typing import TYPE_CHECKING

from engine.corpus.transcripts.agents import Agent, FoundFolders
from engine.corpus.user_environment import Machine

if TYPE_CHECKING:
    from engine.corpus.transcripts.formats import Formats

_DATABASE = ".forge.db"


def _folders(machine: Machine) -> FoundFolders:
    for folder in (machine.folder_in("FORGE_CONFIG"), machine.below_home(".forge"), machine.below_home("forge")):
        if folder:
            yield "", os.path.join(folder, _DATABASE)


def _formats() -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.parsers.forge import FORGE_DATABASE

    return Formats(databases=(FORGE_DATABASE,))


AGENT = Agent(
    name="forge",
    label="ForgeCode",
    stores=((r"/\.?forge/\.forge\.db\Z", "forge"),),
    folders=_folders,
    files=(),
    databases=r"\.forge\.db",
    parser_version=3,
    formats=_formats,
)
