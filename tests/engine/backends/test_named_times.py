"""Times in queries: they boost results of that time, never filter, and are explained."""

import datetime
import json
from pathlib import Path

import pytest

from engine.records import ResultExplanation, SearchOutcome
from engine.search.result_reasons import reasons_of
from engine.settings.options import SessionSettings

WALK = "We walked along the river and looked for the heron.\n"


def write(folder: Path, name: str, text: str = "") -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(f"# {Path(name).stem}\n\n{text or WALK}", "utf-8")


def explained(memory, query: str, **changes) -> tuple[dict[str, ResultExplanation], SearchOutcome]:
    """The reasons by path, best first."""
    outcome = memory.search(query, max_results=50, explain=True, **{"min_score": 0.0} | changes)
    results = zip(outcome.results, outcome.explanation.results, strict=True)
    return {result.path: reason for result, reason in results}, outcome


def stage_note(outcome: SearchOutcome, name: str) -> str | None:
    return next((stage.note for stage in outcome.explanation.stages if stage.name == name), None)


@pytest.fixture
def walks(open_memory, workspace: Path):
    """Notes with the same text and different dates."""
    for name in ("2023-04-08", "2023-05-08", "2023-05-10", "2024-05-20", "2023-08-01"):
        write(workspace, f"walks/{name}.md")
    write(workspace, "walks/undated.md")
    memory = open_memory(use=None)
    memory.sync()
    return memory


def test_month_boosts_notes_of_every_year(walks) -> None:
    found, _ = explained(walks, "heron river in May")
    assert set(list(found)[:3]) == {"walks/2023-05-08.md", "walks/2023-05-10.md", "walks/2024-05-20.md"}
    assert "walks/undated.md" in found  # never a filter


def test_day_boosts_next_days_by_less(walks) -> None:
    found, _ = explained(walks, "heron river on 8 May 2023")
    best, second, *others = found.items()
    assert (best[0], second[0]) == ("walks/2023-05-08.md", "walks/2023-05-10.md")
    assert best[1].time_factor > second[1].time_factor > 1
    assert (best[1].adjacent_time, second[1].adjacent_time) == (False, True)
    assert {reason.time_factor for _, reason in others} == {1.0}


def test_boost_is_explained(walks) -> None:
    found, outcome = explained(walks, "heron river in May")
    reason = found["walks/2023-05-08.md"]
    assert reason.time == "“in May” of any year"
    assert reason.score == pytest.approx(min(1.0, reason.fresh_score * reason.time_factor), abs=1e-3)
    sentences = {of.part: of.sentence for of in reasons_of(reason)}
    assert sentences["time"].startswith("The passage dates from the time in the query, “in May” of any year: × 1.60 = ")
    assert "time" not in {of.part for of in reasons_of(found["walks/undated.md"])}
    assert stage_note(outcome, "times").endswith("“in May” of any year: 3.")
    stages = [stage.name for stage in outcome.explanation.stages]
    assert stages.index("scores") < stages.index("times")  # its best score is the one before the boost
    exact, outcome = explained(walks, "heron river 2023-05-08")
    assert exact["walks/2023-05-08.md"].time == "“2023-05-08” (2023-05-08)"


@pytest.mark.parametrize("query", ["pump last spring", "what happened to the pump last spring", "last spring pump"])
def test_words_of_a_time_count_by_the_date_of_a_note(open_memory, workspace: Path, query: str) -> None:
    spring = datetime.date.today().replace(month=4, day=14)
    spring = spring.replace(year=spring.year - (datetime.date.today() < spring.replace(month=6, day=1)))
    for days in range(0, 60, 2):
        write(workspace, f"{spring + datetime.timedelta(days)}.md", f"Nothing but rain on morning {days}.\n")
    write(workspace, f"{spring}.md", "The pump in the cellar was replaced.\n")
    write(workspace, f"{spring.year - 1}-09-14.md", "The pump in the cellar made a noise.\n")
    memory = open_memory(use=None)
    memory.sync()
    found, _ = explained(memory, query, min_score=None)
    assert list(found) == [f"{spring}.md"]
    reason = found[f"{spring}.md"]
    assert set(reason.missing) <= {"happened"}
    assert reason.coverage > 0.7


def test_time_without_any_note_hides_no_other_words(open_memory, workspace: Path) -> None:
    for days in range(0, 60, 2):
        write(workspace, f"2023-03-{days // 2 + 1:02}.md", f"Nothing but rain on morning {days}, in the last week.\n")
    write(workspace, "2021-09-14.md", "The pump in the cellar made a noise.\n")
    memory = open_memory(use=None)
    memory.sync()
    times = ("yesterday", "gestern", "last week", "im April 2022", "3 weeks ago", "im Frühling", "August 2022", "昨日")
    queries = [query for time in times for query in (f"pump {time}", f"{time} pump")]
    found = {query: [result.path for result in memory.search(query).results] for query in queries}
    assert {query: paths for query, paths in found.items() if paths[:1] != ["2021-09-14.md"]} == {}
    write(workspace, "tyres.md", "The tyres for the winter are in the cellar. Two tiers of shelves.\n")
    memory.sync()
    assert memory.search("tyrse winter").corrected.query == "tyres winter"  # a word that is also a time confirms it


