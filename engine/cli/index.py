"""`mnemoscope index`: bring the index up to date with the notes, or preview that."""

import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from engine.base.cancellation import CancelToken
from engine.base.errors import ProviderError
from engine.base.formatting import dollars, plural, size
from engine.base.private_files import clean_up
from engine.cli.embedding_messages import (
    awaiting_text,
    confirm,
    estimate_text,
    is_interactive,
    left_running,
    provider_problem,
)
from engine.cli.output import (
    LiveLine,
    ProgressLine,
    print_failed,
    print_issues,
    print_json,
    print_table,
    safe,
    spent_text,
)
from engine.cli.workspace import (
    CliWorkspace,
    find_workspace,
    found_session_folders,
    interruptible,
    opened,
    setting_line,
)
from engine.corpus.indexed_folders import MEMORY_FOLDER
from engine.records import (
    EmbeddingEstimate,
    FileIssue,
    ModelFetchProgress,
    Record,
    SyncReport,
    WorkspacePreview,
    to_builtins,
)
from engine.settings import Settings

if TYPE_CHECKING:
    from engine.embedding.provider_interface import EmbeddingProvider
    from engine.memory.memory_interface import MemorySearchManager

_BYTES_PER_TOKEN = 3
"""Bytes per token: about 4 for English notes, fewer for other scripts; passages overlap by a fifth."""
_LAYOUTS = {
    "openclaw": "an agent's workspace: MEMORY.md and the memory folder are indexed",
    "folder": "a folder of notes: all of its notes are indexed",
}


class EmbeddingPreview(Record, frozen=True):
    """Estimate of the text to embed in the next update."""

    problem: str
    """Why nothing would be embedded, in one sentence; empty if something would."""
    indexed: EmbeddingEstimate | None
    """Estimate for the files that are indexed already; None without an index."""
    unread_files: int
    """Notes that are new or have changed since the last update."""
    unread_bytes: int
    unread_tokens: int
    """Approximate number of tokens in these notes."""
    unread_cost: float | None
    """US dollars; None if the price is not known."""
    server: str | None = None
    """The host, if the settings name another one than the provider's own."""

    @property
    def text(self) -> str:
        if self.problem:
            return safe(f"No search by meaning: {self.problem}")
        parts = [] if self.indexed is None else [estimate_text(self.indexed, self.server)]
        if self.unread_files:
            cost = "at an unknown price" if self.unread_cost is None else dollars(self.unread_cost)
            tokens = f"{self.unread_tokens:,} tokens" + ("" if self.unread_cost == 0 else f", {cost}")
            files = f"{plural(self.unread_files, 'file')} not read yet ({size(self.unread_bytes)})"
            parts.append(f"{files}: roughly {tokens}. Sessions are not counted.")
        return "\n".join(parts)


def download_missing_model(settings: Settings, *, agreed: bool, interactive: bool) -> str:
    """Download the model of the settings if it is missing and the user agrees. Returns the error message, else "".

    Raises `Cancelled`.
    """
    if settings.provider != "gguf":
        return ""
    from engine.embedding.gguf_file import missing_model

    model = missing_model(settings)
    if not model or not (agreed or (interactive and is_interactive())):
        return ""
    from engine.embedding.model_download import fetch_model, hub_host  # imports an HTTP client

    try:
        if agreed or _confirm_download(model, hub_host()):
            with interruptible() as token, LiveLine() as line:
                fetch_model(settings, progress=lambda step: line.show(_download_text(step)), cancel=token)
            print(f"Downloaded {safe(model)}.", file=sys.stderr)
    except ProviderError as error:
        return str(error)
    return ""


