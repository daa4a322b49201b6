"""`mnemoscope search`."""

from argparse import Namespace
from datetime import UTC, datetime

from engine.cli.opening import find_place, interruptible, opened
from engine.cli.output import marked, marks_wanted, plural, print_json, print_table, safe, safe_text
from engine.records import (
    MemorySearchResult,
    ResultExplanation,
    SearchExplanation,
    SearchOutcome,
    to_builtins,
)

_ORIGINS = {
    "name": "its name",
    "folder": "its folder",
    "front-matter": "its front matter",
    "session": "the session's end",
    "modified": "the file's time",
}


def run(arguments: Namespace) -> int:
    with interruptible() as token, opened(find_place(arguments)) as manager:
        outcome = manager.search(
            " ".join(arguments.query),
            max_results=arguments.max_results,
            min_score=arguments.min_score,
            sources=arguments.source,
            path_glob=arguments.path,
            since=arguments.since,
            until=arguments.until,
            half_life_days=arguments.half_life_days,
            diverse=arguments.diverse,
            # A person who finds nothing is told why without asking again.
            explain=arguments.explain or not arguments.json,
            cancel=token,
        )
    if arguments.json:
        _print_json(outcome)
    else:
        _print_text(outcome, explain=arguments.explain)
    return 0


def _print_json(outcome: SearchOutcome) -> None:
    values = to_builtins(outcome)
    values["timingsMs"] = values.pop("timings")
    del values["remote"]  # for those who ask while somebody types
    if values["explanation"] is None:
        del values["explanation"]
    print_json(values)


def _print_text(outcome: SearchOutcome, *, explain: bool) -> None:
    explanation = outcome.explanation
    reasons = {reason.citation: reason for reason in explanation.results} if explain and explanation else {}
    for result in outcome.results:
        _print_result(result, reasons.get(result.citation))
    if not outcome.results:
        print("No matches.")
    elif outcome.total > len(outcome.results):
        total = f"{outcome.total:,}+ results" if outcome.total_is_least else plural(outcome.total, "result")
        print(f"{len(outcome.results):,} of {total}; --max-results shows more.")
    if outcome.suggestions:
        meant = " or ".join(f"“{safe(suggestion.query)}”" for suggestion in outcome.suggestions)
        print(f"Did you mean {meant}?")
    if outcome.notice:
        print(outcome.notice)
    if explanation and (explain or not outcome.results):
        _print_stages(explanation)


def _print_result(result: MemorySearchResult, reason: ResultExplanation | None) -> None:
    lines = f"{result.start_line}-{result.end_line}"
    heading = safe(" › ".join(result.heading) or result.title)
    print(f"{result.score:.3f} {safe(result.path)}:{lines}  {heading}")
    snippet = safe_text(result.snippet)
    print(marked(snippet, result.match_ranges) if marks_wanted() else snippet)
    if reason:
        print(f"  {_why(reason)}")
    print()


def _why(reason: ResultExplanation) -> str:
    words = ", ".join(f"{safe(term)} {share:.3f}" for term, share in reason.terms)
    text = f"words {reason.text_score:.3f}" + (f" ({words})" if words else "")
    if reason.vector_score is None:
        text += " · meaning not compared"
    else:
        cosine = "" if reason.cosine is None else f" (cosine {reason.cosine:.3f})"
        text += f" · meaning {reason.vector_score:.3f}{cosine}, counted {reason.vector_weight:.0%}"
    return text + _age(reason) + _diversity(reason)


def _age(reason: ResultExplanation) -> str:
    if reason.date_origin is None:
        return ""
    if reason.date is None or reason.half_life_days is None:
        return " · does not age"
    day = datetime.fromtimestamp(reason.date, UTC).strftime("%Y-%m-%d")
    origin = f"{day} by {_ORIGINS[reason.date_origin]}, half-life {reason.half_life_days:g} days"
    return f" · aged to {reason.decay:.1%} ({origin})"


def _diversity(reason: ResultExplanation) -> str:
    if not reason.mmr_like and reason.rank == reason.score_rank:
        return ""
    like = f", {reason.mmr_penalty:.3f} off for being like {safe(reason.mmr_like)}" if reason.mmr_like else ""
    return f" · {reason.rank} of the list, {reason.score_rank} by score{like}"


def _print_stages(explanation: SearchExplanation) -> None:
    print_table(
        (stage.name, f"{stage.left:,} of {stage.entered:,}  {safe(stage.note)}") for stage in explanation.stages
    )
