"""The modification time of a transcript, including files next to it."""

import os
from contextlib import suppress

WAL = "-wal"
"""Suffix of the file in which a database stores its latest changes."""
_DATABASE = ".db"
_COMPRESSED = ".zst"
_OPENCODE = "ses_"
_CODEX = "rollout-"


def is_database(path: str) -> bool:
    """Whether a transcript is a database by its name: its size doesn't show how much was added."""
    return path.lower().endswith(_DATABASE)


def is_compressed(path: str) -> bool:
    """Whether a file is, by its name, a transcript that its agent has compressed."""
    return path.endswith(_COMPRESSED)


def compressed(path: str) -> str:
    """Name of a transcript after its agent has compressed it."""
    return path + _COMPRESSED


def transcript_of(path: str) -> str:
    """The transcript that a file belongs to: usually itself.

    That of a WAL is its database; a compressed transcript keeps its former name.
    """
    if is_compressed(path):
        return path.removesuffix(_COMPRESSED)
    return path.removesuffix(WAL) if path.lower().endswith(_DATABASE + WAL) else path


def last_change(path: str, state: os.stat_result) -> tuple[int, int]:
    """Bytes of a transcript, and when it was changed last, in nanoseconds."""
    size, changed = state.st_size, state.st_mtime_ns
    name = os.path.basename(path)
    if is_database(path):
        with suppress(OSError):
            wal = os.lstat(path + WAL)
            size, changed = size + wal.st_size, max(changed, wal.st_mtime_ns)
    elif name.startswith(_OPENCODE):
        changed = max(changed, _messages_changed(path))
    elif name.startswith(_CODEX):
        from engine.corpus.transcripts.codex_names import given_name  # brings the reading of JSON with it

        changed = max(changed, int(given_name(path).time * 1e9))
    return size, changed


def _messages_changed(session: str) -> int:
    """Time of the last message of an opencode session, in nanoseconds; 0 if there is none."""
    project, name = os.path.split(session)
    storage = os.path.dirname(os.path.dirname(project))
    try:
        return os.lstat(os.path.join(storage, "message", os.path.splitext(name)[0])).st_mtime_ns
    except OSError:
        return 0
