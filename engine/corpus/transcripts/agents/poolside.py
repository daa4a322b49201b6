"""Declares Poolside's command line: where its sessions are, and in which format."""

import os
from typing import TYPE_CHECKING

from engine.corpus.transcripts.agents import Agent, FoundFolders
from engine.corpus.user_environment import Machine

if TYPE_CHECKING:
    from engine.corpus.transcripts.formats import Formats


def _folders(machine: Machine) -> FoundFolders:
    state = machine.folder_in("XDG_STATE_HOME") or machine.below_home(".local", "state")
    for home in (state, *machine.program_homes()[1:]):
        yield "", os.path.join(home, "poolside", "trajectories")


def _formats() -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.parsers.poolside import PoolsideFormat

    return Formats(lines=(PoolsideFormat(),))


AGENT = Agent(
    name="poolside",
    label="Poolside",
    parser_version=4,
    stores=((r"/poolside/trajectories\Z", "poolside"),),
    folders=_folders,
    files=(r"trajectory-[^/]*\.ndjson",),
    formats=_formats,
)
