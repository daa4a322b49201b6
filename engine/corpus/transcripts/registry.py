"""All known agents, and lookups in their declarations.

To add an agent, add a module to `agents`, then its name here. No parser is imported before a transcript is read: a
search on the command line needs the names of stores, and takes little more time than its imports.
"""

import functools
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from engine.corpus.transcripts.agents import LINES_END, WAL, Agent, any_of, last_parts, named_format
from engine.corpus.user_environment import Machine
from engine.text.folding import fold

if TYPE_CHECKING:
    from engine.base.cancellation import CancelToken
    from engine.corpus.folder_walk import FoundFile
    from engine.corpus.transcripts.formats import Formats

_MODULES = (
    # Some lines of Qwen Code and iFlow are as Claude Code's, whose members Proma's lines have, too.
    *"qwen iflow proma claude_code codex gemini".split(),
    # ZCode's tables have the names of opencode's.
    *"zcode opencode chat_exports lm_studio".split(),
    # OpenClaw's weaker marks are also in the lines of Command Code, and its entries in those of Letta.
    *"command_code deepseek_harness droid letta tau openclaw".split(),
    *"""copilot_chat visual_studio cursor cline amp continue_dev kimi kiro copilot_cli aider zed goose crush forge
    pi openhands grok vibe""".split(),
    # The messages of Hermes Agent and nanobot pass as gptme's, too.
    *"hermes nanobot gptme".split(),
    *"""antigravity augment jan jcode junie warp devin llm codebuff codebuddy codewhale zencoder poolside muse mux
    cortex posit_assistant qwenpaw piebald ollama shelley omnigent octofriend unsloth cherry_studio""".split(),
    # Nothing in the lines of Reasonix is unique to it.
    "reasonix",
)
"""Modules of `agents`, in the order in which their formats are tried: the most reliably recognised first."""
_SHARED_VERSION = 5
"""Increase it when most parsers would give other messages or metadata, such as titles: all sessions are then read
again.
"""


class PartRules(NamedTuple):
    """How to find the files that belong to a transcript; each function has a part of the paths that it is for."""

    parts: tuple[tuple[str, Callable[[str], str]], ...]
    lists: tuple[tuple[str, Callable[[str, dict[str, Any]], int]], ...]


class _Agents(tuple[Agent, ...]):
    """Agents as a key of caches: compared by identity, since a sync looks up some for every transcript."""

    __slots__ = ()
    __hash__ = object.__hash__
    __eq__ = object.__eq__


AGENTS: tuple[Agent, ...] = _Agents(
    agent
    for module in _MODULES
    for agent in vars(import_module(f"engine.corpus.transcripts.agents.{module}")).values()
    if isinstance(agent, Agent)
)
"""All agents that the modules declare, in their order."""


def agent_label(name: str) -> str:
    """Return an agent's name for display ("Claude Code"); an unknown agent's name unchanged."""
    agent = _by_name(AGENTS).get(name)
    return name if agent is None else agent.label


def agents_named(name: str, known: Iterable[str]) -> frozenset[str]:
    """Return the `known` agents that match a name typed by the user.

    The whole name or label of an agent, such as "pi", means those that begin with it: "claude" also means
    "claude-code". Other names mean all whose name or label has their words, else all whose name or label contains them.
    """
    part = fold(name)
    words = f"-{_with_hyphens(part)}-"
    names = {agent: (fold(agent), fold(agent_label(agent))) for agent in known}
    if words in _whole_names(AGENTS):
        return _named(names, lambda called: f"-{_with_hyphens(called)}-".startswith(words))
    with_words = _named(names, lambda called: words in f"-{_with_hyphens(called)}-")
    return with_words or _named(names, lambda called: part in called)


def _named(names: Mapping[str, Iterable[str]], accepted: Callable[[str], bool]) -> frozenset[str]:
    return frozenset(agent for agent, called in names.items() if any(map(accepted, called)))


@functools.cache
def _whole_names(agents: tuple[Agent, ...]) -> frozenset[str]:
    """Return the names and labels of all agents, folded, between hyphens."""
    return frozenset(f"-{_with_hyphens(fold(called))}-" for agent in agents for called in (agent.name, agent.label))


def _with_hyphens(name: str) -> str:
    return re.sub(r"[\W_]+", "-", name).strip("-")


def parser_versions() -> dict[str, int]:
    """Return the version of each agent's parsers, by the agent's name."""
    return {agent.name: agent.parser_version + _SHARED_VERSION for agent in AGENTS}


def resume_command(name: str, session: str) -> str:
    """Return the command that resumes a session, whose id is quoted for a shell; empty if there is none."""
    before, after, accepted = _resuming(AGENTS, name)
    if not before or (accepted is not None and not accepted.fullmatch(session)):
        return ""
    return before + session + after


