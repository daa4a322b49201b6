"""Declares Kiro, an editor, and its command line, formerly that of Amazon Q. Sessions of the latter were in a database,
and are files since 2026, next to those of the editor.
"""

import os
import re
from typing import TYPE_CHECKING

from engine.corpus.transcripts.agents import (
    Agent,
    FoundFolders,
    described_changed,
    described_owner,
    sidecar_changed,
    sidecar_owner,
)
from engine.corpus.user_environment import Machine

if TYPE_CHECKING:
    from engine.corpus.transcripts.formats import Formats

_FOLDER = os.path.join(f"{os.sep}sessions", "cli", "")
_EVENTS, _DESCRIPTION = "messages.jsonl", "session.json"
"""Transcript of a session that has its own folder, and the file next to it with title and project."""


def _folders(machine: Machine) -> FoundFolders:
    kiro = machine.folder_in("KIRO_HOME") or machine.below_home(".kiro")
    yield "", os.path.join(kiro, "sessions")
    homes = (*machine.data_homes(), machine.below_home("Library", "Application Support"))
    for program, name in (("kiro-cli", "database"), ("amazon-q", "Amazon Q")):
        for home in homes:
            yield name, os.path.join(home, program, "data.sqlite3")


def _formats() -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.parsers.kiro import KiroDatabase, KiroEventFormat, KiroFormat

    return Formats(lines=(KiroFormat(), KiroEventFormat()), databases=(KiroDatabase(),))


AGENT = Agent(
    name="kiro",
    label="Kiro",
    resume="kiro-cli chat --resume-id {id}",
    resumed="(?!sess_).+",  # for others it isn't known
    stores=((r"/\.kiro/sessions(?:/cli)?\Z", "kiro"), (r"/(kiro-cli|amazon-q)/data\.sqlite3\Z", r"\1")),
    folders=_folders,
    neighbour_parts=(_EVENTS, rf"snapshots|sub-executions|{re.escape(_DESCRIPTION)}"),
    with_parts=(_FOLDER, _EVENTS),
    parts_changed=lambda path: (
        described_changed(path, _FOLDER, ".json") or sidecar_changed(path, _EVENTS, _DESCRIPTION)
    ),
    part_of=lambda path: described_owner(path, _FOLDER, ".json") or sidecar_owner(path, _EVENTS, _DESCRIPTION),
    databases=r"(?:kiro-cli|amazon-q)/data\.sqlite3",
    formats=_formats,
)
