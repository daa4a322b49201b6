"""Declares Reasonix: where its sessions are, and in which format."""

import os
from typing import TYPE_CHECKING

from engine.corpus.transcripts.agents import Agent, FoundFolders, described_changed, described_owner
from engine.corpus.user_environment import Machine

if TYPE_CHECKING:
    from engine.corpus.transcripts.formats import Formats

_FOLDER = f"reasonix{os.sep}"
_DESCRIPTION = ".jsonl.meta"
"""Ending of the file with a session's title, folder and times."""


def _folders(machine: Machine) -> FoundFolders:
    for home in (machine.below_home(".reasonix"), os.path.join(machine.program_homes()[-1], "reasonix")):
        for name in ("sessions", "projects", "archive"):
            yield "" if name == "sessions" else name, os.path.join(home, name)


def _formats() -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.parsers.reasonix import ReasonixFormat

    return Formats(lines=(ReasonixFormat(),))


AGENT = Agent(
    name="reasonix",
    label="Reasonix",
    stores=((r"/\.?reasonix/sessions\Z", "reasonix"), (r"/\.?reasonix/(archive|projects)\Z", r"reasonix-\1")),
    folders=_folders,
    with_parts=(_FOLDER,),
    parts_changed=lambda path: described_changed(path, _FOLDER, _DESCRIPTION),
    part_of=lambda path: described_owner(path, _FOLDER, _DESCRIPTION),
    formats=_formats,
)
