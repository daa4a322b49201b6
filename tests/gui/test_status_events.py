from PySide6.QtCore import QTimer

from engine import FallbackStatus
from gui.core.status_feed import StatusEvents
from tests.helpers.fake_records import make_estimate, make_progress, make_status, make_summary


def test_pending_estimate_is_reported_once_per_model(qtbot):
    news = StatusEvents()
    received = []
    news.awaiting.connect(received.append)
    first, grown = make_estimate(chunks=9), make_estimate(chunks=10)
    for awaiting in (None, first, grown, make_estimate(model="other"), None):
        news.update_status(make_status(awaiting_approval=awaiting))
    assert [found and (found.model, found.chunks) for found in received] == [
        (first.model, 9),
        ("other", make_estimate().chunks),
        None,
    ]


def test_closed_workspace_withdraws_pending_estimate(qtbot):
    news = StatusEvents()
    received = []
    news.update_status(make_status(awaiting_approval=make_estimate()))
    news.awaiting.connect(received.append)
    news.update_status(None)
    assert received == [None]


def test_provider_problem_is_reported_when_new_and_withdrawn(qtbot):
    news = StatusEvents()
    received = []
    news.provider_problem.connect(received.append)
    lacking = make_status(provider="none", requested_provider="openai", custom={"providerUnavailableReason": "No key."})
    chosen = make_status(provider="none", requested_provider="none", custom={"providerUnavailableReason": "No."})
    for status in (make_status(), lacking, lacking, make_status(), lacking, chosen, None):
        news.update_status(status)
    assert received == ["No key.", "", "No key.", ""]


def test_each_successful_sync_is_reported_once(qtbot):
    news = StatusEvents()
    ended = []
    news.synced.connect(lambda: ended.append(1))
    failed, well = make_summary(error="The disk is full."), make_summary(files_indexed=7)
    for last in (None, failed, well, well, failed):
        news.update_status(make_status(last_sync=last))
    assert len(ended) == 1


def test_sync_failing_immediately_changes_nothing(qtbot):
    """Otherwise the current query would be repeated and start the next sync, as long as the drive is unplugged."""
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
        news.update_status(make_status(last_sync=last))
    assert not changed
    news.update_status(make_status(last_sync=halfway))
    assert len(changed) == 1


def test_engine_fallback_is_reported_when_it_or_reason_changes(qtbot):
    news = StatusEvents()
    received = []
    news.engine_replaced.connect(received.append)
    custom = {"fallback": {"disabled": True, "reason": ""}}
    slow, gone = (
        make_status(fallback=FallbackStatus(from_="qmd", reason=reason), custom=custom)
        for reason in ("Too slow.", "Not found.")
    )
    of_provider = make_status(fallback=FallbackStatus(from_="openai", reason="No key."))
    for status in (make_status(), slow, slow, gone, of_provider, slow, None):
        news.update_status(status)
    assert [found and found.reason for found in received] == ["Too slow.", "Not found.", None, "Too slow.", None]


def test_only_own_index_offers_rebuild(qtbot):
    news = StatusEvents()
    received = []
    news.problem.connect(lambda *problem: received.append(problem))
    for backend, custom in (("builtin", {}), ("qmd", {}), ("lancedb", {}), ("builtin", {"readOnly": True})):
        news.update_status(make_status())
        news.update_status(make_status(backend=backend, custom=custom, index_error="It failed."))
    assert [remedy for _, remedy in received] == ["rebuild", "sync", "sync", "retry"]


def test_engine_change_emits_changed(qtbot):
    news = StatusEvents()
    changed = []
    news.changed.connect(lambda: changed.append(1))
    news.update_status(make_status())
    news.update_status(make_status(backend="qmd"))
    assert changed == [1]


def test_first_sync_reports_its_first_change_sooner(qtbot):
    news = StatusEvents()
    [timer] = news.findChildren(QTimer)
    for last_sync, expected in ((None, [0, 100, 200, 400, 800]), (make_summary(), [1000] * 5)):
        delays = []
        news.update_status(None)
        for files in range(6):
            news.update_status(make_status(files=files, last_sync=last_sync, syncing=make_progress()))
            delays += [timer.interval()] if timer.isActive() else []
            timer.stop()
        assert delays == expected


def test_end_of_sync_reports_a_pending_change_immediately(qtbot):
    """The last record during a sync may already have all files."""
    news = StatusEvents()
    changed = []
    news.changed.connect(lambda: changed.append(1))
    news.update_status(make_status(files=1))
    news.update_status(make_status(files=2, syncing=make_progress()))
    assert changed == []
    for _ in range(2):
        news.update_status(make_status(files=2))
        assert changed == [1]
    assert not any(timer.isActive() for timer in news.findChildren(QTimer))
