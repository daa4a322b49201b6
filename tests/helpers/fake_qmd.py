"""A command that is called like `qmd` and does what a test wants, however bad."""

import json
import sys
import textwrap
from pathlib import Path

_BEGINNING = """\
#!{python}
import json, os, signal, subprocess, sys, time
verb, args = sys.argv[1], sys.argv[2:]
with open({calls!r}, "a") as calls:
    calls.write(json.dumps(sys.argv[1:]) + "\\n")
if verb == "--version":
    print("qmd 2.8.3 (fake)")
    sys.exit()
"""


class FakeQmd:
    """`body` is Python: it sees `verb` and `args`."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / "qmd"
        self._calls = folder / "calls"

    def does(self, body: str, *, beginning: str = _BEGINNING) -> None:
        """From now on."""
        text = beginning.format(python=sys.executable, calls=str(self._calls)) + textwrap.dedent(body)
        self.path.write_text(text, "utf-8")
        self.path.chmod(0o755)

    def calls(self) -> list[list[str]]:
        """The arguments of every call so far, but for those that ask for the version."""
        if not self._calls.exists():
            return []
        calls = map(json.loads, self._calls.read_text("utf-8").splitlines())
        return [call for call in calls if call != ["--version"]]
