"""Reads the names of Codex's sessions from its home, next to `sessions`.

Written from its public source of 2026. Older versions write `session_index.jsonl`: a line for each naming, with id,
name and time; the last one counts. Newer ones write the column `name` of the table `threads` in `state_5.sqlite`, whose
number increases with its format, and store no time of naming. The rollout itself has the name only in some versions.

The database is in the folder that `sqlite_home` in `config.toml` names, else the variable `CODEX_SQLITE_HOME`, else in
the home; the desktop program has it in the home's folder `sqlite` (from programs that read it, autumn 2026).
"""

import functools
import os
import re
from collections.abc import Mapping
from contextlib import closing
from typing import NamedTuple

import apsw

from engine.base.bounded_json import decode_toml
from engine.base.errors import PathRefused
from engine.corpus.safe_open import open_binary
from engine.corpus.transcripts.agents import UUID, WAL
from engine.corpus.transcripts.json_values import member, seconds, string
from engine.corpus.transcripts.jsonl import cached_by_version, json_lines
from engine.corpus.transcripts.messages import one_line
from engine.corpus.transcripts.sqlite_view import SqliteView
from engine.corpus.user_environment import Machine

_INDEX = "session_index.jsonl"
_DATABASE = re.compile(r"state_([0-9]{1,9})\.sqlite")
_FOLDERS = re.compile(r"(.+)[/\\](?:archived_)?sessions(?:[/\\]|$)", re.DOTALL)
_ID = re.compile(rf"({UUID})(?:_{UUID})?\.jsonl", re.IGNORECASE)
"""Matches the session's id; after a session was reverted, that of its new file follows."""
_LARGEST_CONFIG = 256 * 1024
_MAX_NAMES = 100_000
_LONGEST_NAME = 1_000
_NAMES = f"""SELECT id, substr(name, 1, {_LONGEST_NAME}) FROM threads
    WHERE typeof(id) = 'text' AND typeof(name) = 'text' AND name <> '' LIMIT {_MAX_NAMES}"""


class GivenName(NamedTuple):
    name: str = ""
    """Name on one line, secrets masked; empty for an unnamed session."""
    time: float = 0.0
    """Time of naming in seconds since the epoch; 0 if unknown."""


_UNNAMED = GivenName()
Memo = dict[str, tuple[Mapping[str, GivenName], ...]]
"""Names by home, from each source that has some; the first source takes precedence."""


def session_id(path: str) -> str:
    """Return the session's id in a rollout's file name; empty if there is none."""
    match = _ID.search(os.path.basename(path))
    return match[1] if match else ""


def given_name(path: str, memo: Memo | None = None) -> GivenName:
    """Return the name given to a rollout's session; empty if there is none.

    `memo`: cache of the names in each home.
    """
    home = _home_of(os.path.dirname(path))
    if not home:
        return _UNNAMED
    lists = None if memo is None else memo.get(home)
    if lists is None:
        lists = (*map(_in_database, _database_folders(home)), _names(os.path.join(home, _INDEX)))
        if memo is not None:
            memo[home] = lists
    if not any(lists):
        return _UNNAMED
    session = session_id(path).lower()
    return next((name for names in lists if (name := names.get(session))), _UNNAMED)


@functools.lru_cache(maxsize=1024)
def _home_of(folder: str) -> str:
    """Return the path of the home of rollouts in a folder; empty if no part of it is `sessions`."""
    home = _FOLDERS.match(folder)
    return "" if home is None else home[1]


def _database_folders(home: str) -> tuple[str, ...]:
    """Return the folders that may have the database, the one that counts first."""
    config = os.path.join(home, "config.toml")
    try:
        named = _configured(config, _version(config))
    except OSError:
        named = ""
    machine = Machine(os.path.expanduser("~"), os.environ)
    named = machine.expanded(named) or machine.folder_in("CODEX_SQLITE_HOME")
    return tuple(filter(None, (named, os.path.join(home, "sqlite"), home)))


@functools.lru_cache(maxsize=8)
def _configured(config: str, version: tuple[int, int]) -> str:
    """Return the setting `sqlite_home` of a home; empty if it isn't set. Cached by the file's version."""
    if not 0 < version[1] <= _LARGEST_CONFIG:
        return ""
    try:
        with open_binary(config) as file:
            return string(decode_toml(file.read(_LARGEST_CONFIG).decode()).get("sqlite_home"))
    except (OSError, PathRefused, ValueError):
        return ""


def _in_database(folder: str) -> Mapping[str, GivenName]:
    try:
        database = _newest_database(folder, os.stat(folder).st_mtime_ns)
        return _names_of_threads(database, _version(database), _version(database + WAL)) if database else {}
    except OSError:
        return {}


def _version(path: str) -> tuple[int, int]:
    """Return values that change when a file is written; zeros for a missing file."""
    try:
        state = os.lstat(path)
    except FileNotFoundError:
        return 0, 0
    return state.st_mtime_ns, state.st_size


@functools.lru_cache(maxsize=8)
def _newest_database(folder: str, _mtime: int) -> str:
    """Return the path of the database with the highest number; empty if there is none. Raises OSError."""
    databases = [(int(name[1]), name[0]) for name in map(_DATABASE.fullmatch, os.listdir(folder)) if name]
    return os.path.join(folder, max(databases)[1]) if databases else ""


@functools.lru_cache(maxsize=8)
def _names_of_threads(path: str, _database: tuple[int, int], _wal: tuple[int, int]) -> Mapping[str, GivenName]:
    """Read the names in a database, by session id; none from a damaged one. Cached by the versions of its files."""
    try:
        with closing(SqliteView(path)) as view:
            rows = view.read(_named_threads)
    except (OSError, PathRefused, ValueError):
        return {}
    return {session.lower(): GivenName(name) for session, text in rows if (name := one_line(text))}


def _named_threads(connection: apsw.Connection) -> list[tuple[str, str]]:
    return [(str(session), str(name)) for session, name in connection.execute(_NAMES)]


@cached_by_version
def _names(path: str) -> Mapping[str, GivenName]:
    """Read the names in a file, by session id. Raises OSError, ValueError, `PathRefused`."""
    named = ((value, one_line(value, "thread_name")) for value in json_lines(path))
    return {
        string(value, "id").lower(): GivenName(name, seconds(member(value, "updated_at")) or 0.0)
        for value, name in named
        if name
    }
