"""Checks that the index matches the current notes and sessions, that these are watched, and lists failed files."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Protocol, TypeVar

from engine.base.errors import WorkspaceError
from engine.base.language import marked, tr, tr_count
from engine.base.skip_reasons import files_covered, tr_reason
from engine.corpus.discovery import discover
from engine.corpus.folder_walk import Drives, is_below
from engine.corpus.transcripts.session_stores import FoundTranscripts, find_stores
from engine.insight.health.health_check import UPDATE, Subject, degraded, failed, fine
from engine.records import HealthFinding, WatcherStatus
from engine.settings import Settings
from engine.store import sessions
from engine.store.sessions import StoredTranscript
from engine.store.snapshot import Snapshot

_MAX_FAILED = 20
"""Maximum number of findings for failed files; the last one counts the files without a finding of their own."""
_MAX_NAMED = 5
"""Number of unread files of a folder that a finding names."""
_ADVICE = {
    "binary": marked("If the file is text, save it as UTF-8; otherwise, exclude it in the settings."),
    "unreadable": marked("Check the permissions; the next update tries again."),
    "too-large": marked("Split the file, or raise max_file_bytes in the settings."),
    "encrypted": marked("Otherwise, exclude it in the settings."),
    "no-text": marked("Otherwise, exclude it in the settings."),
    "damaged": marked("Otherwise, exclude it in the settings."),
    "unfinished": marked("Split the file, or exclude it in the settings. Rebuilding the index tries it again."),
    "no-reader": marked("Restart Mnemoscope; the next update tries again."),
    "missing-reader": marked("Otherwise, remove .pdf from the file extensions in the settings."),
    "symlink": marked("Replace it with a regular file, or exclude it in the settings."),
}
"""Advice for the user, by the rule of a failed file, after its reason, which may give some too."""
_USUAL_ADVICE = marked("Correct the file or exclude it in the settings; the next update tries again.")
_FOLDERS = marked("Correct folders under [defaults.sessions] in the settings.")


_KnownFile = TypeVar("_KnownFile")


class _FileState(Protocol):
    @property
    def size(self) -> int: ...
    @property
    def mtime_ns(self) -> int: ...


def check_stores(
    settings: Settings, transcripts: FoundTranscripts, known: Mapping[str, StoredTranscript]
) -> Iterator[HealthFinding]:
    """Yield a finding for each session folder or export in the settings, and one for its files that are not read.

    `known`: transcripts in the index, by name.
    """
    left_out = {issue.path: issue.detail for issue in transcripts.skipped}
    left_out |= {name: stored.detail for name, stored in known.items() if stored.rule}
    problems = {issue.path: issue.detail for issue in transcripts.skipped}
    for store in find_stores(settings):
        id_ = f"store:{store.name}"
        count = sum(file.name.startswith(f"{store.name}/") for file in transcripts.files)
        if store.name in problems:
            yield degraded(id_, store.name, tr_reason(problems[store.name]), advice=tr(_FOLDERS))
        elif not count:
            none = tr("No transcript is in {folder}.", folder=store.path)
            yield degraded(id_, store.name, none, advice=tr(_FOLDERS))
        else:
            some = tr_count(
                "{count:,} transcript in {folder}", "{count:,} transcripts in {folder}", count, folder=store.path
            )
            yield fine(id_, store.name, some)
        reasons = [(name, detail) for name, detail in left_out.items() if name.startswith(f"{store.name}/")]
        if reasons:
            yield _not_read(store.name, reasons)


def _not_read(store: str, reasons: Sequence[tuple[str, str]]) -> HealthFinding:
    """Return a finding on the unread files of a folder; names the first ones with their reasons."""
    named = [f"{name.removeprefix(f'{store}/')}: {tr_reason(detail)}" for name, detail in reasons[:_MAX_NAMED]]
    detail = tr_count(
        "{count:,} file is not read: {named}",
        "{count:,} files are not read: {named}",
        sum(files_covered(detail) for _, detail in reasons),
        named=" ".join(named) + " …" * (len(reasons) > _MAX_NAMED),
    )
    return fine(f"not-read:{store}", tr("Files not read in {folder}", folder=store), detail)


def check_notes(subject: Subject) -> HealthFinding:
    """Report how many notes are new, changed or deleted since the last sync, by size and time."""
    name = tr("Notes")
    with subject.store.read(subject.cancel) as snapshot:
        drives = Drives(snapshot.mounts("memory"))
    try:
        discovery = discover(subject.workspace, subject.settings, cancel=subject.cancel, drives=drives)
    except WorkspaceError as error:
        return failed("notes", name, str(error))
    there = {file.name: file for file in discovery.files}
    with subject.store.read(subject.cancel) as snapshot:
        known = _still_known(snapshot.files("memory"), there, discovery.unreachable)
        for unreadable in _failed(there, known, snapshot):
            del there[unreadable]
    if behind := _pending_changes(there, known):
        return degraded("notes", name, behind[0], repair=tr(UPDATE), count=behind[1])
    detail = tr_count(
        "The index has the current version of {count:,} file.",
        "The index has the current versions of {count:,} files.",
        len(there),
    )
    return fine("notes", name, detail)


def check_transcripts(settings: Settings, transcripts: FoundTranscripts, snapshot: Snapshot) -> HealthFinding:
    """Report how many transcripts are new, changed or deleted since the last sync, by size and time."""
    id_, name = "transcripts", tr("Transcripts")
    there = {file.name: file for file in transcripts.files}
    known = _still_known(sessions.transcripts(snapshot), there, transcripts.unreachable)
    if not known and not settings.sessions.folders:
        return fine(id_, name, tr("No session folder is listed in the settings."))
    unreadable = _failed(there, known, snapshot)
    stores = {store.name for store in find_stores(settings)}
    unread = {issue.path for issue in transcripts.skipped if issue.rule == "unreadable" and issue.path not in stores}
    rules = Counter(stored.rule for stored in known.values())
    listed = tr_count("{count:,} transcript", "{count:,} transcripts", len(known))
    parts = [
        tr_count(
            "{transcripts} with {count:,} known session",
            "{transcripts} with {count:,} known sessions",
            len(sessions.sessions(snapshot)),
            transcripts=listed,
        )
    ]
    left_out = (
        (marked("{count:,} cannot be read"), len(unread) + len(unreadable)),
        (marked("{count:,} incomplete"), rules["broken"]),
        (marked("{count:,} in an unknown format"), rules["unknown-format"]),
        (marked("{count:,} indexed by other workspaces"), rules["kept-elsewhere"]),
    )
    parts += (tr(words, count=count) for words, count in left_out if count)
    detail = f"{', '.join(parts)}."
    if behind := _pending_changes({name: file for name, file in there.items() if name not in unreadable}, known):
        return degraded(id_, name, f"{detail} {behind[0]}", repair=tr(UPDATE), count=behind[1])
    if unread or rules["broken"]:
        names = tr("Run mnemoscope status to list these files.")
        return degraded(id_, name, detail, advice=names, count=len(unread) + rules["broken"])
    return fine(id_, name, detail)


def check_issues(snapshot: Snapshot) -> Iterator[HealthFinding]:
    """Yield a finding for each file that could not be read, and one for all that could not be embedded."""
    issues = snapshot.issues("failed")
    named = issues if len(issues) <= _MAX_FAILED else issues[: _MAX_FAILED - 1]
    for issue in named:
        detail, advice = tr_reason(issue.detail), tr(_ADVICE.get(issue.rule, _USUAL_ADVICE))
        yield degraded(f"failed-file:{issue.path}", issue.path, detail, advice=advice)
    if rest := len(issues) - len(named):
        detail = tr_count("{count:,} more file could not be read.", "{count:,} more files could not be read.", rest)
        advice = tr("Run mnemoscope status to list these files.")
        yield degraded("failed-files", tr("Failed files"), detail, advice=advice, count=rest)
    if issues := snapshot.issues("not embedded"):
        files = len({issue.path for issue in issues})
        detail = tr_count(
            "{count:,} file could not be embedded completely: {path}. {reason}",
            "{count:,} files could not be embedded completely. The first one is {path}: {reason}",
            files,
            path=issues[0].path,
            reason=tr_reason(issues[0].detail),
        )
        yield degraded("not-embedded", tr("Not embedded"), detail, count=files)


def _still_known(
    known: Mapping[str, _KnownFile], there: Mapping[str, _FileState], unreachable: Collection[str]
) -> dict[str, _KnownFile]:
    """Return the indexed files without those that can't be checked now, and stay in the index."""
    return {name: file for name, file in known.items() if name in there or not is_below(name, unreachable)}


