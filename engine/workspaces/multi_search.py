"""Sends one query to several workspaces and merges the answers."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import msgspec

from engine.base import lazy_logger
from engine.base.cancellation import CancelToken, on_cancel
from engine.base.errors import Cancelled, MnemoscopeError
from engine.base.language import tr, tr_count
from engine.records import (
    KnownWorkspace,
    MemorySearchResult,
    ResultExplanation,
    SearchExplanation,
    SearchOutcome,
    SearchStage,
    SearchTimings,
)
from engine.workspaces.memory_pool import MemoryPool

if TYPE_CHECKING:
    from engine.memory.memory_interface import MemorySearchManager
    from engine.memory.search_requests import SearchOptions


log = lazy_logger(__name__)

DEADLINE_SECONDS = 4.0
"""Time limit of the other workspaces, from the beginning; the open workspace is always waited for."""
_POLL = 0.05
_TRUSTED = 0.15
"""Weight of vectors up to which the keywords match well: lower weights differ for other reasons."""


_replace = msgspec.structs.replace


@dataclass(frozen=True)
class Part:
    """The answer of one workspace to a query that several workspaces answer."""

    workspace: KnownWorkspace
    outcome: SearchOutcome


@dataclass(frozen=True)
class _WorkspaceResult:
    result: MemorySearchResult
    reason: ResultExplanation | None
    part: int
    rank: int
    """Rank in its own workspace, from 0."""
    score: float
    """The score by which the workspaces are merged."""
    vector_share: float
    """See `ResultExplanation.vector_share`."""


def merged(parts: Sequence[Part], most: int, notices: Sequence[str], milliseconds: float) -> SearchOutcome:
    """Return the best `most` results of all workspaces; each workspace keeps its own order.

    Each workspace weighs vectors by how well its own keywords match; the lowest weight counts for all of them, as in
    one index. Of results with the same score, those that are first in their workspaces come first: their order says
    more than the limited score does. The first part belongs to the open workspace, which wins ties.

    A passage in several workspaces is one result. `notices`: a sentence about each missing workspace.
    """
    parts = _without_shorter(parts)
    merged_results = sorted(_results_of(parts), key=lambda found: (-found.score, found.rank, found.part))
    different, repeated = _different(merged_results)
    best = _with_rest(different[:most], different[most:])
    first = parts[0].outcome
    messages = [*notices, *_models(parts), *_notices(parts)]
    modes = {part.outcome.mode for part in parts}
    return _replace(
        first,
        results=tuple(found.result for found in best),
        total=max(len(best), sum(part.outcome.total for part in parts) - repeated),
        total_is_least=any(part.outcome.total_is_least for part in parts),
        mode=modes.pop() if len(modes) == 1 else "hybrid",
        timings=_timings(parts, milliseconds),
        notice=" ".join(messages),
        unknown_words=tuple(
            word for word in first.unknown_words if all(word in part.outcome.unknown_words for part in parts)
        ),
        similar_only=all(part.outcome.similar_only for part in parts if part.outcome.results) and bool(best),
        closest_only=all(part.outcome.closest_only for part in parts if part.outcome.results) and bool(best),
        explanation=_explanation(parts, best),
        remote=any(part.outcome.remote for part in parts),
        suggestions=first.suggestions if not best else (),
        corrected=next((part.outcome.corrected for part in parts if part.outcome.corrected is not None), None),
        age=None,
    )


def _without_shorter(parts: Sequence[Part]) -> Sequence[Part]:
    """Drop the results for a shorter query if another workspace has results for the whole one."""
    shorter = [part.outcome.corrected is not None and part.outcome.corrected.is_shorter for part in parts]
    if all(is_shorter or not part.outcome.results for is_shorter, part in zip(shorter, parts, strict=True)):
        return parts
    none = {"results": (), "total": 0, "total_is_least": False, "corrected": None, "notice": ""}
    return [
        replace(part, outcome=_replace(part.outcome, **none)) if is_shorter else part
        for is_shorter, part in zip(shorter, parts, strict=True)
    ]


def _results_of(parts: Sequence[Part]) -> Iterator[_WorkspaceResult]:
    weights = [part.outcome.vector_weight for part in parts if part.outcome.results]
    least = max(_TRUSTED, min((weight for weight in weights if weight is not None), default=1.0))
    for number, part in enumerate(parts):
        explanation = part.outcome.explanation
        reasons = explanation.results if explanation is not None else ()
        share = min(1.0, least / part.outcome.vector_weight) if part.outcome.vector_weight else 1.0
        results = part.outcome.results
        scores = [result.score * (result.text_share + share * (1 - result.text_share)) for result in results]
        # A result is at least as good as the results below it in its workspace, even if its own score is lower.
        best_from = list(accumulate(reversed(scores), max))[::-1]
        for index, result in enumerate(results):
            reason = reasons[index] if index < len(reasons) else None
            yield _WorkspaceResult(
                _replace(result, workspace=part.workspace.folder), reason, number, index, best_from[index], share
            )


def _with_rest(best: list[_WorkspaceResult], rest: Sequence[_WorkspaceResult]) -> list[_WorkspaceResult]:
    """Add the number of results not shown to the last result of each file."""
    hidden = Counter((found.part, found.result.path) for found in rest)
    for found in rest:
        hidden[found.part, found.result.path] += found.result.more_in_file
    counted: list[_WorkspaceResult] = []
    for found in reversed(best):
        more = hidden.pop((found.part, found.result.path), 0)
        counted.append(replace(found, result=_replace(found.result, more_in_file=found.result.more_in_file + more)))
    return counted[::-1]


def _different(results: Sequence[_WorkspaceResult]) -> tuple[list[_WorkspaceResult], int]:
    """Remove results that another workspace has too; returns the rest and the number removed. Nothing is removed within
    one workspace."""
    first: dict[tuple[Any, ...], int] = {}
    different: list[_WorkspaceResult] = []
    for found in results:
        result = found.result
        same = result.source, result.snippet, result.start_line, result.end_line
        if first.setdefault(same, found.part) == found.part:
            different.append(found)
    return different, len(results) - len(different)


def _timings(parts: Sequence[Part], milliseconds: float) -> SearchTimings:
    """Return the timings of the slowest workspace for each part, since all ran in parallel."""

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
    """Return a notice if semantic scores are from different models."""
    by_model: dict[str, list[str]] = {}
    for part in parts:
        if part.outcome.mode != "keyword":
            by_model.setdefault(part.outcome.model, []).append(part.workspace.name)
    if len(by_model) < 2:
        return []
    messages = "; ".join(
        tr("{model} in {workspaces}", model=model, workspaces=", ".join(names)) for model, names in by_model.items()
    )
    return [
        tr(
            "Meaning is compared by different models ({models}), so these scores can be compared only roughly.",
            models=messages,
        )
    ]


def _notices(parts: Sequence[Part]) -> list[str]:
    """Return the notices of the workspaces, each sentence once; that results are only the closest ones is left out if
    another workspace has better ones.
    """
    messages: dict[str, list[str]] = {}
    clear = any(part.outcome.results and not _is_weak(part.outcome) for part in parts)
    for part in parts:
        outcome = part.outcome
        notice = " ".join(filter(None, (outcome.notice, *(remedy.advice for remedy in outcome.remedies))))
        if notice and not (clear and _is_weak(outcome)):
            messages.setdefault(notice, []).append(part.workspace.name)
    total = len(parts)
    return [notice if len(names) == total else f"{', '.join(names)}: {notice}" for notice, names in messages.items()]


def _is_weak(outcome: SearchOutcome) -> bool:
    return outcome.similar_only or outcome.closest_only


def _explanation(parts: Sequence[Part], best: Sequence[_WorkspaceResult]) -> SearchExplanation | None:
    """Return the stages of the open workspace, and one stage for each other workspace."""
    first = parts[0].outcome.explanation
    if first is None:
        return None
    stages = [*first.stages, *(_stage(part, number, best) for number, part in enumerate(parts) if number)]
    reasons = [
        _replace(
            found.reason,
            rank=rank,
            score_rank=found.reason.score_rank if found.reason.mmr_similar_to else rank,
            vector_share=found.vector_share if found.result.text_share < 1 else 1.0,
        )
        for rank, found in enumerate(best, 1)
        if found.reason is not None
    ]
    empty = not best
    return SearchExplanation(
        stages=tuple(stages),
        results=tuple(reasons) if len(reasons) == len(best) else (),
        emptied_by=first.emptied_by if empty else "",
        remedies=first.remedies if empty else (),
    )


def _stage(part: Part, number: int, best: Sequence[_WorkspaceResult]) -> SearchStage:
    outcome, count = part.outcome, sum(found.part == number for found in best)
    if outcome.mode == "keyword":
        note = tr_count(
            "{folder} was searched by words only and contributes {count:,} result.",
            "{folder} was searched by words only and contributes {count:,} results.",
            count,
            folder=part.workspace.folder,
        )
    else:
        note = tr_count(
            "{folder} was searched by words and by meaning ({model}) and contributes {count:,} result.",
            "{folder} was searched by words and by meaning ({model}) and contributes {count:,} results.",
            count,
            folder=part.workspace.folder,
            model=outcome.model,
        )
    return SearchStage(
        name=tr("workspace {name}", name=part.workspace.name),
        before=outcome.total,
        after=count,
        note=note,
        milliseconds=outcome.timings.total,
    )


class AllWorkspaces:
    """The memory of the open workspace, with the memories of all others. Thread-safe.

    A workspace on a hanging disk must delay neither the answer nor the program's exit: it is waited for until the
    deadline, and not searched again while an earlier query still hangs.
    """

    def __init__(
        self,
        current: "MemorySearchManager",
        pool: MemoryPool,
        *,
        executor: Executor | None = None,
        deadline_seconds: float = DEADLINE_SECONDS,
    ) -> None:
        """`pool` opens the others. `executor` searches them; None for plain threads, which end with the program.

        The executor has no other work, since a disk that hangs may hold each of its threads.
        """
        self._current = current
        self._pool = pool
        self._executor = executor
        self._deadline = deadline_seconds
        self._lock = threading.Lock()
        self._hanging: set[str] = set()

    def search(
        self,
        workspace: KnownWorkspace,
        others: Sequence[KnownWorkspace],
        query: str,
        options: "SearchOptions",
        most: int,
        cancel: CancelToken | None = None,
    ) -> SearchOutcome:
        """Search the open workspace and the `others`; see `MemorySearchManager.search`.

        Returns the best `most` results of all; each has its `workspace`, and its path there. `workspace`: the open one.
        If a workspace fails, is missing or takes longer than the deadline, only its own results are missing, and
        `notice` names it. Raises `Cancelled`, and the error of this memory if no other workspace answers either.
        """
        begun = time.monotonic()
        token = CancelToken()
        every: SearchOptions = {**options, "max_results": most}
        away = [other.name for other in others if other.index_bytes and not other.present]
        notices = [tr("The folder of {name} is missing, so it was not searched.", name=name) for name in away]

        def search_memory(memory: "MemorySearchManager") -> SearchOutcome:
            return memory.search(query, cancel=token, **every)

        try:
            with on_cancel(token.cancel, cancel):
                present = [other for other in others if other.present and other.index_bytes]
                running = [self._start(other, search_memory, token) for other in present]
                first = _WorkspaceSearch(workspace)
                first.run(lambda: search_memory(self._current))
                self._wait(running, begun, token)
                return _merge_outcomes([first, *running], notices, most, begun, self._deadline)
        finally:
            token.cancel()  # the results of late ones are not used any more

    def _start(
        self,
        workspace: KnownWorkspace,
        search_memory: "Callable[[MemorySearchManager], SearchOutcome]",
        token: CancelToken,
    ) -> "_WorkspaceSearch":
        running = _WorkspaceSearch(workspace)
        with self._lock:
            if workspace.folder in self._hanging:
                return running
            self._hanging.add(workspace.folder)
        running.started = True

        def work() -> SearchOutcome:
            token.checkpoint()  # it may have waited for a thread
            with self._pool.using(workspace.folder) as memory:
                return search_memory(memory)

        def run() -> None:
            try:
                running.run(work)
            finally:
                with self._lock:
                    self._hanging.discard(workspace.folder)
                running.done.set()

        if self._executor is None:
            threading.Thread(target=run, name="mnemoscope-workspace", daemon=True).start()
        else:
            self._executor.submit(run)
        return running

    def _wait(self, running: "Sequence[_WorkspaceSearch]", begun: float, token: CancelToken) -> None:
        for search in running:
            while not search.done.is_set() and search.started:
                token.checkpoint()
                seconds_left = self._deadline - (time.monotonic() - begun)
                if seconds_left <= 0:
                    break
                search.done.wait(min(seconds_left, _POLL))
        token.checkpoint()


class _WorkspaceSearch:
    """One workspace with its result."""

    def __init__(self, workspace: KnownWorkspace) -> None:
        self.workspace = workspace
        self.done = threading.Event()
        self.started = False
        self.outcome: SearchOutcome | None = None
        self.error: Exception | None = None

    def run(self, work: Callable[[], SearchOutcome]) -> None:
        try:
            self.outcome = work()
        except Exception as error:
            if not isinstance(error, MnemoscopeError):
                log.exception("A workspace failed to answer")
            self.error = error


def _merge_outcomes(
    running: Sequence[_WorkspaceSearch], notices: list[str], most: int, begun: float, deadline: float
) -> SearchOutcome:
    parts = [Part(search.workspace, search.outcome) for search in running if search.outcome is not None]
    for search in running:
        if isinstance(search.error, Cancelled):
            raise search.error
        if search.outcome is None:
            notices.append(_missing(search, deadline))
    if not parts:
        raise next(search.error for search in running if search.error is not None)
    return merged(parts, most, notices, (time.monotonic() - begun) * 1000)


def _missing(search: _WorkspaceSearch, deadline: float) -> str:
    if search.error is None:
        return tr(
            "{name} did not answer within {seconds:g} s, so its results are missing.",
            name=search.workspace.name,
            seconds=deadline,
        )
    unexpected = tr("something unexpected went wrong, see the log.")
    why = str(search.error) if isinstance(search.error, MnemoscopeError) else unexpected
    return tr("The results of {name} are missing: {reason}", name=search.workspace.name, reason=why)
