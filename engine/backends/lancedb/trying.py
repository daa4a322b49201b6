"""Tries a table out: whether it can be reached, and what is in it."""

from pathlib import Path

from engine.backends.lancedb.failures import TableMissing
from engine.backends.lancedb.place import find_place
from engine.backends.lancedb.table import SharedTable
from engine.control import CancelToken
from engine.settings import Settings
from engine.store.location import usable_index_files
from engine.wording import plural


def try_out(workspace: Path, settings: Settings, cancel: CancelToken | None) -> str:
    """See `try_backend`. No table is made."""
    folder = usable_index_files(workspace, settings.store.path).folder
    table = SharedTable(lambda token: find_place(workspace, settings, folder, cancel=token))
    try:
        view = table.view(cancel)
        files = view.files(cancel)
        passages = view.passages
    except TableMissing:
        return f"It answered. The table {table.place().shown} is made with the first update."
    finally:
        table.close()
    machines = {holder for file in files.values() for holder in file.holders}
    found = f"{plural(passages, 'passage')} of {plural(len(files), 'file')} from {plural(len(machines), 'machine')}"
    return f"It answered. In the table {table.place().shown}: {found}."
