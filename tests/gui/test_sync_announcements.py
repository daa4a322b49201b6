"""Announcements of syncs for screen readers."""

import pytest
from PySide6.QtWidgets import QWidget

from engine import FileIssue
from gui.core import status_feed
from gui.core.status_feed import SyncAnnouncer
from gui.widgets.message_banner import Banner
from tests.helpers.fake_records import make_progress, make_status, make_summary


@pytest.fixture
def heard(monkeypatch) -> list[str]:
    said: list[str] = []
    monkeypatch.setattr(status_feed, "announce", lambda _widget, sentence: said.append(sentence))
    monkeypatch.setattr("gui.widgets.message_banner.announce", lambda _widget, sentence: said.append(sentence))
    return said


@pytest.fixture
def told(qtbot):
    widget = QWidget()
    qtbot.addWidget(widget)
    moments = iter(range(100))
    return SyncAnnouncer(widget, clock=lambda: float(next(moments)))


def test_manual_sync_is_announced_once_at_start_and_end(told, heard):
    for _ in range(3):
        told.update_status(make_status(syncing=make_progress(reason="manual")))
    told.update_status(make_status(last_sync=make_summary(), files=67))
    told.update_status(make_status(last_sync=make_summary(), files=67))
    assert heard == ["The index is being brought up to date.", "The index is up to date: 67 files."]


def test_background_sync_is_announced_only_when_long(told, heard):
    told.update_status(make_status(syncing=make_progress(reason="watch")))
    told.update_status(make_status(last_sync=make_summary()))
    assert heard == []
    for _ in range(4):
        told.update_status(make_status(syncing=make_progress(reason="watch")))
    assert heard == ["The index is being brought up to date."]


def test_failed_files_are_announced_but_sync_errors_are_not(told, heard):
    issue = FileIssue(path="scan.md", rule="not-utf8", detail="Byte 3.")
    told.update_status(make_status(syncing=make_progress()))
    told.update_status(make_status(last_sync=make_summary(), files=2, failed_files=(issue,)))
    assert heard[-1] == "The index is up to date: 2 files. 1 file could not be read."
    told.update_status(make_status(syncing=make_progress()))
    told.update_status(make_status(last_sync=make_summary(error="No network.")))
    assert heard[-1] == "The index is being brought up to date."


def test_banner_is_announced_once(qtbot, heard):
    banner = Banner()
    qtbot.addWidget(banner)
    banner.show_message("The provider did not answer.", "degraded", key="sync")
    banner.show_message("The provider did not answer.", "degraded", key="sync")
    banner.clear("sync")
    banner.show_message("The provider did not answer.", "degraded", key="sync")
    assert heard == ["The provider did not answer."] * 2
