import re
import sys
from typing import get_args

import msgspec
import pytest

from engine.records import (
    LAST_LINE,
    FoundMessage,
    MessageContext,
    PassageCopy,
    QuerySuggestion,
    RemedyName,
    SearchOutcome,
    SearchRemedy,
)
from engine.text.operators import QUERY_HELP
from tests.helpers.command_line import Run
from tests.helpers.fake_memory import FakeMemory
from tests.helpers.fake_records import make_path_state, with_text


def test_results_show_score_location_heading_and_lines(run: Run) -> None:
    answer = run("search", "irrigation", "timer", "--max-results", "2")
    assert answer.code == 0
    first, second = answer.out.split("\n\n")[:2]
    assert first.splitlines()[0] == "0.840 projects/greenhouse.md:7-17  Greenhouse › Watering"
    assert first.splitlines()[1].startswith("The timer on the drip irrigation")
    assert second.startswith("0.840 topics/shopping.md:1-")
    assert "2 of 4 results; --max-results shows more." in answer.out


def test_result_in_session_names_agent_project_and_day(
    run: Run, memory: FakeMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    search = memory.search
    spoken = FoundMessage(ordinal=2, id="", role="user", agent="claude-code", project="C:\\boats\\")

    def in_session(query: str, **options: object) -> SearchOutcome:
        outcome = search(query, **options)  # type: ignore[arg-type]
        first = msgspec.structs.replace(with_text(outcome.results[0], message=spoken), modified=1_773_050_400.0)
        return msgspec.structs.replace(outcome, results=(first,))

    monkeypatch.setattr(memory, "search", in_session)
    assert run("search", "irrigation", "timer").out.splitlines()[1] == "Claude Code · boats · 2026-03-09"


@pytest.mark.parametrize(("role", "first"), [("user", "User: How long?"), ("assistant", "The timer on the drip")])
def test_short_hit_in_session_has_the_other_message(
    run: Run, memory: FakeMemory, monkeypatch: pytest.MonkeyPatch, role: str, first: str
) -> None:
    search = memory.search

    def in_session(query: str, **options: object) -> SearchOutcome:
        outcome = search(query, **options)  # type: ignore[arg-type]
        known = outcome.results[0].snippet.split("\n")[0] if "again" in query else "How long?"
        context = MessageContext(role=role, text=known, line=1, ordinal=1)
        first = outcome.results[0]
        text = msgspec.structs.replace(first.shown, context=context)
        return msgspec.structs.replace(outcome, results=(msgspec.structs.replace(first, text=text),))

    monkeypatch.setattr(memory, "search", in_session)
    lines = run("search", "irrigation", "timer").out.splitlines()
    assert lines[1].startswith(first)
    assert ("Assistant: How long?" in lines) == (role == "assistant")
    assert not any(line.startswith(("User: ", "Assistant: ")) for line in run("search", "again").out.splitlines())


def test_more_in_file_is_a_line_with_the_option(run: Run, memory: FakeMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    search = memory.search

    def limited(query: str, **options: object) -> SearchOutcome:
        outcome = search(query, **options)  # type: ignore[arg-type]
        first, *others = outcome.results
        first = msgspec.structs.replace(first, path="my [log].md", more_in_file=345)
        total = len(outcome.results) + 345
        return msgspec.structs.replace(outcome, results=(first, *others), total=total, total_is_least="least" in query)

    monkeypatch.setattr(memory, "search", limited)
    assert "+345 or more in my [log].md;" in run("search", "irrigation", "timer", "least").out
    out = run("search", "irrigation", "timer").out
    assert "+345 more in my [log].md; --path 'my [[]log].md' shows them." in out
    assert "349 results.\n" in out
    assert "--max-results" not in out


def test_results_show_their_best_lines_unless_full(
    run: Run, memory: FakeMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    search = memory.search
    text = "\n".join(f"Line {number} of a long list of valves." for number in range(20)).replace("12 of", "pump of")

    def long(query: str, **options: object) -> SearchOutcome:
        outcome = search(query, **options)  # type: ignore[arg-type]
        at = text.index("pump")
        first = with_text(outcome.results[0], snippet=text, match_ranges=((at, at + 4),))
        return msgspec.structs.replace(outcome, results=(first,))

    monkeypatch.setattr(memory, "search", long)
    shown = run("search", "irrigation").out.split("\n\n")[0].splitlines()[1:]
    assert 2 < len(shown) < 8
    assert "Line pump of a long list of valves." in shown
    assert text in run("search", "irrigation", "--full").out


def test_result_of_filters_alone_has_no_score(run: Run, memory: FakeMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    search = memory.search

    def listed(query: str, **options: object) -> SearchOutcome:
        outcome = search(query, **options)  # type: ignore[arg-type]
        first = msgspec.structs.replace(outcome.results[0], text_score=0.0, vector_score=None)
        return msgspec.structs.replace(outcome, results=(first,))

    monkeypatch.setattr(memory, "search", listed)
    assert run("search", "irrigation").out.startswith("–     projects/greenhouse.md:3-6  Greenhouse › Plan\n")


@pytest.mark.parametrize(("scores", "option", "named"), [
    ((0.7, 0.9), (), True), ((0.9, 0.7), (), False), ((0.7, 0.7004), (), False), ((0.7, 0.9), ("--explain",), False),
])  # fmt: skip
def test_order_other_than_of_scores_is_announced(
    run: Run, memory: FakeMemory, monkeypatch: pytest.MonkeyPatch, scores: tuple[float, float], option, named: bool
) -> None:
    search = memory.search

    def ordered(*arguments, **options):
        outcome = search(*arguments, **options)
        results = (msgspec.structs.replace(outcome.results[0], score=score) for score in scores)
        return msgspec.structs.replace(outcome, results=tuple(results))

    monkeypatch.setattr(memory, "search", ordered)
    assert ("--explain shows the reasons" in run("search", "irrigation", *option).out) is named


def test_copies_of_a_result_are_named_below_it(run: Run, memory: FakeMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    search = memory.search

    def copied(query: str, **options: object) -> SearchOutcome:
        outcome = search(query, **options)  # type: ignore[arg-type]
        first, *others = outcome.results
        names = [f"copy {number}.md" for number in range(int(query.rsplit(maxsplit=1)[-1]))]
        copies = tuple(
            PassageCopy(
                path=name, start_line=4, end_line=4, citation=f"{name}#L4", title=name, modified=0, text=first.shown
            )
            for name in names
        )
        return msgspec.structs.replace(outcome, results=(msgspec.structs.replace(first, copies=copies), *others))

    monkeypatch.setattr(memory, "search", copied)
    assert "The same text is in 1 other file: copy 0.md#L4.\n" in run("search", "irrigation", "1").out
    out = run("search", "irrigation", "7").out
    assert "The same text is in 7 other files: copy 0.md#L4, " in out
    assert "copy 4.md#L4 and 2 more.\n" in out
    assert "copies" not in run("search", "irrigation", "0", "--json").json["results"][0]
    [copy] = run("search", "irrigation", "1", "--json").json["results"][0]["copies"]
    assert {"snippetLine", "message"} < copy.keys()
    assert "text" not in copy
    page = run("search", "irrigation", "2", "--markdown").out
    assert "The same text: `copy 0.md#L4`, `copy 1.md#L4`" in page


def test_json_has_the_documented_keys(run: Run) -> None:
    answer = run("search", "irrigation", "--json").json
    always = {"results", "total", "totalIsLeast", "provider", "model", "mode", "timingsMs", "notice", "suggestions"}
    assert set(answer) == always | {"understood", "allWords", "unknownWords", "similarOnly", "closestOnly", "corrected"}
    result = answer["results"][0]
    assert {"path", "startLine", "endLine", "score", "snippet", "source", "citation"} <= set(result)
    assert answer["mode"] == "hybrid"
    assert answer["timingsMs"]["total"] >= 0
    assert "explanation" in run("search", "irrigation", "--json", "--explain").json


def test_options_reach_the_search(run: Run, memory: FakeMemory) -> None:
    run("search", "--source", "memory", "--path", "topics/*", "--until", "2026-05-31", "--", "-hose")
    [(query, mode, options)] = memory.searches
    assert (query, mode) == ("-hose", "auto")
    assert options["sources"] == ["memory"]
    assert options["path_glob"] == "topics/*"
    assert options["since"] is None
    assert options["until"] > 0


def test_exclusions_are_part_of_the_query(run: Run, memory: FakeMemory) -> None:
    """As written in the help and the search box; the shell has removed the quotes."""
    for words in (("drip", "-hose"), ("-garden hose", "drip", "--max", "3"), ("-path:archive",)):
        assert run("search", *words).code == 0
    assert [query for query, _, _ in memory.searches] == ["drip -hose", "-garden hose drip", "-path:archive"]
    assert run("search", "drip", "-n", "3").err.startswith("mnemoscope search: unrecognized arguments: -n")
    assert "; write agent:… in the query; see" in run("search", "--agent", "codex", "drip").err
    assert "--saved NAME" in run("search", "-h").out


def test_results_have_one_format(run: Run) -> None:
    answer = run("search", "irrigation", "--json", "--markdown")
    assert answer.code == 2
    assert "--markdown: not allowed with argument --json" in answer.err


def test_options_set_ageing_and_variety_for_one_search(run: Run, memory: FakeMemory) -> None:
    run("search", "hose")
    run("search", "hose", "--half-life-days", "7.5", "--diverse")
    run("search", "hose", "--half-life-days", "0", "--no-diverse")
    wanted = [(options["half_life_days"], options["diverse"]) for _, _, options in memory.searches]
    assert wanted == [(None, None), (7.5, True), (0.0, False)]
    for wrong in ("-1", "nan", "inf", "soon"):
        answer = run("search", "hose", f"--half-life-days={wrong}")
        assert answer.code == 2
        assert "is not a number of days" in answer.err


def test_empty_result_names_stage(run: Run) -> None:
    answer = run("search", "zebra")
    assert answer.code == 0
    counts = "Passages with each word in the whole index: “irrigation”: 12, “timer”: 5."
    assert answer.out.splitlines()[0] == f"No matches. {counts}"
    assert "threshold *  0 of 4  0.3 ms  Passages that scored below 0.35: 4." in answer.out
    advice = "Best match 0.31; the minimum is 0.35. Try: --min-score 0"
    assert answer.out.splitlines()[-1] == advice
    assert run("search", "zebra", "--json").json["results"] == []


def test_search_prints_suggestion_on_separate_line(run: Run, memory: FakeMemory) -> None:
    meant = (("zebar", "zebra"),)
    memory.suggestions["zebar"] = (QuerySuggestion(query="zebra", words=meant, chunks=2),)
    assert run("search", "zebar").out.splitlines()[1] == "Did you mean “zebra”?"
    [suggestion] = run("search", "zebar", "--json").json["suggestions"]
    assert suggestion == {"query": "zebra", "words": [["zebar", "zebra"]], "chunks": 2}
    assert run("search", "zebra", "--json").json["suggestions"] == []


def test_notice_of_an_answer_is_printed(run: Run, memory: FakeMemory) -> None:
    memory.files.clear()
    assert "The index is empty." in run("search", "zebra").out


def test_explain_prints_the_parts_of_each_score(run: Run, memory: FakeMemory) -> None:
    hybrid = run("search", "valve", "--explain").out
    assert "The words score 0.90: “word” 0.90 (text)." in hybrid
    assert "Meaning counts 30% and words 70%: 0.30 × 0.70 + 0.70 × 0.90 = 0.84." in hybrid
    assert "2 of 2  0.6 ms  2 of 2 results are shown." in hybrid
    memory.vectors = False
    assert "The meaning was not compared." in run("search", "valve", "--explain").out


@pytest.mark.parametrize("name", get_args(RemedyName))
def test_each_remedy_names_its_option(run: Run, memory: FakeMemory, name: RemedyName) -> None:
    query = "left -hose" if name in ("condition", "words") else ""
    remedy = SearchRemedy(name=name, stage="filters", advice="So it is.", query=query, path="a b.md")
    memory.remedies = (remedy,)
    last = run("search", "zebra").out.splitlines()[-1]
    assert re.fullmatch(r"So it is\. Try: .+", last)
    if query:
        limits = (
            "--path",
            "a b/*",
            "--source",
            "memory",
            "--min-score",
            "0.4",
            "--since",
            "2026-05",
            "--until",
            "2026-05",
        )
        again = run("search", "zebra", *limits, "--within", "a zoo").out.splitlines()[-1]
        assert again.startswith("So it is. Try: mnemoscope search 'left -hose' ")
        assert again.endswith(
            " --path 'a b/*' --source memory --within 'a zoo' --min-score 0.4 --since 2026-05-01 --until 2026-05-31"
        )
    commands = {"condition": "mnemoscope search 'left -hose'", "excluded": "mnemoscope doctor 'a b.md'"}
    assert commands.get(name, "") in last


def test_file_type_that_is_not_indexed_names_the_setting(run: Run, memory: FakeMemory) -> None:
    remedy = SearchRemedy(name="excluded", stage="words", advice="So it is.", path="*.org", extension=".org")
    memory.remedies = (remedy,)
    assert run("search", "zebra").out.endswith("Try: .org among the extensions in the settings\n")


def test_results_printed_have_no_control_characters(run: Run, memory: FakeMemory) -> None:
    memory.files = {"a\x1b]0;x.md": "# T\x9b2J\n\nvalve \x1b[31mred\r\ttab\n"}
    out = run("search", "valve").out
    assert "\x1b" not in out
    assert "\x9b" not in out
    assert "\r" not in out
    assert "valve \ufffd[31mred\ufffd\ttab" in out


def test_text_of_a_result_has_single_empty_lines(run: Run, memory: FakeMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    search = memory.search

    def spaced(query: str, **options: object) -> SearchOutcome:
        outcome = search(query, **options)  # type: ignore[arg-type]
        spaced = (with_text(it, snippet="Pump\n \n\n\nleaks\n\nhere") for it in outcome.results)
        return msgspec.structs.replace(outcome, results=tuple(spaced))

    monkeypatch.setattr(memory, "search", spaced)
    assert "\nPump\n\nleaks\n\nhere\n" in run("search", "irrigation", "timer").out
    assert "> Pump\n>\n> leaks\n>\n> here\n" in run("search", "irrigation", "timer", "--markdown").out


def test_words_are_bold_on_a_terminal_only(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b[1m" not in run("search", "hose").out
    monkeypatch.setattr("engine.cli.search.supports_bold", lambda: True)
    assert "Irrigation \x1b[1mhose\x1b[0m 16 mm" in run("search", "hose").out


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_environment_variables_switch_bold_text_off(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    from engine.cli.output import supports_bold

    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setattr("os.name", "posix")
    assert supports_bold()
    monkeypatch.setenv(name, value)
    assert not supports_bold()


def test_names_beyond_unicode_are_still_json(run: Run, memory: FakeMemory) -> None:
    memory.files = {"caf\udce9.md": "# T\n\nvalve\n"}
    assert run("search", "valve", "--json").json["results"][0]["path"] == "caf\udce9.md"


def test_the_help_explains_the_query_language(run: Run) -> None:
    text = run("search", "--help").out
    assert all(example in text for example, _ in QUERY_HELP)
    assert '"left valve"' in text


def test_similar_lines_found_without_originals(run: Run, memory: FakeMemory) -> None:
    answer = run("search", "--like", "projects/greenhouse.md#L7-L17", "--path", "topics/*", "--min-score", "0")
    assert answer.code == 0
    [passage] = memory.liked
    assert (passage.path, passage.start_line, passage.end_line) == ("projects/greenhouse.md", 7, 17)
    assert memory.searches[0][2]["path_glob"] == "topics/*"
    assert "topics/shopping.md:1-" in answer.out
    assert "Searched for its meaning and these words: watering, timer," in answer.out
    found = run("search", "--like", "projects/greenhouse.md", "--json").json
    assert memory.liked[1].end_line == LAST_LINE
    assert found["passageWords"][0] == "greenhouse"
    missing = run("search", "--like", "gone.md#L3")
    assert missing.code == 1
    assert missing.err == "mnemoscope: gone.md: There is no such file or folder.\n"
    memory.path_states["gone.md"] = make_path_state(requested="gone.md", state="indexed", path="gone.md")
    changed = run("search", "--like", "gone.md#L3")
    assert changed.err == "mnemoscope: No passage of gone.md is indexed: the file may have changed.\n"
    for wrong in ((), ("irrigation", "--like", "a.md")):
        assert run("search", *wrong).code == 2


def test_search_within_other_results(run: Run, memory: FakeMemory) -> None:
    answer = run("search", "timer", "--within", "irrigation", "--within", "hose", "--json").json
    [(_, _, options)] = memory.searches
    assert [question.query for question in options["within"]] == ["irrigation", "hose"]
    assert [level["passages"] for level in answer["within"]] == [3, 2]
    assert "Searched within 3 results." in run("search", "timer", "--within", "irrigation").out


def test_markdown_is_a_page_with_a_citation_for_each_result(run: Run) -> None:
    answer = run("search", "irrigation", "timer", "--max-results", "2", "--markdown")
    assert answer.code == 0
    lines = answer.out.splitlines()
    assert lines[0] == "# irrigation timer"
    assert lines[2] == "2 of 4 results."
    assert "`projects/greenhouse.md#L7-L17` · score 0.84" in lines
    assert any(line.startswith("> The timer on the drip irrigation") for line in lines)
