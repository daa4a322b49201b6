import threading

import pytest
from PySide6.QtWidgets import QLabel, QPushButton

import engine
from engine import ModelFetchProgress, ProviderError, Settings
from gui.settings.embedding_form import STOPPED, DownloadRow

MODEL = "hf:owner/models/small.gguf"


class Hub:
    """Replaces the network: sends a model in two parts, the second one on request."""

    def __init__(self) -> None:
        self.missing = MODEL
        self.go_on = threading.Event()
        self.cancelled = 0
        self.error: ProviderError | None = None

    def fetch(self, settings, *, progress, cancel):
        forget = cancel.on_cancel(self.go_on.set)
        progress(ModelFetchProgress(model=MODEL, received=50_000_000, total=200_000_000))
        self.go_on.wait(60)
        forget()
        if cancel.cancelled:
            self.cancelled += 1
            cancel.checkpoint()
        if self.error is not None:
            raise self.error
        self.missing = ""


@pytest.fixture
def hub(monkeypatch) -> Hub:
    hub = Hub()
    monkeypatch.setattr(engine, "missing_model", lambda settings: hub.missing, raising=False)
    monkeypatch.setattr(engine, "fetch_model", hub.fetch, raising=False)
    return hub


@pytest.fixture
def row(qtbot, appearance, jobs, hub) -> DownloadRow:
    row = DownloadRow(jobs)
    qtbot.addWidget(row)
    row.check_model(Settings(provider="gguf"))
    qtbot.waitUntil(lambda: row.ready)
    yield row
    row.stop()


def _words(row: DownloadRow) -> str:
    return row.findChild(QLabel).text().replace("\u200b", "")


def _press(row: DownloadRow) -> None:
    row.findChild(QPushButton).click()


def test_downloaded_model_hides_row(qtbot, row, hub):
    assert row.isVisible()
    assert MODEL in _words(row)
    hub.missing = ""
    row.check_model(Settings())
    qtbot.waitUntil(lambda: row.ready)
    assert not row.isVisible()


def test_download_starts_on_press_and_shows_progress(qtbot, row, hub):
    _press(row)
    qtbot.waitUntil(lambda: "50 MB of 200 MB" in _words(row))
    with qtbot.waitSignal(row.fetched):
        hub.go_on.set()
    assert not row.isVisible()


def test_download_can_be_stopped_and_resumed(qtbot, row, hub):
    _press(row)
    qtbot.waitUntil(lambda: "50 MB" in _words(row))
    _press(row)
    assert _words(row) == STOPPED
    qtbot.waitUntil(lambda: hub.cancelled == 1)
    hub.go_on.clear()
    _press(row)
    with qtbot.waitSignal(row.fetched):
        hub.go_on.set()


def test_failed_download_shows_reason_and_can_be_retried(qtbot, row, hub):
    hub.error = ProviderError("The disk is full.")
    hub.go_on.set()
    _press(row)
    qtbot.waitUntil(lambda: row.ready)
    assert _words(row) == "The disk is full."
    assert row.findChild(QPushButton).text() == "Download"


def test_same_model_again_keeps_download_running(qtbot, row, hub):
    _press(row)
    row.check_model(Settings(provider="gguf"))
    with qtbot.waitSignal(row.fetched):
        hub.go_on.set()
    assert hub.cancelled == 0
