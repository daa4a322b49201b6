"""Declares Goose: where its sessions are, in which format, and how to resume one."""

import os
from typing import TYPE_CHECKING

from engine.corpus.transcripts.agents import Agent, FoundFolders
from engine.corpus.user_environment import Machine

if TYPE_CHECKING:
    from engine.corpus.transcripts.formats import Formats


def _folders(machine: Machine) -> FoundFolders:
    linux, _ = machine.data_homes()
    roaming = machine.folder_in("APPDATA") or machine.below_home("AppData", "Roaming")
    named = machine.folder_in("GOOSE_PATH_ROOT")
    homes = (
        os.path.join(named, "data") if named else "",
        os.path.join(linux, "goose"),
        machine.below_home("Library", "Application Support", "Block", "goose"),
        os.path.join(roaming, "Block", "goose", "data"),
    )
    for home in filter(None, homes):
        yield "", os.path.join(home, "sessions", "sessions.db")


def _formats() -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.parsers.goose import GOOSE_DATABASE

    return Formats(databases=(GOOSE_DATABASE,))


AGENT = Agent(
    name="goose",
    label="Goose",
    parser_version=6,
    resume="goose session --resume --session-id {id}",
    stores=((r"/goose(?:/data)?/sessions(?:/sessions\.db)?\Z", "goose"),),
    folders=_folders,
    files=(),
    databases=r"sessions\.db",
    formats=_formats,
)
