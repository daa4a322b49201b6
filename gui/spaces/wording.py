"""What is said of a workspace."""

from engine import KnownWorkspace, WorkspaceState
from gui.widgets.wording import ago, counted, size_text

AWAY = "Its folder is not there"
NOT_INDEXED = "Not indexed yet"
LOOKING = "Looking at its index…"


def state_text(known: KnownWorkspace, state: WorkspaceState | None) -> str:
    """How it stands with it, in a few words; `state` None: nobody has looked yet."""
    if not known.present:
        return AWAY
    if not known.index_bytes:
        return NOT_INDEXED
    if state is None:
        return LOOKING
    if state.problem:
        return state.problem
    waiting = f"{counted(state.pending_vectors, 'passage')} to embed" if state.pending_vectors else ""
    synced = f"synced {ago(state.last_sync.started + state.last_sync.seconds)}" if state.last_sync else "never synced"
    return " · ".join(part for part in (counted(state.files, "file"), waiting, synced) if part)


def forgetting(known: KnownWorkspace) -> str:
    """What forgetting it means."""
    return (
        f"Forget {known.name}? It is no longer listed or searched until you open it again. Its notes stay as they are, "
        "and so do its facts and saved searches. Sessions that were kept there go to other workspaces when these are "
        "synced."
    )


def removing(known: KnownWorkspace) -> str:
    return f"Remove its index as well ({size_text(known.index_bytes)})"


def forgotten(known: KnownWorkspace, freed: int) -> str:
    """Afterwards."""
    gone = f" Its index is gone, which took {size_text(freed)}." if freed else ""
    return f"{known.name} is forgotten.{gone}"
