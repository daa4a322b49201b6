"""What OpenClaw keeps on a machine: the workspaces of its agents and their sessions.

Written from its public documentation of 2026; the names it had before, and what they kept where, are tried too.
"""

import os
from collections.abc import Iterator

from engine.corpus.places.candidates import Candidate, read_list
from engine.corpus.places.machine import Machine
from engine.corpus.transcripts.json_values import items, mapping, string
from engine.records import FileIssue

_NAMES = ("openclaw", "moltbot", "clawdbot")
"""The present one first."""


def openclaw_places(machine: Machine, issues: list[FileIssue]) -> Iterator[Candidate]:
    """Workspaces and session folders; what cannot be read goes to `issues`."""
    states = _state_folders(machine)
    if path := machine.named("OPENCLAW_WORKSPACE_DIR"):
        yield _workspace("", path)
    for config in _config_files(machine, states):
        yield from _named_workspaces(machine, read_list(config, issues))
    for state in states:
        for name, path in _folders(state, "workspace"):
            yield _workspace(name.removeprefix("workspace").removeprefix("-"), path)
    for state in states:
        for agent, path in _folders(os.path.join(state, "agents")):
            yield Candidate("sessions", "openclaw", agent, os.path.join(path, "sessions"))
        for agent, path in _folders(os.path.join(state, "state", "sessions")):
            yield Candidate("sessions", "openclaw", agent, path)


def _workspace(agent: str, path: str) -> Candidate:
    return Candidate("openclaw-workspace", "openclaw", agent, path)


def _state_folders(machine: Machine) -> list[str]:
    """The one that is named, the usual one, and one for each profile."""
    home = machine.named("OPENCLAW_HOME") or machine.home
    named = machine.named("OPENCLAW_STATE_DIR")
    hidden = [path for name in _NAMES for _, path in _folders(home, f".{name}")]
    return [named, *hidden] if named else hidden


def _config_files(machine: Machine, states: list[str]) -> Iterator[str]:
    if path := machine.named("OPENCLAW_CONFIG_PATH"):
        yield path
    for state in states:
        yield from (os.path.join(state, f"{name}.json") for name in _NAMES)


def _named_workspaces(machine: Machine, config: object) -> Iterator[Candidate]:
    """Of the defaults and of each agent, as a list (until summer 2026) and by name (since)."""
    top = mapping(config)
    agents = mapping(top.get("agents"))
    listed = agents.get("list")
    entries = [(string(mapping(entry).get("id")), mapping(entry)) for entry in items(listed)]
    entries += [(name, mapping(entry)) for name, entry in mapping(agents.get("entries")).items()]
    shared = ""
    for defaults in (mapping(agents.get("defaults")), mapping(top.get("agent"))):
        if path := machine.expanded(string(defaults.get("workspace"))):
            shared = shared or path
            yield _workspace("", path)
    for agent, entry in entries:
        if path := machine.expanded(string(entry.get("workspace"))):
            yield _workspace(agent, path)
        elif shared and agent and os.path.basename(agent) == agent:
            yield _workspace(agent, os.path.join(shared, agent))


def _folders(above: str, base: str = "") -> list[tuple[str, str]]:
    """Name and path of the folders, or links to some, in a folder; with `base` only `base` itself and `base-…`.

    None where it cannot be listed.
    """
    try:
        with os.scandir(above) as entries:
            found = [(entry.name, entry.path) for entry in entries]
    except OSError:
        return []
    return sorted(
        (name, path)
        for name, path in found
        if (not base or name == base or name.startswith(base + "-")) and os.path.isdir(path)
    )
