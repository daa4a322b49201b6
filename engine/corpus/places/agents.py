"""Where Claude Code, Codex CLI, Gemini CLI and opencode keep their sessions."""

import os
from collections.abc import Iterator

from engine.corpus.places.candidates import Candidate
from engine.corpus.places.machine import Machine


def agent_folders(machine: Machine) -> Iterator[Candidate]:
    """The folder that a variable names comes beside the usual one: both may hold sessions."""
    for agent, name, path in _folders(machine):
        yield Candidate("sessions", agent, name, path)


def _folders(machine: Machine) -> Iterator[tuple[str, str, str]]:
    claude = (machine.named("CLAUDE_CONFIG_DIR"), machine.below_home(".claude"))
    for folder in (*claude, *(os.path.join(home, "claude") for home in machine.config_homes())):
        if folder:
            yield "claude-code", "", os.path.join(folder, "projects")
    for folder in (machine.named("CODEX_HOME"), machine.below_home(".codex")):
        if folder:
            yield "codex", "", os.path.join(folder, "sessions")
            yield "codex", "archived", os.path.join(folder, "archived_sessions")
    for folder in (machine.named("GEMINI_CLI_HOME"), machine.home):
        if folder:
            yield "gemini", "", os.path.join(folder, ".gemini", "tmp")
    for folder in machine.data_homes():
        yield "opencode", "", os.path.join(folder, "opencode", "storage")
