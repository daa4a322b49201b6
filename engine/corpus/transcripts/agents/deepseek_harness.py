"""Declares DeepSeek Harness: where its sessions are, and in which format.

They may be compressed from the beginning. A newer version of the program copies a session into a file of its own format
when it reads it, and doesn't change the older file.
"""

import os
import re
from collections.abc import Iterable, Set
from typing import TYPE_CHECKING

from engine.corpus.transcripts.agents import Agent, paths

if TYPE_CHECKING:
    from engine.base.cancellation import CancelToken
    from engine.corpus.folder_walk import FoundFile


_NAME = re.compile(r"(.*)[/\\]session(?:\.v(\d{1,9}))?\.jsonl(?:\.zstd)?", re.DOTALL)


def _copies(files: Iterable["FoundFile"], _before: Set[str], _cancel: "CancelToken | None") -> set[str]:
    """Return the files of sessions that have one in a newer format."""
    versions: dict[str, list[tuple[int, str]]] = {}
    for file in files:
        if match := _NAME.fullmatch(file.path):
            versions.setdefault(match[1], []).append((int(match[2] or 0), file.name))
    return {name for generations in versions.values() for _, name in sorted(generations)[:-1]}


AGENT = Agent(
    name="deepseek-harness",
    label="DeepSeek Harness",
    parser_version=2,
    stores=((r"/\.dsh/sessions\Z", "deepseek-harness"),),
    folders=paths("($DSH_HOME|~/.dsh)/sessions"),
    files=(r"session(?:\.v\d+)?\.jsonl(?:\.zstd)?",),
    copies=_copies,
    with_copies=(f"{os.sep}session.v",),
    formats=(".deepseek_harness:HarnessFormat",),
)
