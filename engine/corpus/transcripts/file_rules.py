"""Applies the file rules to entries of a folder of sessions, for the walk over the stores and for explanations of one
path."""

import os
import re
import stat
from collections.abc import Collection

from engine.base import skip_reasons
from engine.corpus.file_rules import LINK, LINKED_PLACE, NOT_A_FILE, SECRET_PLACE
from engine.corpus.ignore import BAD_NAME, Match, is_unusable
from engine.corpus.roots import holds_secrets
from engine.corpus.safe_open import is_link
from engine.corpus.transcripts.modified_time import is_compressed, transcript_of

_TRANSCRIPT = re.compile(
    r".*\.jsonl(?:\.(?:reset|deleted)\.\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?Z)?"
    r"|conversations(?:-\d+)?\.json|(?:session|checkpoint)-.*\.json|ses_.*\.json|.*\.zip|.*\.db|rollout-.*\.jsonl\.zst",
    re.IGNORECASE | re.DOTALL,
)
_PARTS_OF_SESSIONS = frozenset({("storage", "message"), ("storage", "part"), ("storage", "session_diff")})
"""Folders (with their parent) in which opencode stores the messages of sessions, one file each."""

_NO_TRANSCRIPT = Match("no-transcript", skip_reasons.NO_TRANSCRIPT_NAME.said())
_PART = Match("part-of-session", skip_reasons.PART_OF_SESSIONS.said())
_PACKED_TWICE = Match("packed-twice", skip_reasons.PACKED_TWICE.said())
SILENT = frozenset({_NO_TRANSCRIPT, _PART, _PACKED_TWICE, NOT_A_FILE})
"""Files that agents store next to transcripts: skipped without an issue, unless a path is explained."""


def may_be_transcript(path: str) -> bool:
    """Whether a file can be a transcript by its name."""
    return _TRANSCRIPT.fullmatch(os.path.basename(path)) is not None


def judge_store(path: str, state: os.stat_result) -> Match | None:
    """The rule that excludes a whole store, a folder or an export."""
    if is_link(state):
        return LINKED_PLACE
    return SECRET_PLACE if holds_secrets(path) else None


def judge_entry(entry: os.DirEntry[str], above: str, neighbours: Collection[str]) -> Match | None:
    """The rule that excludes an entry of a store, a file or a folder.

    `above`: name of its folder; `neighbours`: names of everything in it. Raises OSError.
    """
    if is_compressed(entry.name) and transcript_of(entry.name) in neighbours:
        return _PACKED_TWICE  # its agent is just packing or unpacking it
    folder = entry.is_dir(follow_symlinks=False)
    if not folder and not may_be_transcript(entry.name):
        return _NO_TRANSCRIPT
    if is_unusable(entry.name):
        return BAD_NAME
    state = entry.stat(follow_symlinks=False)
    if is_link(state):
        return LINK
    if folder:
        return _PART if (above, entry.name) in _PARTS_OF_SESSIONS else None
    return None if stat.S_ISREG(state.st_mode) else NOT_A_FILE
