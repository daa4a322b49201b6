"""Texts about a workspace."""

from engine import KnownWorkspace, WorkspaceState, marked, tr, tr_count
from gui.widgets.formatting import ago, size_text

AWAY = marked("Folder missing")
NOT_INDEXED = marked("Not indexed yet")
LOOKING = marked("Looking at its index…")


def state_text(known: KnownWorkspace, state: WorkspaceState | None) -> str:
    """Its state in a few words; `state` None: not read yet."""
    if not known.present:
        return tr(AWAY)
    if not known.index_bytes:
        return tr(NOT_INDEXED)
    if state is None:
        return tr(LOOKING)
    if state.problem:
        return state.problem
    files, left, last = state.files, state.pending_vectors, state.last_sync
    said = [tr_count("{count:,} file", "{count:,} files", files)]
    if left:
        said.append(tr_count("{count:,} passage to embed", "{count:,} passages to embed", left))
    said.append(tr("updated {when}", when=ago(last.started + last.seconds)) if last else tr("never updated"))
    return " · ".join(said)


def forgetting(known: KnownWorkspace) -> str:
    """What forgetting it means."""
    return tr(
        "Forget {name}? It is no longer listed or searched until you open it again. Its notes stay unchanged, and so "
        "do its facts and saved searches. Its sessions pass to other workspaces at their next update.",
        name=known.name,
    )


def removing(known: KnownWorkspace) -> str:
    return tr("Remove its index as well ({size})", size=size_text(known.index_bytes))


def forgotten(known: KnownWorkspace, freed: int) -> str:
    """Afterwards."""
    if freed:
        size = size_text(freed)
        return tr("{name} is forgotten. Its index is gone, which took {size}.", name=known.name, size=size)
    return tr("{name} is forgotten.", name=known.name)
