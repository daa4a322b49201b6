"""Declares nanobot: where its sessions are, and in which format."""

import os
from typing import TYPE_CHECKING

from engine.corpus.transcripts.agents import Agent, FoundFolders
from engine.corpus.transcripts.agents.openclaw import subfolders
from engine.corpus.user_environment import Machine

if TYPE_CHECKING:
    from engine.corpus.transcripts.formats import Formats


def _folders(machine: Machine) -> FoundFolders:
    for name, path in subfolders(machine.home, ".nanobot"):
        instance = name.removeprefix(".nanobot").lstrip("-")
        yield instance, os.path.join(path, "sessions")
        yield f"{instance} workspace".strip(), os.path.join(path, "workspace", "sessions")


def _formats() -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.parsers.nanobot import NanobotFormat

    return Formats(lines=(NanobotFormat(),))


AGENT = Agent(
    name="nanobot",
    label="nanobot",
    stores=(
        (r"/\.(nanobot[^/]*)/sessions\Z", r"\1"),
        (r"/\.(nanobot[^/]*)/workspace/sessions\Z", r"\1-workspace"),
    ),
    folders=_folders,
    parts=(("", ".migration-conflicts"),),
    formats=_formats,
)
