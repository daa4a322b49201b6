"""Declares nanobot: where its sessions are, and in which format."""

import os

from engine.corpus.transcripts.agents import Agent, FoundFolders
from engine.corpus.transcripts.agents.openclaw import subfolders
from engine.corpus.user_environment import Machine


def _folders(machine: Machine) -> FoundFolders:
    for name, path in subfolders(machine.home, ".nanobot"):
        instance = name.removeprefix(".nanobot").lstrip("-")
        yield instance, os.path.join(path, "sessions")
        yield f"{instance} workspace".strip(), os.path.join(path, "workspace", "sessions")


AGENT = Agent(
    name="nanobot",
    label="nanobot",
    stores=(
        (r"/\.(nanobot[^/]*)/sessions\Z", r"\1"),
        (r"/\.(nanobot[^/]*)/workspace/sessions\Z", r"\1-workspace"),
    ),
    folders=_folders,
    parts=(("", ".migration-conflicts"),),
    formats=(".nanobot:NanobotFormat",),
)
