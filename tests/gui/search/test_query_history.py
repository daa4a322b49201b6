from gui.widgets.query_box import MAX_QUERIES, QueryHistory


def _history(*queries: str) -> QueryHistory:
    history = QueryHistory()
    for query in queries:
        history.remember(query)
    return history


def test_empty_history_has_no_steps():
    assert _history().earlier("draft") is None
    assert _history().later("draft") is None


def test_history_steps_back_to_oldest_and_forward_to_draft():
    history = _history("one", "two")
    assert history.earlier("dra") == "two"
    assert history.earlier("two") == "one"
    assert history.earlier("one") is None
    assert history.later("one") == "two"
    assert history.later("two") == "dra"
    assert history.later("dra") is None


def test_earlier_skips_the_newest_query_in_the_box():
    assert _history("one", "two").earlier("two") == "one"


def test_edited_old_query_becomes_draft():
    history = _history("one", "two")
    assert history.earlier("two") == "one"
    assert history.earlier("one more") == "two"
    assert history.later("two") == "one more"


def test_each_query_is_stored_once_and_prefix_is_replaced():
    history = _history("one", "two", "one", "one more", "")
    assert history.earlier("") == "one more"
    assert history.earlier("one more") == "two"
    assert history.earlier("two") is None


def test_remembering_an_old_query_keeps_order():
    history = _history("one", "two")
    assert history.earlier("two") == "one"
    history.remember("one")
    assert history.later("one") == "two"


def test_oldest_queries_are_dropped():
    history = _history(*(f"{number} x" for number in range(MAX_QUERIES + 5)))
    query, steps = "", 0
    while (found := history.earlier(query)) is not None:
        query, steps = found, steps + 1
    assert (query, steps) == ("5 x", MAX_QUERIES)


def test_queries_of_earlier_windows_leave_the_position():
    history = QueryHistory()
    history.remember("timer")
    assert history.earlier("hose") == "timer"
    history.begin(["greenhouse"])
    assert history.later("timer") == "hose"
    assert history.earlier("hose") == "timer"
    assert history.earlier("timer") == "greenhouse"
