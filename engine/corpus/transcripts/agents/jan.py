"""Declares Jan, a program that chats with local models. Its name here differs from that of the month."""

import os

from engine.corpus.transcripts.agents import Agent, FoundFolders, beside
from engine.corpus.user_environment import Machine


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
    beside=(beside("/thread.json", "/messages.jsonl"),),
    parser_version=2,
    formats=(".jan:JanFormat",),
)
