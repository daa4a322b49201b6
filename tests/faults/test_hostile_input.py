"""Check that all decoding and parsing of external input is limited in depth, digits, size, time and memory."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.hostile_input import PARSERS


@pytest.mark.parametrize("parser", PARSERS)
def test_hostile_input_is_bounded(parser: str) -> None:
    command = [sys.executable, "-m", "tests.helpers.hostile_input", parser]
    run = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False)
    assert run.stdout.endswith("done\n"), f"code {run.returncode}: {run.stderr[-2000:]}"
