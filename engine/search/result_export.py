"""Exports search results as JSON, and as Markdown with a citation for each."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from engine.base import lazy_pattern
from engine.base.formatting import folder_name, on_one_line, plural, with_single_empty_lines
from engine.records import FoundMessage, MemorySearchResult, SearchOutcome, to_builtins

_TICKS = lazy_pattern(r"`+")
_SAID_BY = {"user": "written by the user", "assistant": "said by the assistant", "tool": "from a tool"}

_NEXT_TO = {"user": "Question", "assistant": "Answer"}


def outcome_values(outcome: SearchOutcome) -> dict[str, Any]:
    """Return a search outcome as dicts and lists for JSON, with camelCase keys.

    Fields that only matter while typing, or to order the results of several workspaces, are left out.
    """
    values: dict[str, Any] = to_builtins(outcome)
    values["timingsMs"] = values.pop("timings")
    del values["remote"], values["age"], values["vectorWeight"]
    for result in values["results"]:
        result.update(result.pop("text"))
        if not result["workspace"]:
            del result["workspace"]  # only one was searched
        if result["context"] is None:
            del result["context"]
        if not result["copies"]:
            del result["copies"]
        for copy in result.get("copies", ()):
            text = copy.pop("text")
            copy |= {key: text[key] for key in ("snippetLine", "message")}
    for key in ("passageWords", "within", "remedies"):
        if not values[key]:
            del values[key]
    if values["explanation"] is None:
        del values["explanation"]
    return values


def session_line(message: FoundMessage, modified: float) -> str:
    """Return agent, project, another machine and day of the session that a result is in, such as "Codex · boats"."""
    from engine.corpus.transcripts.registry import agent_label  # imports every agent

    day = f"{datetime.fromtimestamp(modified):%Y-%m-%d}" if modified else ""
    return " · ".join(filter(None, (agent_label(message.agent), folder_name(message.project), message.machine, day)))


def results_markdown(results: Iterable[MemorySearchResult], *, query: str, total: int) -> Iterator[str]:
    """Yield results as Markdown paragraphs, to be joined by empty lines.

    `query`: used as title. `total`: the number of results found.
    """
    exported = list(results)
    yield f"# {on_one_line(query)}" if query else "# Results"
    more = (
        f"{len(exported):,} of {plural(total, 'result')}" if total > len(exported) else plural(len(exported), "result")
    )
    yield f"{more}."
    for result in exported:
        yield f"## {on_one_line(_title(result))}"
        score = f"score {result.score:.2f}" if result.is_scored else "matches the filters"
        details = [_code(result.citation), score]
        if result.workspace:
            details.append(f"in {_code(result.workspace)}")
        if result.message is not None:
            branch = " (abandoned branch)" if result.message.rewound else ""
            details.append(f"{_SAID_BY.get(result.message.role, result.message.role)}{branch}")
            details.append(session_line(result.message, result.modified))
        yield " · ".join(filter(None, details))
        if result.context is not None:
            yield f"{_NEXT_TO[result.context.role]}: {on_one_line(result.context.text)}"
        yield _quoted(result.snippet)
        if result.copies:
            yield f"The same text: {', '.join(_code(copy.citation) for copy in result.copies)}"
        if result.more_in_file:
            yield f"{plural(result.more_in_file, 'more result')} in {_code(result.path)}."


def result_quote(result: MemorySearchResult) -> str:
    """Return one result as Markdown for a note: its snippet as a quote, with title and citation below it."""
    return f"{_quoted(result.snippet)}\n>\n> — {on_one_line(result.title)}, {_code(result.citation)}"


def _title(result: MemorySearchResult) -> str:
    heading = result.heading[1:] if result.heading[:1] == (result.title,) else result.heading
    return " › ".join((result.title, *heading))


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in with_single_empty_lines(text).splitlines()) or ">"


def _code(text: str) -> str:
    """Return text as a Markdown code span, fenced by more backticks than it has in a row."""
    ticks = "`" * (max(map(len, _TICKS.findall(text)), default=0) + 1)
    room = " " if text[:1] == "`" or text[-1:] == "`" else ""
    return f"{ticks}{room}{text}{room}{ticks}"
