"""`mnemoscope search`: search the notes and sessions of a workspace."""

from argparse import Namespace
from datetime import date
from itertools import zip_longest
from typing import TYPE_CHECKING

from engine.base.errors import PassageMissing
from engine.base.formatting import plural
from engine.cli.output import print_json, print_marked, print_table, safe, supports_bold
from engine.cli.workspace import find_workspace, interruptible, opened, search_all
from engine.corpus.globs import literal_glob
from engine.records import (
    LAST_LINE,
    EarlierQuery,
    MemorySearchResult,
    Passage,
    SearchOutcome,
)

if TYPE_CHECKING:
    from engine.base.cancellation import CancelToken
    from engine.memory.memory_interface import MemorySearchManager
    from engine.memory.search_requests import SearchOptions
    from engine.records import RemedyName, ResultExplanation, SearchExplanation, SearchRemedy, SearchStage

_MAX_COPIES = 5
"""Maximum number of copies of a result that are listed."""
_MAX_CHARACTERS = 240
"""Maximum length of a result's text without `--full`: three lines of a usual terminal."""
_LONGEST_NAME = 4
"""Maximum number of words of a query that may be the name of a file."""
_REMEDY_OPTIONS: "dict[RemedyName, str]" = {
    "weak": "--min-score 0",
    "sources": "leave out --source",
    "period": "leave out --since and --until",
    "scope": "leave out --path",
    "within": "leave out --within",
    "limits": "leave out --source, --since, --until and --path",
    "age": "--half-life-days 0",
    "excluded": "mnemoscope doctor {path}",
    "add-sessions": "folders under [defaults.sessions] in the settings",
    "sync": "mnemoscope index",
    "embed": "mnemoscope index",
    "settings": "mnemoscope doctor",
    "folder": "--workspace DIR",
    "skipped": "mnemoscope status",
    "tools": "tools = true under [defaults.sessions] in the settings, then mnemoscope index",
}
"""Remedy -> command-line option that applies it; others have their own query."""


def run(arguments: Namespace) -> int:
    options: SearchOptions = {
        "max_results": arguments.max_results,
        "min_score": arguments.min_score,
        "sources": arguments.source,
        "path_glob": arguments.path,
        "since": arguments.since,
        "until": arguments.until,
        "half_life_days": arguments.half_life_days,
        "diverse": arguments.diverse,
        "correct": not arguments.exact,
        "within": tuple(EarlierQuery(query=query) for query in arguments.within),
        # An empty or a weak result is explained without another command.
        "explain": arguments.explain or (False if arguments.markdown else "if weak"),
    }
    workspace = find_workspace(arguments)
    with interruptible() as token, opened(workspace) as manager:
        if arguments.all_workspaces:
            outcome = search_all(manager, workspace, " ".join(arguments.query), options, token, arguments.config)
        elif arguments.saved is not None:
            from engine.cli.searches import run_saved

            outcome = run_saved(manager, workspace, arguments.saved, options, token, arguments.config)
        elif arguments.like is not None:
            outcome = _search_like(manager, _passage(arguments.like), token, options)
        else:
            outcome = manager.search(" ".join(arguments.query), cancel=token, **options)
        unexplained = manager.unsupported.get("explanation", "") if arguments.explain else ""
    if arguments.json:
        from engine.search.result_export import outcome_values

        print_json(outcome_values(outcome))
    elif arguments.markdown:
        from engine.search.result_export import results_markdown

        print("\n\n".join(results_markdown(outcome.results, query=_query_text(arguments), total=outcome.total)))
    else:
        _print_text(outcome, arguments)
        if unexplained:
            print(unexplained)
    return 0


def _search_like(
    manager: "MemorySearchManager", passage: Passage, token: "CancelToken", options: "SearchOptions"
) -> SearchOutcome:
    """Search for similar passages. Raises `PassageMissing` with the reason, if the file is not indexed."""
    try:
        return manager.search_like(passage, cancel=token, **options)
    except PassageMissing:
        state = manager.explain_path(passage.path, cancel=token)
        if state.state == "indexed":
            raise
        raise PassageMissing(f"{safe(passage.path)}: {state.sentence}") from None


