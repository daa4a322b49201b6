"""What is known of each agent besides the format of its transcripts: its label, its folders, how to resume a session.

No parser is imported here: a search on the command line needs the names of stores, and is mostly imports.
"""

import os
import re
from collections.abc import Callable, Iterator

import msgspec

from engine.corpus.machine import Machine

_DATABASE = re.compile(r"opencode(?:-.*)?\.db")

Folders = Callable[[Machine], Iterator[tuple[str, str]]]


def _no_folders(_machine: Machine) -> Iterator[tuple[str, str]]:
    return iter(())


class Agent(msgspec.Struct, frozen=True, kw_only=True):
    """A program whose sessions can be indexed."""

    name: str
    """Its short name in the index."""
    label: str
    """Its name for people; names of products are not translated."""
    resume: str = ""
    """The command that resumes the session `{id}`; empty if it has none."""
    stores: tuple[tuple[str, str], ...] = ()
    """Patterns of the ends of its folders, with `/` between parts, and the short name of such a store."""
    folders: Folders = _no_folders
    """Name (empty for the usual one) and path of each folder or database that may hold sessions; it need not exist."""


def _claude_code(machine: Machine) -> Iterator[tuple[str, str]]:
    # The folder that a variable names is listed in addition to the default one: both may contain sessions.
    named = (machine.named("CLAUDE_CONFIG_DIR"), machine.below_home(".claude"))
    for folder in (*named, *(os.path.join(home, "claude") for home in machine.config_homes())):
        if folder:
            yield "", os.path.join(folder, "projects")


def _codex(machine: Machine) -> Iterator[tuple[str, str]]:
    for folder in (machine.named("CODEX_HOME"), machine.below_home(".codex")):
        if folder:
            yield "", os.path.join(folder, "sessions")
            yield "archived", os.path.join(folder, "archived_sessions")


def _gemini(machine: Machine) -> Iterator[tuple[str, str]]:
    for folder in (machine.named("GEMINI_CLI_HOME"), machine.home):
        if folder:
            yield "", os.path.join(folder, ".gemini", "tmp")


def _opencode(machine: Machine) -> Iterator[tuple[str, str]]:
    for home in machine.data_homes():
        folder = os.path.join(home, "opencode")
        databases = list(_opencode_databases(folder, machine))
        for path in databases:
            name = os.path.basename(path)
            yield "" if name == "opencode.db" else name, path
        # The contents of these files were copied into the database that replaced them.
        if not databases:
            yield "", os.path.join(folder, "storage")


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


AGENTS = (
    Agent(
        name="openclaw",
        label="OpenClaw",
        # Its folders are found together with its workspaces, from its configuration (`engine/corpus/places.py`).
        stores=((r"/agents/([^/]+)/sessions\Z", r"\1"), (r"/state/sessions/([^/]+)\Z", r"\1")),
    ),
    Agent(
        name="claude-code",
        label="Claude Code",
        resume="claude --resume {id}",
        stores=((r"/\.?claude/projects\Z", "claude"),),
        folders=_claude_code,
    ),
    Agent(
        name="codex",
        label="Codex",
        resume="codex resume {id}",
        stores=((r"/\.codex/sessions\Z", "codex"), (r"/\.codex/archived_sessions\Z", "codex-archive")),
        folders=_codex,
    ),
    Agent(name="gemini", label="Gemini", stores=((r"/\.gemini/tmp\Z", "gemini"),), folders=_gemini),
    Agent(
        name="opencode",
        label="opencode",
        resume="opencode --session {id}",
        stores=((r"/opencode/storage\Z", "opencode"),),
        folders=_opencode,
    ),
    Agent(name="chatgpt", label="ChatGPT"),
    Agent(name="claude", label="Claude"),
)
_BY_NAME = {agent.name: agent for agent in AGENTS}


def agent_label(name: str) -> str:
    """Return an agent's name for people ("Claude Code"); an unknown one keeps its own."""
    known = _BY_NAME.get(name)
    return name if known is None else known.label


def resume_command(name: str, session: str) -> str:
    """Return the command that resumes a session, whose id is quoted for a shell; empty if the agent has none."""
    known = _BY_NAME.get(name)
    return "" if known is None else known.resume.format(id=session)


def store_name(path: str) -> str:
    """Return the short name of an agent's folder of sessions; empty for any other folder."""
    slashed = path.replace(os.sep, "/")
    for agent in AGENTS:
        for pattern, name in agent.stores:
            if match := re.search(pattern, slashed):
                return match.expand(name)
    return ""
