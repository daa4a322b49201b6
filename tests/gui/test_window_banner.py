import pytest
from PySide6.QtWidgets import QPushButton

from gui.core.window_banner import WindowBanner
from gui.core.workspace import Workspace
from gui.text.status_texts import FailedService
from tests.helpers.fake_records import make_estimate


@pytest.fixture
def workspace(jobs, monkeypatch) -> Workspace:
    workspace = Workspace(jobs)
    workspace.requests = []
    monkeypatch.setattr(workspace, "sync", lambda **options: workspace.requests.append(options))
    return workspace


@pytest.fixture
def notices(qtbot, appearance, workspace) -> WindowBanner:
    notices = WindowBanner(workspace)
    qtbot.addWidget(notices)
    return notices


def words(notices: WindowBanner) -> list[str]:
    return [button.text() for button in notices.findChildren(QPushButton) if button.text() and not button.isHidden()]


def press(notices: WindowBanner, words: str) -> None:
    next(button for button in notices.findChildren(QPushButton) if button.text() == words).click()


def test_failed_sync_can_be_retried(notices, workspace):
    workspace.sync_failed.emit("The disk is full.", False)
    assert notices.text == "The disk is full."
    assert "Settings…" not in words(notices)
    press(notices, "Try again")
    assert workspace.requests == [{}]
    assert notices.text == ""


def test_failed_provider_offers_settings(qtbot, notices, workspace):
    workspace.sync_failed.emit("OpenAI refused the API key.", True)
    assert words(notices) == ["Try again", "Settings…"]
    with qtbot.waitSignal(notices.settings_requested):
        press(notices, "Settings…")


def test_successful_sync_clears_only_sync_failure(notices, workspace):
    workspace.sync_failed.emit("The server cannot be reached.", True)
    notices.remove_failed_sync()
    assert notices.text == ""
    notices.confirm_embedding(make_estimate())
    notices.remove_failed_sync()
    assert notices.text


def test_provider_problem_is_shown_until_resolved(qtbot, notices):
    notices.show_provider_problem("There is no API key for gemini.")
    assert notices.text == "No search by meaning. There is no API key for gemini."
    with qtbot.waitSignal(notices.settings_requested):
        press(notices, "Settings…")
    notices.show_provider_problem("There is no API key for gemini.")
    notices.show_provider_problem("")
    assert notices.text == ""


def test_repairable_index_offers_rebuild(notices, workspace):
    notices.show_index_problem("It is damaged.", "rebuild")
    press(notices, "Rebuild index…")
    assert "Rebuild the whole index?" in notices.text
    press(notices, "Rebuild")
    assert workspace.requests == [{"force": True}]


def test_external_index_offers_retry_not_rebuild(qtbot, notices, workspace):
    notices.show_index_problem("The command qmd was not found.", "sync")
    assert words(notices) == ["Try again", "Choose another engine…"]
    with qtbot.waitSignal(notices.engine_requested):
        press(notices, "Choose another engine…")
    notices.show_index_problem("The command qmd was not found.", "sync")
    press(notices, "Try again")
    assert workspace.requests == [{}]


def test_read_only_index_offers_only_to_try_again(notices):
    notices.show_index_problem("No rights to write.", "retry")
    assert [button.text() for button in notices.findChildren(QPushButton) if button.text()] == ["Try again"]


def test_billed_embedding_asks_with_price(notices, workspace):
    estimate = make_estimate(cost=1.09)
    notices.confirm_embedding(estimate)
    assert "$1.09" in notices.text
    press(notices, "Embed for about $1.09")
    assert workspace.requests == [{"approve": estimate}]


def test_withdrawn_estimate_clears_only_its_own_notice(notices):
    notices.confirm_embedding(make_estimate())
    notices.confirm_embedding(None)
    assert notices.text == ""
    notices.show_error("The disk is full.")
    notices.confirm_embedding(None)
    assert notices.text == "The disk is full."


def test_engine_fallback_names_reason_and_offers_retry(notices, workspace, monkeypatch):
    tried = []
    monkeypatch.setattr(workspace, "try_again", lambda: tried.append(1))
    notices.show_engine_replaced(FailedService("qmd", "The command qmd was not found."))
    assert notices.text == ("qmd did not answer. The command qmd was not found. Meanwhile, the built-in index answers.")
    press(notices, "Try again now")
    assert tried == [1]
    assert notices.text == "Trying the search engine again…"
    notices.show_engine_tried(FailedService("qmd", "It is not there."))
    assert notices.text == ("qmd still does not answer. It is not there. Meanwhile, the built-in index answers.")
    assert words(notices) == ["Try again now", "Choose another engine…"]
    press(notices, "Try again now")
    notices.show_engine_tried(None)
    assert notices.text == ""
    notices.show_engine_replaced(FailedService("LanceDB", "The table is locked."))
    notices.show_engine_replaced(None)
    assert notices.text == ""
