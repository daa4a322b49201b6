"""When a transcript changed last, be that in a file beside it."""

import os
from contextlib import suppress

WAL = "-wal"
"""What the name of the file ends with in which a database keeps its latest changes, beside it."""
_DATABASE = ".db"
_COMPRESSED = ".zst"
_OPENCODE = "ses_"
_CODEX = "rollout-"


def is_database(path: str) -> bool:
    """Whether a transcript is, by its name, a database, whose size does not tell how much was said."""
    return path.lower().endswith(_DATABASE)


def is_compressed(path: str) -> bool:
    """Whether a file is, by its name, a transcript that its agent has compressed."""
    return path.endswith(_COMPRESSED)


def compressed(path: str) -> str:
    """What a transcript is called when its agent has compressed it."""
    return path + _COMPRESSED


def transcript_of(path: str) -> str:
    """The transcript, or its name, that a file belongs to: mostly itself.

    That of a WAL is its database; a transcript that was compressed keeps the name that it had before.
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
    """When the last message came to an opencode session, in nanoseconds; 0 where there is none."""
    project, name = os.path.split(session)
    storage = os.path.dirname(os.path.dirname(project))
    try:
        return os.lstat(os.path.join(storage, "message", os.path.splitext(name)[0])).st_mtime_ns
    except OSError:
        return 0
