"""Where Claude Code, Codex CLI, Gemini CLI and opencode keep their sessions."""

import os
import re
from collections.abc import Iterator

from engine.corpus.places.candidates import Candidate
from engine.corpus.places.machine import Machine

_DATABASE = re.compile(r"opencode(?:-.*)?\.db")


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
        databases = list(_opencode_databases(os.path.join(folder, "opencode"), machine))
        for path in databases:
            name = os.path.basename(path)
            yield "opencode", "" if name == "opencode.db" else name, path
        # What these files held was copied into the database that came after them.
        if not databases:
            yield "opencode", "", os.path.join(folder, "opencode", "storage")


def _opencode_databases(folder: str, machine: Machine) -> Iterator[str]:
    """The database that a variable names, and those of all channels of the program."""
    named = machine.environ.get("OPENCODE_DB", "").strip()
    if named and "\0" not in named and os.path.isfile(path := os.path.join(folder, named)):
        yield os.path.normpath(path)
    try:
        with os.scandir(folder) as entries:
            yield from sorted(entry.path for entry in entries if _DATABASE.fullmatch(entry.name) and entry.is_file())
    except OSError:
        return
