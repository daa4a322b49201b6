"""`mnemoscope doctor`: checks everything that a search needs, and shows how to fix problems.

With a path, it only explains why a search finds that file or not; the exit code is 1 if there is no such file or it
couldn't be read. Without `--repair`, it changes no more than opening the index does for every verb.
"""

import os
from argparse import Namespace
from collections.abc import Iterator
from datetime import datetime

import msgspec

from engine.base.cancellation import CancelToken
from engine.base.errors import BackendError, Cancelled, Closed, MnemoscopeError, StoreError
from engine.base.formatting import plural, size
from engine.cli.embedding_messages import awaiting_text
from engine.cli.output import StepLine, print_issues, print_json, print_table, safe
from engine.cli.workspace import CliWorkspace, find_workspace, interruptible, opened
from engine.corpus.transcripts.session_stores import find_transcripts
from engine.embedding.provider_selection import select_provider
from engine.insight.health import provider, sources
from engine.insight.health.database import check_user_data
from engine.insight.health.health_check import UPDATE, degraded, failed, fine
from engine.memory.memory_interface import MemorySearchManager, insight_of
from engine.records import HealthFinding, PathState
from engine.settings import settings_path
from engine.store.connection import read_only_message
from engine.store.index_paths import index_files

_NAME_WIDTH = 25
_INDEX = "Run mnemoscope index."


def explain(workspace: CliWorkspace, arguments: Namespace) -> int:
    """Print the status of a path. A path that doesn't exist is also looked up in the current directory."""
    with interruptible() as token, opened(workspace) as manager:
        state = manager.explain_path(arguments.path, config=arguments.config, cancel=token)
        here = os.path.abspath(arguments.path)
        in_subfolder = os.path.dirname(state.path) and not os.path.dirname(arguments.path)  # found by its name alone
        if (state.state == "missing" or in_subfolder) and os.path.lexists(here):
            state = manager.explain_path(here, config=arguments.config, cancel=token)
    code = int(state.state in ("missing", "failed"))
    if arguments.json:
        print_json(state)
        return code
    print(f"{state.state}  {safe(state.path or state.file)}")
    print(safe(state.sentence))
    print_table((name, safe(value)) for name, value in _details(state))
    if state.contents is not None:
        print_issues("Skipped", state.contents.skipped)
    return code


def _details(state: PathState) -> Iterator[tuple[str, str]]:
    if state.title:
        yield "Title", state.title
    if state.rule:
        yield "Rule", state.rule
    if state.origin is not None and state.origin.key:
        yield "Setting", f"{state.origin.key} = {state.origin.value}"
    if state.modified is not None:
        changed = datetime.fromtimestamp(state.modified).strftime("%Y-%m-%d %H:%M:%S")
        vectors = "" if state.vectors is None else f", {plural(state.vectors, 'vector')}"
        yield "In the index", f"{plural(state.chunks, 'passage')}{vectors}, {size(state.size)}, changed {changed}"


def run(arguments: Namespace) -> int:
    workspace = find_workspace(arguments)
    if arguments.path is not None:
        return explain(workspace, arguments)
    with interruptible() as token:
        repaired = _repair(workspace, token) if arguments.repair else ()
        if not arguments.json:
            for sentence in repaired:
                print(f"Repaired: {safe(sentence)}")
        findings = []
        for finding in _findings(workspace, arguments, token):
            findings.append(finding)
            if not arguments.json:
                _print(finding)
    if arguments.json:
        print_json({"checks": findings, "repaired": repaired})
    return int(any(finding.state == "failed" for finding in findings))


def _print(finding: HealthFinding) -> None:
    text = safe(f"{finding.detail} {finding.advice}")
    print(f"{finding.state:<8}  {safe(finding.name):<{_NAME_WIDTH}}  {text}".rstrip(), flush=True)


