"""Where the index lies, who writes it, what watches over it, and what cannot be rebuilt."""

from engine.insight.health.findings import UPDATE, degraded, failed, fine
from engine.insight.health.subject import Subject
from engine.records import HealthFinding, WatcherStatus
from engine.store.drives import on_network_drive
from engine.store.index import IndexStore
from engine.store.user_data import UserData

_ELSEWHERE = "Choose a folder on this computer's own disk for store.path in the settings."
_BEGIN_ANEW = "Move it away; a new one is begun at the next start."


def look_at_index(store: IndexStore) -> HealthFinding:
    id_, name = "index", "Index"
    if store.recovered:
        return degraded(id_, name, store.recovered, repair=UPDATE)
    if store.read_only:
        return degraded(id_, name, store.read_only)
    if on_network_drive(store.files.folder):
        lies = f"It lies on a network drive, where it could be damaged: {store.files.folder}."
        return degraded(id_, name, lies, advice=_ELSEWHERE)
    return fine(id_, name, str(store.files.database))


def look_at_writer(store: IndexStore, *, updating: bool) -> HealthFinding:
    """The system takes the lock from a process that dies, so that one who holds it is alive."""
    if updating:
        return fine("writing", "Writing", "This program is updating the index.")
    if store.locked_elsewhere():
        other = "Another program is writing the index; what is repaired here waits until it has finished."
        return degraded("writing", "Writing", other, advice="Let it finish, or close it.")
    return fine("writing", "Writing", "No other program writes the index.")


def look_at_user_data(data: UserData, store: IndexStore) -> HealthFinding:
    data.recent_syncs(1)
    if data.problem:
        return failed("user-data", "Your data", data.problem, advice=_BEGIN_ANEW)
    return fine("user-data", "Your data", str(store.files.user))


def look_at_watcher(watcher: WatcherStatus, *, wanted: bool) -> HealthFinding:
    id_, name = "watching", "Watching"
    if not wanted:
        return fine(id_, name, "The settings say not to watch the folders.")
    if watcher.error or not watcher.enabled:
        return degraded(id_, name, watcher.error or "The folders are not watched.")
    if watcher.mode == "polling":
        return degraded(id_, name, "The folders are looked through every few seconds: the system tells of no changes.")
    return fine(id_, name, "The system tells of changes in the folders.")


def look_at_extension(subject: Subject) -> HealthFinding:
    """sqlite-vec: needed only where the settings choose it, but told wherever it fails."""
    probe = subject.vectors.probe()
    if probe.ok:
        return fine("sqlite-vec", "sqlite-vec", "It can be loaded.")
    if subject.settings.store.vector.engine != "sqlite-vec":
        return fine("sqlite-vec", "sqlite-vec", f"{probe.error} It is not needed with these settings.")
    return degraded("sqlite-vec", "sqlite-vec", f"{probe.error} Vectors are compared in memory instead.")
