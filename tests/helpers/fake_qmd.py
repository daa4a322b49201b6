"""A fake `qmd` command that runs a test's code, to simulate any fault."""

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
    """A fake command; `body` is Python that can use `verb` and `args`."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / "qmd"
        self._calls = folder / "calls"

    def does(self, body: str, *, beginning: str = _BEGINNING) -> None:
        """Set the code of the command from now on."""
        text = beginning.format(python=sys.executable, calls=str(self._calls)) + textwrap.dedent(body)
        self.path.write_text(text, "utf-8")
        self.path.chmod(0o755)

    def calls(self) -> list[list[str]]:
        """Return the arguments of every call so far, except version checks."""
        if not self._calls.exists():
            return []
        calls = map(json.loads, self._calls.read_text("utf-8").splitlines())
        return [call for call in calls if call != ["--version"]]
