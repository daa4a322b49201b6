"""The part of `mnemoscope index --dry-run` about embedding: exact for indexed files, rough for others."""

from collections.abc import Mapping

from engine.base.cancellation import CancelToken
from engine.base.formatting import dollars, plural, size
from engine.cli.embedding_messages import estimate_text
from engine.cli.output import safe
from engine.cli.workspace import CliWorkspace
from engine.corpus.discovery import discover
from engine.corpus.documents import is_document
from engine.embedding.consent import server_of
from engine.embedding.provider_interface import EmbeddingProvider
from engine.embedding.provider_selection import select_provider
from engine.indexing.cost_estimate import estimate
from engine.records import EmbeddingEstimate, Record
from engine.store.index import IndexStore
from engine.store.index_paths import index_files
from engine.store.snapshot import StoredFile

_BYTES_A_TOKEN = 3
"""Bytes per token: about 4 for English notes, fewer for other scripts; passages overlap by a fifth."""


class EmbeddingPreview(Record, frozen=True):
    """Estimate of what the next update would embed."""

    problem: str
    """Why nothing would be embedded, one sentence; empty where something would."""
    indexed: EmbeddingEstimate | None
    """Estimate for the files that are indexed already; None without an index."""
    unread_files: int
    """Notes that are new or have changed since the last update."""
    unread_bytes: int
    unread_tokens: int
    """Approximate number of tokens in these notes."""
    unread_cost: float | None
    """US dollars; None where the price is not known."""
    server: str | None = None
    """The host, if the settings name another than the provider's own."""

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


def preview_embedding(workspace: CliWorkspace, *, cancel: CancelToken) -> EmbeddingPreview:
    """Estimate what the next update would embed. Sends and changes nothing.

    Raises `Cancelled` and the store's errors.
    """
    selection = select_provider(workspace.settings, cancel=cancel)
    if selection.provider is None:
        return _nothing(selection.unavailable_reason or "it is turned off in the settings.")
    try:
        return _preview(workspace, selection.provider, cancel)
    finally:
        selection.provider.close()


def _preview(workspace: CliWorkspace, provider: EmbeddingProvider, cancel: CancelToken) -> EmbeddingPreview:
    there = discover(workspace.folder, workspace.settings, cancel=cancel).files
    files = index_files(workspace.folder, workspace.settings.store.path)
    known: Mapping[str, StoredFile] = {}
    indexed = None
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
        for file in there
        if file.name not in known or (file.size, file.mtime_ns) != (known[file.name].size, known[file.name].mtime_ns)
    ]
    tokens = sum(size for name, size in unread if not is_document(name)) // _BYTES_A_TOKEN
    return EmbeddingPreview(
        problem="",
        indexed=indexed,
        unread_files=len(unread),
        unread_bytes=sum(size for _, size in unread),
        unread_tokens=tokens,
        unread_cost=None if provider.price is None else tokens * provider.price / 1_000_000,
        server=server_of(workspace.settings, provider.id),
    )


def _nothing(problem: str) -> EmbeddingPreview:
    return EmbeddingPreview(
        problem=problem, indexed=None, unread_files=0, unread_bytes=0, unread_tokens=0, unread_cost=0.0
    )