def _passage(text: str) -> Passage:
    """Return the cited lines, or the whole file, as a passage."""
    from engine.records import parse_citation  # most searches are for a query

    cited = parse_citation(text)
    if cited is None:
        return Passage(path=text, start_line=1, end_line=LAST_LINE)
    return Passage(path=cited.path, start_line=cited.first, end_line=cited.last)


def _query_text(arguments: Namespace) -> str:
    """Return the query as text."""
    if arguments.like is not None:
        return f"Like {arguments.like}"
    return arguments.saved or " ".join(arguments.query)


def _search_options(arguments: Namespace) -> str:
    """Return the folder and the limits of this search as options, so that a suggested query searches the same files.

    Times are given as days, since an option has no hours.
    """
    options = [("--workspace", arguments.workspace), ("--config", arguments.config), ("--path", arguments.path)]
    options += [("--source", source) for source in arguments.source or ()]
    options += [("--within", query) for query in arguments.within]
    options.append(("--min-score", arguments.min_score))
    if arguments.since is not None:
        options.append(("--since", date.fromtimestamp(arguments.since)))
    if arguments.until is not None:
        options.append(("--until", date.fromtimestamp(arguments.until - 1)))  # the end of a day is the next one's start
    return "".join(f" {option} {_quote(str(value))}" for option, value in options if value is not None)


def _print_text(outcome: SearchOutcome, arguments: Namespace) -> None:
    explain: bool = arguments.explain
    explanation = outcome.explanation
    reasons = explanation.results if explain and explanation else ()
    for result, reason in zip_longest(outcome.results, reasons):
        _print_result(result, reason, full=arguments.full)
        if result.copies:
            print(f"{_copies(result)}\n")
        if result.more_in_file:
            print(f"{_more_in_file(result, at_least=outcome.total_is_least)}\n")
    _print_count(outcome)
    if not (explain or arguments.saved) and any(map(_is_weaker, outcome.results, outcome.results[1:])):
        print("The order doesn't depend on the scores alone; --explain shows the reasons.")
    _print_remarks(outcome, " ".join(arguments.query))
    if explanation and (explain or not outcome.results):
        _print_stages(explanation, _search_options(arguments), table=explain or explanation.emptied_by != "index")


def _print_count(outcome: SearchOutcome) -> None:
    hidden = outcome.total - len(outcome.results) - sum(result.more_in_file for result in outcome.results)
    if not outcome.results:
        reason = outcome.explanation.reason if outcome.explanation else ""
        print(safe(f"No matches. {reason}".rstrip()))
    elif outcome.total > len(outcome.results):
        total = f"{outcome.total:,}+ results" if outcome.total_is_least else plural(outcome.total, "result")
        print(f"{len(outcome.results):,} of {total}{'; --max-results shows more' if hidden > 0 else ''}.")


def _is_weaker(above: MemorySearchResult, below: MemorySearchResult) -> bool:
    """Whether a result is above one with a higher score, as printed."""
    return round(above.score, 3) < round(below.score, 3)


def _print_remarks(outcome: SearchOutcome, query: str) -> None:
    """Print how the query was or could be changed: words of a passage, earlier queries, corrections."""
    if outcome.passage_words:
        what = "these words of it" if outcome.mode == "keyword" else "its meaning and these words"
        print(f"Searched for {what}: {safe(', '.join(outcome.passage_words))}.")
    for earlier in outcome.within:
        total = f" of {earlier.total:,}" if earlier.total > earlier.passages else ""
        print(f"Searched within {earlier.passages:,}{total} results.")
    if outcome.corrected is not None:
        print(f"Showing results for “{safe(outcome.corrected.query)}”; --exact searches for the words as typed.")
    if outcome.offered:
        suggestions = " or ".join(f"“{safe(suggestion.query)}”" for suggestion in outcome.offered)
        print(f"Did you mean {suggestions}?")
    notice = outcome.full_notice
    if notice and not (outcome.explanation and not outcome.results and notice == outcome.explanation.reason):
        print(safe(notice))  # unless it is printed as the reason of an empty answer
    for remedy in outcome.remedies:
        print(f"Try: {safe(_remedy_text(remedy, ''))}")
    if outcome.similar_only and not outcome.remedies and len(query.split()) <= _LONGEST_NAME:
        print(f"If a file with this name is missing, try: mnemoscope doctor {safe(_quote(query))}")


