"""Declares Crush. Its database is in each project's folder; a file in its data folder lists these."""

import os
from collections.abc import Iterator

from engine.corpus.transcripts.agents import Agent, FoundFolders
from engine.corpus.user_environment import Machine

_MAX_BYTES = 256 * 1024


def _folders(machine: Machine) -> FoundFolders:
    homes = (machine.folder_in("CRUSH_GLOBAL_DATA"), *(os.path.join(home, "crush") for home in machine.data_homes()))
    for home in filter(None, homes):
        for folder in _listed(os.path.join(home, "projects.json")):
            yield os.path.basename(os.path.dirname(folder)), os.path.join(folder, "crush.db")


def _listed(path: str) -> Iterator[str]:
    """Yield the data folders of the projects in which the program has worked."""
    if not os.path.isfile(path):
        return
    from engine.corpus.safe_open import first_bytes
    from engine.corpus.transcripts.json_values import objects, string
    from engine.corpus.transcripts.jsonl import parse_line

    for project in objects(parse_line(first_bytes(path, _MAX_BYTES)), "projects"):
        folder = string(project, "data_dir") or os.path.join(string(project, "path"), ".crush")
        if os.path.isabs(folder) and "\0" not in folder:
            yield os.path.normpath(folder)


AGENT = Agent(
    name="crush",
    label="Crush",
    resume="crush --session {id}",
    stores=((r"/\.crush(?:/crush\.db)?\Z", "crush"),),
    folders=_folders,
    files=(),
    databases=r"crush\.db",
    formats=(".crush:CRUSH_DATABASE",),
    parser_version=3,
)
