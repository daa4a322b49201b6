"""Declares Tau, Hugging Face's agent for the command line: where its sessions are, and how to resume one."""

import os
import re
from typing import Any

from engine.corpus.transcripts.agents import Agent, paths, time_with

_FOLDER = r"[^/]*-[0-9a-f]{6}"
"""Pattern of the folder of a project's sessions: the words of its path, and a digest."""
_IN_FOLDER = re.compile(rf"{_FOLDER}/[^/]*\.jsonl")


def _listed(path: str, memo: dict[str, Any]) -> int:
    folder, name = os.path.split(path)
    if not _IN_FOLDER.fullmatch(f"{os.path.basename(folder)}/{name}"):
        return 0
    from engine.corpus.transcripts.parsers.tau import listed_titles  # imports the JSON reader

    if folder not in memo:
        memo[folder] = listed_titles(folder)
    return time_with(path, memo[folder].get(name.removesuffix(".jsonl"), ""))


AGENT = Agent(
    name="tau",
    label="Tau",
    resume="tau --session {id}",
    stores=((r"/\.tau/sessions\Z", "tau"),),
    folders=paths("~/.tau/sessions"),
    part_names=rf"{_FOLDER}/index\.jsonl",
    list_changed=_listed,
    with_parts=(f"{os.sep}.tau{os.sep}",),
    formats=(".tau:TauFormat",),
)
