"""Generate the manual page from the command line's parsers, so that it covers every command and option.

python packaging/building/man_page.py FILE
"""

import argparse
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from engine import program_version
from engine.cli.arguments import VERBS, make_parser
from engine.providers.registry import PROVIDERS
from engine.text.operators import QUERY_HELP
from gui.app.command_line import make_parser as make_window_parser

_INTRODUCTION = """\
Mnemoscope searches a folder of notes and past sessions with AI agents, by words and by meaning, shows the match in its
file with the lines highlighted, and shows what the index does. Without a command it opens its window; with one it
answers on the terminal. Notes and transcripts are only read; nothing leaves the computer unless a service was
chosen."""
_FILES = (
    ("~/.config/mnemoscope/settings.toml", "The settings."),
    ("~/.config/mnemoscope/window.json", "How the window was left."),
    ("~/.local/share/mnemoscope/indexes/", "An index for each folder of notes; never among the notes."),
    ("~/.cache/mnemoscope/", "The unpacked model."),
    ("~/.local/state/mnemoscope/log/mnemoscope.log", "What went wrong; never the text of notes."),
)
_ENVIRONMENT = (
    (
        ", ".join(variable for provider in PROVIDERS for variable in provider.key_variables),
        "Keys of services, used only where the settings choose one.",
    ),
    ("VISUAL, EDITOR", "The editor that opens files, where the settings name none."),
)
_EXIT = (
    ("0", "It worked, also if nothing was found."),
    ("1", "It failed; one line on standard error says why. For doctor: a check failed."),
    ("2", "Wrong usage."),
    ("130", "It was interrupted."),
    ("141", "The reader of the output closed it, as head does."),
)


def man_page() -> str:
    """Return the manual page as man(7) source."""
    window, commands = make_window_parser(), _commands(make_parser())
    synopsis = ("\\fBmnemoscope\\fR [OPTION]...", ".br", "\\fBmnemoscope\\fR COMMAND [OPTION]... [ARGUMENT]...")
    parts = [
        f'.TH MNEMOSCOPE 1 "" "Mnemoscope {program_version()}" "User Commands"',
        *_section("NAME", ["mnemoscope \\- search notes and past AI sessions, and see inside the index"]),
        ".ad l",
        *_section("SYNOPSIS", synopsis),
        *_section("DESCRIPTION", [_plain(_INTRODUCTION)]),
        *_section("OPTIONS OF THE WINDOW", _options(window)),
        *_section("COMMANDS", [line for name, parser in commands for line in _command(name, parser)]),
        *_section("QUERIES", ["A query is words, and any of:", *_listed(QUERY_HELP)]),
        *_section("EXIT STATUS", _listed(_EXIT)),
        *_section("ENVIRONMENT", _listed(_ENVIRONMENT)),
        *_section(
            "FILES",
            [*_listed(_FILES), ".PP", _plain("Another folder if XDG_CONFIG_HOME or similar variables are set.")],
        ),
    ]
    return "\n".join(parts) + "\n"


def _commands(parser: argparse.ArgumentParser) -> list[tuple[str, argparse.ArgumentParser]]:
    """Return the commands in order, each followed by its subcommands, such as `sessions show`."""
    choices = next(action.choices for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    commands: list[tuple[str, argparse.ArgumentParser]] = []
    for name in VERBS:
        commands.append((name, choices[name]))
        for action in choices[name]._actions:
            if isinstance(action, argparse._SubParsersAction):
                commands += [(f"{name} {inner}", parser) for inner, parser in action.choices.items()]
    return commands


def _section(title: str, lines: Iterable[str]) -> list[str]:
    return [f".SH {title}", *lines]


def _command(name: str, parser: argparse.ArgumentParser) -> Iterator[str]:
    yield f".SS {_plain(name)}"
    yield _usage(parser, name)
    yield ".PP"
    yield _plain(parser.description or "")
    yield from _options(parser)


def _usage(parser: argparse.ArgumentParser, name: str) -> str:
    usage = " ".join(parser.format_usage().partition(parser.prog)[2].split())
    return f"\\fBmnemoscope {_plain(name)}\\fR {_plain(usage)}"


def _options(parser: argparse.ArgumentParser) -> Iterator[str]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction | argparse._HelpAction) or action.help == argparse.SUPPRESS:
            continue
        values = _plain(_values(action))
        names = ", ".join(f"\\fB{_plain(name)}\\fR" for name in action.option_strings)
        yield ".TP"
        yield f"{names} \\fI{values}\\fR" if names and values else names or f"\\fI{values}\\fR"
        # argparse expands these placeholders the same way.
        text = (action.help or "") % {"default": action.default, "prog": parser.prog}
        yield _plain(text if action.choices is None else f"{text}; one of {', '.join(map(str, action.choices))}")


def _values(action: argparse.Action) -> str:
    if action.nargs == 0:
        return ""
    return str(action.metavar or action.dest.upper())


def _listed(rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    for name, meaning in rows:
        yield from (".TP", f"\\fB{_plain(name)}\\fR", _plain(meaning))


def _plain(text: str) -> str:
    """Escape the text for roff, so that no line is a request and hyphens can be copied."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace('"', "\\(dq")
    escaped = escaped.replace("~", "\\(ti").replace("^", "\\(ha").replace("`", "\\(ga")
    return re.sub(r"^\.", r"\\&.", escaped, flags=re.MULTILINE)


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(man_page(), "utf-8")
