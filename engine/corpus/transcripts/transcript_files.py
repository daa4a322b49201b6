"""Rules for files in session folders: which files are transcripts, which belong together, and when they changed."""

import functools
import os
import re
import stat
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from engine.base import skip_reasons
from engine.base.errors import PathRefused
from engine.corpus.file_rules import LINK, LINKED_PATH, NOT_A_FILE, SECRET_FOLDER
from engine.corpus.ignore_rules import BAD_NAME, Match, is_unusable
from engine.corpus.indexed_folders import is_secret_folder
from engine.corpus.safe_open import is_link, open_binary
from engine.corpus.transcripts import registry
from engine.corpus.transcripts.agents import LINES_END, WAL, Agent

_COMPRESSED = (".zst", ".zstd")
_HEAD = 64 * 1024
_MAX_KNOWN = 250_000  # takes 25 MB
_EXPORTS: dict[int, bool] = {}
"""Whether each version of a file is an export, by its hash: a sync looks at every file again."""

NO_TRANSCRIPT = Match("no-transcript", skip_reasons.NO_TRANSCRIPT_NAME.message())
NO_CONVERSATION = Match(NO_TRANSCRIPT.rule, skip_reasons.NO_TRANSCRIPT.message())
"""Excludes a file that was examined, since an export may have its name."""
_PART = Match("part-of-session", skip_reasons.PART_OF_SESSIONS.message())
_PACKED_TWICE = Match("packed-twice", skip_reasons.PACKED_TWICE.message())
SILENT = frozenset({NO_TRANSCRIPT, NO_CONVERSATION, _PART, _PACKED_TWICE, NOT_A_FILE})
"""Rules for files that agents store next to transcripts: skipped without an issue, unless a path is explained."""


def judge_store(path: str, state: os.stat_result) -> Match | None:
    """Return the rule that excludes a whole store, a folder or an export; None if none does."""
    if is_link(state):
        return LINKED_PATH
    return SECRET_FOLDER if is_secret_folder(path) else None


def judge_entry(entry: os.DirEntry[str], above: str, neighbours: frozenset[str], export: str = "") -> Match | None:
    """Return the rule that excludes a file or folder in a store; None if none does.

    `above`: name of its folder; `neighbours`: names of everything in it. `export`: path of the entry in a folder
    that is no agent's, where exports have any name. Raises OSError.
    """
    if is_compressed(entry.name) and transcript_of(entry.name) in neighbours:
        return _PACKED_TWICE  # its agent is just packing or unpacking it
    folder = entry.is_dir(follow_symlinks=False)
    named = folder or entry.name.endswith(LINES_END) or registry.may_be_transcript(f"{above}{os.sep}{entry.name}")
    if not (named or is_renamed_export(export)):
        return NO_CONVERSATION if may_be_renamed(export) else NO_TRANSCRIPT
    if is_unusable(entry.name):
        return BAD_NAME
    state = entry.stat(follow_symlinks=False)
    if is_link(state):
        return LINK
    if _is_neighbour_part(entry.name, neighbours) or registry.is_part(above, entry.name):
        return _PART
    return None if folder or stat.S_ISREG(state.st_mode) else NOT_A_FILE


def may_be_renamed(name: str) -> bool:
    """Whether a file may be an export by the end of its name: programs that save a conversation name it themselves."""
    return name.endswith(".json")


def is_renamed_export(path: str) -> bool:
    """Whether a file is an export by its content, whatever its name is."""
    try:
        if not may_be_renamed(path):
            return False
        state = os.lstat(path)
        if not stat.S_ISREG(state.st_mode):
            return False
        version = hash((path, state.st_size, state.st_mtime_ns))
        if (known := _EXPORTS.get(version)) is not None:
            return known
        with open_binary(path) as file:
            found = registry.is_export(path, file.read(_HEAD))
        if len(_EXPORTS) >= _MAX_KNOWN:
            _EXPORTS.clear()
        _EXPORTS[version] = found
        return found
    except (OSError, PathRefused):
        return False


def ordinary_lines(above: str, names: Iterable[str]) -> frozenset[str]:
    """Return those of the names in a folder that only transcripts of lines have: `judge_entry` accepts each such file.

    `above`: name of the folder. None are returned where parts of sessions are next to their transcript.
    """
    lines = [name for name in names if name.endswith(LINES_END)]
    if not lines or _has_neighbour_parts(names) or is_unusable("".join(lines)):
        return frozenset()
    return frozenset(lines) - registry.parts_in(above, lines)


def is_compressed(path: str) -> bool:
    """Whether a file is, by its name, a transcript that its agent has compressed."""
    return path.endswith(_COMPRESSED)


def perhaps_compressed(path: str) -> tuple[str, ...]:
    """Return the names that a transcript can have: its own, and those after its agent has compressed it."""
    return path, *(path + ending for ending in _COMPRESSED)


def transcript_of(path: str) -> str:
    """Return the transcript that a file belongs to: usually the file itself.

    That of a WAL is its database; a compressed transcript keeps its former name.
    """
    if path.endswith(LINES_END):  # a quick check, and true of nearly all files
        return path
    if is_compressed(path):
        return path[: path.rindex(".")]
    database = path.removesuffix(WAL)
    return database if database != path and registry.is_database(database) else path


def last_change(path: str, state: os.stat_result, memo: dict[str, Any] | None = None) -> tuple[int, int]:
    """Return the size of a transcript, and when it was last changed, in nanoseconds, including files next to it.

    `memo`: as for `registry.parts_changed`.
    """
    size, changed = state.st_size, state.st_mtime_ns
    if registry.is_database(path):
        with suppress(OSError):
            wal = os.lstat(path + WAL)
            size, changed = size + wal.st_size, max(changed, wal.st_mtime_ns)
        return size, changed
    return size, max(changed, registry.parts_changed(path, memo))


def _is_neighbour_part(name: str, neighbours: frozenset[str]) -> bool:
    """Whether a file or folder holds parts of a transcript in the same folder, which holds `neighbours`."""
    for transcript, parts in _neighbour_parts(registry.AGENTS):  # a plain loop: a sync calls this very often
        if transcript in neighbours and name != transcript and re.fullmatch(parts, name):
            return True
    endings = _joined(registry.AGENTS)
    return name.endswith(endings) and any(name.endswith(end) and name != _first(neighbours, end) for end in endings)


def _has_neighbour_parts(names: Iterable[str]) -> bool:
    """Whether some of the `names` in a folder may be parts of a transcript there, as `_is_neighbour_part` finds out."""
    transcripts, endings = {transcript for transcript, _ in _neighbour_parts(registry.AGENTS)}, _joined(registry.AGENTS)
    return any(name in transcripts or name.endswith(endings) for name in names)


@functools.cache
def _neighbour_parts(agents: tuple[Agent, ...]) -> tuple[tuple[str, str], ...]:
    return tuple(agent.neighbour_parts for agent in agents if agent.neighbour_parts[0])


@functools.cache
def _joined(agents: tuple[Agent, ...]) -> tuple[str, ...]:
    return tuple(agent.joined for agent in agents if agent.joined)


@functools.lru_cache(maxsize=8)  # a folder's entries are judged in a row
def _first(names: frozenset[str], ending: str) -> str:
    return min(name for name in names if name.endswith(ending))
