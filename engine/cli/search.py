"""`mnemoscope search`."""

import shlex
from argparse import Namespace

from engine.cli.opening import find_place, interruptible, opened
from engine.cli.output import marked, marks_wanted, plural, print_json, print_table, safe, safe_text
from engine.records import (
    MemorySearchResult,
    RemedyName,
    ResultExplanation,
    SearchExplanation,
    SearchOutcome,
    SearchRemedy,
    SearchStage,
    to_builtins,
)
from engine.search.reasons import reasons_of

_CONTROLS: dict[RemedyName, str] = {
    "weak": "--min-score 0",
    "sources": "leave out --source",
    "period": "leave out --since and --until",
    "scope": "leave out --path",
    "limits": "leave out --source, --since, --until and --path",
    "excluded": "mnemoscope doctor {path}",
    "add-sessions": "folders under [defaults.sessions] in the settings",
    "sync": "mnemoscope index",
    "embed": "mnemoscope index",
    "settings": "mnemoscope doctor",
    "folder": "--workspace DIR",
}
"""What changes an empty answer on the command line; `demand` has its query."""


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
    for said in reasons_of(reason) if reason else ():
        print(f"  {safe(said.sentence)}")
    print()


def _print_stages(explanation: SearchExplanation) -> None:
    print_table((_stage_name(stage, explanation), _told(stage)) for stage in explanation.stages)
    for remedy in explanation.remedies:
        print(f"{safe(remedy.advice)} Try: {safe(_control(remedy))}")


def _stage_name(stage: SearchStage, explanation: SearchExplanation) -> str:
    return f"{stage.name} *" if stage.name == explanation.emptied_by else stage.name


def _told(stage: SearchStage) -> str:
    unit = "" if stage.unit == "chunks" else f" {stage.unit}"
    return f"{stage.left:,} of {stage.entered:,}{unit}  {stage.milliseconds:.1f} ms  {safe(stage.note)}"


def _control(remedy: SearchRemedy) -> str:
    if remedy.name == "demand":
        return f"mnemoscope search {shlex.quote(remedy.query)}"
    return _CONTROLS[remedy.name].format(path=shlex.quote(remedy.path))
