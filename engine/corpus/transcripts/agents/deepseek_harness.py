"""Declares DeepSeek Harness: where its sessions are, and in which format.

They may be compressed from the beginning. A newer version of the program copies a session into a file of its own format
when it reads it, and doesn't change the older file.
"""

import os
import re
from collections.abc import Iterator

from engine.corpus.transcripts.agents import Agent, lower_ranked, paths

_NAME = re.compile(r"(.*)[/\\]session(?:\.v(\d{1,9}))?\.jsonl(?:\.zstd)?", re.DOTALL)


def _sessions(path: str) -> Iterator[tuple[str, int]]:
    """Yield the session of a transcript, which may have one in a newer format."""
    if match := _NAME.fullmatch(path):
        yield match[1], int(match[2] or 0)


AGENT = Agent(
    name="deepseek-harness",
    label="DeepSeek Harness",
    parser_version=2,
    stores=((r"/\.dsh/sessions\Z", "deepseek-harness"),),
    folders=paths("($DSH_HOME|~/.dsh)/sessions"),
    files=(r"session(?:\.v\d+)?\.jsonl(?:\.zstd)?",),
    copies=(lower_ranked(_sessions),),
    with_copies=(f"{os.sep}session.v",),
    formats=(".deepseek_harness:HarnessFormat",),
)
