"""One answer from those of several workspaces.

Scores are absolute, each independent of the other results, so the answers are merged by them as they are. What they are
measured with depends a little on the size of an index: how rare a word is there, and from which cosine on two texts are
called alike. Where two workspaces compare by different models they are not the same measure; the answer says so.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from engine.base.language import tr, tr_count
from engine.records import (
    KnownWorkspace,
    MemorySearchResult,
    ResultExplanation,
    SearchExplanation,
    SearchMode,
    SearchOutcome,
    SearchStage,
    SearchTimings,
)

_replace = msgspec.structs.replace


@dataclass(frozen=True)
class Part:
    """What one workspace answered."""

    workspace: KnownWorkspace
    outcome: SearchOutcome


@dataclass(frozen=True)
class _Found:
    result: MemorySearchResult
    reason: ResultExplanation | None
    part: int


def merged(parts: Sequence[Part], most: int, notices: Sequence[str], milliseconds: float) -> SearchOutcome:
    """The best `most` results of all; the first part is that of the workspace that was asked, and wins a tie.

    A passage that several workspaces hold is one result. `notices`: a sentence about each that is missing.
    """
    found = sorted(_found(parts), key=lambda one: (-one.result.score, one.part))
    different, repeated = _different(found)
    best = _with_rest(different[:most], different[most:])
    first = parts[0].outcome
    told = [*notices, *_models(parts), *_notices(parts)]
    return _replace(
        first,
        results=tuple(one.result for one in best),
        total=max(len(best), sum(part.outcome.total for part in parts) - repeated),
        total_is_least=any(part.outcome.total_is_least for part in parts),
        mode=_mode([part.outcome.mode for part in parts]),
        timings=_timings(parts, milliseconds),
        notice=" ".join(told),
        explanation=_explanation(parts, best),
        remote=any(part.outcome.remote for part in parts),
        suggestions=first.suggestions if not best else (),
        corrected=next((part.outcome.corrected for part in parts if part.outcome.corrected is not None), None),
        age=None,
    )


def _found(parts: Sequence[Part]) -> Iterator[_Found]:
    for number, part in enumerate(parts):
        explanation = part.outcome.explanation
        reasons = explanation.results if explanation is not None else ()
        for place, result in enumerate(part.outcome.results):
            reason = reasons[place] if place < len(reasons) else None
            yield _Found(_replace(result, workspace=part.workspace.folder), reason, number)


def _with_rest(best: list[_Found], rest: Sequence[_Found]) -> list[_Found]:
    """The last result shown of each file also counts those that are not shown."""
    hidden = Counter((one.part, one.result.path) for one in rest)
    for one in rest:
        hidden[one.part, one.result.path] += one.result.more_in_file
    counted: list[_Found] = []
    for one in reversed(best):
        more = hidden.pop((one.part, one.result.path), 0)
        counted.append(replace(one, result=_replace(one.result, more_in_file=one.result.more_in_file + more)))
    return counted[::-1]


def _different(found: Sequence[_Found]) -> tuple[list[_Found], int]:
    """Without what another workspace has as well, and how many these were; within one everything stays."""
    first: dict[tuple[Any, ...], int] = {}
    kept: list[_Found] = []
    for one in found:
        result = one.result
        same = result.source, result.snippet, result.start_line, result.end_line
        if first.setdefault(same, one.part) == one.part:
            kept.append(one)
    return kept, len(found) - len(kept)


def _mode(modes: Sequence[SearchMode]) -> SearchMode:
    return modes[0] if len(set(modes)) == 1 else "hybrid"


def _timings(parts: Sequence[Part], milliseconds: float) -> SearchTimings:
    """All ran side by side, so the slowest of each leg is what was waited for."""

    def slowest(leg: Callable[[SearchTimings], float]) -> float:
        return max(leg(part.outcome.timings) for part in parts)

    return SearchTimings(
        analysis=slowest(lambda timings: timings.analysis),
        keyword=slowest(lambda timings: timings.keyword),
        embed=slowest(lambda timings: timings.embed),
        vector=slowest(lambda timings: timings.vector),
        merge=slowest(lambda timings: timings.merge),
        total=milliseconds,
    )


def _models(parts: Sequence[Part]) -> list[str]:
    """Whether scores by meaning are one measure."""
    by_model: dict[str, list[str]] = {}
    for part in parts:
        if part.outcome.mode != "keyword":
            by_model.setdefault(part.outcome.model, []).append(part.workspace.name)
    if len(by_model) < 2:
        return []
    told = "; ".join(
        tr("{model} in {workspaces}", model=model, workspaces=", ".join(names)) for model, names in by_model.items()
    )
    return [
        tr(
            "Meaning is compared by different models ({models}), so these scores can be compared only roughly.",
            models=told,
        )
    ]


def _notices(parts: Sequence[Part]) -> list[str]:
    """What the workspaces themselves have to say, each sentence once."""
    told: dict[str, list[str]] = {}
    for part in parts:
        if part.outcome.notice:
            told.setdefault(part.outcome.notice, []).append(part.workspace.name)
    everybody = len(parts)
    return [notice if len(names) == everybody else f"{', '.join(names)}: {notice}" for notice, names in told.items()]


def _explanation(parts: Sequence[Part], best: Sequence[_Found]) -> SearchExplanation | None:
    """The stages of the workspace that was asked, and one for each of the others."""
    first = parts[0].outcome.explanation
    if first is None:
        return None
    stages = [*first.stages, *(_stage(part, number, best) for number, part in enumerate(parts) if number)]
    reasons = [_replace(one.reason, rank=rank) for rank, one in enumerate(best, 1) if one.reason is not None]
    empty = not best
    return SearchExplanation(
        stages=tuple(stages),
        results=tuple(reasons) if len(reasons) == len(best) else (),
        emptied_by=first.emptied_by if empty else "",
        remedies=first.remedies if empty else (),
    )


def _stage(part: Part, number: int, best: Sequence[_Found]) -> SearchStage:
    outcome, shown = part.outcome, sum(one.part == number for one in best)
    if outcome.mode == "keyword":
        note = tr_count(
            "{folder} was searched by words alone: {count:,} result of it among the best.",
            "{folder} was searched by words alone: {count:,} results of it among the best.",
            shown,
            folder=part.workspace.folder,
        )
    else:
        note = tr_count(
            "{folder} was searched by words and by meaning ({model}): {count:,} result of it among the best.",
            "{folder} was searched by words and by meaning ({model}): {count:,} results of it among the best.",
            shown,
            folder=part.workspace.folder,
            model=outcome.model,
        )
    return SearchStage(
        name=tr("workspace {name}", name=part.workspace.name),
        entered=outcome.total,
        left=shown,
        note=note,
        milliseconds=outcome.timings.total,
    )
