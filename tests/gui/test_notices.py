import pytest
from PySide6.QtWidgets import QPushButton

from gui.notices import Notices
from gui.workspace import Workspace


@pytest.fixture
def workspace(jobs, monkeypatch) -> Workspace:
    workspace = Workspace(jobs)
    workspace.asked = []
    monkeypatch.setattr(workspace, "sync", lambda **asked: workspace.asked.append(asked))
    return workspace


@pytest.fixture
def notices(qtbot, appearance, workspace) -> Notices:
    notices = Notices(workspace)
    qtbot.addWidget(notices)
    return notices


def press(notices: Notices, words: str) -> None:
    next(button for button in notices.findChildren(QPushButton) if button.text() == words).click()


def test_a_failed_sync_can_be_tried_again(notices, workspace):
    workspace.sync_failed.emit("The disk is full.")
    assert notices.text == "The disk is full."
    press(notices, "Try again")
    assert workspace.asked == [{}]
    assert notices.text == ""


def test_an_index_that_can_be_mended_offers_a_rebuild(notices, workspace):
    notices.tell_index_problem("It is damaged.", True)
    press(notices, "Rebuild index…")
    assert "Rebuild the whole index?" in notices.text
    press(notices, "Rebuild")
    assert workspace.asked == [{"force": True}]


def test_an_index_that_cannot_be_mended_offers_nothing(notices):
    notices.tell_index_problem("It is of a newer version.", False)
    assert not [button for button in notices.findChildren(QPushButton) if button.text()]
