import pytest
from PySide6.QtWidgets import QLabel, QPushButton

from engine import IndexBusy, Settings, StoredModelInfo
from gui.settings.dialog import SettingsDialog
from gui.settings.page_factory import NOTHING, StoredModelsPage

BIG = StoredModelInfo(
    provider="openai", model="big", key="k1", dims=3072, vectors=12_001, bytes=73_734_144, active=False
)
OWN = StoredModelInfo(provider="embedded", model="own", key="1", dims=512, vectors=7, bytes=7168, active=True)


@pytest.fixture
def models(memory, monkeypatch) -> list[StoredModelInfo]:
    stored = [BIG, OWN]
    monkeypatch.setattr(memory, "stored_models", lambda: tuple(stored))

    def purge(provider, model, key):
        stored.remove(next(m for m in stored if (m.provider, m.model, m.key) == (provider, model, key)))
        return 1

    monkeypatch.setattr(memory, "purge_model", purge)
    return stored


@pytest.fixture
def page(qtbot, appearance, jobs, memory, models) -> StoredModelsPage:
    page = StoredModelsPage(jobs)
    qtbot.addWidget(page)
    page.begin(memory)
    page.show()
    qtbot.waitUntil(lambda: page.ready)
    return page


def _words(page) -> str:
    return " | ".join(found.text().replace("\u200b", "") for found in page.findChildren(QLabel) if found.isVisible())


def _press(page, words: str, number: int = 0) -> None:
    [b for b in page.findChildren(QPushButton) if b.text() == words and b.isVisible()][number].click()


def test_every_model_is_listed_with_size(page):
    assert "OpenAI-compatible · big | 12,001 vectors of 3,072 dimensions · 74 MB" in _words(page)
    assert "7 vectors of 512 dimensions · 7.2 KB · in use" in _words(page)


def test_delete_asks_first_and_can_be_cancelled(page, models):
    _press(page, "Delete…")
    assert "Delete 12,001 vectors?" in _words(page)
    _press(page, "Keep the vectors")
    assert "Delete 12,001 vectors?" not in _words(page)
    assert len(models) == 2


def test_confirmed_delete_removes_model(qtbot, page, models):
    _press(page, "Delete…")
    with qtbot.waitSignal(page.purged):
        _press(page, "Delete")
    assert models == [OWN]
    assert "big" not in _words(page)


def test_failed_delete_is_shown_and_can_be_retried(qtbot, page, memory, models, monkeypatch):
    def busy(*_):
        raise IndexBusy("The index is being updated.")

    with monkeypatch.context() as patch:
        patch.setattr(memory, "purge_model", busy)
        _press(page, "Delete…")
        _press(page, "Delete")
        qtbot.waitUntil(lambda: page.ready)
    assert "The index is being updated." in _words(page)
    assert "OpenAI-compatible · big" in _words(page)
    with qtbot.waitSignal(page.purged):
        _press(page, "Delete")
    assert models == [OWN]
    assert "The index is being updated." not in _words(page)


def test_returning_to_embedding_page_estimates_again(qtbot, appearance, jobs, memory, models, tmp_path):
    dialog = SettingsDialog(jobs)
    qtbot.addWidget(dialog)
    dialog.begin(tmp_path, Settings(provider="embedded"), memory, "embedding")
    qtbot.waitUntil(lambda: dialog.ready)
    count = len(memory.estimated)
    dialog.show_page("search")
    qtbot.waitUntil(lambda: dialog.ready)
    assert len(memory.estimated) == count
    dialog.show_page("embedding")
    qtbot.waitUntil(lambda: len(memory.estimated) == count + 1)
    qtbot.waitUntil(lambda: dialog.ready)


def test_empty_index_shows_message(qtbot, page, memory, models):
    models.clear()
    page.begin(memory)
    qtbot.waitUntil(lambda: NOTHING in _words(page))
