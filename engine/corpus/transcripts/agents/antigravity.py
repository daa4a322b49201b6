"""Declares Antigravity and its command line. A shorter transcript next to the full one is a copy."""

import os
from collections.abc import Iterator

from engine.corpus.transcripts.agents import Agent, lower_ranked, paths

_FULL, _SHORT = "transcript_full.jsonl", "transcript.jsonl"


def _sessions(path: str) -> Iterator[tuple[str, int]]:
    folder, name = os.path.split(path)
    if name in (_FULL, _SHORT):
        yield folder, int(name == _FULL)


AGENT = Agent(
    name="antigravity",
    label="Antigravity",
    resume="agy --conversation {id}",
    stores=((r"/\.gemini/antigravity(?:-cli)?/brain\Z", "antigravity"),),
    folders=paths("~/.gemini/antigravity-cli/brain", "~/.gemini/antigravity/brain"),
    copies=(lower_ranked(_sessions),),
    with_copies=("transcript",),
    formats=(".antigravity:AntigravityFormat",),
)
