"""The window's command line, checked before Qt or the engine is loaded."""

import argparse
import os
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from engine import LANGUAGES, TRIAL_LANGUAGES
from gui.core.view_spec import view_specs
from gui.style import THEMES, ThemeName

_NEEDING_QUERY = ("viewer", "chunks", "explanation")
"""Views of `--view` that show a result, so they need `--query`."""
_OTHERS = (
    "diagnostics",
    "first-run",
    "sources",
    "settings",
    "settings-general",
    "settings-appearance",
    "settings-keyboard",
    "settings-sources",
    "settings-search",
    "settings-sync",
    "settings-agents",
    "settings-privacy",
    "settings-advanced",
    "settings-found",
    "remember",
    "engine",
    "workspaces",
    "all-workspaces",
    "about",
    "guide",
    "licences",
    "crash",
    "palette",
    "keys",
    "quick",
)
"""Further values of `--view`: parts of the window, and separate windows."""
_WITHOUT_QUERY = ("first-run", "sources", "engine", "workspaces", "guide", "about", "licences", "crash")
"""Views that accept no `--query`, in addition to the pages of the settings."""


def view_names() -> tuple[str, ...]:
    """Return all values of `--view`."""
    return (*(name for spec in view_specs() for name in spec.command_line), *_OTHERS)


LANGUAGE_TAGS = (*LANGUAGES, *TRIAL_LANGUAGES)


@dataclass(frozen=True)
class Options:
    """The options of the command line with which the window starts."""

    workspace: Path | None
    config: Path | None
    demo: bool
    query: str
    view: str
    screenshot: Path | None
    theme: ThemeName | None
    language: str | None
    size: tuple[int, int] | None
    link: str
    """`mnemoscope://…`, not parsed yet; or empty."""
    toggle: bool = False
    """Show or hide the quick search, in the running program if there is one."""
    background: bool = False
    """Start without showing the window."""

    def folder(self, directory: Path) -> Path | None:
        """The absolute path of the workspace, relative to `directory`; links stay unresolved.

        `..` is resolved: otherwise the same folder would have a second name, and links to it would break.
        """
        if self.workspace is None:
            return None
        path = directory / os.path.expanduser(self.workspace)  # noqa: PTH111 - Path's own fails without a home
        return path.resolve() if ".." in path.parts else path

    @property
    def is_separate(self) -> bool:
        """Whether this start ignores a running program, since it shows a demo or takes a screenshot."""
        return self.demo or self.screenshot is not None


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        from engine import printable

        self.exit(2, f"{self.prog}: {printable(message)}\n")

    def format_help(self) -> str:
        """Return the help, including names of views and verbs, which are only looked up when it is printed."""
        names = ", ".join(view_names())
        views = textwrap.fill(names, 78, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)
        verbs = f"commands that need no window, each with --help:\n{_command_help()}"
        return f"{super().format_help()}\nviews:\n{views}\n\n{verbs}\n"


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from engine import program_version  # no other start needs it

        sys.stdout.write(f"mnemoscope {program_version()}\n")
        parser.exit()


def _size(text: str) -> tuple[int, int]:
    width, cross, height = text.lower().partition("x")
    if not (cross and width.isascii() and width.isdigit() and height.isascii() and height.isdigit()):
        raise argparse.ArgumentTypeError(f"'{text}' is not a size such as 1280x800")
    size = (int(width), int(height))
    if not all(200 <= side <= 10_000 for side in size):
        raise argparse.ArgumentTypeError("each side must be from 200 to 10000")
    return size


def _picture(text: str) -> Path:
    path = Path(text)
    if path.suffix.lower() != ".png":
        raise argparse.ArgumentTypeError(f"'{text}' does not end in .png")
    if not path.absolute().parent.is_dir():
        raise argparse.ArgumentTypeError(f"the folder {path.absolute().parent} does not exist")
    return path


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the options of the window."""
    parser = _Parser(
        prog="mnemoscope",
        description="Search a folder of notes in a window.",
        allow_abbrev=False,
    )
    parser.add_argument("--workspace", type=Path, metavar="DIR", help="folder of notes to open")
    parser.add_argument("--config", type=Path, metavar="FILE", help="settings file to use instead of your own")
    parser.add_argument(
        "--demo", action="store_true", help="open a copy of the sample notes and sessions; your changes are not stored"
    )
    parser.add_argument("--query", default="", metavar="Q", help="search for Q at the start")
    parser.add_argument(
        "--view", choices=view_names(), default="search", metavar="NAME", help="what to show (default: search)"
    )
    parser.add_argument("--screenshot", type=_picture, metavar="FILE.png", help="save a picture of the view, then exit")
    parser.add_argument("--theme", choices=THEMES, help="colours to use instead of those in the settings")
    parser.add_argument(
        "--language", choices=LANGUAGE_TAGS, metavar="TAG", help="language of the window, such as de, for this start"
    )
    parser.add_argument("--size", type=_size, metavar="WxH", help="size of the window in pixels")
    parser.add_argument(
        "--toggle",
        action="store_true",
        help="show or hide the quick search; assign a key of your desktop to this command",
    )
    parser.add_argument(
        "--background", action="store_true", help="start without the window: in the tray, and ready for --toggle"
    )
    parser.add_argument(
        "--version", action=_Version, nargs=0, dest=argparse.SUPPRESS, help="print the version, then exit"
    )
    parser.add_argument("link", nargs="?", default="", metavar="LINK", help="link to open: mnemoscope://open?…")
    return parser


def _command_help() -> str:
    """The verbs with their descriptions, one per line."""
    from engine import VERBS

    width = max(map(len, VERBS))
    return "\n".join(f"  {verb:<{width}}  {does}" for verb, does in VERBS.items())


def _unknown_argument(word: str) -> str:
    from engine import VERBS

    if word in VERBS:
        return f"the command comes first: mnemoscope {word} --workspace DIR"
    if Path(word).is_dir():
        return f"'{word}' is a folder: open it with --workspace"
    return f"'{word}' is neither a command ({', '.join(VERBS)}) nor a link that begins with mnemoscope://"


def parse_options(arguments: Sequence[str]) -> Options:
    """Parse the arguments of the command line that opens the window.

    Raises `SystemExit`: for --help and --version, and with code 2 and one line on stderr for wrong usage.
    """
    parser = make_parser()
    options, rest = parser.parse_known_args(arguments)
    if unknown := [argument for argument in rest if argument.startswith("-")]:
        parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    # The window reports an invalid link: a click on one has no terminal.
    if options.link:
        from engine import is_link

        if not is_link(options.link):
            parser.error(_unknown_argument(options.link))
    if rest:
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    if options.demo and options.workspace:
        parser.error("--demo brings its own notes: leave out --workspace")
    if options.view in _NEEDING_QUERY and not options.query:
        parser.error(f"--view {options.view} shows the best result: name a --query")
    alone = options.view in _WITHOUT_QUERY or options.view.startswith("settings")
    if alone and options.query:
        parser.error(f"--view {options.view} searches nothing: leave out --query")
    for name in ("toggle", "background"):
        others = (options.query, options.view != "search", options.demo, options.screenshot, options.link)
        if getattr(options, name) and any(others):
            parser.error(f"--{name} shows no window: leave out --query, --view, --demo, --screenshot and a link")
    if options.toggle and options.background:
        parser.error("--toggle shows what --background hides: leave out one of them")
    return Options(**vars(options))
