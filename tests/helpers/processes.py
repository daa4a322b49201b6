"""Processes for tests of what one leaves behind."""

import subprocess
import sys


def ended_process() -> int:
    """The number of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid
