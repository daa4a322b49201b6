"""Typical complaints of users, tested with a real index: found, or explained. The table is tests/helpers/complaints."""

from pathlib import Path

import pytest

from engine.records import to_builtins
from tests.helpers.complaints.answering import Answered, answer_all, dated
from tests.helpers.complaints.cases import CASES, SITUATIONS
from tests.helpers.complaints.page import complaints_page, explained

PAGE = Path(__file__).parents[2] / "benchmarks" / "COMPLAINTS.md"


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> list[Answered]:
    return answer_all(tmp_path_factory.mktemp("complaints"))


@pytest.mark.parametrize("number", range(len(CASES)), ids=[f"{case.threads} {case.query}" for case in CASES])
def test_reported_problem_is_solved(answers: list[Answered], number: int) -> None:
    answer = answers[number]
    case = answer.case
    if case.first or not case.also:
        assert answer.paths[:1] == ([dated(case.first)] if case.first else []), explained(answer)
    assert {*map(dated, case.also)} <= {*answer.paths}
    assert not {*case.never} & {*answer.paths}
    explanation = explained(answer)
    assert [part for part in case.says if part not in explanation] == [], explanation
    remedies = [remedy.name for remedy in answer.outcome.explanation.remedies]
    assert case.remedy is None or case.remedy in remedies, remedies


def test_scores_of_keyword_hits_differ(answers: list[Answered]) -> None:
    answer = next(answer for answer in answers if answer.case.query == "kettle")
    strong, weak = answer.outcome.results[:2]
    assert strong.score > weak.score + 0.1


def test_result_found_alone_ranks_first_of_many(answers: list[Answered]) -> None:
    many, one = (answer for answer in answers if answer.case.query == "Rocky Point bagging")
    assert to_builtins(many.outcome.results[0]) == to_builtins(one.outcome.results[0])


def test_every_situation_has_a_case() -> None:
    assert {case.situation for case in CASES} == set(SITUATIONS)
    assert len(CASES) >= 30


def test_page_shows_every_case_of_the_table(answers: list[Answered]) -> None:
    written, made = PAGE.read_text("utf-8"), complaints_page(answers)
    for case in CASES:
        assert f"{case.threads}: {case.complaint}<br>`{case.query}`" in written
    assert written.count("\n") == made.count("\n")
