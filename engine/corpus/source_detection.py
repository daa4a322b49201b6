"""Finds workspaces, vaults and session folders on this machine that could be indexed, and how many files they have.

Only directory entries are read, among them Logseq's list of graphs, and two kinds of configuration: OpenClaw's, which
names its workspaces, and Obsidian's list of vaults. Listing has no effect: indexing begins when the user chooses a
folder.
"""

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from engine.base import skip_reasons
from engine.base.cancellation import CancelToken, checkpoint
from engine.base.errors import PathRefused, WorkspaceError
from engine.base.private_files import data_folder, make_folder
from engine.base.skip_reasons import OTHER_FILES, files_covered
from engine.corpus.discovery import discover
from engine.corpus.folder_walk import FoundFile
from engine.corpus.safe_open import open_regular, scan_folder
from engine.corpus.transcripts.agents.openclaw import NAMES, state_folders, subfolders
from engine.corpus.transcripts.json_values import items, mapping, string
from engine.corpus.transcripts.registry import growing_part, session_folders
from engine.corpus.transcripts.session_stores import find_stores, find_transcripts
from engine.corpus.transcripts.transcript_files import NO_TRANSCRIPT
from engine.corpus.user_environment import Machine
from engine.records import FileIssue, FoundSource, FoundSources, SourceKind
from engine.settings import Settings
from engine.settings.options import SessionSettings

# --- Possible folders, and lists of folders in configuration files ---------------------------------------------------

_MAX_BYTES = 256 * 1024
_TOKEN = re.compile(
    r"(?P<nothing>\s+|//[^\n]*|/\*.*?\*/)"
    r"|\"(?P<double>(?:[^\"\\\n]|\\.)*)\""
    r"|'(?P<single>(?:[^'\\\n]|\\.)*)'"
    r"|(?P<mark>[{}\[\]:,])"
    r"|(?P<word>[^\s{}\[\]:,\"'/]+)",
    re.DOTALL,
)
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(\r\n|.))", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "\n": "", "\r\n": ""}


def parse_lenient(text: str) -> Any:
    """Parse JSON with comments, trailing commas and unquoted keys, of at most 256 KB; unknown words become text.

    Raises ValueError for text that cannot be understood.
    """
    try:
        return json.loads("".join(_strict(text)))
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _strict(text: str) -> Iterator[str]:
    """Yield lenient JSON converted to strict JSON, token by token."""
    at = 0
    comma = False
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None:
            raise ValueError(f"not understood at character {at}")
        at = token.end()
        if token["nothing"] is not None:
            continue
        mark = token["mark"]
        if comma and mark not in ("}", "]"):
            yield ","
        comma = mark == ","
        if not comma:
            yield mark or _value(token)
    if comma:
        raise ValueError("ends with a comma")


def _value(token: re.Match[str]) -> str:
    word = token["word"]
    if word is None:
        quoted = token["double"] if token["double"] is not None else token["single"]
        return json.dumps(_ESCAPE.sub(_unescape, quoted))
    return word if word in ("true", "false", "null") or _NUMBER.fullmatch(word) else json.dumps(word)


def _unescape(escape: re.Match[str]) -> str:
    code = escape[1] or escape[2]
    return chr(int(code, 16)) if code else _ESCAPED.get(escape[3], escape[3])


class Candidate(msgspec.Struct, frozen=True):
    kind: SourceKind
    agent: str
    name: str
    path: str
    """Absolute path, which need not exist."""


