"""What `mnemoscope doctor` says of past sessions: whether their folders are there, and whether the index knows them."""

from collections import Counter
from collections.abc import Iterator

from engine.cli.checks import INDEX, Check, degraded, fine
from engine.cli.output import plural
from engine.corpus.transcripts.stores import FoundTranscripts, find_stores
from engine.settings import Settings
from engine.store import sessions
from engine.store.snapshot import Snapshot

_SETTING = "Correct folders under [defaults.sessions] in the settings."


def check_stores(settings: Settings, found: FoundTranscripts) -> Iterator[Check]:
    """One check for each folder or export that the settings list."""
    problems = {issue.path: issue.detail for issue in found.skipped}
    for store in find_stores(settings):
        count = sum(file.name.startswith(f"{store.name}/") for file in found.files)
        if store.name in problems:
            yield degraded(store.name, problems[store.name], _SETTING)
        elif not count:
            yield degraded(store.name, f"No transcript is in {store.path}.", _SETTING)
        else:
            yield fine(store.name, f"{plural(count, 'transcript')} in {store.path}")


def check_transcripts(settings: Settings, found: FoundTranscripts, snapshot: Snapshot) -> Check:
    """Whether the index knows the transcripts as they are now, by their sizes and times."""
    there = {file.name: file for file in found.files}
    known = sessions.transcripts(snapshot)
    if not known and not settings.sessions.folders:
        return fine("Transcripts", "No session folder is listed in the settings.")
    failed = {issue.path for issue in snapshot.issues("failed")}
    stores = {store.name for store in find_stores(settings)}
    unread = failed & there.keys() | {
        issue.path for issue in found.skipped if issue.rule == "unreadable" and issue.path not in stores
    }
    new = len(there.keys() - known.keys() - failed)
    gone = len(known.keys() - there.keys())
    changed = sum(
        (file.size, file.mtime_ns) != (known[name].size, known[name].mtime_ns)
        for name, file in there.items()
        if name in known
    )
    rules = Counter(stored.rule for stored in known.values())
    parts = [
        f"{plural(len(known), 'transcript')} with {plural(len(sessions.sessions(snapshot)), 'session')} known",
        f"{len(unread):,} cannot be read" if unread else "",
        f"{rules['broken']:,} broken off" if rules["broken"] else "",
        f"{rules['unknown-format']:,} of unknown format" if rules["unknown-format"] else "",
    ]
    detail = f"{', '.join(filter(None, parts))}."
    if new or changed or gone:
        detail += f" Since the last update {new:,} came, {changed:,} changed, {gone:,} went."
        return degraded("Transcripts", detail, INDEX)
    if unread or rules["broken"]:
        return degraded("Transcripts", detail, "Run mnemoscope status for their names.")
    return fine("Transcripts", detail)