@functools.lru_cache(maxsize=256)  # ten thousand sessions are listed within 50 ms
def _resuming(agents: tuple[Agent, ...], name: str) -> tuple[str, str, re.Pattern[str] | None]:
    """Return the resume command of an agent, before and after the id (empty if there is none), and its ids."""
    agent = _by_name(agents).get(name)
    if agent is None:
        return "", "", None
    before, _, after = agent.resume.partition("{id}")
    return before, after, re.compile(agent.resumed) if agent.resumed else None


@functools.cache
def _by_name(agents: tuple[Agent, ...]) -> dict[str, Agent]:
    return {agent.name: agent for agent in agents}


def session_folders(machine: Machine) -> Iterator[tuple[str, str, str]]:
    """Yield agent, name (empty for the usual one) and path of each folder or database that may contain sessions."""
    for agent in AGENTS:
        for name, path in agent.folders(machine):
            yield agent.name, name, path


def usual_folders() -> tuple[tuple[str, str], ...]:
    """Return label and usual folder of some agents, as examples; then labels of downloadable exports,
    without a folder.
    """
    exports = ", ".join(sorted(agent.label for agent in AGENTS if agent.downloaded))
    return (*((agent.label, agent.usual) for agent in AGENTS if agent.usual), (exports, ""))


def agent_labels() -> tuple[str, ...]:
    """Return the display names of all agents whose sessions are found in folders, in alphabetical order."""
    return tuple(sorted((agent.label for agent in AGENTS if not agent.downloaded), key=str.casefold))


def store_name(path: str) -> str:
    """Return the short name of an agent's folder of sessions; empty for any other folder."""
    slashed = path.replace(os.sep, "/")
    for agent in AGENTS:
        for pattern, name in agent.stores:
            if match := re.search(pattern, slashed):
                return match.expand(name)
    return ""


def may_be_transcript(path: str) -> bool:
    """Whether a file can be a transcript by its name and, unless `path` is only a name, that of its folder."""
    return path.endswith(LINES_END) or _names(AGENTS).fullmatch(last_parts(path)) is not None


def is_database(path: str) -> bool:
    """Whether a transcript is a database, by its name: then its size doesn't show how much was added."""
    return not path.endswith(LINES_END) and _databases(AGENTS).fullmatch(last_parts(path)) is not None


def is_part(above: str, name: str) -> bool:
    """Whether `name` in a folder `above` holds parts of sessions, which are read with their transcript."""
    return bool(parts_in(above, (name,)))


def parts_in(above: str, names: Iterable[str]) -> frozenset[str]:
    """Return the `names` in a folder `above` that contain parts of sessions, according to `is_part`."""
    parts, is_named = _part_names(AGENTS), _named_parts(AGENTS).fullmatch  # a sync asks for every file
    return frozenset(
        [name for name in names if (above, name) in parts or ("", name) in parts or is_named(f"{above}/{name}")]
    )


def is_watched(store: str, folder: str) -> bool:
    """Whether changes in a folder of a store can concern sessions: a relative path with slashes."""
    pattern = _watched(AGENTS, store)
    above, _, name = folder.rpartition("/")
    return (not pattern or re.fullmatch(pattern, folder) is not None) and not is_part(
        os.path.basename(above or store), name
    )


def part_rules(folder: str, names: Iterable[str]) -> PartRules | None:
    """Return the rules that may apply to transcripts with these names in a folder, whose path ends with a separator.

    None if there are none.
    """
    every = f"\0{os.sep}".join([folder, *names])  # each name with the separator before it: a mark may begin with that

    def may_apply(mark: str) -> bool:
        return mark in every or (os.sep in mark[1:] and folder.endswith(mark[: mark.rindex(os.sep) + 1]))

    parts, lists = _part_rules(AGENTS)
    found = PartRules(
        tuple(rule for rule in parts if may_apply(rule[0])), tuple(rule for rule in lists if may_apply(rule[0]))
    )
    return found if any(found) else None


def parts_changed(path: str, memo: dict[str, Any] | None = None, rules: PartRules | None = None) -> int:
    """Return when other files that belong to a transcript were last changed, in nanoseconds; 0 if there are none.

    `memo`: a cache for the files about many transcripts while these are listed. `rules`: those that may apply.
    """
    latest = 0
    parts, lists = rules or _part_rules(AGENTS)
    for mark, part_at in parts:  # plain loops for speed: a sync calls this for many transcripts
        if mark in path and (part := part_at(path)):
            with suppress(OSError):
                latest = max(latest, os.lstat(part).st_mtime_ns)
    for mark, named in lists:
        if mark in path:
            latest = max(latest, named(path, {} if memo is None else memo))
    return latest


