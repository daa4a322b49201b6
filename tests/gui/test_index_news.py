from engine import FallbackStatus
from gui.core.status_events import StatusEvents
from tests.helpers.fake_records import make_estimate, make_status, make_summary


def test_pending_work_announced_once_until_changed(qtbot):
    news = StatusEvents()
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
    news = StatusEvents()
    told = []
    news.hear(make_status(awaiting=make_estimate()))
    news.awaiting.connect(told.append)
    news.hear(None)
    assert told == [None]


def test_new_provider_problem_announced_and_cleared(qtbot):
    news = StatusEvents()
    told = []
    news.provider_problem.connect(told.append)
    lacking = make_status(provider="none", requested_provider="openai", custom={"providerUnavailableReason": "No key."})
    chosen = make_status(provider="none", requested_provider="none", custom={"providerUnavailableReason": "No."})
    for status in (make_status(), lacking, lacking, make_status(), lacking, chosen, None):
        news.hear(status)
    assert told == ["No key.", "", "No key.", ""]


def test_each_good_sync_announced_once(qtbot):
    news = StatusEvents()
    ended = []
    news.synced.connect(lambda: ended.append(1))
    failed, well = make_summary(error="The disk is full."), make_summary(files_indexed=7)
    for last in (None, failed, well, well, failed):
        news.hear(make_status(last_sync=last))
    assert len(ended) == 1


def test_immediately_failing_sync_changes_nothing(qtbot):
    """Else a question on show is asked again, which begins the next sync, as long as the drive is unplugged."""
    news = StatusEvents()
    changed = []
    news.changed.connect(lambda: changed.append(1))
    nothing = {"files_indexed": 0, "files_removed": 0, "vectors_embedded": 0}
    well, gone, again = (
        make_summary(started=1),
        make_summary(started=2, error="The folder /n does not exist.", **nothing),
        make_summary(started=3, error="The folder /n does not exist.", **nothing),
    )
    halfway = make_summary(started=4, error="The disk is full.", **nothing | {"files_indexed": 1})
    for last in (well, gone, again):
        news.hear(make_status(last_sync=last))
    assert not changed
    news.hear(make_status(last_sync=halfway))
    assert len(changed) == 1


def test_fallback_engine_announced_on_new_reason(qtbot):
    news = StatusEvents()
    told = []
    news.engine_replaced.connect(told.append)
    custom = {"fallback": {"disabled": True, "reason": ""}}
    slow, gone = (
        make_status(fallback=FallbackStatus(from_="qmd", reason=reason), custom=custom)
        for reason in ("Too slow.", "Not found.")
    )
    of_provider = make_status(fallback=FallbackStatus(from_="openai", reason="No key."))
    for status in (make_status(), slow, slow, gone, of_provider, slow, None):
        news.hear(status)
    assert [found and found.reason for found in told] == ["Too slow.", "Not found.", None, "Too slow.", None]


def test_only_an_index_of_its_own_is_offered_to_be_rebuilt(qtbot):
    news = StatusEvents()
    told = []
    news.problem.connect(lambda *problem: told.append(problem))
    for backend, custom in (("builtin", {}), ("qmd", {}), ("lancedb", {}), ("builtin", {"readOnly": True})):
        news.hear(make_status())
        news.hear(make_status(backend=backend, custom=custom, index_error="It failed."))
    assert [remedy for _, remedy in told] == ["rebuild", "sync", "sync", ""]


def test_another_engine_finds_other_things(qtbot):
    news = StatusEvents()
    changed = []
    news.changed.connect(lambda: changed.append(1))
    news.hear(make_status())
    news.hear(make_status(backend="qmd"))
    assert changed == [1]
