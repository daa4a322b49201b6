"""Declares Kiro's command line, formerly that of Amazon Q: its sessions were in one database, and are files since
2026."""

import os
from typing import TYPE_CHECKING

from engine.corpus.transcripts.agents import Agent, FoundFolders, described_changed, described_owner
from engine.corpus.user_environment import Machine

if TYPE_CHECKING:
    from engine.corpus.transcripts.formats import Formats

_FOLDER = os.path.join(f"{os.sep}sessions", "cli", "")


def _folders(machine: Machine) -> FoundFolders:
    kiro = machine.folder_in("KIRO_HOME") or machine.below_home(".kiro")
    yield "", os.path.join(kiro, "sessions", "cli")
    homes = (*machine.data_homes(), machine.below_home("Library", "Application Support"))
    for program, name in (("kiro-cli", "database"), ("amazon-q", "Amazon Q")):
        for home in homes:
            yield name, os.path.join(home, program, "data.sqlite3")


def _formats() -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.parsers.kiro import KiroDatabase, KiroFormat

    return Formats(lines=(KiroFormat(),), databases=(KiroDatabase(),))


AGENT = Agent(
    name="kiro",
    label="Kiro CLI",
    resume="kiro-cli chat --resume-id {id}",
    stores=((r"/\.kiro/sessions/cli\Z", "kiro"), (r"/(kiro-cli|amazon-q)/data\.sqlite3\Z", r"\1")),
    folders=_folders,
    with_parts=(_FOLDER,),
    parts_changed=lambda path: described_changed(path, _FOLDER, ".json"),
    part_of=lambda path: described_owner(path, _FOLDER, ".json"),
    databases=r"(?:kiro-cli|amazon-q)/data\.sqlite3",
    formats=_formats,
)
