"""Tests a table: whether it can be reached, and what it contains."""

from pathlib import Path

from engine.backends.lancedb.failures import TableMissing
from engine.backends.lancedb.table import SharedTable
from engine.backends.lancedb.table_location import find_place
from engine.base.cancellation import CancelToken
from engine.base.language import tr, tr_count
from engine.settings import Settings
from engine.store.location import usable_index_files


def try_out(workspace: Path, settings: Settings, cancel: CancelToken | None) -> str:
    """See `try_backend`. No table is made."""
    folder = usable_index_files(workspace, settings.store.path).folder
    table = SharedTable(lambda token: find_place(workspace, settings, folder, cancel=token))
    try:
        view = table.view(cancel)
        files = view.files(cancel)
        passages = view.passages
    except TableMissing:
        return tr("It answered. The table {table} is made with the first update.", table=table.place().shown)
    finally:
        table.close()
    machines = {holder for file in files.values() for holder in file.holders}
    return tr(
        "It answered. In the table {table}: {passages} of {files} from {machines}.",
        table=table.place().shown,
        passages=tr_count("{count:,} passage", "{count:,} passages", passages),
        files=tr_count("{count:,} file", "{count:,} files", len(files)),
        machines=tr_count("{count:,} machine", "{count:,} machines", len(machines)),
    )
