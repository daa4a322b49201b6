"""Declares Pi and programs made from it: Oh My Pi, Gajae-Code, Senpi, Kimchi and Prime Agent (from their public sources
of August 2026).

OpenClaw stores their format, too: the folder or the file's name identifies the agent.
"""

import os

from engine.corpus.transcripts.agents import Agent, FoundFolders, paths
from engine.corpus.user_environment import Machine

_FILES = (r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z_[^/]*\.jsonl",)


def _prime_folders(machine: Machine) -> FoundFolders:
    home = machine.folder_in("PRIME_AGENT_CODING_AGENT_DIR") or machine.below_home(".prime", "agent")
    named = map(machine.folder_in, ("PRIME_AGENT_SESSION_DIR", "PRIME_AGENT_CODING_AGENT_SESSION_DIR"))
    folder = next(filter(None, named), os.path.join(home, "sessions"))
    yield "", folder
    yield "sub-agents", os.path.join(os.path.dirname(folder), "session-artifacts")


PI = Agent(
    name="pi",
    label="Pi",
    parser_version=3,
    resume="pi --session {id}",
    stores=((r"/\.pi/agent/sessions\Z", "pi"),),
    folders=paths("$PI_CODING_AGENT_DIR/sessions", "~/.pi/agent/sessions"),
    files=_FILES,
    formats=(".openclaw:OpenClawFormat",),
)
OH_MY_PI = Agent(
    name="oh-my-pi",
    label="Oh My Pi",
    parser_version=3,
    resume="omp --resume {id}",
    stores=((r"/(?:\.omp/agent|omp)/sessions\Z", "oh-my-pi"), (r"/\.?omp/profiles\Z", "oh-my-pi-profiles")),
    folders=paths(
        "$OMP_CODING_AGENT_DIR/sessions",
        "~/.omp/agent/sessions",
        "moved: ($XDG_DATA_HOME|~/.local/share)/omp/sessions",
        "profiles: ~/.omp/profiles",
        "profiles: ($XDG_DATA_HOME|~/.local/share)/omp/profiles",
    ),
    files=_FILES,
    formats=(".openclaw:OpenClawFormat",),
)
GAJAE_CODE = Agent(
    name="gajae-code",
    label="Gajae-Code",
    resume="gjc --resume {id}",
    stores=((r"/(?:\.gjc/agent|gjc)/sessions\Z", "gajae-code"),),
    folders=paths(
        "$GJC_CODING_AGENT_DIR/sessions", "~/.gjc/agent/sessions", "moved: ($XDG_DATA_HOME|~/.local/share)/gjc/sessions"
    ),
    files=_FILES,
    formats=(".openclaw:OpenClawFormat",),
)
SENPI = Agent(
    name="senpi",
    label="Senpi",
    resume="senpi --session {id}",
    stores=((r"/\.(?:senpi/agent|omo(?:/agent)?)/sessions\Z", "senpi"),),
    folders=paths(
        "$SENPI_CODING_AGENT_DIR/sessions",
        "~/.senpi/agent/sessions",
        "($SENPI_CODING_AGENT_SESSION_DIR|$OMO_CODING_AGENT_SESSION_DIR)",
        "OmO: ~/.omo/agent/sessions",  # of a distribution with its own name
        "OmO: ~/.omo/sessions",
    ),
    files=_FILES,
    formats=(".openclaw:OpenClawFormat",),
)
KIMCHI = Agent(
    name="kimchi",
    label="Kimchi",
    resume="kimchi --session {id}",
    stores=((r"/\.config/kimchi/harness/sessions\Z", "kimchi"),),
    folders=paths("$KIMCHI_CODING_AGENT_DIR/sessions", "~/.config/kimchi/harness/sessions"),
    files=_FILES,
    formats=(".openclaw:OpenClawFormat",),
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
    formats=(".openclaw:OpenClawFormat",),
)
