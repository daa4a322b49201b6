from gui.index_news import IndexNews
from tests.helpers.fake_memory import make_estimate, make_status


def test_work_that_needs_a_yes_is_told_once_until_it_is_other_work(qtbot):
    news = IndexNews()
    told = []
    news.awaiting.connect(told.append)
    first, grown = make_estimate(chunks=9), make_estimate(chunks=10)
    for awaiting in (None, first, grown, make_estimate(model="other"), None):
        news.hear(make_status(awaiting=awaiting))
    assert [found and (found.model, found.chunks) for found in told] == [
        (first.model, 9),
        ("other", make_estimate().chunks),
        None,
    ]


def test_a_workspace_that_is_closed_takes_its_question_along(qtbot):
    news = IndexNews()
    told = []
    news.hear(make_status(awaiting=make_estimate()))
    news.awaiting.connect(told.append)
    news.hear(None)
    assert told == [None]
