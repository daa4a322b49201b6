"""Reads the list of sessions once it is built."""

import time
from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QCoreApplication

from gui.sessions.panel import SessionsPanel
from tests.helpers.background import LONGEST_WAIT


def listed_rows(panel: SessionsPanel) -> Sequence[Any]:
    """Return the rows for the criteria of now: they are made on a pool thread."""
    end = time.monotonic() + LONGEST_WAIT
    while panel.listing:
        assert time.monotonic() < end, "waited too long"
        QCoreApplication.processEvents()
        time.sleep(0.001)
    return panel.view.list.rows.all
