"""What is said of likeness and of questions within the results of others."""

from engine import EarlierAnswer, Passage, cite
from gui.search.excerpt import make_excerpt
from gui.search.narrowing_bar import Crumb
from gui.search.questions import Question
from gui.widgets.wording import counted, grouped

_LONGEST_QUOTE = 60
_MOST_LOOKED_AT = 1000


def like(passage: Passage, words: str) -> Crumb:
    """As: Like “The irrigation timer opens…” greenhouse.md#L22-L37."""
    cited = citation(passage)
    tip = f"Like {quoted(words)} · {cited}" if words.strip() else f"Like {cited}"
    leave = "Stop looking for what is like it"
    if not words.strip():
        return Crumb(f"Like {_file(cited)}", tip, leave)
    return Crumb(f"Like {quoted(words)}", tip, leave, _file(cited))


def within(question: Question, count: EarlierAnswer | None, words: str) -> Crumb:
    """As: Within 37 results of “irrigation timer”."""
    if question.like is None:
        said = tip = f"Within {_how_many(count)} of “{question.text}”"
    else:
        cited = citation(question.like)
        said = f"Within {_how_many(count)} like {quoted(words) if words.strip() else _file(cited)}"
        tip = f"{said} · {cited}"
    limits = " · ".join(_limits(question))
    return Crumb(said, f"{tip} ({limits})" if limits else tip, "Leave these results and show them again")


def citation(passage: Passage) -> str:
    return cite(passage.path, passage.start_line, passage.end_line)


def quoted(words: str) -> str:
    """The beginning of a passage in quotation marks, without those of Markdown."""
    line = make_excerpt(words[:_MOST_LOOKED_AT], ()).text
    return f"“{line}”" if len(line) <= _LONGEST_QUOTE else f"“{line[:_LONGEST_QUOTE].rstrip()}…”"


def _file(cited: str) -> str:
    """Without its folders."""
    return cited.rpartition("/")[2]


def _how_many(count: EarlierAnswer | None) -> str:
    if count is None:
        return "the results"
    if count.total > count.passages:
        return (
            f"the best {grouped(count.passages)} of {grouped(count.total)}{'+' if count.total_is_least else ''} results"
        )
    return counted(count.passages, "result")


def _limits(question: Question) -> tuple[str, ...]:
    sources = " and ".join("notes" if source == "memory" else source for source in question.sources or ())
    return (
        *((sources,) if sources else ()),
        *((f"changed in the past {question.days} days",) if question.days else ()),
        *((f"in “{question.scope.name}”",) if question.scope else ()),
        *(("weak matches too",) if question.min_score == 0 else ()),
    )
