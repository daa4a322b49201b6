"""Results of a command line verb, and separate Python processes."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import engine


@dataclass(frozen=True)
class Answer:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Answer]
"""Type of a function that runs one verb with its arguments."""


def python(code: str, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run `code` in a new interpreter that can import this project; `options` are passed to `subprocess.run`."""
    environment = os.environ | {"PYTHONPATH": str(Path(engine.__file__).parents[1])} | options.pop("env", {})
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "timeout": 60} | options
    return subprocess.run([sys.executable, "-c", code, *arguments], text=True, env=environment, check=False, **options)