def read_list(path: str, issues: list[FileIssue]) -> Any:
    """Return the JSON value of a configuration file; None if it can't be read. An error is added to `issues`."""
    try:
        return _read(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except PathRefused:
        detail = skip_reasons.LIST_NO_FILE.message()
    except OSError as error:
        detail = skip_reasons.unreadable(error)
    except ValueError:
        detail = skip_reasons.LIST_NOT_UNDERSTOOD.message()
    issues.append(FileIssue(path=path, rule="unreadable", detail=detail))
    return None


def _read(path: str) -> Any:
    descriptor, state = open_regular(os.path.realpath(path))  # users may link their configuration to another path
    with os.fdopen(descriptor, "rb") as file:
        if state.st_size > _MAX_BYTES:
            raise ValueError("larger than a configuration file can be")
        return parse_lenient(file.read(_MAX_BYTES).decode("utf-8-sig"))


# ---------------------------------------------------------------------------------------------------------------------

_SESSIONS_FOLDER = "Past sessions"
_ENCRYPTED = (".codeium", "windsurf", "cascade")
"""Folder of Windsurf's own chats, which only its server can decrypt; the program is called Devin Desktop since 2026."""
_MAX_NAMED = 3
_SAMPLE = 10
"""Number of files to look at to find out whether an agent stores each message as a file."""
_MAX_ENTRIES = 100_000
"""Maximum number of entries counted in one folder, which takes half a second; beyond it, "more than" is shown."""


def openclaw_workspaces(machine: Machine, issues: list[FileIssue]) -> Iterator[Candidate]:
    """Yield OpenClaw's workspaces; errors of its configuration are added to `issues`."""
    states = state_folders(machine)
    if path := machine.folder_in("OPENCLAW_WORKSPACE_DIR"):
        yield _workspace("", path)
    for config in _config_files(machine, states):
        yield from _named_workspaces(machine, read_list(config, issues))
    for state in states:
        for name, path in subfolders(state, "workspace"):
            yield _workspace(name.removeprefix("workspace").removeprefix("-"), path)


def _workspace(agent: str, path: str) -> Candidate:
    return Candidate("openclaw-workspace", "openclaw", agent, path)


def _config_files(machine: Machine, states: list[str]) -> Iterator[str]:
    if path := machine.folder_in("OPENCLAW_CONFIG_PATH"):
        yield path
    for state in states:
        yield from (os.path.join(state, f"{name}.json") for name in NAMES)


def _named_workspaces(machine: Machine, config: object) -> Iterator[Candidate]:
    """Yield the workspaces of the defaults and of each agent, listed (until summer 2026) or by name (since)."""
    top = mapping(config)
    agents = mapping(top, "agents")
    listed = agents.get("list")
    entries = [(string(entry, "id"), mapping(entry)) for entry in items(listed)]
    entries += [(name, mapping(entry)) for name, entry in mapping(agents, "entries").items()]
    shared = ""
    for defaults in (mapping(agents, "defaults"), mapping(top, "agent")):
        if path := machine.expanded(string(defaults, "workspace")):
            shared = shared or path
            yield _workspace("", path)
    for agent, entry in entries:
        if path := machine.expanded(string(entry, "workspace")):
            yield _workspace(agent, path)
        elif shared and agent and os.path.basename(agent) == agent:
            yield _workspace(agent, os.path.join(shared, agent))


def obsidian_vaults(machine: Machine, issues: list[FileIssue]) -> Iterator[Candidate]:
    """Yield the vaults in Obsidian's list; errors are added to `issues`."""
    for folder in _config_folders(machine):
        known = mapping(read_list(os.path.join(folder, "obsidian.json"), issues))
        for vault in mapping(known, "vaults").values():
            if path := machine.expanded(string(vault, "path")):
                yield Candidate("obsidian-vault", "obsidian", os.path.basename(path), path)


def _config_folders(machine: Machine) -> Iterator[str]:
    homes = (
        *machine.program_homes(),
        machine.below_home(".var", "app", "md.obsidian.Obsidian", "config"),
        machine.below_home("snap", "obsidian", "current", ".config"),
    )
    for home in homes:
        yield os.path.join(home, "obsidian")


_GRAPH, _GRAPH_END = "logseq_local_", ".transit"


def logseq_graphs(machine: Machine) -> Iterator[Candidate]:
    """Yield the graphs in Logseq's list: files named `logseq_local_++home++ada++notes.transit` after their folders."""
    with suppress(OSError, PathRefused), scan_folder(machine.below_home(".logseq", "graphs")) as entries:
        for name in sorted(entry.name for entry in entries):
            if name.startswith(_GRAPH) and name.endswith(_GRAPH_END):
                path = name[len(_GRAPH) : -len(_GRAPH_END)].replace("+3A+", ":").replace("++", "/")
                if os.path.isabs(path):
                    yield Candidate("logseq-graph", "logseq", os.path.basename(path), path)


def find_sources(
    home: Path | None = None, environ: Mapping[str, str] | None = None, *, cancel: CancelToken | None = None
) -> FoundSources:
    """Return the workspaces, vaults and session folders that have files, each once, by kind.

    `home` and `environ` default to the user's own. Raises `Cancelled`; every other error becomes an issue.
    """
    machine = Machine(os.path.abspath(home or Path.home()), os.environ if environ is None else environ)
    issues: list[FileIssue] = []
    sources = [_measure(candidate, issues, cancel) for candidate in _existing(_candidates(machine, issues))]
    if os.path.isdir(chats := machine.below_home(*_ENCRYPTED)):
        issues.append(FileIssue(path=chats, rule="encrypted", detail=skip_reasons.ENCRYPTED_CHATS.message()))
    return FoundSources(
        sources=tuple(source for source in sources if source.files or not source.complete), issues=tuple(issues)
    )


def sessions_workspace(store_path: str = "") -> Path:
    """Create and return the workspace without notes that is used to search only sessions.

    `store_path` replaces the user's data directory. Raises OSError.
    """
    folder = Path(os.path.expanduser(store_path) if store_path else data_folder(), _SESSIONS_FOLDER)
    make_folder(folder)
    return folder


def store_names(folders: Sequence[str]) -> tuple[str, ...]:
    """Return the stable names of session folders and exports, `sessions/<name>`."""
    return tuple(store.name for store in find_stores(_listing(folders)))


def measure_sessions(folders: Sequence[str], *, cancel: CancelToken | None = None) -> FoundSources:
    """Count the files in each session folder or export, in the given order, even if empty or missing.

    A folder given twice is counted once. Raises `Cancelled`; every other error becomes an issue.
    """
    issues: list[FileIssue] = []
    stores = find_stores(_listing(folders))
    sources = [_measure(Candidate("sessions", "", "", store.path), issues, cancel) for store in stores]
    return FoundSources(sources=tuple(sources), issues=tuple(issues))


def _candidates(machine: Machine, issues: list[FileIssue]) -> list[Candidate]:
    sessions = [Candidate("sessions", *found) for found in session_folders(machine)]
    notes = [*openclaw_workspaces(machine, issues), *obsidian_vaults(machine, issues), *logseq_graphs(machine)]
    return [*notes, *sessions]


def _existing(candidates: Iterable[Candidate]) -> Iterator[Candidate]:
    """Yield those candidates that exist, each real path once: a vault may be a workspace too."""
    seen: set[tuple[bool, str]] = set()
    for candidate in candidates:
        path = os.path.realpath(candidate.path)
        key = (candidate.kind == "sessions", os.path.normcase(path))
        if key not in seen and (os.path.isdir(path) or (candidate.kind == "sessions" and os.path.isfile(path))):
            seen.add(key)
            yield Candidate(candidate.kind, candidate.agent, candidate.name, path)


def _measure(candidate: Candidate, issues: list[FileIssue], cancel: CancelToken | None) -> FoundSource:
    sessions = candidate.kind == "sessions"
    files, complete = (_transcripts if sessions else _notes)(candidate.path, issues, cancel)
    grow_in_folders = sessions and any(os.path.isdir(growing_part(file.path)) for file in files[:_SAMPLE])
    return FoundSource(
        kind=candidate.kind,
        agent=candidate.agent,
        name=candidate.name,
        path=candidate.path,
        files=len(files),
        bytes=_size_of_folder(candidate.path, cancel) if grow_in_folders else sum(file.size for file in files),
        newest=max((file.mtime_ns for file in files), default=0) / 1e9 or None,
        complete=complete,
    )


def _transcripts(path: str, issues: list[FileIssue], cancel: CancelToken | None) -> tuple[list[FoundFile], bool]:
    settings = _listing((path,))
    transcripts = find_transcripts(settings, cancel=cancel, most_entries=_MAX_ENTRIES)
    (store,) = find_stores(settings)
    others = [issue for issue in transcripts.skipped if issue.rule == NO_TRANSCRIPT.rule]
    issues += [
        FileIssue(path=path, rule=issue.rule, detail=issue.detail)
        for issue in transcripts.skipped
        if issue.path == store.name
    ]
    if others:
        names = [issue.path.removeprefix(f"{store.name}/") for issue in others[:_MAX_NAMED]]
        shortened = ", ".join(names) + ", …" * (len(others) > _MAX_NAMED)
        count = sum(files_covered(issue.detail) for issue in others)
        detail = OTHER_FILES.message(count=count, names=shortened)
        issues.append(FileIssue(path=path, rule=NO_TRANSCRIPT.rule, detail=detail))
    return transcripts.files, transcripts.complete


def _size_of_folder(path: str, cancel: CancelToken | None) -> int:
    """Return the size of all files in a folder of sessions that store each message as a file."""
    size, entries_left, folders = 0, _MAX_ENTRIES, [path]
    while folders and entries_left > 0:
        checkpoint(cancel)
        folder = folders.pop()
        with suppress(OSError, PathRefused), scan_folder(folder) as entries:
            for entry in entries:
                entries_left -= 1
                if entry.is_dir(follow_symlinks=False):
                    folders.append(os.path.join(folder, entry.name))
                else:
                    size += entry.stat(follow_symlinks=False).st_size
    return size


def _notes(path: str, issues: list[FileIssue], cancel: CancelToken | None) -> tuple[list[FoundFile], bool]:
    try:
        discovery = discover(Path(path), Settings(), cancel=cancel, most_entries=_MAX_ENTRIES)
    except WorkspaceError as error:
        issues.append(FileIssue(path=path, rule="unreadable", detail=str(error)))
        return [], True
    return discovery.files, discovery.complete


def _listing(folders: Sequence[str]) -> Settings:
    return Settings(sessions=SessionSettings(folders=tuple(folders)))
