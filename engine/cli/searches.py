"""`mnemoscope searches`, and `search --saved NAME`: the searches that were saved in the window."""

import contextlib
import shlex
import time
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, cast

import msgspec

from engine.base.cancellation import CancelToken
from engine.base.errors import MnemoscopeError, StoreError
from engine.cli.output import print_json, print_table, safe
from engine.cli.workspace import (
    CliWorkspace,
    all_known_workspaces,
    find_workspace,
    interruptible,
    memory_of,
    opened,
    refuse_unreadable,
    search_all,
)
from engine.corpus.globs import literal_glob
from engine.records import EarlierQuery, QueryRecord, SearchOutcome, cite
from engine.records.workspaces import split_name

if TYPE_CHECKING:
    from engine.memory.memory_interface import MemorySearchManager
    from engine.memory.search_requests import SearchOptions

_DAY = 86_400


def run(arguments: Namespace) -> int:
    workspace = find_workspace(arguments)
    with interruptible(), opened(workspace) as manager:
        refuse_unreadable(manager.saved_searches.problem)
        saved = manager.saved_searches.saved()
    names = any(split_name(search.query.path)[0] for search in saved)
    folders = {known.name: known.folder for known in all_known_workspaces(workspace, arguments.config)} if names else {}
    if arguments.json:
        print_json({"searches": saved})
    elif not saved:
        print("No searches are saved yet: in the window, Ctrl+S saves the current search.")
    else:
        print_table((safe(search.name), safe(" ".join(_command_line(search.query, folders)))) for search in saved)
    return 0


def run_saved(
    manager: "MemorySearchManager",
    workspace: CliWorkspace,
    name: str,
    options: "SearchOptions",
    cancel: CancelToken,
    config: Path | None,
) -> SearchOutcome:
    """Run the search of this name; `options` replace the saved ones.

    Raises `MnemoscopeError` if there is no such search, or the workspace of its file was deleted.
    """
    saved_searches = manager.saved_searches
    query = next((search.query for search in saved_searches.saved() if search.name == name), None)
    if query is None:
        refuse_unreadable(saved_searches.problem)
        raise MnemoscopeError(f"No saved search is named “{name}”: see mnemoscope searches.")
    with contextlib.suppress(StoreError):  # the search can still be run on a full disk
        saved_searches.touch(name)
    overrides = cast("SearchOptions", {option: value for option, value in options.items() if value not in (None, ())})
    outcome = _run_query(manager, workspace, query, overrides, cancel, config)
    if query.order == "date":
        newest = sorted(outcome.results, key=lambda result: -result.modified)
        outcome = msgspec.structs.replace(outcome, results=tuple(newest))
    return outcome


def _run_query(
    manager: "MemorySearchManager",
    workspace: CliWorkspace,
    query: QueryRecord,
    overrides: "SearchOptions",
    cancel: CancelToken,
    config: Path | None,
) -> SearchOutcome:
    """Run a saved query here, in all workspaces, or in the workspace of its file; `overrides` replace its options."""
    replace = msgspec.structs.replace
    if "path_glob" in overrides:
        query = replace(query, path="")
    like = query.like
    if query.all_workspaces and like is None and not query.path:
        return search_all(manager, workspace, query.text, {**_options(query), **overrides}, cancel, config)
    with memory_of(query.path or (like.path if like else ""), manager, workspace, config) as (memory, path, folder):
        options: SearchOptions = {**_options(replace(query, path=path if query.path else "")), **overrides}
        if like is None:
            outcome = memory.search(query.text, cancel=cancel, **options)
        else:
            passage = replace(like, path=split_name(like.path)[1])
            outcome = memory.search_like(passage, cancel=cancel, **options)
    if not folder:
        return outcome
    return replace(outcome, results=tuple(replace(result, workspace=folder) for result in outcome.results))


def _options(query: QueryRecord) -> "SearchOptions":
    """Return the saved query's options, except its text or passage."""
    earlier = tuple(
        EarlierQuery(
            query=level.text,
            like=level.like,
            half_life_days=level.half_life_days,
            sources=level.sources,
            path_glob=literal_glob(level.path) if level.path else None,
            since=None if level.days is None else time.time() - level.days * _DAY,
        )
        for level in _levels(query)
    )
    last = earlier[-1]
    return {
        "sources": last.sources,
        "path_glob": last.path_glob,
        "since": last.since,
        "half_life_days": query.half_life_days,
        "diverse": query.diverse,
        "within": earlier[:-1],
    }


def _levels(query: QueryRecord) -> list[QueryRecord]:
    """Return the query and its scopes, the widest first."""
    return [*([] if query.within is None else _levels(query.within)), query]


def _command_line(query: QueryRecord, folders: Mapping[str, str]) -> list[str]:
    """Return the query as command-line words; `folders` of other workspaces by name."""
    like = query.like
    if like is None:
        words = [shlex.quote(query.text)]
    else:
        words = ["--like", shlex.quote(cite(like.path, like.start_line, like.end_line))]
    for source in query.sources or ():
        words += ["--source", source]
    if query.days is not None:
        words += ["--since", f"{query.days}d"]
    workspace, path = split_name(query.path)
    if workspace:
        words += ["--workspace", shlex.quote(folders.get(workspace, workspace))]
    if path:
        words += ["--path", shlex.quote(literal_glob(path))]
    elif query.all_workspaces and like is None:
        words.append("--all-workspaces")
    for level in _levels(query)[:-1]:
        words += ["--within", shlex.quote(level.text)] if level.text else []
    if query.half_life_days is not None:
        words += ["--half-life-days", f"{query.half_life_days:g}"]
    if query.diverse is not None:
        words.append("--diverse" if query.diverse else "--no-diverse")
    return words
