"""Declares Reasonix: where its sessions are, and in which format."""

import os

from engine.corpus.transcripts.agents import Agent, described_changed, described_owner, paths

_FOLDER = f"reasonix{os.sep}"
_DESCRIPTION = ".jsonl.meta"
"""Ending of the file with a session's title, folder and times."""

AGENT = Agent(
    name="reasonix",
    label="Reasonix",
    stores=((r"/\.?reasonix/sessions\Z", "reasonix"), (r"/\.?reasonix/(archive|projects)\Z", r"reasonix-\1")),
    folders=paths(
        "~/.reasonix/sessions",
        "projects: ~/.reasonix/projects",
        "archive: ~/.reasonix/archive",
        "($APPDATA|~/AppData/Roaming)/reasonix/sessions",
        "projects: ($APPDATA|~/AppData/Roaming)/reasonix/projects",
        "archive: ($APPDATA|~/AppData/Roaming)/reasonix/archive",
    ),
    with_parts=(_FOLDER,),
    parts_changed=lambda path: described_changed(path, _FOLDER, _DESCRIPTION),
    part_of=lambda path: described_owner(path, _FOLDER, _DESCRIPTION),
    formats=(".reasonix:ReasonixFormat",),
)