def _confirm_download(model: str, host: str) -> bool:
    question = f"The model {safe(model)} is not on this machine. Download it from {safe(host)}? [y/N] "
    print(question, end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def _download_text(step: ModelFetchProgress) -> str:
    share = step.received / step.total if step.total else 1
    return f"Downloading {share:.0%} · {size(step.received)} of {size(step.total)} · {safe(step.model)}"


def run(arguments: Namespace) -> int:
    workspace = find_workspace(arguments)
    if arguments.dry_run:
        with interruptible() as token:
            return _preview(workspace, arguments, token)
    if workspace.is_elsewhere and not arguments.json:
        where = f"Indexing {workspace.folder}, the last opened folder; --workspace names another."
        print(safe(where), file=sys.stderr)
    clean_up(workspace.folder, workspace.folder / MEMORY_FOLDER)
    download_problem = download_missing_model(workspace.settings, agreed=arguments.yes, interactive=not arguments.json)
    with opened(workspace) as manager:
        before = manager.status()
        problem = before.index_error
        report = _sync(manager, force=arguments.force, approve=arguments.yes)
        if report.awaiting_approval is not None and not (report.cancelled or arguments.json) and is_interactive():
            if report.error:  # the provider failed: its fallback awaits approval
                print(f"mnemoscope: {report.error}", file=sys.stderr)
            _print_report(report)
            if not confirm(report.awaiting_approval, manager.status().custom.get("server")):
                print("Nothing was embedded; only words are searched.")
                return int(bool(report.error))
            report = _sync(manager, force=False, approve=report.awaiting_approval)
        missing = "" if download_problem else provider_problem(manager.status())
    for message in (problem, missing):
        if message and message != report.error:
            print(f"mnemoscope: {message}", file=sys.stderr)
    if arguments.json:
        print_json(report)
    elif not report.error or report.provider_failed:
        _print_report(report)
        if before.last_sync is None and not report.cancelled:
            with interruptible() as token:
                _print_hints(workspace, report.skipped, arguments.config, token)
    return _print_end(report, download_problem)


def _print_hints(
    workspace: CliWorkspace, skipped: Sequence[FileIssue], config: Path | None, cancel: CancelToken
) -> None:
    """Print how to index more types of files and the sessions of AI agents. Raises `Cancelled`."""
    settings = workspace.settings
    if any(issue.rule == "extension" for issue in skipped):
        print(
            f"To index other types, add them to {setting_line('defaults', 'extensions', settings.extensions, config)}."
        )
    if not settings.sessions.folders and (found := found_session_folders(cancel)):
        line = safe(setting_line("defaults.sessions", "folders", found, config))
        print(f"Sessions of AI agents were found, and are not indexed: add {line}.")


def _sync(manager: "MemorySearchManager", *, force: bool, approve: bool | EmbeddingEstimate) -> SyncReport:
    with interruptible() as token, ProgressLine() as line:
        return manager.sync(reason="cli", force=force, progress=line, cancel=token, approve=approve)


def _print_end(report: SyncReport, download_problem: str) -> int:
    """Print how the update ended, and return the exit code. `download_problem`: why a model is missing, or empty."""
    if report.cancelled:
        message = ("mnemoscope: Stopped. Files indexed so far stay indexed.", left_running(report.batch_jobs))
        print(*filter(None, message), file=sys.stderr)
        return 130
    problems = [
        download_problem,
        report.error,
        awaiting_text(report.awaiting_approval) if report.awaiting_approval else "",
    ]
    if any(problems):
        print("mnemoscope:", *filter(None, problems), file=sys.stderr)
        return 1
    return 0


def _print_report(report: SyncReport) -> None:
    print(
        f"Indexed {plural(report.files_indexed, 'file')} ({plural(report.chunks_indexed, 'passage')}) "
        f"in {report.seconds:.1f} s; {report.files_unchanged:,} unchanged, {report.files_removed:,} removed."
        + (" All files were read again." if report.full else "")
    )
    if report.vectors_embedded or report.vectors_reused or report.vectors_pending:
        print(
            f"Vectors: {report.vectors_embedded:,} new, {report.vectors_reused:,} reused, "
            f"{report.vectors_pending:,} pending."
        )
    if usage := spent_text(report.tokens, report.cost):
        print(f"Spent: {usage}.")
    if message := left_running(report.batch_jobs):
        print(message)
    print_failed(report.failed)
    print_issues("Skipped", report.skipped)


def _preview(workspace: CliWorkspace, arguments: Namespace, token: CancelToken) -> int:
    from engine.indexing.session_workspace_assignment import preview_workspace

    preview = preview_workspace(workspace.folder, workspace.settings, cancel=token)
    embedding = _preview_embedding(workspace, token)
    if arguments.json:
        print_json(to_builtins(preview) | {"embedding": embedding})
    else:
        _print_preview(preview)
        _print_hints(workspace, preview.skipped, arguments.config, token)
        print(embedding.text)
    return 0


def _print_preview(preview: WorkspacePreview) -> None:
    print(f"{safe(preview.workspace)} is {_LAYOUTS[preview.layout]}.")
    print(f"{plural(preview.files, 'file')}, {size(preview.bytes)}, would be indexed; nothing was changed.")
    if preview.session_files:
        print(f"{plural(preview.session_files, 'session file')}, {size(preview.session_bytes)}, would be indexed, too.")
    print_table(
        (plural(folder.files, "file"), f"{size(folder.bytes)}  {safe(folder.path)}") for folder in preview.folders
    )
    print_issues("Skipped", preview.skipped)


def _preview_embedding(workspace: CliWorkspace, cancel: CancelToken) -> EmbeddingPreview:
    """Estimate what the next update would embed. Sends and changes nothing.

    Raises `Cancelled` and the store's errors.
    """
    from engine.embedding.provider_selection import select_provider

    selection = select_provider(workspace.settings, cancel=cancel)
    if selection.provider is None:
        return _preview_without_estimate(selection.unavailable_reason or "it is turned off in the settings.")
    try:
        return _preview_with_estimate(workspace, selection.provider, cancel)
    finally:
        selection.provider.close()


def _preview_with_estimate(
    workspace: CliWorkspace, provider: "EmbeddingProvider", cancel: CancelToken
) -> EmbeddingPreview:
    from engine.corpus.discovery import discover
    from engine.corpus.documents import is_document
    from engine.embedding.consent import server_of
    from engine.indexing.cost_estimate import estimate
    from engine.store.index import IndexStore
    from engine.store.index_paths import index_files

    found = discover(workspace.folder, workspace.settings, cancel=cancel).files
    files = index_files(workspace.folder, workspace.settings.store.path)
    known, indexed = {}, None
    if files.database.exists():
        store = IndexStore(files)
        try:
            with store.read(cancel) as snapshot:
                known = snapshot.files("memory")
                indexed = estimate(snapshot, provider, workspace.settings, cancel).estimate
        finally:
            store.close()
    unread = [
        (file.name, file.size)
        for file in found
        if file.name not in known or (file.size, file.mtime_ns) != (known[file.name].size, known[file.name].mtime_ns)
    ]
    tokens = sum(size for name, size in unread if not is_document(name)) // _BYTES_PER_TOKEN
    return EmbeddingPreview(
        problem="",
        indexed=indexed,
        unread_files=len(unread),
        unread_bytes=sum(size for _, size in unread),
        unread_tokens=tokens,
        unread_cost=None if provider.price is None else tokens * provider.price / 1_000_000,
        server=server_of(workspace.settings, provider.id),
    )


def _preview_without_estimate(problem: str) -> EmbeddingPreview:
    return EmbeddingPreview(
        problem=problem, indexed=None, unread_files=0, unread_bytes=0, unread_tokens=0, unread_cost=0.0
    )
