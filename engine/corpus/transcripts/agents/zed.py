"""Declares Zed's agent panel: where its sessions are, and in which format."""

import os
from typing import TYPE_CHECKING

from engine.corpus.transcripts.agents import Agent, FoundFolders
from engine.corpus.user_environment import Machine

if TYPE_CHECKING:
    from engine.corpus.transcripts.formats import Formats


def _folders(machine: Machine) -> FoundFolders:
    linux, windows = machine.data_homes()
    flatpak = machine.below_home(".var", "app", "dev.zed.Zed", "data")
    mac = machine.below_home("Library", "Application Support")
    homes = ((linux, "zed"), (flatpak, "zed"), (mac, "Zed"), (windows, "Zed"))
    for folder in (os.path.join(*home) for home in homes):
        yield "", os.path.join(folder, "threads", "threads.db")


def _formats() -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.parsers.zed import ZED_DATABASE

    return Formats(databases=(ZED_DATABASE,))


AGENT = Agent(
    name="zed",
    label="Zed",
    parser_version=5,
    stores=((r"/[Zz]ed/threads(?:/threads\.db)?\Z", "zed"),),
    folders=_folders,
    files=(),
    databases=r"threads\.db",
    formats=_formats,
)
