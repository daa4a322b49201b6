from datetime import date

import pytest

from gui.core.session_criteria import ANY_TIME, Criteria, Period, month_period
from gui.sessions.rows import HeadingRow, Listing, build_listing, build_similar
from gui.sessions.session_catalog import make_catalogue
from gui.sessions.session_list import title_marks
from tests.helpers.fake_sessions import NOW, SESSIONS, VALVE, make_session_summary

CATALOGUE = make_catalogue(session.summary for session in SESSIONS.values())
CHILD = next(path for path, session in SESSIONS.items() if session.summary.parent)


def _listed(today: date, criteria: Criteria = Criteria(), hits=None, opened=()) -> Listing:  # noqa: B008 - frozen
    return build_listing(CATALOGUE, criteria, hits or {}, opened, today)


def _titles(listing: Listing) -> list[str]:
    return [row.title if isinstance(row, HeadingRow) else row.entry.title for row in listing.rows]


def test_sessions_are_grouped_by_day_newest_first(today):
    listing = _listed(today)
    assert _titles(listing)[:6] == [
        "Today",
        "Fix the valve controller",
        "Invoice double entry",
        "Yesterday",
        "Why is my crumb gummy",
        "Seed swap table, spring",
    ]
    assert _titles(listing)[-4:] == ["7 January 2025", "Untitled session", "No date", "Is the log rotated?"]
    assert [row.sessions for row in listing.rows if isinstance(row, HeadingRow)] == [2, 3, 2, 2, 1, 1]
    assert listing.sessions == CATALOGUE.sessions == len(SESSIONS) - 1


def test_days_with_one_session_share_a_heading(today):
    rows = _listed(today).rows
    place = next(place for place, row in enumerate(rows) if "\N{EN DASH}" in getattr(row, "title", ""))
    assert rows[place].sessions == 2
    shared = [row.dated for row in rows[place + 1 : place + 3]]
    assert shared == ["day", "day"]
    assert not any(row.dated for row in rows[:place] if not isinstance(row, HeadingRow))
    assert isinstance(rows[place + 3], HeadingRow)
    assert rows[place + 3].title == "7 January 2025"  # another year has its own heading


def test_oldest_first_puts_undated_sessions_last(today):
    titles = _titles(_listed(today, Criteria(order="oldest")))
    assert titles[:2] == ["7 January 2025", "Untitled session"]
    assert titles[-2:] == ["No date", "Is the log rotated?"]


def test_session_without_times_has_the_date_of_its_file(today):
    summary = make_session_summary(started=None, ended=None, modified=NOW)
    listing = build_listing(make_catalogue([summary]), Criteria(), {}, (), today)
    assert _titles(listing)[0] == "Today"


def test_longest_first_has_no_headings(today):
    listing = _listed(today, Criteria(order="longest"))
    lengths = [row.entry.summary.messages for row in listing.rows]
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[0] > lengths[-1]


def test_project_order_puts_sessions_without_project_last(today):
    headings = [row.title for row in _listed(today, Criteria(order="project")).rows if isinstance(row, HeadingRow)]
    assert headings == ["greenhouse", "nas", "otter", "workspace", "No project"]


def test_unfolded_sub_agents_follow_their_parent(today):
    for listing in (_listed(today, opened={VALVE}), _listed(today, Criteria(show_sub_agents=True))):
        parent, child = listing.rows[1], listing.rows[2]
        assert (parent.entry.summary.path, parent.opened, parent.depth) == (VALVE, True, 0)
        assert (child.entry.summary.path, child.depth) == (CHILD, 1)
        assert listing.sessions == CATALOGUE.sessions  # they do not count


def test_matching_sub_agent_is_shown_with_parent(today):
    listing = _listed(today, Criteria(text="unsettled"))
    assert _titles(listing) == ["Fix the valve controller", "Find unsettled relay reads"]
    assert not listing.rows[0].opened


def test_sub_agent_without_parent_is_listed_alone(today):
    lonely = make_catalogue([make_session_summary(parent="nobody")])
    assert lonely.sessions == 1
    assert make_catalogue([make_session_summary(id="x", parent="x")]).sessions == 1


@pytest.mark.parametrize(
    ("text", "titles"),
    [
        ("INVOICE", ["Invoice double entry"]),
        ("otter lock", ["Postgres lock timeout on migrate"]),
        ("019b-inv", ["Invoice double entry"]),
        ("codex nas", ["Is the log rotated?"]),
        ("バルブ", ["バルブの説明書の要約"]),
        ("nowhere", []),
    ],
)
def test_all_query_words_must_match_session_fields(today, text, titles):
    listing = _listed(today, Criteria(text=text))
    assert [row.entry.title for row in listing.rows if not isinstance(row, HeadingRow)] == titles


def test_content_hit_lists_session_with_hit_count(today):
    listing = _listed(today, Criteria(text="nowhere"), hits={VALVE: 3, CHILD: 1})
    assert [row.hits for row in listing.rows] == [3, 1]
    assert listing.hits == 4


