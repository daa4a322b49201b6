"""Declares Jan, a program that chats with local models. Its name here differs from that of the month."""

import os

from engine.corpus.transcripts.agents import Agent, FoundFolders, sidecar_changed, sidecar_owner
from engine.corpus.user_environment import Machine

_MESSAGES, _THREAD = "messages.jsonl", "thread.json"


def _folders(machine: Machine) -> FoundFolders:
    named = machine.folder_in("JAN_DATA_FOLDER")
    if named:
        yield "", os.path.join(named, "threads")
    homes = dict.fromkeys((*machine.data_homes(), *machine.program_homes()))
    for home in homes:
        yield "", os.path.join(home, "Jan", "data", "threads")
    yield "before 2025", machine.below_home("jan", "threads")


AGENT = Agent(
    name="jan-ai",
    label="Jan AI",
    stores=((r"/[Jj]an/(?:data/)?threads\Z", "jan"),),
    folders=_folders,
    with_parts=(_MESSAGES,),
    parts_changed=lambda path: sidecar_changed(path, _MESSAGES, _THREAD),
    part_of=lambda path: sidecar_owner(path, _MESSAGES, _THREAD),
    parser_version=2,
    formats=(".jan:JanFormat",),
)