def _print_result(result: MemorySearchResult, reason: "ResultExplanation | None", *, full: bool) -> None:
    lines = f"{result.start_line}-{result.end_line}"
    heading = safe(" › ".join(result.heading) or result.title)
    where = f"{safe(result.workspace)}: " if result.workspace else ""
    branch = " (abandoned branch)" if result.message is not None and result.message.rewound else ""
    score = f"{result.score:.3f}" if result.is_scored else f"{'–':5}"  # only the filters matched
    print(f"{score} {where}{safe(result.path)}:{lines}  {heading}{branch}")
    if result.message is not None:
        from engine.search.result_export import session_line

        print(safe(session_line(result.message, result.modified)))
    before, after = _context(result)
    print(before, end="")
    text, ranges = result.snippet, result.match_ranges
    if not full:
        from engine.search.snippets import make_snippet  # loaded by the search, unless another program answered

        best = make_snippet(text, ranges, _MAX_CHARACTERS)
        text, ranges = best.text, best.ranges
    print_marked(text, ranges if supports_bold() else ())
    print(after, end="")
    if reason:
        from engine.search.result_reasons import reasons_of  # only if an explanation is requested

        for part in reasons_of(reason):
            print(f"  {safe(str(part))}")
    print()


def _context(result: MemorySearchResult) -> tuple[str, str]:
    """Return the line before and the line after a snippet: its question or its answer, unless the snippet has it."""
    context = result.context
    if context is None or context.text.rstrip("…") in " ".join(result.snippet.split()):
        return "", ""
    if context.role == "user":
        return f"User: {safe(context.text)}\n\n", ""
    return "", f"\nAssistant: {safe(context.text)}\n"


def _copies(result: MemorySearchResult) -> str:
    citations = ", ".join(copy.citation for copy in result.copies[:_MAX_COPIES])
    rest = f" and {len(result.copies) - _MAX_COPIES:,} more" if len(result.copies) > _MAX_COPIES else ""
    return safe(f"The same text is in {plural(len(result.copies), 'other file')}: {citations}{rest}.")


def _more_in_file(result: MemorySearchResult, *, at_least: bool) -> str:
    workspace = f"--workspace {_quote(result.workspace)} " if result.workspace else ""
    path = _quote(literal_glob(result.path))
    least = " or" if at_least else ""
    return safe(f"+{result.more_in_file:,}{least} more in {result.path}; {workspace}--path {path} shows them.")


def _print_stages(explanation: "SearchExplanation", options: str, *, table: bool) -> None:
    if table:
        print_table((_stage_name(stage, explanation), _stage_text(stage)) for stage in explanation.stages)
    for remedy in explanation.remedies:
        print(f"{safe(remedy.advice)} Try: {safe(_remedy_text(remedy, options))}")
    wordless = any(stage.name == "newest" for stage in explanation.stages)
    if explanation.emptied_by and not explanation.remedies:
        print("Try another value, or fewer operators." if wordless else "Try other words, or fewer of them.")


def _quote(text: str) -> str:
    from shlex import quote  # most results suggest no command

    return quote(text)


def _stage_name(stage: "SearchStage", explanation: "SearchExplanation") -> str:
    return f"{stage.name} *" if stage.name == explanation.emptied_by else stage.name


def _stage_text(stage: "SearchStage") -> str:
    unit = "" if stage.unit in ("chunks", "queries") else f" {stage.unit}"
    return f"{stage.after:,} of {stage.before:,}{unit}  {stage.milliseconds:.1f} ms  {safe(stage.note)}"


def _remedy_text(remedy: "SearchRemedy", options: str) -> str:
    if remedy.query:
        return f"mnemoscope search {_quote(remedy.query)}{options}"
    if remedy.extension:
        return f"{remedy.extension} among the extensions in the settings"
    return _REMEDY_OPTIONS[remedy.name].format(path=_quote(remedy.path))
