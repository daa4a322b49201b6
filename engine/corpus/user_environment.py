"""The home folder and the environment variables of this machine, which locate the folders of programs."""

import os
import re
from collections.abc import Mapping

import msgspec

_VARIABLE = re.compile(r"\$\{([A-Za-z_]\w*)\}")


class Machine(msgspec.Struct, frozen=True):
    """Home folder and environment variables of the user, for finding folders of other programs."""

    home: str
    """Absolute path of the home folder."""
    environ: Mapping[str, str]

    def below_home(self, *parts: str) -> str:
        return os.path.join(self.home, *parts)

    def folder_in(self, variable: str) -> str:
        """Return the folder that an environment variable contains; empty if it is not set."""
        return self.expanded(self.environ.get(variable, ""))

    def config_homes(self) -> tuple[str, ...]:
        """Return the folders that contain programs' configuration."""
        return (self.folder_in("XDG_CONFIG_HOME") or self.below_home(".config"),)

    def program_homes(self) -> tuple[str, ...]:
        """Return the folders that contain data of graphical programs, on Linux, macOS and Windows."""
        return (
            *self.config_homes(),
            self.below_home("Library", "Application Support"),
            self.folder_in("APPDATA") or self.below_home("AppData", "Roaming"),
        )

    def data_homes(self) -> tuple[str, ...]:
        """Return the folders that contain programs' data."""
        return (
            self.folder_in("XDG_DATA_HOME") or self.below_home(".local", "share"),
            self.folder_in("LOCALAPPDATA") or self.below_home("AppData", "Local"),
        )

    def paths(self, template: str) -> list[str]:
        """Return the absolute paths that a template means, with parts separated by slashes.

        It begins with `~`, the home folder; with `$NAME`, the folder in a variable; with `config`, `programs` or
        `data`, all folders for these; or with several such templates in parentheses, divided by `|`: the first one
        that means a path counts. Only a variable that is not set means none.
        """
        first, _, rest = template.partition("/")
        if template.startswith("("):
            choices, _, rest = template[1:].partition(")")
            homes = next(filter(None, map(self.paths, choices.split("|"))), [])
        elif first.startswith("$"):
            homes = [self.folder_in(first[1:])]
        else:
            known = {"~": (self.home,), "config": self.config_homes(), "programs": self.program_homes()}
            homes = list(known.get(first) or self.data_homes())
        return [os.path.join(home, *filter(None, rest.split("/"))) for home in homes if home]

    def expanded(self, text: str) -> str:
        """Return an absolute path with `~` and `${NAME}` replaced; empty if the result is not absolute."""
        if not text:
            return ""
        path = _VARIABLE.sub(lambda match: self.environ.get(match[1], ""), text.strip())
        if path == "~" or path.startswith(("~/", "~\\")):
            path = os.path.join(self.home, path[2:])
        return os.path.normpath(path) if os.path.isabs(path) and "\0" not in path else ""
