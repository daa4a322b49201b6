"""Counts what is in the index, for whoever wants to see inside."""

from engine.records import FolderCount, IndexOverview
from engine.store.models import ModelName
from engine.store.snapshot import Snapshot


def overview(snapshot: Snapshot, model: ModelName | None) -> IndexOverview:
    """`model`: the one whose vectors are counted."""
    return IndexOverview(generation=snapshot.generation, folders=_folders(snapshot, model))


def _folders(snapshot: Snapshot, model: ModelName | None) -> tuple[FolderCount, ...]:
    stored = None if model is None else snapshot.stored_model(*model)
    rows = snapshot.connection.execute(
        f"""SELECT f.source, iif(instr(f.path, '/'), substr(f.path, 1, instr(f.path, '/') - 1), '') AS folder,
                count(DISTINCT f.id), count(c.id),
                sum(EXISTS (SELECT 1 FROM embedding_cache e WHERE e.model_id = ? AND e.hash = c.hash))
            FROM {snapshot.tables.files} f LEFT JOIN {snapshot.tables.chunks} c ON c.file_id = f.id
            GROUP BY 1, 2 ORDER BY count(c.id) DESC, folder""",
        (-1 if stored is None else stored.id,),
    )
    return tuple(
        FolderCount(source=source, name=name, files=files, chunks=chunks, vectors=vectors)
        for source, name, files, chunks, vectors in rows
    )
