"""Applies the rules for files to entries of a folder, to list notes and to explain a single path."""

import os
import stat
from typing import Protocol

from engine.base import skip_reasons
from engine.corpus.ignore_rules import BAD_NAME, IgnoreRules, Match, is_unusable
from engine.corpus.indexed_folders import Root, is_secret_folder
from engine.corpus.safe_open import is_link
from engine.settings import Settings

SECRET_FOLDER = Match("secret", skip_reasons.SECRET_FOLDER.message())
LINK = Match("symlink", skip_reasons.LINK.message())
LINKED_PATH = Match("symlink", skip_reasons.LINKED_PATH.message())
NOT_CONNECTED = Match("unreadable", skip_reasons.NOT_CONNECTED.message())
NOT_A_FILE = Match("not-a-file", skip_reasons.NOT_A_FILE.message())
_OUTSIDE_MEMORY = Match("outside-memory", skip_reasons.OUTSIDE_MEMORY.message())


class _EntryState(Protocol):
    """Type and size of a directory entry, often known without a system call."""

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result: ...


class FileRules:
    """Decides by name, type and size which files of a workspace are notes, under its settings."""

    def __init__(self, settings: Settings) -> None:
        self.rules = IgnoreRules(settings)
        self._limit = settings.max_file_bytes

    def root(self, root: Root, state: os.stat_result) -> Match | None:
        """Return the rule that excludes a whole root; None if none does."""
        if is_unusable(root.name):
            return BAD_NAME
        if is_link(state):
            return LINKED_PATH
        if is_secret_folder(root.path):
            return SECRET_FOLDER
        if stat.S_ISDIR(state.st_mode) and not root.single:
            return None
        return self._file(root.name, os.path.basename(root.path), state)

    def entry(self, entry: os.DirEntry[str], name: str) -> Match | None:
        """Return the rule that excludes an entry with this stable name; None if none does. May raise OSError.

        The folders above it must be accepted.
        """
        if entry.is_symlink():
            return LINK
        if not entry.is_dir(follow_symlinks=False):
            return self._file(name, entry.name, entry)
        if os.name == "nt" and is_link(entry.stat(follow_symlinks=False)):
            return LINK
        return self.rules.for_folder(name, entry.name)

    def outside_memory_folder(self, entry: os.DirEntry[str]) -> Match:
        """Return the rule that excludes an entry outside the memory folder of a workspace with a memory folder."""
        folder = entry.is_dir(follow_symlinks=False)
        judge = self.rules.for_folder if folder else self.rules.for_file
        return judge(entry.name, entry.name) or _OUTSIDE_MEMORY

    def _file(self, name: str, base: str, known: _EntryState | os.stat_result) -> Match | None:
        match = self.rules.for_file(name, base)
        if match is not None:
            return match
        state = known if isinstance(known, os.stat_result) else known.stat(follow_symlinks=False)
        if not stat.S_ISREG(state.st_mode):
            return NOT_A_FILE
        if state.st_size > self._limit:
            return Match("too-large", skip_reasons.TOO_LARGE.message(size=state.st_size, limit=self._limit))
        return None


def unreachable(error: OSError) -> Match:
    """Return the rule and reason for a folder that can't be read now, so that its entries stay in an index."""
    return Match("unreadable", skip_reasons.UNREACHABLE.message(problem=error.strerror or error))


def unreadable(error: OSError) -> Match:
    """Return the rule and reason for a folder or file that can't be read."""
    return Match("unreadable", skip_reasons.unreadable(error))