def growing_part(path: str) -> str:
    """Return the file or folder next to a transcript in which it grows; empty if only the transcript itself grows."""
    if is_database(path):
        return path + WAL
    return next(filter(None, (folder(path) for mark, folder in _growing(AGENTS) if mark in path)), "")


def owner_of_part(path: str) -> str:
    """Return the transcript that a file next to it is a part of; empty for any other file."""
    owners = (owner(path) for owner in _owners(AGENTS))
    return next(filter(None, owners), "")


def copied_sessions(files: Iterable["FoundFile"], before: Set[str], cancel: "CancelToken | None" = None) -> set[str]:
    """Return the names of transcripts whose sessions are also in another one of `files`. Raises Cancelled.

    `before`: the names returned last time.
    """
    transcripts = list(files)
    every = "\0".join([file.path for file in transcripts])
    copies: set[str] = set()
    for agent in AGENTS:
        if any(mark in every for mark in agent.with_copies):  # a quick check of all paths
            for find in agent.copies:
                copies |= find(transcripts, before, cancel)
    return copies


def may_have_copies(agents: Iterable[str]) -> bool:
    """Whether one of the agents with these names may have the same session in two transcripts."""
    return any((agent := _by_name(AGENTS).get(name)) is None or bool(agent.copies) for name in agents)


def continued_in(path: str) -> str:
    """Return the transcript that begins with all messages of the one at `path` and continues it; else empty."""
    return next(filter(None, (agent.continued_in(path) for agent in AGENTS if agent.continued_in is not None)), "")


def formats() -> tuple["Formats", ...]:
    """Return the formats of all agents; the first call imports the parsers."""
    return _formats(AGENTS)


def is_export(path: str, head: bytes) -> bool:
    """Whether a file with these first bytes (at most 64 KB) is a downloaded export, by its content alone."""
    families = zip(AGENTS, formats(), strict=True)
    documents = [known for agent, family in families if agent.downloaded for known in family.documents]
    return any(known.matches(path, head) for known in documents)


@functools.cache
def _watched(agents: tuple[Agent, ...], store: str) -> str:
    slashed = store.replace(os.sep, "/")
    return next((agent.watched for agent in agents if any(re.search(end, slashed) for end, _ in agent.stores)), "")


@functools.cache
def _part_rules(agents: tuple[Agent, ...]) -> PartRules:
    marks = [(mark, agent) for agent in agents for mark in agent.with_parts]
    return PartRules(
        (
            *((mark, agent.part_at) for mark, agent in marks if agent.part_at),
            *((one.mark, one.part) for agent in agents for one in agent.beside),
            *_growing(agents),
        ),
        tuple((mark, agent.list_changed) for mark, agent in marks if agent.list_changed),
    )


@functools.cache
def _growing(agents: tuple[Agent, ...]) -> tuple[tuple[str, Callable[[str], str]], ...]:
    return tuple((mark, agent.grows_in) for agent in agents if agent.grows_in for mark in agent.with_parts)


@functools.cache
def _owners(agents: tuple[Agent, ...]) -> tuple[Callable[[str], str], ...]:
    beside = (one.owner for agent in agents for one in agent.beside)
    return (*(agent.part_of for agent in agents if agent.part_of), *beside)


@functools.cache
def _part_names(agents: tuple[Agent, ...]) -> frozenset[tuple[str, str]]:
    return frozenset(part for agent in agents for part in agent.parts)


@functools.cache
def _named_parts(agents: tuple[Agent, ...]) -> re.Pattern[str]:
    return any_of(agent.part_names for agent in agents)


@functools.cache
def _names(agents: tuple[Agent, ...]) -> re.Pattern[str]:
    return any_of([pattern for agent in agents for pattern in (*agent.files, agent.databases)])


@functools.cache
def _databases(agents: tuple[Agent, ...]) -> re.Pattern[str]:
    return any_of([agent.databases for agent in agents])


@functools.cache
def _formats(agents: tuple[Agent, ...]) -> tuple["Formats", ...]:
    from engine.corpus.transcripts.formats import DocumentFormat, Formats, LineFormat

    families = []
    for agent in agents:
        known = [named_format(name, agent.name) for name in agent.formats]
        lines = tuple(one for one in known if isinstance(one, LineFormat))
        documents = tuple(one for one in known if isinstance(one, DocumentFormat))
        databases = tuple(one for one in known if not isinstance(one, LineFormat | DocumentFormat))
        families.append(Formats(lines, documents, databases))
    return tuple(families)
