"""Declares Cortex Code, Snowflake's agent: where its sessions are, and in which formats.

A long session is split: its messages are in a file of their own next to that of the session, which then describes them.
"""

import os
import re
from collections.abc import Iterator

from engine.corpus.transcripts.agents import JSON_LINES, UUID, Agent, beside, lower_ranked, paths

_FOLDER = os.path.join(f"{os.sep}cortex", "conversations", "")
_LINES, _SESSION = ".history.jsonl", ".json"
_BACKUP = re.compile(rf"(.*{UUID})\.back\.[^/\\]*\.json")


def _sessions(path: str) -> Iterator[tuple[str, int]]:
    """Yield the session of a transcript: its messages may be in a separate file, and there are backups."""
    if _FOLDER not in path:
        return
    if backup := _BACKUP.fullmatch(path):
        yield backup[1], 0
    elif path.endswith(_LINES):
        yield path.removesuffix(_LINES), 2
    else:
        yield path.removesuffix(_SESSION), 1


AGENT = Agent(
    name="cortex",
    label="Cortex Code",
    resume="cortex -r {id}",
    stores=((r"/\.snowflake/cortex/conversations\Z", "cortex"),),
    folders=paths("~/.snowflake/cortex/conversations"),
    files=(JSON_LINES, rf"(?:conversations|[0-9a-f]{{32}})/{UUID}\.json"),
    beside=(beside(_SESSION, _LINES, _FOLDER),),
    copies=(lower_ranked(_sessions),),
    with_copies=(_FOLDER,),
    formats=(".cortex:CortexHistory", ".cortex:CortexSession"),
)
