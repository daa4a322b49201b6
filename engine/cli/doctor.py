"""`mnemoscope doctor`: looks at everything that a search needs, and says what to do about what is wrong.

With a path it says instead why that file is found, or not.

Without `--repair` nothing is changed beyond what opening the index does for every verb.
"""

from argparse import Namespace
from collections.abc import Iterator
from contextlib import closing

from engine.backends.model_library import still_awaiting
from engine.cli.checks import INDEX, Check, degraded, failed, fine
from engine.cli.embedding import awaiting_text
from engine.cli.explaining import explain
from engine.cli.opening import Place, find_place, interruptible, opened
from engine.cli.output import plural, print_json, safe
from engine.cli.progress import ProgressLine
from engine.cli.provider_checks import check_provider
from engine.cli.session_checks import check_stores, check_transcripts
from engine.control import CancelToken
from engine.corpus.discovery import discover
from engine.corpus.transcripts.stores import FoundTranscripts, find_transcripts
from engine.embedding.registry import select_provider
from engine.errors import IndexBusy, IndexCorrupt, MnemoscopeError, StoreError
from engine.settings import settings_path
from engine.store import doctor, models
from engine.store.index import IndexStore
from engine.store.location import IndexFiles, index_files
from engine.store.models import ModelName
from engine.store.snapshot import Snapshot
from engine.store.user_data import UserData
from engine.store.vectors import VectorIndex
from engine.sync.estimating import name_of

_DATABASE = "Database file"
_NAME_WIDTH = 14
_REPAIR = "Run mnemoscope doctor --repair."


def run(arguments: Namespace) -> int:
    place = find_place(arguments)
    if arguments.path is not None:
        return explain(place, arguments)
    files = index_files(place.folder, place.settings.store.path)
    with interruptible() as token:
        repaired = _repair(place, files, token) if arguments.repair else []
        found = find_transcripts(place.settings, cancel=token)
        checks = [
            fine("Settings", str(arguments.config or settings_path())),
            *check_stores(place.settings, found),
            *_check_index(place, files, found, token),
            *_check_user_data(files),
            *check_provider(place.settings, token),
        ]
    if arguments.json:
        print_json({"checks": checks, "repaired": repaired})
    else:
        for sentence in repaired:
            print(f"Repaired: {safe(sentence)}")
        width = max(_NAME_WIDTH, *(len(check.name) for check in checks))
        for check in checks:
            print(f"{check.state:<8}  {safe(check.name):<{width}}  {safe(f'{check.detail} {check.advice}')}".rstrip())
    return int(any(check.state == "failed" for check in checks))


def _check_index(place: Place, files: IndexFiles, found: FoundTranscripts, token: CancelToken) -> Iterator[Check]:
    if not files.database.exists():
        yield degraded("Index", "There is no index of this folder yet.", INDEX)
        return
    try:
        store = IndexStore(files)
    except MnemoscopeError as error:
        yield failed("Index", str(error))
        return
    try:
        if store.recovered:
            yield degraded("Index", store.recovered, INDEX)
        elif store.read_only:
            yield degraded("Index", store.read_only, "")
        else:
            yield fine("Index", str(files.database))
        yield from map(_check_finding, doctor.check(store))
        with store.read(token) as snapshot:
            yield _check_notes(place, snapshot, token)
            yield check_transcripts(place.settings, found, snapshot)
            yield from _check_issues(snapshot)
            yield from _check_refused(snapshot)
            yield from _check_pending(place, files, snapshot)
        yield _check_extension(place, store)
    except IndexCorrupt as damage:
        yield failed(_DATABASE, str(damage), _REPAIR)
    finally:
        store.close()


def _check_user_data(files: IndexFiles) -> Iterator[Check]:
    if not files.user.exists():
        return
    try:
        data = UserData(files.user, read_only=True)
        data.recent_syncs(1)
        data.close()
    except MnemoscopeError as error:
        yield failed("Your data", str(error))
        return
    yield failed("Your data", data.problem) if data.problem else fine("Your data", str(files.user))


