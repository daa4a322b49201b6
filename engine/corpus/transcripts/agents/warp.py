"""Declares Warp, a terminal with an agent: where its conversations are, and in which format."""

import os
from typing import TYPE_CHECKING

from engine.corpus.transcripts.agents import Agent, FoundFolders
from engine.corpus.user_environment import Machine

if TYPE_CHECKING:
    from engine.corpus.transcripts.formats import Formats

_GROUP = ("Library", "Group Containers", "2BBY89MBSN.dev.warp", "Library", "Application Support")
_FILE = "warp.sqlite"


def _folders(machine: Machine) -> FoundFolders:
    for name, linux, mac, windows in (
        ("", "warp-terminal", "dev.warp.Warp-Stable", "Warp"),
        ("Preview", "warp-terminal-preview", "dev.warp.Warp-Preview", "WarpPreview"),
    ):
        state = machine.folder_in("XDG_STATE_HOME") or machine.below_home(".local", "state")
        yield name, os.path.join(state, linux, _FILE)
        yield name, machine.below_home(*_GROUP, mac, _FILE)
        yield name, machine.below_home("AppData", "Local", "warp", windows, "data", _FILE)


def _formats() -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.parsers.warp import WARP_DATABASE

    return Formats(databases=(WARP_DATABASE,))


AGENT = Agent(
    name="warp",
    label="Warp",
    stores=(
        (r"/(?:warp-terminal|dev\.warp\.Warp-Stable|warp/Warp/data)(?:/warp\.sqlite)?\Z", "warp"),
        (r"/(?:warp-terminal-preview|dev\.warp\.Warp-Preview|WarpPreview/data)(?:/warp\.sqlite)?\Z", "warp-preview"),
    ),
    folders=_folders,
    files=(),
    databases=r"warp\.sqlite",
    formats=_formats,
    parser_version=3,
)
