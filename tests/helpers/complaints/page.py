"""Render the complaints as a page: each query, its results, and their explanation."""

from collections.abc import Iterator, Sequence

from engine import reasons_of
from tests.helpers.complaints.answering import Answered, undated
from tests.helpers.complaints.cases import SITUATIONS

_HEAD = """\
# Queries that people complain about

What users of OpenClaw's memory search report (the numbers are threads of github.com/openclaw/openclaw), each as one
query to a real index, with what is found here and what the explanation says. Made by
`python -m tests.benchmarks complaints` from the table in `tests/helpers/complaints/cases.py`, which
`tests/engine/search/test_complaints.py` checks. `{60}` is the day 60 days ago.
"""


def explained(answer: Answered) -> str:
    """Return the explanation of an answer: of its first result, or of the stage that removed all results."""
    explanation = answer.outcome.explanation
    assert explanation is not None
    said = [answer.outcome.notice]
    if explanation.results:
        said += [str(reason) for reason in reasons_of(explanation.results[0])]
    else:
        said += [stage.note for stage in explanation.stages if stage.name == explanation.emptied_by]
        said += [stage.note for stage in explanation.stages if stage.name == "words" and "Not found" in stage.note]
        said += [f"Did you mean “{suggestion.query}”?" for suggestion in answer.outcome.suggestions]
        said += [remedy.advice for remedy in explanation.remedies]
    return undated(" ".join(dict.fromkeys(part for part in said if part)))


def complaints_page(answers: Sequence[Answered]) -> str:
    """Return the page as Markdown."""
    return "\n".join(_lines(answers)) + "\n"


def _lines(answers: Sequence[Answered]) -> Iterator[str]:
    yield _HEAD
    yield "| | asked | found | what is said of it |"
    yield "|---|---|---|---|"
    for number, answer in enumerate(answers, 1):
        case = answer.case
        state = "" if case.situation == "usual" else f" ({SITUATIONS[case.situation]})"
        limits = "".join(f" {name}={value!r}" for name, value in case.asked.items())
        asked = f"{case.threads}: {case.complaint}<br>`{case.query}`{limits}{state}"
        yield f"| {number} | {asked} | {_found(answer)} | {explained(answer).replace('|', '&#124;')} |"


def _found(answer: Answered) -> str:
    results = answer.outcome.results
    if not results:
        return "nothing"
    listed = "<br>".join(f"{undated(result.path)} {result.score:.2f}" for result in results[:3])
    return listed + (f"<br>and {answer.outcome.total - 3} more" if answer.outcome.total > 3 else "")
