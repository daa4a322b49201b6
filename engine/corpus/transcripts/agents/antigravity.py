"""Declares Antigravity and its command line. A shorter transcript next to the full one is a copy."""

import os
from collections.abc import Iterable, Set
from typing import TYPE_CHECKING

from engine.corpus.transcripts.agents import Agent, paths

if TYPE_CHECKING:
    from engine.base.cancellation import CancelToken
    from engine.corpus.folder_walk import FoundFile

_FULL, _SHORT = "transcript_full.jsonl", "transcript.jsonl"


def _copies(files: Iterable["FoundFile"], _before: Set[str], _cancel: "CancelToken | None") -> set[str]:
    full: set[str] = set()
    short: dict[str, str] = {}
    for file in files:
        if file.path.endswith((_FULL, _SHORT)):
            folder, name = os.path.split(file.path)
            if name == _FULL:
                full.add(folder)
            elif name == _SHORT:
                short[folder] = file.name
    return {short[folder] for folder in full & short.keys()}


AGENT = Agent(
    name="antigravity",
    label="Antigravity",
    resume="agy --conversation {id}",
    stores=((r"/\.gemini/antigravity(?:-cli)?/brain\Z", "antigravity"),),
    folders=paths("~/.gemini/antigravity-cli/brain", "~/.gemini/antigravity/brain"),
    copies=_copies,
    with_copies=("transcript",),
    formats=(".antigravity:AntigravityFormat",),
)
