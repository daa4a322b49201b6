"""The report on errors: versions, names of settings and tracebacks. No text of notes, no queries, no file names.

Always in English: it is for the developers.
"""

import os
import platform
import re
from collections.abc import Iterable

from PySide6.QtCore import QLocale, qVersion
from PySide6.QtGui import QGuiApplication

import engine
from engine import Settings, spoken
from gui.app.crash.tracebacks import Failure

_DESKTOP = re.compile(r"[\w:-]{1,40}")


def versions() -> str:
    """One line: what runs here."""
    return (
        f"Mnemoscope {engine.program_version()}, Python {platform.python_version()}, Qt {qVersion()}, "
        f"{platform.platform()}"
    )


def report(failures: Iterable[tuple[Failure, int]], settings: Settings | None) -> str:
    """Each failure with its number of occurrences. `settings`: the current ones, if known."""
    parts = [_head(settings)]
    for failure, times in failures:
        often = "once" if times == 1 else f"{times:,} times"
        parts.append(f"{failure.kind} {failure.where}, {often}\n\n{failure.trace}")
    return masked("\n\n".join(parts))


def masked(text: str) -> str:
    """Whatever looks like a secret, or is a key in use, is not in a report."""
    return engine.redact(text)


def _head(settings: Settings | None) -> str:
    desktop = os.environ.get("XDG_CURRENT_DESKTOP", "")
    screen = QGuiApplication.platformName()
    if _DESKTOP.fullmatch(desktop):
        screen += f", {desktop}"
    lines = [versions(), f"Screen: {screen}. Language: {QLocale.system().name()}, window: {spoken()}."]
    if settings is not None:
        changed = [
            option.key for option in engine.all_options() if engine.value_at(settings, option.key) != option.default
        ]
        lines.append(f"Settings that were changed: {', '.join(changed) or 'none'}.")
    return "\n".join(lines)
