"""Announcements of syncs for screen readers."""

import pytest
from PySide6.QtWidgets import QWidget

from engine import FileIssue
from gui.core import status_feed
from gui.core.status_feed import SyncAnnouncer
from gui.widgets.message_banner import Banner
from tests.helpers.fake_records import make_progress, make_status, make_summary


@pytest.fixture
def announced(monkeypatch) -> list[str]:
    announced_texts: list[str] = []
    monkeypatch.setattr(status_feed, "announce", lambda _widget, sentence: announced_texts.append(sentence))
    monkeypatch.setattr(
        "gui.widgets.message_banner.announce", lambda _widget, sentence: announced_texts.append(sentence)
    )
    return announced_texts


@pytest.fixture
def announcer(qtbot):
    widget = QWidget()
    qtbot.addWidget(widget)
    moments = iter(range(100))
    return SyncAnnouncer(widget, clock=lambda: float(next(moments)))


def test_manual_sync_is_announced_once_at_start_and_end(announcer, announced):
    for _ in range(3):
        announcer.update_status(make_status(syncing=make_progress(reason="manual")))
    announcer.update_status(make_status(last_sync=make_summary(), files=67))
    announcer.update_status(make_status(last_sync=make_summary(), files=67))
    assert announced == ["The index is being brought up to date.", "The index is up to date: 67 files."]


def test_background_sync_is_announced_only_when_long(announcer, announced):
    announcer.update_status(make_status(syncing=make_progress(reason="watch")))
    announcer.update_status(make_status(last_sync=make_summary()))
    assert announced == []
    for _ in range(4):
        announcer.update_status(make_status(syncing=make_progress(reason="watch")))
    assert announced == ["The index is being brought up to date."]


def test_failed_files_are_announced_but_sync_errors_are_not(announcer, announced):
    issue = FileIssue(path="scan.md", rule="not-utf8", detail="Byte 3.")
    announcer.update_status(make_status(syncing=make_progress()))
    announcer.update_status(make_status(last_sync=make_summary(), files=2, failed_files=(issue,)))
    assert announced[-1] == "The index is up to date: 2 files. 1 file could not be read."
    announcer.update_status(make_status(syncing=make_progress()))
    announcer.update_status(make_status(last_sync=make_summary(error="No network.")))
    assert announced[-1] == "The index is being brought up to date."


def test_banner_is_announced_once(qtbot, announced):
    banner = Banner()
    qtbot.addWidget(banner)
    banner.show_message("The provider did not answer.", "degraded", key="sync")
    banner.show_message("The provider did not answer.", "degraded", key="sync")
    banner.clear("sync")
    banner.show_message("The provider did not answer.", "degraded", key="sync")
    assert announced == ["The provider did not answer."] * 2
