"""An update over its time limit continues as long as it makes progress."""

from pathlib import Path

import pytest

from engine.backends.qmd.command import QmdTooSlow
from engine.backends.qmd.index_maintenance import Maintenance, QmdCounts
from engine.base.cancellation import CancelToken
from engine.settings.backend_settings import QmdSettings


class SlowQmd:
    """Fake command and index: each update except the last times out, with the given number of documents stored."""

    def __init__(self, folder: Path, totals: list[int]) -> None:
        self.folder = folder
        self._totals = totals
        self._total = 0

    def run(self, verb, **_):
        assert verb == ["update"]
        self._total = self._totals.pop(0)
        if self._totals:
            raise QmdTooSlow("qmd update took longer than 120 s and was stopped.")

    def counts(self) -> QmdCounts:
        return QmdCounts({"notes": self._total})


def update(folder: Path, totals: list[int]) -> None:
    qmd = SlowQmd(folder, totals)
    Maintenance(QmdSettings(), qmd, qmd).update(CancelToken(), lambda line: None, lambda: None)  # type: ignore[arg-type]


def test_retries_while_progress_continues(tmp_path):
    totals = [*range(100, 1000, 100), 1000]
    update(tmp_path, totals)
    assert not totals


def test_embedding_stops_without_progress(tmp_path):
    totals = [100, 200, 200, 300]
    with pytest.raises(QmdTooSlow):
        update(tmp_path, totals)
    assert totals == [300]
