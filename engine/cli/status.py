"""`mnemoscope status`: print what the index contains and which of its parts are degraded."""

import time
from argparse import Namespace
from collections.abc import Iterator

from engine.base.formatting import plural, size
from engine.cli.embedding_messages import batch_lines, privacy_lines
from engine.cli.output import print_failed, print_issues, print_json, safe, spent_text
from engine.cli.workspace import CliWorkspace, find_workspace, opened
from engine.records import MemoryProviderStatus, Probe, VectorStatus, to_builtins

_MAX_SCRIPTS = 4
_ON = {True: "enabled", False: "disabled"}


def run(arguments: Namespace) -> int:
    workspace = find_workspace(arguments)
    with opened(workspace) as manager:
        probes: dict[str, Probe] = {}
        if arguments.deep:
            probes = {"embeddingProbe": manager.probe_embedding(), "vectorProbe": manager.probe_vector()}
        status = manager.status()
    if arguments.json:
        print_json(to_builtins(status) | to_builtins(probes))
        return 0
    lines = [
        *_about_workspace(status, workspace),
        *_about_search(status),
        *_about_probes(probes),
        *_about_syncs(status),
    ]
    lines += [("Degraded", f"{part.part}: {part.reason} {part.remedy}".rstrip()) for part in status.degraded]
    width = max(len(label) for label, _ in lines) + 1
    for label, text in lines:
        print(f"{label + ':':<{width}}  {safe(text)}")
    print_failed(status.failed_files)
    print_issues("Skipped", status.skipped_files)
    return 0


def _about_workspace(status: MemoryProviderStatus, workspace: CliWorkspace) -> Iterator[tuple[str, str]]:
    yield "Workspace", f"{status.workspace_dir} (from {workspace.origin})"
    if status.extra_paths:
        yield "Extra paths", ", ".join(status.extra_paths)
    yield "Sources", ", ".join(status.sources)
    yield "Backend", status.backend
    if status.fallback and "fallback" in status.custom:
        yield "Fallback", f"instead of {status.fallback.from_}: {status.fallback.reason}"
    yield "Indexed", f"{plural(status.files, 'file')} · {plural(status.chunks, 'passage')}"
    for count in status.source_counts:
        yield f"  {count.source}", f"{plural(count.files, 'file')} · {plural(count.chunks, 'passage')}"
    last = status.last_sync
    # A command watches no files, but knows how the last update ended.
    unfinished = last is None or last.cancelled or last.error
    remedy = "another program is updating it" if status.writer_elsewhere else "run mnemoscope index"
    yield "Out of date", f"yes: {remedy}" if status.dirty or unfinished else "no"
    total = status.sizes.database + status.sizes.wal + status.sizes.matrix
    yield "Store", f"{status.db_path} ({size(total)}, generation {status.generation})"
    if status.index_error:
        yield "Index error", status.index_error
    if status.user_data is not None:
        advice = "" if status.user_data.backup is None else " To restore a backup, run mnemoscope doctor --repair."
        yield "Facts and saved searches", f"{status.user_data.problem}{advice}"


def _about_search(status: MemoryProviderStatus) -> Iterator[tuple[str, str]]:
    yield "Provider", f"{status.provider} (requested: {status.requested_provider})"
    if reason := status.custom.get("providerUnavailableReason"):
        yield "Unavailable", str(reason)
    if problem := status.custom.get("providerError"):
        yield "Last failure", str(problem)
    if status.fallback and "fallback" not in status.custom:
        yield "Fallback", f"from {status.fallback.from_}: {status.fallback.reason}"
    if status.model:
        yield "Model", status.model
    yield from privacy_lines(status)
    if scripts := status.custom.get("unknownScripts"):
        rest = f" and {len(scripts) - _MAX_SCRIPTS:,} more scripts" if len(scripts) > _MAX_SCRIPTS else ""
        yield "Unknown to the model", f"{', '.join(scripts[:_MAX_SCRIPTS])}{rest} (found by words only)"
    yield "Keywords", _state(status.fts.enabled, status.fts.available, status.fts.error)
    yield "Vectors", _vectors(status.vector, status.pending_vectors)
    if status.vector.enabled and status.vector.requested and status.vector.dims and (reason := _engine(status.vector)):
        yield "Vector search method", reason
    cache = status.cache
    limit = f" of at most {cache.max_entries:,}" if cache.max_entries else ""
    yield "Vector cache", f"{_ON[cache.enabled]} ({cache.entries:,}{limit}, {size(cache.bytes)})"
    for model in cache.models:
        use = ", in use" if model.active else ""
        yield f"  {model.provider}", f"{model.model}: {plural(model.vectors, 'vector')}, {size(model.bytes)}{use}"
    yield from batch_lines(status.batch)


def _about_probes(probes: dict[str, Probe]) -> Iterator[tuple[str, str]]:
    labels = {"embeddingProbe": "Embedding test", "vectorProbe": "sqlite-vec test"}
    for name, probe in probes.items():
        yield labels[name], _state(True, probe.ok, probe.error)


def _about_syncs(status: MemoryProviderStatus) -> Iterator[tuple[str, str]]:
    if status.writer_elsewhere:
        yield "Writing now", "another program"
    last = status.last_sync
    if last is None:
        yield "Last update", "never"
        return
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(last.started))
    outcome = last.error or ("stopped early" if last.cancelled else f"{plural(last.files_indexed, 'file')} indexed")
    usage = spent_text(last.tokens, last.cost)
    yield "Last update", f"{when}, {last.seconds:.1f} s, {last.reason}: {outcome}{usage and f'; {usage}'}"


def _state(enabled: bool, available: bool | None, problem: str | None) -> str:
    if not enabled:
        return "disabled"
    word = {True: "ready", False: "unavailable", None: "not tried yet"}[available]
    return f"{word}: {problem}" if problem else word


def _vectors(vector: VectorStatus, pending: int) -> str:
    if not vector.enabled or not (vector.dims or vector.rows):
        return f"off: {vector.load_error or 'no search by meaning'}"
    dims = f", {vector.dims} dimensions" if vector.dims else ""
    text = f"{vector.rows:,} searched with {vector.engine}{dims}"
    return f"{text}; {pending:,} pending" if pending else text


def _engine(vector: VectorStatus) -> str:
    """Return why this engine is in use; a library that can't be loaded is only named if it is needed."""
    return " ".join(filter(None, (vector.reason, (vector.load_error or "") if vector.needs_extension else "")))
