"""Lists sessions whose transcripts have not been read yet, from a short look at each."""

import os
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import chain

from engine.base.errors import PathRefused
from engine.corpus.folder_walk import FoundFile
from engine.corpus.safe_open import FolderFiles
from engine.corpus.transcripts.modified_time import is_compressed
from engine.corpus.transcripts.quick_summary import glance
from engine.indexing.commits import Change, Commits
from engine.indexing.session_rows import session_file
from engine.indexing.sync_parts import StageWork
from engine.store.writer import NewFile, Writer

_A_COMMIT = 500


def list_sessions(files: Sequence[FoundFile], work: StageWork, commits: Commits) -> set[str]:
    """Put a row into the index for each session, which reading it replaces; returns their names. Raises Cancelled."""
    rows: list[NewFile] = []
    listed: set[str] = set()
    with closing(FolderFiles()) as folders:
        for number, file in enumerate(_by_folder(files)):
            work.token.checkpoint()
            work.meter.step(number, file.name)
            with work.parts.crashes.reading(file):
                row = _listed(file, folders)
            if row is not None:
                rows.append(row)
                listed.add(file.name)
            if len(rows) == _A_COMMIT:
                commits.put(_adding(rows))
                commits.flush()
                rows = []
    commits.put(_adding(rows))
    commits.flush()
    return listed


def _by_folder(files: Sequence[FoundFile]) -> Iterator[FoundFile]:
    """The files of a folder together, those of the one with the first file first."""
    folders: dict[str, list[FoundFile]] = {}
    for file in files:
        folders.setdefault(file.path.rpartition(os.sep)[0], []).append(file)
    return chain.from_iterable(folders.values())


def _listed(file: FoundFile, folders: FolderFiles) -> NewFile | None:
    """Return the row of a session; None if it must be read first. Reading reports the errors."""
    if is_compressed(file.path):
        return None  # its end is reached only through all of it
    try:
        descriptor, _ = folders.open(file.path)
        try:
            seen = glance(descriptor, file.path, file.size)
        finally:
            os.close(descriptor)
    except (OSError, PathRefused):
        return None
    return (
        None
        if seen is None
        else session_file(file, file.name, seen.facts, seen.messages, None, hash="", size=file.size)
    )


def _adding(rows: Sequence[NewFile]) -> Change:
    def add(writer: Writer) -> tuple[list[int], list[int]]:
        writer.list_files(rows)
        return [], []

    return add
