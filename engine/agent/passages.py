"""Results as an agent reads them: with citations, and within a character budget."""

from collections.abc import Iterable, Iterator

import msgspec

from engine.records import CitedPassage, MemorySearchResult, cite
from engine.text.characters import cut

_DIGITS = 4


def cited_passages(
    results: Iterable[MemorySearchResult], *, cited: bool, budget: int | None
) -> tuple[CitedPassage, ...]:
    """The results in order, as many as fit.

    `cited`: each snippet ends with a line with its location. `budget`: most characters of all snippets together,
    including those lines; the snippet that exceeds it is cut, and later ones are left out.
    """
    passages = (_passage(result, cited) for result in results)
    return tuple(passages if budget is None else _fitting(passages, budget))


def _passage(result: MemorySearchResult, cited: bool) -> CitedPassage:
    passage = CitedPassage(
        path=result.path,
        start_line=result.start_line,
        end_line=result.end_line,
        score=round(float(result.score), _DIGITS),
        snippet=result.snippet,
        source=result.source,
    )
    if not cited:
        return passage
    citation = cite(result.path, result.start_line, result.end_line)
    snippet = f"{result.snippet.strip()}\n\nSource: {citation}"
    return msgspec.structs.replace(passage, snippet=snippet, citation=citation)


def _fitting(passages: Iterable[CitedPassage], budget: int) -> Iterator[CitedPassage]:
    for passage in passages:
        if len(passage.snippet) > budget:
            if shown := cut(passage.snippet, budget):
                yield msgspec.structs.replace(passage, snippet=shown)
            return
        yield passage
        budget -= len(passage.snippet)
