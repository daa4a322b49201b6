"""Check that all decoding and parsing of external input is limited in depth, digits, size, time and memory."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.hostile_input import PARSERS


@pytest.mark.parametrize("start", range(0, len(PARSERS), 4))
def test_hostile_input_is_bounded(start: int) -> None:
    """Four parsers a process, which ends when one of them takes too much."""
    parsers = list(PARSERS)[start : start + 4]
    command = [sys.executable, "-m", "tests.helpers.hostile_input", *parsers]
    run = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False)
    assert run.stdout.split() == parsers, f"code {run.returncode}: {run.stderr[-2000:]}"
