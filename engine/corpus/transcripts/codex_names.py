"""Reads the names of Codex's sessions from `session_index.jsonl` in its home, next to `sessions`.

Written from its public source of 2026: a line for each naming, with id, name and time; the last one counts. The rollout
itself has the name only in some versions.
"""

import functools
import os
import re
from collections.abc import Mapping
from typing import NamedTuple

from engine.base.errors import PathRefused
from engine.corpus.safe_open import open_regular
from engine.corpus.transcripts.json_values import seconds, string
from engine.corpus.transcripts.jsonl import LONGEST_LINE, parse_line, raw_lines
from engine.corpus.transcripts.messages import one_line

_INDEX = "session_index.jsonl"
_FOLDERS = re.compile(r"(.+)[/\\](?:archived_)?sessions(?:[/\\]|$)", re.DOTALL)
_ID = re.compile(r"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl", re.IGNORECASE)
_LARGEST = 64 * 1024**2


class GivenName(NamedTuple):
    name: str = ""
    """Name on one line, secrets masked; empty for an unnamed session."""
    time: float = 0.0
    """Time of naming in seconds since the epoch; 0 if unknown."""


_UNNAMED = GivenName()


def session_id(path: str) -> str:
    """Return the session's id in a rollout's file name; empty if there is none."""
    found = _ID.search(os.path.basename(path))
    return found[1] if found else ""


def given_name(path: str) -> GivenName:
    """Return the name given to a rollout's session; empty if there is none."""
    index = _index_of(os.path.dirname(path))
    if not index:
        return _UNNAMED
    try:
        state = os.lstat(index)
        names = _names(index, state.st_mtime_ns, state.st_size)
    except (OSError, PathRefused):
        return _UNNAMED
    return names.get(session_id(path).lower(), _UNNAMED)


@functools.lru_cache(maxsize=1024)
def _index_of(folder: str) -> str:
    """Return the path of the file with the names of rollouts in a folder; empty if no part of it is `sessions`."""
    home = _FOLDERS.match(folder)
    return "" if home is None else os.path.join(home[1], _INDEX)


@functools.lru_cache(maxsize=8)
def _names(path: str, _mtime: int, size: int) -> Mapping[str, GivenName]:
    """Read the names in a file, by session id; cached by the file's time and size. Raises OSError, `PathRefused`."""
    found: dict[str, GivenName] = {}
    if size > _LARGEST:
        return found
    descriptor, _ = open_regular(path)
    try:
        for raw in raw_lines(descriptor):
            value = parse_line(raw.data) if len(raw.data) <= LONGEST_LINE else None
            if value is not None and (name := one_line(string(value.get("thread_name")))):
                time = seconds(value.get("updated_at")) or 0.0
                found[string(value.get("id")).lower()] = GivenName(name, time)
    finally:
        os.close(descriptor)
    return found