def test_notice_says_that_nothing_is_of_the_time(walks, workspace: Path) -> None:
    assert walks.search("heron in 1998").notice == "No result is dated “in 1998”."
    assert walks.search("heron in 1998 or in 1997").notice == "No result is dated “in 1998” or “in 1997”."
    for query in ("heron in May", "heron on 9 May 2023", "2023-05-08.md", "heron", "flibbertigibbet in 1998"):
        assert "dated" not in walks.search(query).notice, query
    write(workspace, "log.md", "The heron of 1998 had one leg.\n")
    walks.sync()
    assert walks.search("heron 1998").notice == ""  # a text has the words


def test_day_in_eastern_scripts_is_not_any_two_numbers(open_memory, workspace: Path) -> None:
    for number, text in enumerate(("更新は毎年11月1日。", "회의는 12월 3일 오전이다.", "截止日期是10月9日之前。")):
        write(workspace, f"day-{number}.md", f"{text}\n")
        write(workspace, f"other-{number}.md", "1月に11日、12人で3日、10月は29日: 3월 12일, 11日1月10日\n")
    memory = open_memory(use=None)
    memory.sync()
    for number, query in enumerate(("11月1日", "12월 3일", "10月9日")):
        found = memory.search(query).results
        assert [result.path for result in found] == [f"day-{number}.md"], query
        assert [found[0].snippet[slice(*span)] for span in found[0].match_ranges] == [query]


def test_query_without_time_has_no_boost(walks) -> None:
    found, outcome = explained(walks, "heron river")
    assert stage_note(outcome, "times") is None
    assert {(reason.time, reason.time_factor) for reason in found.values()} == {("", 1.0)}


def test_boost_alone_does_not_reach_minimum(walks) -> None:
    found, _ = explained(walks, "heron accountant telescope in May")
    reason = found["walks/2023-05-08.md"]
    least = (reason.fresh_score + reason.score) / 2
    assert reason.fresh_score < least < reason.score
    found, _ = explained(walks, "heron accountant telescope in May", min_score=least)
    assert found == {}


def test_dates_of_front_matter_title_and_text_count(open_memory, workspace: Path) -> None:
    (workspace / "matter.md").write_text(f"---\ndate: 2023-05-08\n---\n# A\n\n{WALK}", "utf-8")
    (workspace / "title.md").write_text(f"# Walk of 8 May 2023\n\n{WALK}", "utf-8")
    (workspace / "text.md").write_text(f"# C\n\n2023-05-08: {WALK}", "utf-8")
    (workspace / "other.md").write_text(f"# D\n\n2023-09-08: {WALK}", "utf-8")
    memory = open_memory(use=None)
    memory.sync()
    found, _ = explained(memory, "heron river last week or in May 2023")
    boosted = {path for path, reason in found.items() if reason.time_factor > 1}
    assert boosted == {"matter.md", "title.md", "text.md"}


def test_session_of_yesterday_boosted(open_memory, tmp_path: Path) -> None:
    folder = tmp_path / "sessions"
    folder.mkdir()
    for name, days in (("old", 30), ("new", 1)):
        at = (datetime.datetime.now().astimezone() - datetime.timedelta(days=days)).isoformat()
        lines = [
            {"type": "session", "id": name, "cwd": "/home/u/p", "timestamp": at},
            {"type": "message", "id": "m", "timestamp": at, "message": {"role": "user", "content": WALK}},
        ]
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    memory = open_memory(use=None, sessions=SessionSettings(folders=(str(folder),)))
    memory.sync()
    found, _ = explained(memory, "heron river yesterday")
    assert [reason.time_factor > 1 for reason in found.values()] == [True, False]
    assert "new" in next(iter(found))


@pytest.mark.parametrize("embedded", [False, True], ids=["keywords", "vectors"])
def test_notes_of_the_time_are_among_the_candidates(open_memory, provider, workspace: Path, embedded: bool) -> None:
    for number in range(230):
        write(workspace, f"many/{number}.md", "heron heron heron\n")
    long = "A long day with many words about other things, and at its end a heron.\n" * 3
    (workspace / "day.md").write_text(f"---\ndate: 2023-05-08\n---\n{long}", "utf-8")
    memory = open_memory(use=provider if embedded else None)
    memory.sync()
    for query in ("heron on 8 May 2023", '"heron" on 8 May 2023', "heron on 8 May 2023 -path:absent"):
        for explain in (False, True):
            outcome = memory.search(query, max_results=50, min_score=0.0, explain=explain)
            assert "day.md" in {result.path for result in outcome.results}, (query, explain)