def test_search_lists_titles_then_best_hits(today):
    named = CATALOGUE.orders["newest"][-1]
    others = [entry.summary.path for entry in CATALOGUE.orders["newest"] if entry is not named]
    word = named.title.split()[0]
    hits = dict.fromkeys(reversed(others), 1)
    listed = [row.entry.summary.path for row in _listed(today, Criteria(text=word), hits=hits).rows if not row.depth]
    with_word = [path for path in listed if word.casefold() in CATALOGUE.by_path[path].title.casefold()]
    assert named.summary.path in with_word
    assert listed[: len(with_word)] == with_word
    assert listed[len(with_word) :] == [path for path in reversed(others) if path not in with_word]
    by_date = _listed(today, Criteria(text=word, found_order="newest"), hits=hits)
    assert isinstance(by_date.rows[0], HeadingRow)


def test_session_that_only_the_meaning_finds_has_no_hits(today):
    listing = build_listing(CATALOGUE, Criteria(text="nowhere"), {VALVE: 0}, (), today, {VALVE})
    assert [(row.hits, row.similar, row.dated) for row in listing.rows] == [(0, True, "date")]


def test_session_named_by_its_project_precedes_similar_ones(today):
    newest = CATALOGUE.orders["newest"]
    named = next(entry for entry in reversed(newest) if entry.project and entry.project not in entry.title.casefold())
    first, *others = (entry.summary.path for entry in newest if entry.project != named.project)
    hits, similar = {first: 1, **dict.fromkeys(others, 0)}, {*others}
    for found in (hits, hits | {named.summary.path: 0}):
        listing = build_listing(CATALOGUE, Criteria(text=named.project), found, (), today, similar)
        listed = [row.entry.summary.path for row in listing.rows if not row.depth]
        assert listed.index(first) < listed.index(named.summary.path) < listed.index(others[0])


def test_operators_alone_keep_the_order_and_headings(today):
    hits = dict.fromkeys((entry.summary.path for entry in CATALOGUE.orders["newest"]), 1)
    listing = _listed(today, Criteria(text="file:app.py model:opus"), hits=hits)
    assert _titles(listing) == _titles(_listed(today))


def test_agent_project_and_time_criteria_combine(today):
    codex = _listed(today, Criteria(agent="codex"))
    assert codex.sessions == 3
    assert _listed(today, Criteria(agent="codex", project="/home/ines/src/otter")).sessions == 2
    assert _listed(today, Criteria(agent="codex", period=Period("", days=2))).sessions == 1
    assert _listed(today, Criteria(period=month_period(date(2026, 1, 1)))).sessions == 2
    assert _listed(today, Criteria(period=ANY_TIME)).sessions == CATALOGUE.sessions


def test_session_across_midnight_matches_both_days(today):
    night = make_catalogue([make_session_summary(started=NOW - 86_400, ended=NOW)])
    for days in (date(2026, 2, 10), date(2026, 2, 11)):
        criteria = Criteria(period=Period("", first=days, last=days))
        assert build_listing(night, criteria, {}, (), today).sessions == 1


def test_month_period_ends_on_last_day():
    assert month_period(date(2024, 2, 1)).last == date(2024, 2, 29)
    assert month_period(date(2025, 12, 1)).last == date(2025, 12, 31)


def test_filter_choices_have_counts(today):
    assert [(choice.label, choice.sessions) for choice in CATALOGUE.agents][:2] == [("Codex", 3), ("OpenClaw", 3)]
    assert {choice.label for choice in CATALOGUE.projects} == {"greenhouse", "otter", "nas", "workspace"}
    assert CATALOGUE.months[0] == (date(2026, 2, 1), 7)


def test_projects_with_same_name_show_parent_folder():
    twins = make_catalogue([make_session_summary("a", project="/x/web"), make_session_summary("b", project="/y/web")])
    assert {choice.label for choice in twins.projects} == {"x/web", "y/web"}


def test_out_of_range_times_are_accepted(today):
    odd = make_catalogue([make_session_summary(started=1e18, ended=1e18), make_session_summary("b", started=-1e18)])
    assert odd.sessions == build_listing(odd, Criteria(), {}, (), today).sessions == 2


def test_similar_sessions_keep_order_and_skip_missing():
    valve, child = SESSIONS[VALVE].summary, SESSIONS[CHILD].summary
    gone = make_session_summary("sessions/gone.jsonl")
    rows = build_similar(CATALOGUE, [(child, 0.9), (gone, 0.8), (valve, 0.7)])
    assert [(row.entry.summary.path, row.similarity) for row in rows] == [(CHILD, 0.9), (VALVE, 0.7)]


@pytest.mark.parametrize(
    ("typed", "marked"),
    [("valv contr", ["valv", "contr"]), ("ve", ["ve"]), ("valves in the x", ["valve"]), ("the spring", [])],
)
def test_title_marks_parts_of_words_only_if_they_matched(today, typed, marked):
    entry = next(row.entry for row in _listed(today).rows if row.key == ("session", VALVE))
    ranges = title_marks(entry, entry.title, typed.split())
    assert [entry.title[start:end] for start, end in ranges] == marked
