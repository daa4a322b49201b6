"""How like one session others are in meaning, beyond what all sessions have in common.

Two conversations about quite different things may have a cosine of .5, since both are conversations, and two short
ones about the same thing .3. So what many sessions have in common is taken from the vectors first. Of 14 topics with
three sessions each, .16 then keeps 69 % of the pairs on one topic and 3 % of the others where the sessions are short,
and 93 % and 7 % where they are longer. A bound on the raw cosine that does about the same to the short ones keeps 63 %
of the others among the longer.
"""

from collections.abc import Iterable, Mapping
from itertools import islice

from engine.store.snapshot import Snapshot
from engine.store.vector_encoding import StoredModel, Vectors, decode
from engine.store.vectors import VectorIndex

LEAST = 0.16
"""A cosine below says nothing."""
_CANDIDATES = 400
_SESSIONS = 400
_CHUNKS = 12
"""What is looked at for what sessions have in common: so many of them, spread evenly, and so many chunks of each."""
_UNKNOWN = 8
"""So many sessions about nothing count as well: of the few of a new index hardly anything is taken away."""
_AT_ONCE = 4000
"""Vectors in memory."""


def likeness(
    snapshot: Snapshot, vectors: VectorIndex, model: StoredModel, file_id: int, others: Mapping[str, int]
) -> dict[str, float]:
    """Path -> cosine of the sessions among `others` (path -> file id) that are like the one of `file_id`, in no order.

    Of each the chunk counts that is nearest to the middle of this one's.
    """
    import numpy as np

    own = _middle(snapshot, model, snapshot.chunks_of_files([file_id]))
    if own is None:
        return {}
    common = _common(snapshot, model, [file_id, *others.values()])
    wanted = own - common
    length = float(np.linalg.norm(wanted))
    if not length:
        return {}
    wanted = (wanted / length).astype(np.float32)
    # Nearest of all are most of its own chunks, and then perhaps notes: a long session would be like nothing.
    allowed = snapshot.chunks_of_files(list(others.values()))
    ids, _ = vectors.search(snapshot, model, wanted, _CANDIDATES, allowed=allowed)
    paths = {id_: chunk.path for id_, chunk in snapshot.chunks(ids.tolist()).items()}
    best: dict[str, float] = {}
    for id_, row in snapshot.vectors(model.id, list(paths)):
        rest = decode([row], model.dims)[0] - common
        cosine = float(rest @ wanted) / (float(np.linalg.norm(rest)) or 1.0)
        if cosine >= max(LEAST, best.get(paths[id_], 0.0)):
            best[paths[id_]] = cosine
    return best


def _common(snapshot: Snapshot, model: StoredModel, file_ids: Iterable[int]) -> Vectors:
    """What the sessions have in common (dims,): nearly nothing where they are few."""
    import numpy as np

    files = sorted(file_ids)
    spread = files[:: -(-len(files) // _SESSIONS)]
    total = np.zeros(model.dims)
    count = 0
    for file_id in spread:
        chunks = snapshot.chunks_of_files([file_id])
        middle = _middle(snapshot, model, list(islice(chunks, 0, None, -(-len(chunks) // _CHUNKS) or 1)))
        if middle is not None:
            total += middle
            count += 1
    return (total / (count + _UNKNOWN)).astype(np.float32)


def _middle(snapshot: Snapshot, model: StoredModel, ids: list[int]) -> Vectors | None:
    """Mean direction (dims,) of the vectors of these chunks; None where there are none."""
    import numpy as np

    total = np.zeros(model.dims)
    for start in range(0, len(ids), _AT_ONCE):
        rows = [vector for _, vector in snapshot.vectors(model.id, ids[start : start + _AT_ONCE])]
        if rows:
            total += decode(rows, model.dims).sum(axis=0, dtype=np.float64)
    length = float(np.linalg.norm(total))
    return (total / length).astype(np.float32) if length else None
