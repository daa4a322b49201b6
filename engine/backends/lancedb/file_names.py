"""The names of a table's files on this machine.

A local file has its stable name. A file only on other machines is shown as `//machine/name`, which is never a stable
name, so that users can tell it from their own files.
"""

from collections.abc import Callable, Iterable, Mapping

from engine.backends.lancedb.columns import SharedFile
from engine.backends.lancedb.table_location import Machine
from engine.corpus.path_guard import PathGuard

_FOREIGN = "//"


class FileNames:
    def __init__(self, machine: Callable[[], Machine], guard: PathGuard, indexed_under: Callable[[], object]) -> None:
        """`indexed_under`: the rules under which this machine's own index was last made."""
        self._machine = machine
        self._guard = guard
        self.indexed_under = indexed_under

    def of(self, files: Mapping[str, SharedFile]) -> dict[str, str]:
        """Names by key; of this machine's own files those are left out that its settings have come to exclude."""
        mine = self._machine().id
        own: dict[tuple[str, str], SharedFile] = {}
        foreign = []
        for file in files.values():
            if not any(id_ == mine for id_, _ in file.holders):
                foreign.append(file)
            elif (known := own.get((file.source, file.path))) is None or known.mtime_ns < file.mtime_ns:
                own[file.source, file.path] = file
        refused = self._guard.refused((path for _, path in own), self.indexed_under())
        named = {file.key: file.path for file in own.values() if file.path not in refused}
        return named | _foreign_names(foreign)


def is_foreign(path: str) -> bool:
    """Whether a name is of a file that only another machine has."""
    return path.startswith(_FOREIGN)


def machine_of(path: str) -> str:
    """The machine in the name of its file."""
    return path.removeprefix(_FOREIGN).partition("/")[0]


def _foreign_names(files: Iterable[SharedFile]) -> dict[str, str]:
    taken: set[tuple[str, str]] = set()
    named = {}
    for file in sorted(files, key=lambda file: (file.path, -file.mtime_ns, file.key)):
        label = file.holders[0][1] if file.holders else "nobody"
        number, name = 1, f"{_FOREIGN}{label}/{file.path}"
        while (file.source, name) in taken:  # two machines of one name
            number += 1
            name = f"{_FOREIGN}{label}-{number}/{file.path}"
        taken.add((file.source, name))
        named[file.key] = name
    return named
