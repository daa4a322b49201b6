"""One module per agent: everything that is particular to it, collected in `engine.corpus.transcripts.registry`.

In: nothing; a declaration is imported at the start of every command, so it imports its parsers in its functions.
Out: an `Agent` each, with its label, its folders and files, its resume command and its transcript formats.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Set
from typing import TYPE_CHECKING

import msgspec

from engine.corpus.machine import Machine

if TYPE_CHECKING:
    from engine.base.cancellation import CancelToken
    from engine.corpus.folder_walk import FoundFile
    from engine.corpus.transcripts.formats import Formats

JSON_LINES = r".*\.jsonl"
"""Pattern of files with one JSON object per line."""
WAL = "-wal"
"""Suffix of the file in which an SQLite database stores its latest changes."""
FoundFolders = Iterator[tuple[str, str]]
CopyFinder = Callable[[Iterable["FoundFile"], Set[str], "CancelToken | None"], set[str]]


def _no_folders(_machine: Machine) -> FoundFolders:
    return iter(())


class Agent(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """A program whose sessions can be indexed."""

    name: str
    """Its short name in the index."""
    label: str
    """Its name for people; names of products are not translated."""
    formats: Callable[[], "Formats"]
    """What reads its transcripts. The parsers are imported by this call."""
    resume: str = ""
    """The command that resumes the session `{id}`; empty if it has none."""
    usual: str = ""
    """Its usual folder, as an example where no sessions are listed yet; empty to leave it out there."""
    downloaded: bool = False
    """Whether its sessions come in a file that the user downloads."""
    folders: Callable[[Machine], FoundFolders] = _no_folders
    """Name (empty for the usual one) and path of each folder or database that may hold sessions; it need not exist."""
    stores: tuple[tuple[str, str], ...] = ()
    """Patterns of the ends of its folders, with `/` between parts, and the short name of such a store."""
    files: tuple[str, ...] = (JSON_LINES,)
    """Patterns of the names of its transcripts, in any case, perhaps after the name of their folder and a slash.

    Those of databases need not be among them.
    """
    databases: str = ""
    """Such a pattern for those that are SQLite databases: they grow in their WAL."""
    parts: tuple[tuple[str, str], ...] = ()
    """Folders that hold parts of sessions and are not listed, each after the name of the one above (empty for any)."""
    parts_changed: Callable[[str], int] | None = None
    """When other files that belong to the transcript at this path were changed, in nanoseconds; 0 for none.

    Called for the transcripts of all agents.
    """
    part_of: Callable[[str], str] | None = None
    """The transcript that the file at this path, which is none, belongs to; empty for other files.

    A change of it alone is noticed. Called for the files of all agents, with paths that may not exist any more.
    """
    copies: CopyFinder | None = None
    """Names of transcripts whose sessions are also in another transcript among the given ones.

    The names that were copies before are given, too, for a transcript that cannot be read now. Raises Cancelled.
    """


def sidecar_changed(path: str, transcript: str, sidecar: str) -> int:
    """When the file `sidecar` next to a transcript with the name `transcript` was changed, in nanoseconds; else 0."""
    if not path.endswith(transcript) or os.path.basename(path) != transcript:
        return 0
    try:
        return os.lstat(os.path.join(os.path.dirname(path), sidecar)).st_mtime_ns
    except OSError:
        return 0


def sidecar_owner(path: str, transcript: str, sidecar: str) -> str:
    """The file `transcript` next to a file with the name `sidecar`; empty for other files, or if there is none."""
    if not path.endswith(sidecar) or os.path.basename(path) != sidecar:
        return ""
    owner = os.path.join(os.path.dirname(path), transcript)
    return owner if os.path.lexists(owner) else ""
