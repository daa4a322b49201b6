"""Sessions of opencode that are in two places: their files stayed when they were copied into its database."""

import os
from collections.abc import Iterable, Set

from engine.base.cancellation import CancelToken
from engine.base.errors import PathRefused
from engine.corpus.folder_walk import FoundFile
from engine.corpus.transcripts.modified_time import is_database
from engine.corpus.transcripts.opencode_database import OpencodeDatabase


def copied_sessions(files: Iterable[FoundFile], before: Set[str], cancel: CancelToken | None = None) -> set[str]:
    """Names of the session files that one of the databases among these files holds too. Raises Cancelled.

    While one of them cannot be read, those that were copies `before` are: its sessions are still in the index.
    """
    single: dict[str, list[str]] = {}
    databases = []
    for file in files:
        id_, ending = os.path.splitext(os.path.basename(file.path))
        if id_.startswith("ses_") and ending == ".json":
            single.setdefault(id_, []).append(file.name)
        elif is_database(file.path):
            databases.append(file.path)
    copied: set[str] = set()
    for path in databases if single else ():
        try:
            with OpencodeDatabase().opened(path, cancel) as sessions:
                copied.update(name for id_ in single.keys() & sessions.keys() for name in single[id_])
        except ValueError:  # reading it reports the error
            copied |= before
        except (OSError, PathRefused):
            pass  # so the index forgets its sessions
    return copied
