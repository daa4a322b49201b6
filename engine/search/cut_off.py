"""What the scored candidates go through last: the threshold, then, where it is wanted, an order with more variety."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from engine.base.language import tr, tr_count
from engine.search.explanation import Scored
from engine.search.query_conditions import many
from engine.search.search_context import SearchRequest
from engine.search.stages import Stages
from engine.store.snapshot import Snapshot

if TYPE_CHECKING:
    from engine.search.diversity import Likeness


def cut(ranked: list[Scored], least: float, stages: Stages, *, by_words: bool = True) -> list[Scored]:
    """Those whose score, or score by words alone, reaches the threshold.

    The score has aged by now, as in the reference. The score by words has not: a search for the words of an old note
    finds it, though behind newer ones, and so does its name. `by_words` is False where words do not count. What only
    its words let in counts as much as the threshold, so that no score is shown that misses it.
    """
    kept = []
    for scored in ranked:
        if scored.score >= least:
            kept.append(scored)
        elif (scored.fresh if scored.named else scored.text if by_words else 0.0) >= least:
            kept.append(scored._replace(score=least, by_words=not scored.named))
    # A note of that name stays first, whatever its age.
    kept.sort(key=lambda scored: (not scored.named, -scored.score))
    left = {scored.id for scored in kept}
    out = [scored for scored in ranked if scored.id not in left]
    aged = [scored.fresh for scored in out if scored.fresh >= least]
    if any(scored.age is not None for scored in ranked):
        note = tr("{count:,} fell below {least:g} by their age.", count=len(aged), least=least)
        stages.add("age", len(ranked), len(ranked) - len(aged), note + (_best(aged) if aged and not kept else ""))
    below = [scored.fresh for scored in out if scored.fresh < least]
    note = tr("{count:,} scored below {least:g}.", count=len(below), least=least)
    stages.add("threshold", len(ranked) - len(aged), len(kept), note + (_best(below) if below and not kept else ""))
    return kept


def _best(scores: list[float]) -> str:
    return " " + tr("The best of them reached {score:.2f}.", score=max(scores))


def at_most_per_file(
    snapshot: Snapshot, kept: list[Scored], request: SearchRequest
) -> tuple[list[Scored], dict[int, int]]:
    """The rows to show, and by the last row of a file how many more rows that file has.

    A file that has more than its share gives way to others. Where one file is all that was found, nothing gives way.
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
    """How many of these rows each of these files has."""
    # The unary plus lets SQLite read the index of files: rows of chunks are large and far apart.
    found = snapshot.connection.execute(
        f"""SELECT file_id, count(*) FROM {snapshot.tables.chunks}
            WHERE file_id IN (SELECT value FROM carray(?)) AND +id IN (SELECT value FROM carray(?)) GROUP BY file_id""",
        (many(files), many([scored.id for scored in kept])),
    )
    return dict(found)


def diverse(kept: list[Scored], likeness: "Likeness", weight: float, wanted: int, stages: Stages) -> list[Scored]:
    """The same rows, the first `wanted` of them chosen one by one so that what is alike stands apart.

    After the threshold, which the reference has behind it: scores stay as they are, so the same rows are kept, and
    none that nobody sees pushes another one down.
    """
    from engine.search.diversity import MOST, diversify  # off by default

    best = kept[:MOST]
    chosen = diversify([scored.score for scored in best], likeness, weight, wanted)
    first = [best[place.by_score]._replace(chosen=place) for place in chosen]
    taken = {place.by_score for place in chosen}
    moved = sum(place.by_score != rank for rank, place in enumerate(chosen))
    note = tr_count(
        "{count:,} of the first {first:,} stands elsewhere than by score, since alike ones stand apart.",
        "{count:,} of the first {first:,} stand elsewhere than by score, since alike ones stand apart.",
        moved,
        first=len(first),
    )
    stages.add("diversity", len(kept), len(kept), note)
    return first + [scored for place, scored in enumerate(kept) if place not in taken]