def _failed(found: Mapping[str, _FileState], known: Mapping[str, _FileState], snapshot: Snapshot) -> set[str]:
    """Return the names of files that the last sync could not read, or that are no notes; they don't count as new."""
    issues = (*snapshot.issues("failed"), *snapshot.issues("skipped"))
    return {issue.path for issue in issues} & found.keys() - known.keys()


def _pending_changes(found: Mapping[str, _FileState], known: Mapping[str, _FileState]) -> tuple[str, int] | None:
    """Describe and count the changes for the next sync; None if there are none."""
    new = len(found.keys() - known.keys())
    gone = len(known.keys() - found.keys())
    changed = sum(
        (file.size, file.mtime_ns) != (known[name].size, known[name].mtime_ns)
        for name, file in found.items()
        if name in known
    )
    if not new and not gone and not changed:
        return None
    detail = tr(
        "{new:,} new, {changed:,} changed, {gone:,} deleted since the last update.", new=new, changed=changed, gone=gone
    )
    return detail, new + gone + changed


def check_watcher(watcher: WatcherStatus, *, watching: bool) -> HealthFinding:
    """Return the finding on the watcher; `watching`: whether the settings ask for it."""
    id_, name = "watching", tr("Watching")
    if not watching:
        return fine(id_, name, tr("Watching the folders is switched off in the settings."))
    if watcher.error or not watcher.enabled:
        return degraded(id_, name, watcher.error or tr("The folders are not watched."))
    if watcher.mode == "polling":
        seldom = tr("The folders are scanned every few seconds: the system reports no changes.")
        return degraded(id_, name, seldom)
    return fine(id_, name, tr("The system reports changes in the folders."))
