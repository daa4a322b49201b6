"""What a machine has to change in the table so that it holds this machine's files as they are now."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from engine.backends.lancedb.columns import SharedFile
from engine.backends.lancedb.local_files import LocalFile


@dataclass
class UploadPlan:
    """Nothing in it is another machine's alone."""

    put: list[tuple[LocalFile, list[str]]] = field(default_factory=list)
    """Files whose rows are to come, the newest first, each with the keys of those that they take the place of."""
    renew: list[LocalFile] = field(default_factory=list)
    """Files whose rows this machine wrote by other rules, or at another time than the file has now."""
    join: list[str] = field(default_factory=list)
    """Keys of files that another machine has put there, and that are here, too."""
    leave: list[SharedFile] = field(default_factory=list)
    """Files that are here no more, and still on other machines."""
    remove: list[str] = field(default_factory=list)
    """Keys of files that are nowhere any more, or in an older form."""

    @property
    def empty(self) -> bool:
        return not (self.put or self.renew or self.join or self.leave or self.remove)


def make_plan(local: Sequence[LocalFile], shared: Mapping[str, SharedFile], machine: str, rules: str) -> UploadPlan:
    """`machine`: the id of this one. See `columns` for what identity and holders mean."""
    plan = UploadPlan()
    wanted = {file.key: file for file in local}
    now = {(file.source, file.path): file.key for file in local}
    outdated: dict[str, list[str]] = {}
    for key, there in shared.items():
        if key in wanted or not _holds(there, machine):
            continue
        successor = now.get((there.source, there.path))
        if successor is not None:
            outdated.setdefault(successor, []).append(key)
        elif all(id_ == machine for id_, _ in there.holders):
            plan.remove.append(key)
        else:
            plan.leave.append(there)
    for key, file in wanted.items():
        known = shared.get(key)
        if known is None:
            plan.put.append((file, outdated.get(key, [])))
            continue
        plan.remove += outdated.get(key, [])
        if not _holds(known, machine):
            plan.join.append(key)
        if known.writer == machine and (known.rules, known.mtime_ns) != (rules, file.mtime_ns):
            plan.renew.append(file)
    return plan


def _holds(file: SharedFile, machine: str) -> bool:
    return any(id_ == machine for id_, _ in file.holders)
