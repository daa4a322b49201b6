"""What OpenClaw's `sessions.json` says of the transcripts beside it: the key that tells a cron run from a conversation.

Written from its public source between February and September 2026.
"""

import functools
import os
import re
from collections.abc import Mapping
from typing import NamedTuple

from engine.base.bounded_json import bounded
from engine.base.errors import PathRefused
from engine.corpus.safe_open import open_binary
from engine.corpus.transcripts.json_values import mapping, string
from engine.corpus.transcripts.messages import clean

_DREAM = "dreaming-narrative-"
_DREAMED = re.compile(rf"(?:agent:[^:]*:)?{_DREAM}", re.IGNORECASE)
_CRON_RUN = re.compile(r"agent:[^:]+:cron:[^:]+:run:[^:]+(?::|$)", re.IGNORECASE)
_BLOCK = 256 * 1024


class StoredSession(NamedTuple):
    label: str = ""
    """As the person named it."""
    generated: bool = False
    parent: str = ""
    """Id of the session that started it as its sub-agent."""


def is_generated(*, key: object = None, run: object = None) -> bool:
    """Whether a session with this key, or a run with this id, is the agent's own housekeeping."""
    if isinstance(run, str) and run.startswith(_DREAM):
        return True
    return isinstance(key, str) and bool(_DREAMED.match(key.strip()) or _CRON_RUN.match(key.strip()))


def stored_session(folder: str, session: str) -> StoredSession:
    """What the folder's `sessions.json` says of a session; nothing known where there is none."""
    path = os.path.join(folder, "sessions.json")
    try:
        stat = os.stat(path)
        return _sessions(path, stat.st_mtime_ns, stat.st_size).get(session, StoredSession())
    except (OSError, ValueError, PathRefused):
        return StoredSession()


@functools.lru_cache(maxsize=16)
def _sessions(path: str, _mtime: int, _size: int) -> Mapping[str, StoredSession]:
    """All of a file by session id, in the state that its time and size name. Raises OSError."""
    import ijson

    ids: dict[str, str] = {}
    found: dict[str, StoredSession] = {}  # at first with the key of the parent
    with open_binary(path) as file:
        events = ijson.basic_parse(file, use_float=True, buf_size=_BLOCK)
        try:
            for key, value in ijson.kvitems(ijson.parse(bounded(events)), ""):
                entry = mapping(value)
                if session := string(entry.get("sessionId")):
                    label, starter = clean(string(entry.get("label"))), string(entry.get("spawnedBy"))
                    ids[key] = clean(session)
                    found[session] = StoredSession(label, is_generated(key=key) or is_generated(key=starter), starter)
        except (ijson.JSONError, ValueError):  # half written: what came before counts
            pass
    return {session: stored._replace(parent=ids.get(stored.parent, "")) for session, stored in found.items()}
