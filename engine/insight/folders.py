"""Sums what is indexed, and what is not, by source and folder."""

from collections import defaultdict
from collections.abc import Iterable

from engine.records import FileIssue, FolderCount, Source

_DEEPEST = 3
_MOST = 2000
_SESSIONS = "sessions/"

_Folder = tuple[Source, str]
_Parts = tuple[str, ...]
_Key = tuple[Source, _Parts]
_Tally = list[int]
"""Files, chunks, pending, failed, skipped."""


def count_folders(
    files: Iterable[tuple[Source, str, int, int]], failed: Iterable[FileIssue], skipped: Iterable[FileIssue]
) -> tuple[FolderCount, ...]:
    """`files`: source, stable name, chunks and pending chunks of each. In the order of `IndexOverview.folders`."""
    tallies: defaultdict[_Folder, _Tally] = defaultdict(lambda: [0] * 5)
    # A folder's own files first, then each folder into those above it: most folders have many files.
    for source, path, chunks, pending in files:
        tally = tallies[source, path.rpartition("/")[0]]
        tally[0] += 1
        tally[1] += chunks
        tally[2] += pending
    for place, issues in ((3, failed), (4, skipped)):
        for issue in issues:
            tallies[_folder_of(issue)][place] += 1
    return _in_order(_summed(tallies))


def _folder_of(issue: FileIssue) -> _Folder:
    source: Source = "sessions" if issue.path.startswith(_SESSIONS) else "memory"
    # What has no stable name, such as a root that is missing, counts for its source alone.
    return source, "" if issue.path.startswith("/") else issue.path.rpartition("/")[0]


def _summed(tallies: dict[_Folder, _Tally]) -> dict[_Key, _Tally]:
    """The same with what is below, down to the deepest folders that are shown; each level is summed from the next."""
    levels: list[dict[_Key, _Tally]] = [{} for _ in range(_DEEPEST + 1)]
    for (source, folder), tally in tallies.items():
        parts = _parts(source, folder)[:_DEEPEST]
        _add(levels[len(parts)], (source, parts), tally)
    for depth in range(_DEEPEST, 0, -1):
        for (source, parts), tally in levels[depth].items():
            _add(levels[depth - 1], (source, parts[:-1]), tally)
    return {key: tally for level in levels for key, tally in level.items()}


def _add(tallies: dict[_Key, _Tally], key: _Key, more: _Tally) -> None:
    tally = tallies.setdefault(key, [0] * len(more))
    for place, figure in enumerate(more):
        tally[place] += figure


def _parts(source: Source, folder: str) -> _Parts:
    """What a name goes through; the folder of all sessions is not one of them, but stays in the names below it."""
    if source == "sessions" and folder.startswith(_SESSIONS):
        first, *rest = folder.removeprefix(_SESSIONS).split("/")
        return (_SESSIONS + first, *rest)
    return tuple(folder.split("/")) if folder and folder != _SESSIONS.rstrip("/") else ()


def _in_order(tallies: dict[_Key, _Tally]) -> tuple[FolderCount, ...]:
    """Each folder before what is in it, the largest first; the deepest and smallest are left out of very many."""
    # By depth, chunks and files, then by name.
    ranked = sorted(tallies, key=lambda key: (len(key[1]), -tallies[key][1], -tallies[key][0], key))
    below: defaultdict[_Key, list[_Key]] = defaultdict(list)
    for source, parts in ranked[:_MOST]:
        if parts:
            below[source, parts[:-1]].append((source, parts))
    ordered: list[FolderCount] = []

    def put(key: _Key) -> None:
        ordered.append(_count(key, tallies[key]))
        for inner in below[key]:
            put(inner)

    for key in ranked:
        if not key[1]:
            put(key)
    return tuple(ordered)


def _count(key: _Key, tally: _Tally) -> FolderCount:
    source, parts = key
    files, chunks, pending, failed, skipped = tally
    return FolderCount(
        source=source,
        name="/".join(parts),
        depth=len(parts),
        files=files,
        chunks=chunks,
        pending=pending,
        failed=failed,
        skipped=skipped,
    )
