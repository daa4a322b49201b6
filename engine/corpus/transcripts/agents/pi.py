"""Declares Pi, and Oh My Pi and Prime Agent, which were made from it (Prime Agent as agentsview reads it, August 2026).

OpenClaw stores their format, too: the folder or the file's name identifies the agent.
"""

import os
from functools import partial
from typing import TYPE_CHECKING

from engine.corpus.transcripts.agents import Agent, FoundFolders
from engine.corpus.user_environment import Machine

if TYPE_CHECKING:
    from engine.corpus.transcripts.formats import Formats

_FILES = (r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z_[^/]*\.jsonl",)


def _pi_folders(machine: Machine) -> FoundFolders:
    for folder in (machine.folder_in("PI_CODING_AGENT_DIR"), machine.below_home(".pi", "agent")):
        if folder:
            yield "", os.path.join(folder, "sessions")


def _oh_my_pi_folders(machine: Machine) -> FoundFolders:
    for folder in (machine.folder_in("OMP_CODING_AGENT_DIR"), machine.below_home(".omp", "agent")):
        if folder:
            yield "", os.path.join(folder, "sessions")


def _prime_folders(machine: Machine) -> FoundFolders:
    yield "", machine.folder_in("PRIME_AGENT_SESSION_DIR") or machine.below_home(".prime", "agent", "sessions")


def _formats(agent: str) -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.parsers.openclaw import OpenClawFormat

    return Formats(lines=(OpenClawFormat(agent),))


PI = Agent(
    name="pi",
    label="Pi",
    parser_version=2,
    resume="pi --session {id}",
    stores=((r"/\.pi/agent/sessions\Z", "pi"),),
    folders=_pi_folders,
    files=_FILES,
    formats=partial(_formats, "pi"),
)
OH_MY_PI = Agent(
    name="oh-my-pi",
    label="Oh My Pi",
    parser_version=2,
    resume="omp --resume {id}",
    stores=((r"/\.omp/agent/sessions\Z", "oh-my-pi"),),
    folders=_oh_my_pi_folders,
    files=_FILES,
    formats=partial(_formats, "oh-my-pi"),
)
PRIME_AGENT = Agent(
    name="prime-agent",
    label="Prime Agent",
    parser_version=3,
    stores=((r"/\.prime/agent/sessions\Z", "prime-agent"),),
    folders=_prime_folders,
    formats=partial(_formats, "prime-agent"),
)
