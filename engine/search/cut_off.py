"""The last steps after scoring: the threshold, then, if requested, an order with more variety."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from engine.search.explanation import Scored
from engine.search.pipeline_stages import Best, Diversity, Stages
from engine.search.query_conditions import many
from engine.search.search_context import SearchRequest
from engine.store.snapshot import Snapshot

if TYPE_CHECKING:
    from engine.search.diversity import Likeness


def cut(ranked: list[Scored], least: float, stages: Stages) -> list[Scored]:
    """Return the rows whose score, or keyword score, reaches the threshold.

    The score includes ageing, as in the reference. The keyword score doesn't: a search for the words or the name of an
    old note finds it, though below newer ones. A row kept by keywords alone gets at least the threshold as score, so
    that no displayed score is below it. A time that the query names only orders: lifted scores would let twice as many
    off-topic results through.
    """
    kept = []
    for scored in ranked:
        if scored.unlifted >= least:
            kept.append(scored)
        elif (scored.fresh if scored.named else scored.keywords) >= least:
            kept.append(scored._replace(score=max(least, scored.score), by_words=not scored.named))
    # A note whose name matches the query stays first, whatever its age.
    kept.sort(key=lambda scored: (not scored.named, -scored.score))
    left = {scored.id for scored in kept}
    out = [scored for scored in ranked if scored.id not in left]
    aged = [scored.fresh for scored in out if scored.fresh >= least]
    if any(scored.age is not None for scored in ranked):
        stages.add("age", len(ranked), len(ranked) - len(aged), Best(least, None if kept else max(aged, default=None)))
    below = [scored.fresh for scored in out if scored.fresh < least]
    best = Best(least, None if kept else max(below, default=None))
    stages.add("threshold", len(ranked) - len(aged), len(kept), best)
    return kept


def at_most_per_file(
    snapshot: Snapshot, kept: list[Scored], request: SearchRequest
) -> tuple[list[Scored], dict[int, int]]:
    """Return the rows to show, and for the last row of a file the number of its further rows.

    A file with more rows than its limit makes room for others. If only one file was found, all its rows are shown.
    """
    most, wanted = request.per_file, request.max_results
    if not most or len(kept) <= most:
        return kept[:wanted], {}
    shown: list[Scored] = []
    last: dict[int, int] = {}
    rows: Counter[int] = Counter()
    for start in range(0, len(kept), wanted):  # mostly, the first part suffices: a look at each row's file takes time
        part = kept[start : start + wanted]
        files = dict(snapshot.files_of_chunks(sorted(scored.id for scored in part)))
        for scored in part:
            file = files.get(scored.id)
            if file is not None and rows[file] < most and len(shown) < wanted:
                rows[file] += 1
                shown.append(scored)
                last[file] = scored.id
        if len(shown) == wanted:
            break
    found = _rows_of_files(snapshot, list(last), kept)
    if len(last) == 1 and sum(found.values()) == len(kept):
        return kept[:wanted], {}
    return shown, {last[file]: found[file] - count for file, count in rows.items() if found[file] > count}


def _rows_of_files(snapshot: Snapshot, files: Sequence[int], kept: list[Scored]) -> dict[int, int]:
    """The number of these rows in each of these files."""
    # The unary plus lets SQLite read the index of files: rows of chunks are large and far apart.
    found = snapshot.connection.execute(
        f"""SELECT file_id, count(*) FROM {snapshot.tables.chunks}
            WHERE file_id IN (SELECT value FROM carray(?)) AND +id IN (SELECT value FROM carray(?)) GROUP BY file_id""",
        (many(files), many([scored.id for scored in kept])),
    )
    return dict(found)


def diverse(kept: list[Scored], likeness: "Likeness", weight: float, wanted: int, stages: Stages) -> list[Scored]:
    """Reorder the first `wanted` rows so that similar ones are apart.

    After the threshold, unlike the reference: scores are unchanged, so the same rows are found, and rows below the
    threshold don't affect the order.
    """
    from engine.search.diversity import MOST, diversify  # off by default

    best = kept[:MOST]
    chosen = diversify([scored.score for scored in best], likeness, weight, wanted)
    first = [best[place.by_score]._replace(chosen=place) for place in chosen]
    taken = {place.by_score for place in chosen}
    moved = sum(place.by_score != rank for rank, place in enumerate(chosen))
    stages.add("diversity", len(kept), len(kept), Diversity(moved, len(first)))
    return first + [scored for place, scored in enumerate(kept) if place not in taken]
