"""Declares Pi and programs made from it: Oh My Pi, Gajae-Code, Senpi, Kimchi and Prime Agent (from their public sources
of August 2026).

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


def _folders(variable: str, usual: tuple[str, ...], machine: Machine) -> FoundFolders:
    """Yield the sessions in the folder that a variable names, and in the usual one below home."""
    for folder in (machine.folder_in(variable), machine.below_home(*usual)):
        if folder:
            yield "", os.path.join(folder, "sessions")


def _oh_my_pi_folders(machine: Machine) -> FoundFolders:
    yield from _folders("OMP_CODING_AGENT_DIR", (".omp", "agent"), machine)
    moved = os.path.join(machine.data_homes()[0], "omp")
    yield "moved", os.path.join(moved, "sessions")
    for folder in (machine.below_home(".omp"), moved):
        yield "profiles", os.path.join(folder, "profiles")


def _gajae_folders(machine: Machine) -> FoundFolders:
    yield from _folders("GJC_CODING_AGENT_DIR", (".gjc", "agent"), machine)
    yield "moved", os.path.join(machine.data_homes()[0], "gjc", "sessions")


def _senpi_folders(machine: Machine) -> FoundFolders:
    yield from _folders("SENPI_CODING_AGENT_DIR", (".senpi", "agent"), machine)
    named = machine.folder_in("SENPI_CODING_AGENT_SESSION_DIR") or machine.folder_in("OMO_CODING_AGENT_SESSION_DIR")
    if named:
        yield "", named
    for parts in ((".omo", "agent"), (".omo",)):  # of a distribution with its own name
        yield "OmO", machine.below_home(*parts, "sessions")


def _prime_folders(machine: Machine) -> FoundFolders:
    home = machine.folder_in("PRIME_AGENT_CODING_AGENT_DIR") or machine.below_home(".prime", "agent")
    named = map(machine.folder_in, ("PRIME_AGENT_SESSION_DIR", "PRIME_AGENT_CODING_AGENT_SESSION_DIR"))
    folder = next(filter(None, named), os.path.join(home, "sessions"))
    yield "", folder
    yield "sub-agents", os.path.join(os.path.dirname(folder), "session-artifacts")


def _formats(agent: str) -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.parsers.openclaw import OpenClawFormat

    return Formats(lines=(OpenClawFormat(agent),))


PI = Agent(
    name="pi",
    label="Pi",
    parser_version=3,
    resume="pi --session {id}",
    stores=((r"/\.pi/agent/sessions\Z", "pi"),),
    folders=partial(_folders, "PI_CODING_AGENT_DIR", (".pi", "agent")),
    files=_FILES,
    formats=partial(_formats, "pi"),
)
OH_MY_PI = Agent(
    name="oh-my-pi",
    label="Oh My Pi",
    parser_version=3,
    resume="omp --resume {id}",
    stores=((r"/(?:\.omp/agent|omp)/sessions\Z", "oh-my-pi"), (r"/\.?omp/profiles\Z", "oh-my-pi-profiles")),
    folders=_oh_my_pi_folders,
    files=_FILES,
    formats=partial(_formats, "oh-my-pi"),
)
GAJAE_CODE = Agent(
    name="gajae-code",
    label="Gajae-Code",
    resume="gjc --resume {id}",
    stores=((r"/(?:\.gjc/agent|gjc)/sessions\Z", "gajae-code"),),
    folders=_gajae_folders,
    files=_FILES,
    formats=partial(_formats, "gajae-code"),
)
SENPI = Agent(
    name="senpi",
    label="Senpi",
    resume="senpi --session {id}",
    stores=((r"/\.(?:senpi/agent|omo(?:/agent)?)/sessions\Z", "senpi"),),
    folders=_senpi_folders,
    files=_FILES,
    formats=partial(_formats, "senpi"),
)
KIMCHI = Agent(
    name="kimchi",
    label="Kimchi",
    resume="kimchi --session {id}",
    stores=((r"/\.config/kimchi/harness/sessions\Z", "kimchi"),),
    folders=partial(_folders, "KIMCHI_CODING_AGENT_DIR", (".config", "kimchi", "harness")),
    files=_FILES,
    formats=partial(_formats, "kimchi"),
)
PRIME_AGENT = Agent(
    name="prime-agent",
    label="Prime Agent",
    parser_version=5,
    resume="prime-agent --resume {id}",
    stores=(
        (r"/\.prime/agent/sessions\Z", "prime-agent"),
        (r"/\.prime/agent/session-artifacts\Z", "prime-agent-artifacts"),
    ),
    folders=_prime_folders,
    formats=partial(_formats, "prime-agent"),
)
