"""Declares Cortex Code, Snowflake's agent: where its sessions are, and in which formats.

A long session is split: its messages are in a file of their own next to that of the session, which then describes them.
"""

import os
import re
from collections.abc import Iterable, Set
from typing import TYPE_CHECKING

from engine.corpus.transcripts.agents import JSON_LINES, UUID, Agent, beside, paths

if TYPE_CHECKING:
    from engine.base.cancellation import CancelToken
    from engine.corpus.folder_walk import FoundFile

_FOLDER = os.path.join(f"{os.sep}cortex", "conversations", "")
_LINES, _SESSION = ".history.jsonl", ".json"
_BACKUP = re.compile(rf"(.*{UUID})\.back\.[^/\\]*\.json")


def _copies(files: Iterable["FoundFile"], _before: Set[str], _cancel: "CancelToken | None") -> set[str]:
    """Return the sessions whose messages are in a separate file, and backups."""
    own_files = [file for file in files if _FOLDER in file.path]
    split = {file.path.removesuffix(_LINES) + _SESSION for file in own_files if file.path.endswith(_LINES)}
    sessions = {file.path for file in own_files}
    backups = {file.path: backup[1] for file in own_files if (backup := _BACKUP.fullmatch(file.path))}
    return {
        file.name
        for file in own_files
        if file.path in split
        or (file.path in backups and any(backups[file.path] + end in sessions for end in (_SESSION, _LINES)))
    }


AGENT = Agent(
    name="cortex",
    label="Cortex Code",
    resume="cortex -r {id}",
    stores=((r"/\.snowflake/cortex/conversations\Z", "cortex"),),
    folders=paths("~/.snowflake/cortex/conversations"),
    files=(JSON_LINES, rf"(?:conversations|[0-9a-f]{{32}})/{UUID}\.json"),
    beside=(beside(_SESSION, _LINES, _FOLDER),),
    copies=_copies,
    with_copies=(_FOLDER,),
    formats=(".cortex:CortexHistory", ".cortex:CortexSession"),
)
