"""Declares Unsloth Studio, which chats with local models: where its database is, and in which format."""

import os
from typing import TYPE_CHECKING

from engine.corpus.transcripts.agents import Agent, FoundFolders
from engine.corpus.user_environment import Machine

if TYPE_CHECKING:
    from engine.corpus.transcripts.formats import Formats


def _folders(machine: Machine) -> FoundFolders:
    named = machine.folder_in("UNSLOTH_STUDIO_HOME") or machine.folder_in("STUDIO_HOME")
    for folder in (named, machine.below_home(".unsloth", "studio")):
        if folder:
            yield "", os.path.join(folder, "studio.db")


def _formats() -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.parsers.unsloth import UNSLOTH_DATABASE

    return Formats(databases=(UNSLOTH_DATABASE,))


AGENT = Agent(
    name="unsloth-studio",
    label="Unsloth Studio",
    stores=((r"/\.unsloth/studio(?:/studio\.db)?\Z", "unsloth-studio"),),
    folders=_folders,
    files=(),
    databases=r"[^/]*/studio\.db",
    formats=_formats,
)
