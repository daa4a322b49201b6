import msgspec

from gui.search.result_rows import (
    FileRow,
    MoreInFileRow,
    MoreRow,
    ResultModel,
    ResultRow,
    build_rows,
    button_text,
    spoken_score,
)
from gui.text.formatting import ago


def _shape(rows) -> list[tuple[str, int]]:
    """(path, line) of each row, line 0 for a file row."""
    return [(row.path, 0) if isinstance(row, FileRow) else (row.result.path, row.result.start_line) for row in rows]


def test_rows_are_grouped_by_file_in_order_of_best(make_result, make_outcome):
    outcome = make_outcome(
        make_result("b.md", 9), make_result("a.md", 5), make_result("b.md", 2), make_result("c.md", 1)
    )
    rows = build_rows(outcome, "relevance")
    assert _shape(rows) == [("b.md", 0), ("b.md", 9), ("b.md", 2), ("a.md", 0), ("a.md", 5), ("c.md", 0), ("c.md", 1)]
    assert [row.results for row in rows if isinstance(row, FileRow)] == [2, 1, 1]


def test_date_order_sorts_files_and_keeps_groups(make_result, make_outcome):
    outcome = make_outcome(
        make_result("old.md", 9, modified=1.0),
        make_result("new.md", 5, modified=3.0),
        make_result("old.md", 2, modified=1.0),
    )
    assert _shape(build_rows(outcome, "date")) == [
        ("new.md", 0),
        ("new.md", 5),
        ("old.md", 0),
        ("old.md", 9),
        ("old.md", 2),
    ]


def test_hidden_results_are_counted_in_last_row(make_result, make_outcome):
    assert build_rows(make_outcome(make_result(), total=24), "relevance")[-1] == MoreRow(23)
    assert not any(isinstance(row, MoreRow) for row in build_rows(make_outcome(make_result()), "relevance"))


def test_row_after_file_counts_its_hidden_results(make_result, make_outcome):
    results = (make_result("log.md", 9), make_result("a.md", 5), make_result("log.md", 2, more_in_file=345))
    rows = build_rows(make_outcome(*results, total=348), "relevance")
    assert rows[3] == MoreInFileRow("log.md", "log", 345)
    assert [row.results for row in rows if isinstance(row, FileRow)] == [347, 1]
    assert not any(isinstance(row, MoreRow) for row in rows)
    assert build_rows(make_outcome(*results, total=360), "relevance")[-1] == MoreRow(12)
    at_least = msgspec.structs.replace(make_outcome(*results, total=348), total_is_least=True)
    assert [button_text(build_rows(of, "relevance")[3]) for of in (make_outcome(*results, total=348), at_least)] == [
        "+345 more in this file",
        "+345 or more in this file",
    ]
    assert len({row.key for row in rows}) == len(rows)


def test_single_leg_is_named_only_when_both_were_searched(make_result, make_outcome):
    results = (
        make_result(line=1),
        make_result(line=2, text_score=0.0),
        make_result(line=3, vector_score=None),
        make_result(line=4, vector_score=0.0),
        make_result(line=5, text_score=0.0, vector_score=None),
    )
    legs = [row.leg for row in build_rows(make_outcome(*results), "date") if isinstance(row, ResultRow)]
    assert legs == ["", "meaning", "words", "words", "filters"]
    alone = build_rows(make_outcome(*results, mode="keyword"), "date")
    assert {row.leg for row in alone if isinstance(row, ResultRow)} == {""}


def test_file_row_shows_date_that_satisfies_the_period(make_result, make_outcome):
    dated = msgspec.structs.replace(make_result("a.md"), dates=("2019-06-05", "2019-07-01"))
    row, other = (rows[0] for rows in (build_rows(make_outcome(of), "date") for of in (dated, make_result("b.md"))))
    assert row.when == "1 Jul 2019"
    assert other.when == ago(other.best.modified)
    tips = [ResultModel().tip(of) for of in (row, other)]
    assert tips[0].endswith("\nDated 5 Jun 2019, 1 Jul 2019")
    assert "Dated" not in tips[1]


def test_date_order_uses_the_dates_that_rows_show(make_result, make_outcome):
    old = msgspec.structs.replace(make_result("old.md", modified=9e9), dates=("1969-05-04",))
    new = msgspec.structs.replace(make_result("new.md", modified=1.0), dates=("1969-05-03", "2019-07-01"))
    rows = build_rows(make_outcome(old, new, make_result("other.md", modified=1e9)), "date")
    assert [row.path for row in rows if isinstance(row, FileRow)] == ["new.md", "other.md", "old.md"]


def test_chunks_on_same_line_have_distinct_keys(make_result, make_outcome):
    rows = build_rows(make_outcome(make_result(line=7), make_result(line=7)), "relevance")
    assert len({row.key for row in rows}) == len(rows) == 3


def test_row_shows_lines_and_inner_heading(make_result):
    row = ResultRow(make_result(line=41, title="House", heading=("House", "Watering")), 0, "")
    assert (row.lines, row.heading) == ("41–45", "Watering")
    bare = ResultRow(make_result(line=3, end_line=3, title="House", heading=("House",)), 0, "")
    assert (bare.lines, bare.heading) == ("3", "")


def test_excerpt_omits_title_shown_above(make_result):
    for heading in ((), ("Greenhouse",)):
        result = make_result(
            title="Greenhouse", heading=heading, snippet="# Greenhouse\n\nSome words.", match_ranges=()
        )
        assert ResultRow(result, 0, "").excerpt.text == "Some words."


def test_result_of_filters_alone_shows_no_words(make_result, make_outcome):
    listed = make_result("b.md", score=0.35, text_score=0.0, vector_score=None, text_share=1.0)
    outcome = make_outcome(make_result("a.md"), listed, mode="hybrid")
    row = build_rows(outcome, "relevance")[-1]
    assert row.leg == "filters"
    assert "words" not in spoken_score(row)