def _findings(workspace: CliWorkspace, arguments: Namespace, token: CancelToken) -> Iterator[HealthFinding]:
    yield fine("settings", "Settings", str(arguments.config or settings_path()))
    if _has_no_index(workspace):
        yield from _without_index(workspace, token)
        return
    try:
        with opened(workspace) as manager, StepLine() as line:
            if workspace.settings.backend != "builtin":
                yield _check_backend(manager, token)
            insight = manager.insight
            if insight is None:
                yield fine("inside", "Inspection", manager.unsupported["insight"])
                yield _with_command(check_user_data(manager.user_data), manager)
                yield from sources.check_stores(
                    workspace.settings, find_transcripts(workspace.settings, cancel=token), {}
                )
                return
            for finding in insight.health(token, probe=True, deep=arguments.deep, progress=line):
                line.clear()
                yield _with_command(finding, manager)
    except (Cancelled, Closed):
        raise
    except (StoreError, BackendError) as error:
        yield failed("index", "Index", str(error))


def _has_no_index(workspace: CliWorkspace) -> bool:
    """Whether the built-in engine is configured and has no index to check."""
    files = index_files(workspace.folder, workspace.settings.store.path)
    return workspace.settings.backend == "builtin" and not files.database.exists()


def _check_backend(manager: MemorySearchManager, token: CancelToken) -> HealthFinding:
    """Test the backend with a request."""
    manager.search("memory", mode="keyword", max_results=1, cancel=token)
    status = manager.status()
    if status.fallback is not None:
        instead = f"{status.fallback.reason} The built-in index answers instead of {status.fallback.from_}."
        return failed("backend", "Backend", instead)
    if status.index_error:
        return degraded("backend", "Backend", status.index_error)
    contents = f"{plural(status.files, 'file')}, {plural(status.chunks, 'passage')} in {status.db_path}"
    if status.dirty or status.last_sync is None:
        return degraded("backend", "Backend", f"{status.backend}: {contents}, not up to date.", advice=_INDEX)
    return fine("backend", "Backend", f"{status.backend}: {contents}")


def _without_index(workspace: CliWorkspace, token: CancelToken) -> Iterator[HealthFinding]:
    folder = index_files(workspace.folder, workspace.settings.store.path).folder
    existing = next(parent for parent in (folder, *folder.parents) if parent.exists())
    if os.access(existing, os.W_OK):
        yield degraded("index", "Index", "There is no index of this folder yet.", advice=_INDEX)
    else:
        yield failed("index", "Index", read_only_message(folder))
    yield from sources.check_stores(workspace.settings, find_transcripts(workspace.settings, cancel=token), {})
    yield from provider.check_keys(workspace.settings)
    selection = select_provider(workspace.settings, cancel=token)
    try:
        yield provider.check_provider(workspace.settings, selection, None, token, probe=True)
    finally:
        if selection.provider is not None:
            selection.provider.close()


def _with_command(finding: HealthFinding, manager: MemorySearchManager) -> HealthFinding:
    """Add the command that corresponds to the window's button."""
    if finding.repair:
        advice = _INDEX if finding.repair == UPDATE else "Run mnemoscope doctor --repair."
        return msgspec.structs.replace(finding, advice=advice)
    if finding.id == "meaning" and finding.advice and (estimate := manager.status().awaiting_approval) is not None:
        return msgspec.structs.replace(finding, detail=awaiting_text(estimate), advice="")
    return finding


def _repair(workspace: CliWorkspace, token: CancelToken) -> tuple[str, ...]:
    """Repair the index, then complete it from the notes. Returns the repairs, as sentences."""
    if _has_no_index(workspace):
        return ()
    with opened(workspace) as manager, StepLine() as line:
        if manager.insight is None and manager.user_data.problem:
            return (manager.user_data.restore(),)
        repairs = insight_of(manager).repair(cancel=token, progress=line)
    if repairs.problem:
        raise MnemoscopeError(" ".join((*repairs.done, repairs.problem)))
    return repairs.done
