"""What the search panel says, from records alone."""

from collections.abc import Sequence

from engine import MemoryProviderStatus, QuerySuggestion, SearchOutcome
from gui.search.questions import Question
from gui.search.rows import count_files
from gui.widgets.engines import engine_name, index_remedy
from gui.widgets.wording import counted

SEARCHING = "Searching…"
DID_YOU_MEAN = "Did you mean"
WEAK = "Weak matches are shown too."
_LONGEST_QUERY = 80
_ANSWERED_INSTEAD = "Until it does, the built-in index answers what you search for."
_SECOND = 1000


def milliseconds(spent: float) -> str:
    """9.2 -> "9 ms", 1240 -> "1.2 s"."""
    return f"{max(1, round(spent))} ms" if spent < _SECOND else f"{spent / _SECOND:.1f} s"


def result_count(outcome: SearchOutcome) -> str:
    """ "7 results", or "50 of 73 results" where not all are shown; "73+" where there may be more."""
    shown = len(outcome.results)
    if outcome.total > shown:
        total = f"{outcome.total:,}+ results" if outcome.total_is_least else counted(outcome.total, "result")
        return f"{shown:,} of {total}"
    return counted(shown, "result") if shown else "No results"


def box_state(outcome: SearchOutcome) -> str:
    return f"{result_count(outcome)} · {milliseconds(outcome.timings.total)}"


def partial_state(outcome: SearchOutcome) -> str:
    """While the words have answered and the meaning is late."""
    return f"{result_count(outcome)} by words, meaning follows"


def header_counts(outcome: SearchOutcome) -> tuple[str, str]:
    """The line above the list, at length and short."""
    files = counted(count_files(outcome), "file")
    return f"{files} · {result_count(outcome)}", files


def spoken_counts(outcome: SearchOutcome) -> str:
    """For assistive tools, when an answer has come."""
    if not outcome.results:
        return "No results"
    return f"{result_count(outcome)} in {counted(count_files(outcome), 'file')}"


def new_words(suggestion: QuerySuggestion) -> str:
    """What a suggestion has in place of the word that occurs nowhere; the whole question where there are several."""
    return suggestion.words[0][1] if len(suggestion.words) == 1 else suggestion.query


def meant(suggestions: Sequence[QuerySuggestion]) -> str:
    """The question whether something else was meant; empty without a suggestion."""
    words = " or ".join(f"“{new_words(suggestion)}”" for suggestion in suggestions)
    return f"{DID_YOU_MEAN} {words}?" if words else ""


def hint(status: MemoryProviderStatus | None) -> tuple[str, str]:
    """Title and sentence before anything is asked."""
    how = "Type a few words, or a question in your own words. Results come by the words and by what they mean."
    if status is not None and status.custom.get("searchMode") == "keyword":
        how = "Type a few words that stand in what you look for."
    if status is not None and status.index_error:
        if index_remedy(status) == "sync":
            return f"{engine_name(status.backend)} does not answer", f"{status.index_error} {_ANSWERED_INSTEAD}"
        return "The index cannot be searched", status.index_error
    if status is not None and not status.files:
        return "Nothing is indexed yet", "Notes can be found here as soon as they have been read."
    both = status is not None and "sessions" in status.sources
    return "Search your notes and sessions" if both else "Search your notes", how


def empty(question: Question, outcome: SearchOutcome) -> tuple[str, str]:
    """Title and sentence of an answer without results."""
    searched = " and ".join("notes" if source == "memory" else source for source in question.sources or ())
    period = f"files changed in the past {question.days} days" if question.days else ""
    scope = f"“{question.scope.name}”" if question.scope else ""
    limits = " and ".join(part for part in (scope or searched, period) if part)
    weak = question.min_score == 0
    close = " or comes close to them in meaning" if outcome.mode != "keyword" else ""
    here = "Nothing among these results" if question.within else "Nothing here"
    words = f"{here} has these words{close}."
    if question.like is not None:
        words = "No other passage shares enough of its telling words" + (" or its meaning." if close else ".")
    if weak:
        words = "Not even a weak match was found."
    sentences = (
        outcome.understood or words,
        outcome.notice,
        f"Only {limits} were searched." if limits else "",
        _emptied(outcome),
    )
    return _not_found(question), " ".join(part for part in sentences if part)


def _not_found(question: Question) -> str:
    if question.like is not None:
        return "Nothing is like this passage"
    query = question.text if len(question.text) <= _LONGEST_QUERY else f"{question.text[:_LONGEST_QUERY]}…"
    return f"Nothing found for “{query}”{' within these results' if question.within else ''}"


def _emptied(outcome: SearchOutcome) -> str:
    """What the stage that let nothing through says, unless it is said already."""
    explanation = outcome.explanation
    if explanation is None or any(remedy.name == "weak" for remedy in explanation.remedies):
        return ""
    said = (outcome.understood, outcome.notice)
    notes = (stage.note for stage in explanation.stages if stage.name == explanation.emptied_by)
    return next((note for note in notes if note not in said), "")
