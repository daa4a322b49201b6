"""One module per agent with everything specific to it, collected in `engine.corpus.transcripts.registry`.

In: nothing; a declaration is imported at the start of every command, so it only names its parsers.
Out: an `Agent` each, with its label, its folders and files, its resume command and its transcript formats.
"""

import os
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Set
from importlib import import_module
from typing import TYPE_CHECKING, Any

import msgspec

from engine.corpus.user_environment import Machine

if TYPE_CHECKING:
    from engine.base.cancellation import CancelToken
    from engine.corpus.folder_walk import FoundFile

JSON_LINES = r".*\.jsonl"
"""Pattern of files with one JSON object per line."""
LINES_END = ".jsonl"
"""Ending of their names; no database has it."""
UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
"""Pattern of most ids of sessions."""
_NO_SLASH = "[^/]"
"""Regular expression for any character of a name."""
WAL = "-wal"
"""Suffix of the file in which an SQLite database stores its latest changes."""
CLAUDE_PROJECTS = os.path.join(f"{os.sep}.claude", "projects", "")
"""Part of the paths of Claude Code's transcripts, including transcripts in a session's folder of Cowork."""
QODER_PROJECTS = r"/(?:\.qoder(?:work|-cn)?|Qoder/SharedClientCache/cli)/projects"
"""Pattern of the folders of Qoder's transcripts, with slashes."""
QODER_DESCRIPTION = "-session.json"
JUNIE_LIST = "index.jsonl"
"""Junie's list of all sessions, next to their folders."""
TRACES = "_VSGitHubCopilot_traces.jsonl"
"""End of the names of Visual Studio's trace files."""
OPENCLAW_ARCHIVED = r"\.(?:reset|deleted)\.\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?Z(?:\.[0-9a-f]{32})?(?:\.zst)?"
"""Pattern of the end of the name of a session of OpenClaw that was reset or deleted: the time, perhaps the generation
in the database that the file was written from, perhaps compressed.
"""
_QODER = re.compile(QODER_PROJECTS.replace("/", r"[/\\]"))
FoundFolders = Iterator[tuple[str, str]]
CopyFinder = Callable[[Iterable["FoundFile"], Set[str], "CancelToken | None"], set[str]]


def _no_folders(_machine: Machine) -> FoundFolders:
    return iter(())


class Beside(msgspec.Struct, frozen=True):
    """A file next to each transcript that holds a part of its session, such as its title."""

    end: str
    """End of its path, where that of the transcript has `transcript`."""
    transcript: str
    folder: str
    """Part of the paths of both."""

    @property
    def mark(self) -> str:
        """Part of the paths of transcripts that have such a file."""
        return self.folder or self.transcript

    def part(self, path: str) -> str:
        """Return the path of the file of the transcript at `path`, which may not exist; empty for other paths."""
        is_transcript = self.folder in path and path.endswith(self.transcript)
        return path.removesuffix(self.transcript) + self.end if is_transcript else ""

    def owner(self, path: str) -> str:
        """Return the transcript that has the file at `path`; empty for other files, or if there is none."""
        if self.folder not in path or not path.endswith(self.end):
            return ""
        owner = path.removesuffix(self.end) + self.transcript
        return owner if os.path.lexists(owner) else ""


def beside(end: str, transcript: str = LINES_END, folder: str = "") -> Beside:
    """Return a `Beside`, given its texts with slashes."""
    return Beside(*(text.replace("/", os.sep) for text in (end, transcript, folder)))


