"""Checks of the index's location, writer lock, watcher, user data and extension."""

from engine.base.language import marked, tr
from engine.insight.health.health_check import UPDATE, Subject, degraded, failed, fine
from engine.records import HealthFinding, WatcherStatus
from engine.store.index import IndexStore
from engine.store.index_paths import on_network_drive
from engine.store.user_data import UserData

_ELSEWHERE = marked("Choose a folder on this computer's own disk for store.path in the settings.")
USER_DATA = "user-data"
RESTORE = marked("Restore backup")


def check_index(store: IndexStore) -> HealthFinding:
    id_, name = "index", tr("Index")
    if store.recovered:
        return degraded(id_, name, store.recovered, repair=tr(UPDATE))
    if store.read_only:
        return degraded(id_, name, store.read_only)
    if on_network_drive(store.files.folder):
        lies = tr("The index is on a network drive, where it could be damaged: {folder}.", folder=store.files.folder)
        return degraded(id_, name, lies, advice=tr(_ELSEWHERE))
    return fine(id_, name, str(store.files.database))


def check_writer(store: IndexStore, *, updating: bool) -> HealthFinding:
    """Report whether another program holds the writer lock.

    The system releases the lock of a dead process, so its owner is running.
    """
    id_, name = "writing", tr("Write access to the index")
    if updating:
        return fine(id_, name, tr("This program is updating the index."))
    if store.locked_elsewhere():
        other = tr("Another program is writing the index; repairs here wait until it has finished.")
        return degraded(id_, name, other, advice=tr("Wait until the other program has finished, or close it."))
    return fine(id_, name, tr("No other program writes the index."))


def check_user_data(data: UserData) -> HealthFinding:
    data.recent_syncs(1)
    status = data.status()
    if status is None:
        return fine(USER_DATA, tr("Facts and saved searches"), str(data.path))
    return failed(
        USER_DATA, tr("Facts and saved searches"), status.problem, repair="" if status.backup is None else tr(RESTORE)
    )


def check_watcher(watcher: WatcherStatus, *, watching: bool) -> HealthFinding:
    id_, name = "watching", tr("Watching")
    if not watching:
        return fine(id_, name, tr("Watching the folders is switched off in the settings."))
    if watcher.error or not watcher.enabled:
        return degraded(id_, name, watcher.error or tr("The folders are not watched."))
    if watcher.mode == "polling":
        seldom = tr("The folders are scanned every few seconds: the system reports no changes.")
        return degraded(id_, name, seldom)
    return fine(id_, name, tr("The system reports changes in the folders."))


def check_extension(subject: Subject) -> HealthFinding:
    """Check whether sqlite-vec can be loaded. A failure is reported even if the current settings don't need it."""
    probe = subject.vectors.probe()
    if probe.ok:
        return fine("sqlite-vec", "sqlite-vec", tr("sqlite-vec can be loaded."))
    if not subject.prefers_table():
        return fine(
            "sqlite-vec", "sqlite-vec", tr("{problem} The current settings don't need it.", problem=probe.error)
        )
    return degraded(
        "sqlite-vec", "sqlite-vec", tr("{problem} Vectors are compared in memory instead.", problem=probe.error)
    )
