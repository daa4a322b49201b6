"""Messages about similar passages and searches within results."""

from collections.abc import Iterable

from engine import EarlierAnswer, Passage, Source, all_of, cite, in_quotes, marked, tr, tr_count
from gui.search.excerpt import make_excerpt
from gui.search.query import Query
from gui.search.scope_bar import Crumb

_LONGEST_QUOTE = 60
_MOST_LOOKED_AT = 1000
_SOURCES: dict[Source, str] = {"memory": marked("notes"), "sessions": marked("sessions")}

_WITHIN = (
    marked("Within the results of “{asked}”"),
    marked("Within the best {count:,} of {total:,} results of “{asked}”"),
    marked("Within the best {count:,} of {total:,}+ results of “{asked}”"),
)
_WITHIN_LIKE = (
    marked("Within the results like {asked}"),
    marked("Within the best {count:,} of {total:,} results like {asked}"),
    marked("Within the best {count:,} of {total:,}+ results like {asked}"),
)
"""All of them, the best, and the best where there may be more."""


def like(passage: Passage, words: str) -> Crumb:
    """As: Like “The irrigation timer opens…” greenhouse.md#L22-L37."""
    cited = citation(passage)
    leave = tr("Stop finding similar passages")
    if not words.strip():
        return Crumb(tr("Like {passage}", passage=_file(cited)), tr("Like {passage}", passage=cited), leave)
    said = tr("Like {passage}", passage=quoted(words))
    return Crumb(said, f"{said} · {cited}", leave, _file(cited))


def within(question: Query, count: EarlierAnswer | None, words: str) -> Crumb:
    """As: Within 37 results of “irrigation timer”."""
    if question.like is None:
        said = tip = _within(question.text, count, alike=False)
    else:
        cited = citation(question.like)
        passage = quoted(words) if words.strip() else _file(cited)
        said = _within(passage, count, alike=True)
        tip = f"{said} · {cited}"
    limits = " · ".join(_limits(question))
    return Crumb(said, f"{tip} ({limits})" if limits else tip, tr("Leave these results and show them again"))


def citation(passage: Passage) -> str:
    return cite(passage.path, passage.start_line, passage.end_line)


def quoted(words: str) -> str:
    """The beginning of a passage in quotation marks, without those of Markdown."""
    line = make_excerpt(words[:_MOST_LOOKED_AT], ()).text
    return in_quotes(line if len(line) <= _LONGEST_QUOTE else f"{line[:_LONGEST_QUOTE].rstrip()}…")


def source_names(sources: Iterable[Source] | None) -> str:
    """As: notes and sessions; empty where all are searched."""
    return all_of(tr(_SOURCES[source]) for source in sources or ())


def _file(cited: str) -> str:
    """Without its folders."""
    return cited.rpartition("/")[2]


def _within(asked: str, count: EarlierAnswer | None, *, alike: bool) -> str:
    """`asked`: a query, or the passage that the results are similar to."""
    all_of_them, best, best_at_least = _WITHIN_LIKE if alike else _WITHIN
    if count is None:
        return tr(all_of_them, asked=asked)
    if count.total > count.passages:
        said = best_at_least if count.total_is_least else best
        return tr(said, count=count.passages, total=count.total, asked=asked)
    if alike:
        return tr_count(
            "Within {count:,} result like {asked}", "Within {count:,} results like {asked}", count.passages, asked=asked
        )
    return tr_count(
        "Within {count:,} result of “{asked}”", "Within {count:,} results of “{asked}”", count.passages, asked=asked
    )


def _limits(question: Query) -> tuple[str, ...]:
    limits = (
        source_names(question.sources),
        _changed(question.days) if question.days else "",
        tr("in “{name}”", name=question.scope.name) if question.scope else "",
        tr("weak matches too") if question.min_score == 0 else "",
    )
    return tuple(limit for limit in limits if limit)


def _changed(days: int) -> str:
    return tr_count("changed in the past {count} day", "changed in the past {count} days", days)
