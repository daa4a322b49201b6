"""Declares Factory's Droid: where its sessions are, in which format, and how to resume one."""

import os

from engine.corpus.transcripts.agents import Agent, described_changed, described_owner, paths

_FOLDER = f"{os.sep}.factory{os.sep}"
_SETTINGS = ".settings.json"
"""Ending of the file with a session's model and tokens."""

AGENT = Agent(
    name="droid",
    label="Droid",
    parser_version=4,
    resume="droid --resume {id}",
    stores=((r"/\.factory/sessions\Z", "droid"), (r"/\.factory/projects\Z", "droid-projects")),
    folders=paths("~/.factory/sessions", "projects: ~/.factory/projects"),
    with_parts=(_FOLDER,),
    parts_changed=lambda path: described_changed(path, _FOLDER, _SETTINGS),
    part_of=lambda path: described_owner(path, _FOLDER, _SETTINGS),
    formats=(".droid:DroidFormat", ".droid:DroidStream"),
)
