"""Starts the program anew when this run has ended."""

import sys
from pathlib import Path

from PySide6.QtCore import QProcess

from gui.app.options import Options


def command_line(options: Options, folder: Path | None) -> list[str]:
    """Program and arguments: with the same settings, in the folder that is open now, and with no search of its own."""
    bundled = getattr(sys, "frozen", False)
    words = [sys.executable] if bundled else [sys.executable, "-m", "gui"]
    if options.config is not None:
        words += ["--config", str(options.config.absolute())]
    if options.theme is not None:
        words += ["--theme", options.theme]
    if options.language is not None:
        words += ["--language", options.language]
    if options.demo:
        words.append("--demo")
    elif folder is not None:
        words += ["--workspace", str(folder)]
    return words


def start_anew(options: Options, folder: Path | None) -> bool:
    """Whether it was started; it outlives this process."""
    program, *arguments = command_line(options, folder)
    started, _ = QProcess.startDetached(program, arguments, str(Path.cwd()))
    return started
