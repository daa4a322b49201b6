"""Results as Markdown and as quotes."""

import re
from datetime import datetime

from hypothesis import given
from hypothesis import strategies as st

from engine.records import FoundMessage, MemorySearchResult
from engine.search.result_export import result_quote, results_markdown
from tests.helpers.fake_records import result_of


def _result(**changes: object) -> MemorySearchResult:
    fields: dict[str, object] = {
        "path": "projects/greenhouse.md",
        "start_line": 7,
        "end_line": 9,
        "score": 0.834,
        "snippet": "## Watering\n\nThe timer skipped Tuesday.",
        "source": "memory",
        "citation": "projects/greenhouse.md#L7-L9",
        "title": "Greenhouse",
        "heading": ("Greenhouse", "Watering"),
        "modified": 0.0,
        "snippet_line": 7,
        "match_ranges": (),
        "text_score": 0.6,
        "vector_score": None,
        "text_share": 1.0,
    }
    return result_of(**(fields | changes))


def test_markdown_page_has_query_results_and_citations() -> None:
    page = "\n\n".join(results_markdown([_result()], query="timer *now*", total=3))
    assert page == (
        "# timer \\*now\\*\n\n1 of 3 results.\n\n## Greenhouse › Watering\n\n"
        "`projects/greenhouse.md#L7-L9` · score 0.83\n\n> ## Watering\n>\n> The timer skipped Tuesday."
    )


def test_result_of_session_names_agent_project_and_day() -> None:
    message = FoundMessage(ordinal=1, id="", role="user", agent="codex", project="/home/ada/boats")
    noon = datetime(2026, 5, 4, 12).timestamp()
    page = "\n\n".join(results_markdown([_result(message=message, modified=noon)], query="timer", total=1))
    assert " · score 0.83 · written by the user · Codex · boats · 2026-05-04\n" in page


def test_page_counts_further_results_of_a_file() -> None:
    parts = list(results_markdown([_result(more_in_file=4)], query="timer", total=5))
    assert parts[-1] == "4 more results in `projects/greenhouse.md`."


def test_result_of_filters_alone_has_no_score() -> None:
    page = "\n\n".join(results_markdown([_result(text_score=0.0, score=1.0)], query="tag:garden", total=1))
    assert "`projects/greenhouse.md#L7-L9` · matches the filters\n" in page


def test_quote_ends_with_location() -> None:
    assert result_quote(_result(snippet="One.\nTwo.")) == (
        "> One.\n> Two.\n>\n> — Greenhouse, `projects/greenhouse.md#L7-L9`"
    )


def test_a_path_with_backticks_stays_whole() -> None:
    assert "``a`b.md#L1``" in result_quote(_result(citation="a`b.md#L1"))
    assert "`` `x ``" in result_quote(_result(citation="`x"))


@given(st.text(max_size=300), st.text(max_size=60))
def test_any_snippet_is_fully_quoted(snippet: str, title: str) -> None:
    parts = list(results_markdown([_result(snippet=snippet, title=title, heading=())], query="q", total=1))
    assert len(parts) == 5
    assert all(line.startswith(">") for line in parts[-1].split("\n"))
    assert "\n" not in parts[2]
    assert re.fullmatch(r"## (?:\\[\\`*_\[\]<>#|~]|[^\\`*_\[\]<>#|~])*", parts[2])