class Agent(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """A program whose sessions can be indexed."""

    name: str
    """Short name in the index."""
    label: str
    """Display name; names of products are not translated."""
    formats: tuple[str, ...]
    """Its formats of transcripts: each a module, relative to that of all parsers, and a name in it. The module is
    imported before the first transcript is read.
    """
    parser_version: int = 1
    """Increase it when the same transcript would give other messages, metadata or usage, also for other agents with the
    same parser: stored sessions are then read again. Unchanged text is not embedded again.
    """
    resume: str = ""
    """Command that resumes the session `{id}`; empty if there is none."""
    resumed: str = ""
    """Regular expression of the ids that `resume` accepts; empty for all."""
    usual: str = ""
    """Usual folder, shown as an example while no sessions are listed; empty to show none."""
    downloaded: bool = False
    """Whether its sessions are in a file that the user downloads."""
    folders: Callable[[Machine], FoundFolders] = _no_folders
    """Name (empty for the usual one) and path of each folder or database that may hold sessions; it need not exist."""
    stores: tuple[tuple[str, str], ...] = ()
    """Patterns that match the ends of its folders, with `/` between parts, each with a short name for the store."""
    files: tuple[str, ...] = (JSON_LINES,)
    """Patterns of the names of its transcripts, in any case, perhaps after the name of their folder and a slash.
    Names of databases may be missing.
    """
    databases: str = ""
    """A pattern of this form for SQLite databases, which grow in their WAL."""
    parts: tuple[tuple[str, str], ...] = ()
    """Folders and files that hold parts of sessions and are not listed, each after the name of the folder above (empty
    for any).
    """
    part_names: str = ""
    """Pattern of the names of files next to transcripts that hold parts of sessions and are not listed, perhaps after
    the name of their folder and a slash.
    """
    neighbour_parts: tuple[str, str] = ("", "")
    """Name of a transcript that has its own folder, and a pattern of the other files and folders there that hold parts
    of its session.
    """
    joined: str = ""
    """End of the names of files in one folder that hold parts of the same sessions. The first one by name is the
    transcript; the others are parts of it.
    """
    watched: str = ""
    """Pattern of the folders to watch in its stores, relative to these, with slashes; empty for all but `parts`."""
    beside: tuple[Beside, ...] = ()
    """Files next to its transcripts that hold parts of sessions."""
    part_at: Callable[[str], str] | None = None
    """Returns a file, which may not exist, that holds a part of the session of the transcript at this path; empty for
    none. Called for the transcripts of all agents whose paths contain a text of `with_parts`.
    """
    grows_in: Callable[[str], str] | None = None
    """Returns the folder to which the messages of the transcript at this path are added, one file each; empty for none.
    Called like `part_at`.
    """
    list_changed: Callable[[str, dict[str, Any]], int] | None = None
    """Returns when a file about many transcripts changed for the one at this path, in nanoseconds; else 0. Called like
    `part_at`. The dictionary caches the contents of the file until all files of a store are listed.
    """
    with_parts: tuple[str, ...] = ("",)
    """Parts of paths: a transcript has other files only if its path contains one of them. Checked first, for speed."""
    part_of: Callable[[str], str] | None = None
    """Returns the transcript to which the file at this path belongs; empty for other files. This detects changes of
    that file alone. Called for the files of all agents, with paths that may no longer exist.
    """
    copies: tuple[CopyFinder, ...] = ()
    """Each returns names of transcripts whose sessions are also in another transcript among the given ones.

    The names that were copies before are given, too, for a transcript that cannot be read now. Raises Cancelled.
    """
    with_copies: tuple[str, ...] = ("",)
    """Parts of paths: a transcript can be a copy only if the path of some transcript contains one of them."""
    continued_in: Callable[[str], str] | None = None
    """Returns the transcript that begins with all messages of the one at this path and continues its session; empty
    if none does. Called with paths of all agents, for transcripts that have changed or were left out.
    """


def paths(*templates: str) -> Callable[[Machine], FoundFolders]:
    """Return a function that yields name and path of each folder that templates of `Machine.paths` mean.

    A template may begin with the name and a colon.
    """

    def found(machine: Machine) -> FoundFolders:
        for template in templates:
            name, _, path = template.rpartition(": ")
            for folder in machine.paths(path):
                yield name, folder

    return found


def time_with(path: str, listed: str) -> int:
    """Return a time less than a second after the last change of the transcript at `path`, in nanoseconds, that depends
    on its title or other text in a list; 0 without one.
    """
    if not listed:
        return 0
    try:
        return os.stat(path).st_mtime_ns + zlib.crc32(listed.encode()) % 10**9
    except OSError:
        return 0


def by_pattern(*patterns: str) -> Callable[[str], Iterator[tuple[str, int]]]:
    """Return a function for `lower_ranked` that yields the first one of these patterns that a path has, with slashes.

    Its groups are the session; its position is the rank, or the number in its group `rank`, 0 if that is missing.
    """
    expressions = [re.compile(pattern, re.DOTALL) for pattern in patterns]

    def sessions(path: str) -> Iterator[tuple[str, int]]:
        for rank, expression in enumerate(expressions):
            if match := expression.fullmatch(path.replace(os.sep, "/")):
                session = range(1, 1 + expression.groups - len(expression.groupindex))
                yield "/".join(map(match.group, session)), int(match.groupdict().get("rank", rank) or 0)
                return

    return sessions


def lower_ranked(sessions: Callable[[str], Iterator[tuple[str, int]]]) -> CopyFinder:
    """Return a function that finds transcripts whose session another one has with a higher rank.

    `sessions`: yields session and rank of the transcript at a path; nothing for those that aren't compared.
    """

    def found(files: Iterable["FoundFile"], _before: Set[str], _cancel: "CancelToken | None") -> set[str]:
        ranked: dict[str, list[tuple[int, str]]] = {}
        for file in files:
            for session, rank in sessions(file.path):
                ranked.setdefault(session, []).append((rank, file.name))
        several = (every for every in ranked.values() if len(every) > 1)
        return {name for every in several for best, _ in [max(every)] for rank, name in every if rank < best}

    return found


def in_databases(session: Callable[[str], str], end: str, known: str) -> CopyFinder:
    """Return a function that finds transcripts whose session can be read from a database, too.

    `session`: returns the session of the transcript at a path, empty for others. `end`: that of the paths of databases,
    in any case. `known`: their format, as in `Agent.formats`. The names that were found before stay while a database
    can't be read, since its sessions are still in the index.
    """

    def found(files: Iterable["FoundFile"], before: Set[str], cancel: "CancelToken | None") -> set[str]:
        from engine.base.errors import PathRefused

        single: dict[str, list[str]] = {}
        databases = []
        for file in files:
            if id_ := session(file.path):
                single.setdefault(id_, []).append(file.name)
            elif file.path.lower().endswith(end.lower()):
                databases.append(file.path)
        copied: set[str] = set()
        for path in databases if single else ():
            try:
                with named_format(known).opened(path, cancel) as sessions:
                    both = single.keys() & sessions.keys()
                    copied.update(name for id_ in both if sessions.can_read(id_) for name in single[id_])
            except ValueError:  # reading it reports the error
                copied.update(name for names in single.values() for name in names if name in before)
            except (OSError, PathRefused):
                pass  # so the index forgets its sessions
        return copied

    return found


def named_format(name: str, agent: str = "") -> Any:
    """Return the format that has a name as in `Agent.formats`, for one of several agents with it."""
    module, _, member = name.partition(":")
    known = getattr(import_module(module, "engine.corpus.transcripts.parsers"), member)
    return known(agent) if isinstance(known, type) else known


def trace_files(path: str) -> list[str]:
    """Return the paths of Visual Studio's trace files in the folder of the one at `path`, in order. Raises OSError."""
    folder = os.path.dirname(path)
    return [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name.endswith(TRACES)]


def description_of(path: str) -> str:
    """Return the path of the file that describes the session of a transcript; empty if it isn't one of Cowork or
    Qoder.
    """
    if "oder" in path and _QODER.search(path):
        return path.removesuffix(LINES_END) + QODER_DESCRIPTION
    folder, mark, _ = path.partition(CLAUDE_PROJECTS)
    return f"{folder}.json" if mark and os.path.basename(folder).startswith("local_") else ""


def last_parts(path: str) -> str:
    """Return the last two parts of a path, folder and file, joined by a slash."""
    return "/".join(path.rsplit(os.sep, 2)[-2:])


def any_of(patterns: Iterable[str]) -> re.Pattern[str]:
    """Return a regex that matches results of `last_parts` for any of the patterns."""
    names, others = list[str](), list[str]()
    for pattern in dict.fromkeys(filter(None, patterns)):
        slash = pattern.replace(_NO_SLASH, "." * len(_NO_SLASH)).rfind("/")
        name = pattern[slash + 1 :]
        if slash > 0:
            others += pattern, name
        else:
            names.append(name)
    # One group for all names, and the most frequent first: tried one by one, they take several times as long.
    names.sort(key=lambda name: name != JSON_LINES)
    alternatives = [f"(?:[^/]*/)?(?:{'|'.join(f'(?:{name})' for name in names)})"] if names else []
    return re.compile("|".join([*alternatives, *(f"(?:{pattern})" for pattern in others)]), re.IGNORECASE | re.DOTALL)
