"""The machine that is searched: its home folder and the environment variables for other locations."""

import os
import re
from collections.abc import Mapping

import msgspec

_VARIABLE = re.compile(r"\$\{([A-Za-z_]\w*)\}")


class Machine(msgspec.Struct, frozen=True):
    """Layouts of every system are tried on each: one of another system simply doesn't exist."""

    home: str
    """Absolute."""
    environ: Mapping[str, str]

    def below_home(self, *parts: str) -> str:
        return os.path.join(self.home, *parts)

    def named(self, variable: str) -> str:
        """The folder that a variable names; empty where it names none."""
        return self.expanded(self.environ.get(variable, ""))

    def config_homes(self) -> tuple[str, ...]:
        """Where programs keep their configuration, a folder each."""
        return (self.named("XDG_CONFIG_HOME") or self.below_home(".config"),)

    def program_homes(self) -> tuple[str, ...]:
        """Where graphical programs keep their data, a folder each: on Linux, on macOS, on Windows."""
        return (
            *self.config_homes(),
            self.below_home("Library", "Application Support"),
            self.named("APPDATA") or self.below_home("AppData", "Roaming"),
        )

    def data_homes(self) -> tuple[str, ...]:
        """Where programs keep their data, a folder each."""
        return (
            self.named("XDG_DATA_HOME") or self.below_home(".local", "share"),
            self.named("LOCALAPPDATA") or self.below_home("AppData", "Local"),
        )

    def expanded(self, text: str) -> str:
        """An absolute path with `~` and `${NAME}` replaced; empty for one that is not absolute."""
        path = _VARIABLE.sub(lambda match: self.environ.get(match[1], ""), text.strip())
        if path == "~" or path.startswith(("~/", "~\\")):
            path = os.path.join(self.home, path[2:])
        return os.path.normpath(path) if os.path.isabs(path) and "\0" not in path else ""
