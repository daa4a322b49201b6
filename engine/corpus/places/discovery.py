"""What on this machine could be indexed, and how much is there, before anyone was asked.

Only directory entries are read, and two kinds of configuration: OpenClaw's, which names its workspaces, and Obsidian's
list of vaults. That something is listed here means nothing yet: indexing begins where a person chooses it.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from engine.base.cancellation import CancelToken
from engine.base.errors import WorkspaceError
from engine.corpus.discovery import discover
from engine.corpus.folder_walk import FoundFile
from engine.corpus.places.agents import agent_folders
from engine.corpus.places.candidates import Candidate
from engine.corpus.places.machine import Machine
from engine.corpus.places.obsidian import obsidian_vaults
from engine.corpus.places.openclaw import openclaw_places
from engine.corpus.transcripts.stores import find_stores, find_transcripts
from engine.records import FileIssue, FoundPlace, FoundPlaces
from engine.settings import Settings
from engine.settings.options import SessionSettings

_MOST_ENTRIES = 100_000
"""Of one place, which takes half a second: who has more is told "more than"."""


def find_places(
    home: Path | None = None, environ: Mapping[str, str] | None = None, *, cancel: CancelToken | None = None
) -> FoundPlaces:
    """Workspaces, vaults and session folders with files in them, each once, by kind.

    `home` and `environ` are the person's own unless given. Raises `Cancelled`; all else becomes an issue.
    """
    machine = Machine(os.path.abspath(home or Path.home()), os.environ if environ is None else environ)
    issues: list[FileIssue] = []
    places = [_measure(candidate, issues, cancel) for candidate in _present(_candidates(machine, issues))]
    return FoundPlaces(places=tuple(place for place in places if place.files or not place.whole), issues=tuple(issues))


def measure_sessions(folders: Sequence[str], *, cancel: CancelToken | None = None) -> FoundPlaces:
    """How much is in each folder or export, in this order, be it empty or missing; a second name of one is left out.

    Raises `Cancelled`; all else becomes an issue.
    """
    issues: list[FileIssue] = []
    stores = find_stores(_listing(folders))
    places = [_measure(Candidate("sessions", "", "", store.path), issues, cancel) for store in stores]
    return FoundPlaces(places=tuple(places), issues=tuple(issues))


def _candidates(machine: Machine, issues: list[FileIssue]) -> list[Candidate]:
    openclaw = list(openclaw_places(machine, issues))
    notes = [candidate for candidate in openclaw if candidate.kind != "sessions"]
    sessions = [candidate for candidate in openclaw if candidate.kind == "sessions"]
    return [*notes, *obsidian_vaults(machine, issues), *agent_folders(machine), *sessions]


def _present(candidates: Iterable[Candidate]) -> Iterator[Candidate]:
    """Those that are there, by their real paths, each once: a vault may be a workspace too."""
    seen: set[tuple[bool, str]] = set()
    for candidate in candidates:
        path = os.path.realpath(candidate.path)
        key = (candidate.kind == "sessions", os.path.normcase(path))
        if key not in seen and (os.path.isdir(path) or (candidate.kind == "sessions" and os.path.isfile(path))):
            seen.add(key)
            yield Candidate(candidate.kind, candidate.agent, candidate.name, path)


def _measure(candidate: Candidate, issues: list[FileIssue], cancel: CancelToken | None) -> FoundPlace:
    look = _transcripts if candidate.kind == "sessions" else _notes
    files, whole = look(candidate.path, issues, cancel)
    return FoundPlace(
        kind=candidate.kind,
        agent=candidate.agent,
        name=candidate.name,
        path=candidate.path,
        files=len(files),
        bytes=sum(file.size for file in files),
        newest=max((file.mtime_ns for file in files), default=0) / 1e9 or None,
        whole=whole,
    )


def _transcripts(path: str, issues: list[FileIssue], cancel: CancelToken | None) -> tuple[list[FoundFile], bool]:
    settings = _listing((path,))
    found = find_transcripts(settings, cancel=cancel, most_entries=_MOST_ENTRIES)
    itself = {store.name for store in find_stores(settings)}
    issues += [
        FileIssue(path=path, rule=issue.rule, detail=issue.detail) for issue in found.skipped if issue.path in itself
    ]
    return found.files, found.whole


def _notes(path: str, issues: list[FileIssue], cancel: CancelToken | None) -> tuple[list[FoundFile], bool]:
    try:
        found = discover(Path(path), Settings(), cancel=cancel, most_entries=_MOST_ENTRIES)
    except WorkspaceError as error:
        issues.append(FileIssue(path=path, rule="unreadable", detail=str(error)))
        return [], True
    return found.files, found.whole


def _listing(folders: Sequence[str]) -> Settings:
    return Settings(sessions=SessionSettings(folders=tuple(folders)))
