"""Declares llm, a command line for language models, which logs all conversations in one database."""

import os
from typing import TYPE_CHECKING

from engine.corpus.transcripts.agents import Agent, FoundFolders
from engine.corpus.user_environment import Machine

if TYPE_CHECKING:
    from engine.corpus.transcripts.formats import Formats

_DATABASE = "logs.db"


def _folders(machine: Machine) -> FoundFolders:
    homes = [os.path.join(home, "io.datasette.llm") for home in machine.program_homes()]
    for home in (machine.folder_in("LLM_USER_PATH"), *homes):
        if home:
            yield "", os.path.join(home, _DATABASE)


def _formats() -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.parsers.llm import LLM_DATABASE

    return Formats(databases=(LLM_DATABASE,))


AGENT = Agent(
    name="llm",
    label="llm",
    resume="llm chat --cid {id}",
    stores=((r"/io\.datasette\.llm(?:/logs\.db)?\Z", "llm"),),
    folders=_folders,
    files=(),
    databases=r"logs\.db",
    formats=_formats,
)