def _check_finding(finding: doctor.Finding) -> Check:
    if not finding.problem:
        return fine(finding.name)
    if finding.name == _DATABASE:
        return failed(finding.name, finding.problem, _REPAIR)
    return degraded(finding.name, finding.problem, _REPAIR)


def _check_notes(place: Place, snapshot: Snapshot, token: CancelToken) -> Check:
    """Whether the index knows the files as they are now, by their sizes and times."""
    there = {file.name: file for file in discover(place.folder, place.settings, cancel=token).files}
    known = snapshot.files("memory")
    new = len(there.keys() - known.keys())
    gone = len(known.keys() - there.keys())
    changed = sum(
        (file.size, file.mtime_ns) != (known[name].size, known[name].mtime_ns)
        for name, file in there.items()
        if name in known
    )
    if new or gone or changed:
        return degraded("Notes", f"Since the last update {new:,} came, {changed:,} changed, {gone:,} went.", INDEX)
    return fine("Notes", plural(len(there), "file"))


def _check_issues(snapshot: Snapshot) -> Iterator[Check]:
    if issues := snapshot.issues("failed"):
        detail = f"{plural(len(issues), 'file')} could not be read, the first is {issues[0].path}: {issues[0].detail}"
        yield degraded("Failed files", detail, "")


def _check_refused(snapshot: Snapshot) -> Iterator[Check]:
    if issues := snapshot.issues("not embedded"):
        files = plural(len({issue.path for issue in issues}), "file")
        detail = f"Some of {files} could not be embedded, the first is {issues[0].path}: {issues[0].detail}"
        yield degraded("Not embedded", detail, "")


def _check_pending(place: Place, files: IndexFiles, snapshot: Snapshot) -> Iterator[Check]:
    provider = select_provider(place.settings).provider
    if provider is None:
        return
    with closing(provider):
        name = name_of(provider)
    pending = snapshot.pending_vectors(snapshot.stored_model(*name))
    if not pending:
        return
    estimate = still_awaiting(models.awaiting(snapshot), name, place.settings, lambda of: _agreed_tokens(files, of))
    if estimate is not None:
        yield degraded("Meaning", awaiting_text(estimate), "")
    else:
        yield degraded("Meaning", f"{plural(pending, 'passage')} can be found by words only so far.", INDEX)


def _agreed_tokens(files: IndexFiles, name: ModelName) -> int:
    with closing(UserData(files.user, read_only=True)) as data:
        return data.approved_tokens(name)


def _check_extension(place: Place, store: IndexStore) -> Check:
    """sqlite-vec: needed only where the settings choose it, but told wherever it fails."""
    probe = VectorIndex(store, place.settings.store.vector).probe()
    if probe.ok:
        return fine("sqlite-vec")
    if place.settings.store.vector.engine != "sqlite-vec":
        return fine("sqlite-vec", f"{probe.error} It is not needed with these settings.")
    return degraded("sqlite-vec", f"{probe.error} Vectors are compared in memory instead.", "")


def _repair(place: Place, files: IndexFiles, token: CancelToken) -> list[str]:
    """Mend the index, then complete it from the notes. Returns what was done, as sentences."""
    if not files.database.exists():
        return []
    store = IndexStore(files)
    try:
        done = [store.recovered] if store.recovered else _repair_open(store)
    finally:
        store.close()
    with opened(place) as manager, ProgressLine() as line:
        report = manager.sync(reason="cli", progress=line, cancel=token)
    token.checkpoint()
    if report.error:
        raise StoreError(" ".join((*done, report.error)))
    if done or report.full or report.files_indexed or report.files_removed:
        done.append("The index was brought up to date with the notes.")
    return done


def _repair_open(store: IndexStore) -> list[str]:
    if not store.try_lock():
        raise IndexBusy("Another process is writing the index: try again when it has finished.")
    try:
        return doctor.repair(store)
    except IndexCorrupt as damage:
        return [store.recovered] if store.mend(damage) else []
    finally:
        store.unlock()
