"""Declares the verbs and their options."""

import argparse
import math
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import takewhile
from pathlib import Path
from typing import Any, NoReturn, cast, get_args

from engine.records import Source
from engine.text.date_parsing import EXAMPLES, Period, parse_period
from engine.text.operators import OPERATORS, QUERY_HELP

# The command line is English; argparse would look for translated texts in the file system for each parser.
argparse._ = str  # type: ignore[attr-defined]
_SESSION_ID = "the session's id, a unique beginning of it, part of its title, or its stable name (sessions/…)"


def folder(text: str) -> Path:
    """Parse a folder argument of the command line, a non-empty path."""
    return Path(nonempty(text))


def nonempty(text: str) -> str:
    """Parse a text that isn't blank."""
    if not text.strip():
        raise argparse.ArgumentTypeError("is empty")
    return text


def _number(read: Callable[[str], float], low: float, high: float, kind: str) -> Callable[[str], float]:
    """Make a parser of numbers from `low` to `high`; `kind` describes them in its error."""

    def parse(text: str) -> float:
        with suppress(ValueError):
            if low <= (number := read(text)) <= high:
                return number
        raise argparse.ArgumentTypeError(f"{text!r} is not {kind}")

    return parse


count = _number(int, 1, math.inf, "a whole number of at least 1")
days = _number(float, 0, sys.float_info.max, "a number of days")
share = _number(float, 0, 1, "a number from 0 to 1")

VERBS = {
    "index": "Bring the index up to date with the notes.",
    "search": "Find passages by words and meaning.",
    "get": "Print the text of an indexed file.",
    "sessions": "List past sessions, print or export one, or add up their tokens and cost.",
    "remember": "Write a note of a past session into the folder memory.",
    "searches": "List the searches that were saved in the window.",
    "duplicates": "List the notes that share text: copies, near-copies and passages.",
    "facts": "List, add, search and forget remembered facts.",
    "status": "Show the state of the index.",
    "doctor": "Check the index and everything that it needs.",
    "mcp": "Serve notes and past sessions to an agent, over MCP on standard input and output.",
}
"""Description of each verb, for the help."""
_STATES = ("remembered", "pending", "forgotten")


def parse_since(text: str) -> float:
    """Parse the Unix time at the start of the named period, or that long ago. Raises `ArgumentTypeError`."""
    return _parse(text).start


def parse_until(text: str) -> float:
    """Parse the Unix time at the end of the named period, or that long ago."""
    return _parse(text).end


def _parse(text: str) -> Period:
    period = parse_period(text)
    if period is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a date: use {EXAMPLES}")
    return period


class _Parser(argparse.ArgumentParser):
    takes_exclusions = False
    """Treat words such as -hose as part of a query; the only single-dash option is -h."""
    hint = ""
    """A command or option that the user may have meant, added to each error of usage."""
    _width: int | None = 80
    """Width of texts that argparse makes only to check options; None to ask the terminal, which imports shutil."""

    def format_help(self) -> str:
        """Return the help in the width of the terminal."""
        self._width = None
        return super().format_help()

    def _get_formatter(self) -> argparse.HelpFormatter:
        formatter: Any = self.formatter_class
        return cast(argparse.HelpFormatter, formatter(prog=self.prog, width=self._width))

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        self._given = args
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        """Print one line for wrong usage and exit with code 2."""
        if "required" in message:  # argparse looks for missing arguments first
            options = [text for text in takewhile("--".__ne__, self._given) if text.startswith("--")]
            unknown = [text for text in options if text.partition("=")[0] not in self._option_string_actions]
            message = self.unrecognized(unknown) if unknown else message
        self.exit(2, f"{self.prog}: {message}{self.hint}; see {self.prog} --help\n")

    def unrecognized(self, arguments: Sequence[str]) -> str:
        """Return the message about unknown arguments, with a hint if the first looks like a folder or an operator."""
        message = f"unrecognized arguments: {' '.join(arguments)}"
        if not arguments[0].startswith("-") and Path(arguments[0]).is_dir():
            return f"{message}; a folder of notes is named with --workspace"
        if self.takes_exclusions and (name := arguments[0].lstrip("-").partition("=")[0]) in OPERATORS:
            return f"{message}; write {name}:… in the query"
        return message

    def _parse_optional(self, arg_string: str) -> Any:
        if self.takes_exclusions and len(arg_string) > len("-h") and arg_string[0] == "-" != arg_string[1]:
            return None  # the word is not an option
        return super()._parse_optional(arg_string)


class _Action(_Parser):
    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse arguments; an action such as `sessions show` reports unknown options under its own name."""
        found, rest = super().parse_known_args(args, namespace)
        if rest and rest[0].startswith("--"):
            self.error(self.unrecognized(rest))
        return found, rest


class _Verb(_Parser):
    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        found, rest = self.parse_known_args(args, namespace)
        if rest:
            self.error(self.unrecognized(rest))
        if found.verb == "search" and (conflict := _search_conflict(found)):
            self.error(conflict)
        return found


def _search_conflict(arguments: argparse.Namespace) -> str:
    """Return why these options of a search can't be combined; empty if they can."""
    if arguments.json and arguments.markdown:
        return "argument --markdown: not allowed with argument --json"
    if arguments.all_workspaces and not arguments.query:
        return "argument --all-workspaces: needs a query, and is not allowed with argument --like or --saved"
    return ""


def parse_arguments(words: Sequence[str]) -> argparse.Namespace:
    """Parse the arguments of a command; the field `verb` has its name. Raises `SystemExit` after help or wrong usage.

    Only the parser of that verb is made, since argparse takes 10 ms for all of them.
    """
    verb = words[0] if words else ""
    if verb not in VERBS:
        return make_parser().parse_args(words)
    parser = _Verb(prog=f"mnemoscope {verb}", description=VERBS[verb], allow_abbrev=False)
    _add_arguments(parser, verb)
    return cast(argparse.Namespace, parser.parse_args(words[1:], argparse.Namespace(verb=verb)))


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of all verbs."""
    parser = _Parser(
        prog="mnemoscope", description="Search notes and past sessions without a window.", allow_abbrev=False
    )
    verbs = parser.add_subparsers(dest="verb", metavar="|".join(VERBS), required=True, parser_class=_Verb)
    for verb, text in VERBS.items():
        _add_arguments(verbs.add_parser(verb, help=text, description=text, allow_abbrev=False), verb)
    return parser


def _add_arguments(parser: _Parser, verb: str) -> None:
    _add_common(parser, json=verb != "mcp")
    if verb in _ADD_ARGUMENTS:
        _ADD_ARGUMENTS[verb](parser)


def _add_common(parser: argparse.ArgumentParser, *, json: bool = True) -> None:
    """Add the options that all verbs share, and `json` for verbs that print."""
    parser.add_argument(
        "--workspace",
        type=folder,
        metavar="DIR",
        help="the folder of notes; by default the last one opened in the window, else the current directory",
    )
    parser.add_argument("--config", type=Path, metavar="FILE", help="read this settings file instead of your own")
    if json:
        parser.add_argument("--json", action="store_true", help="print JSON instead of text")


def _action_adder(verb: argparse.ArgumentParser) -> Callable[[str, str], argparse.ArgumentParser]:
    """Return a function that adds an action, such as `sessions show`, by name and help; "list" is the default one.

    Options that are missing after an action don't reset those given before it.
    """
    actions: argparse._SubParsersAction[_Parser]
    actions = verb.add_subparsers(dest="action", parser_class=_Action)
    verb.set_defaults(action="list")

    def add(name: str, text: str) -> argparse.ArgumentParser:
        action = actions.add_parser(
            name, help=text, description=text, allow_abbrev=False, argument_default=argparse.SUPPRESS
        )
        _add_common(action)
        return action

    return add


def _add_index(index: argparse.ArgumentParser) -> None:
    mode = index.add_mutually_exclusive_group()
    mode.add_argument("--force", action="store_true", help="read every file again and build a new index")
    mode.add_argument("--dry-run", action="store_true", help="only print what would be indexed, and what it would cost")
    index.add_argument("--yes", action="store_true", help="accept the cost of embedding without being asked")


def _add_search(search: _Parser) -> None:
    search.takes_exclusions = True
    search.formatter_class = argparse.RawDescriptionHelpFormatter
    search.epilog = _query_help(search.prog)
    # argparse can require one of two only if the query is a single argument.
    query = search.add_mutually_exclusive_group(required=True)
    query.add_argument(
        "query", nargs="*", default=[], type=nonempty, metavar="Q", help="words or a question; see below"
    )
    query.add_argument(
        "--like", type=nonempty, metavar="PATH#L5-L9", help=("find passages similar to these lines, or to a whole file")
    )
    query.add_argument(
        "--saved", type=nonempty, metavar="NAME", help="run a search that was saved in the window, with its filters"
    )
    search.add_argument(
        "--within",
        action="append",
        default=[],
        type=nonempty,
        metavar="Q",
        help="search only within the results of this query; may be repeated, each within the previous one",
    )
    search.add_argument(
        "--all-workspaces",
        action="store_true",
        help="search all workspaces on this machine; each result names its workspace",
    )
    _add_search_filters(search)
    search.add_argument(
        "--half-life-days",
        type=days,
        metavar="N",
        help="dated results lose half of their score every N days; 0 for never",
    )
    search.add_argument(
        "--diverse",
        action=argparse.BooleanOptionalAction,
        help="move similar results down, or order results by score alone",
    )
    search.add_argument("--exact", action="store_true", help="search for the words as typed, without corrections")
    search.add_argument("--explain", action="store_true", help="explain where each score comes from")
    search.add_argument("--full", action="store_true", help="print more of each passage than its best lines")
    search.add_argument("--markdown", action="store_true", help="print Markdown with citations instead of text")


def _add_search_filters(search: argparse.ArgumentParser) -> None:
    """Add the options that limit the number, score, source, path and time of results."""
    search.add_argument("--max-results", "--max", type=count, metavar="N", help="show at most N results")
    search.add_argument("--min-score", type=share, metavar="F", help="show results that score at least F, 0 to 1")
    search.add_argument(
        "--source", action="append", choices=get_args(Source), help="search only this source; may be repeated"
    )
    search.add_argument("--path", metavar="GLOB", help="search only files whose path matches")
    search.add_argument(
        "--since",
        type=parse_since,
        metavar="D",
        help="only files changed on or after 2026-05-31, or in the last 7d, 3m, 1y",
    )
    search.add_argument(
        "--until",
        type=parse_until,
        metavar="D",
        help="only files changed up to the end of 2026-05-31, or before 7d, 3m, 1y ago",
    )


def _query_help(program: str) -> str:
    width = max(len(example) for example, _ in QUERY_HELP)
    table = "\n".join(f"  {example:<{width}}  {meaning}" for example, meaning in QUERY_HELP)
    return (
        f"A query consists of words and any of these:\n{table}\n\n"
        f"Dates are like 2026-05-31, 2026-05, yesterday, last week or 7d.\n"
        f"A query of operators alone lists the newest files, notes by their own date.\n"
        f"Quote a query for the shell: {program} 'drip \"left valve\" -hose after:2026-05'"
    )


def _add_get(get: argparse.ArgumentParser) -> None:
    get.add_argument("path", metavar="PATH", help="a path or a citation as search prints it")
    get.add_argument("--from", dest="start", type=count, metavar="N", help="start at line N")
    get.add_argument("--lines", type=count, metavar="N", help="print N lines")
    get.add_argument("--raw", action="store_true", help="print the text unchanged, with its control characters")


def _add_sessions(sessions: _Parser) -> None:
    sessions.hint = "; to search the text of sessions, use mnemoscope search --source sessions"
    _add_session_filters(sessions)
    from engine.records import EXPORT_FORMATS, STATS_KEYS

    add = _action_adder(sessions)
    _add_session_filters(add("list", "List past sessions, newest first."))
    show = add("show", "Print one session; secrets are masked.")
    show.add_argument("id", type=nonempty, metavar="ID", help=_SESSION_ID)
    show.add_argument(
        "--full", action="store_true", default=False, help="print thinking, tool calls and tool results in full"
    )
    export = add("export", "Export one session; secrets are masked.")
    export.add_argument("id", type=nonempty, metavar="ID", help=_SESSION_ID)
    export.add_argument(
        "--format",
        choices=EXPORT_FORMATS,
        default=None,
        help="by default, the format of the file's extension, else html; markdown if the session is printed",
    )
    output = "the file to write; without one, or with -, the session is printed"
    export.add_argument("-o", "--output", type=Path, default=None, metavar="FILE", help=output)
    context = add("context", "Print a text with which another agent can continue a session; secrets are masked.")
    context.add_argument("id", type=nonempty, metavar="ID", help=_SESSION_ID)
    context.add_argument(
        "--characters",
        type=count,
        default=None,
        metavar="N",
        help="print at most N characters, 500 or more; by default as set in the settings",
    )
    stats = add("stats", "Add up messages, active time, tokens and cost.")
    _add_session_filters(stats, listing=False)
    stats.add_argument(
        "--by",
        choices=STATS_KEYS,
        default=None,
        help="print the figures for each value of this field, one per line; all of a session counts on its last day",
    )
    files = add("files", "List the files that a session read or changed.")
    files.add_argument("id", type=nonempty, metavar="ID", help=_SESSION_ID)
    touching = add("touching", "List the sessions that read or changed a file, newest first.")
    touching.add_argument(
        "path", type=nonempty, metavar="PATH", help="a name, the end of a path or a pattern, such as src/*.py"
    )
    _add_session_filters(touching)


def _add_remember(remember: argparse.ArgumentParser) -> None:
    which = remember.add_mutually_exclusive_group(required=True)
    which.add_argument("session", nargs="?", type=nonempty, metavar="SESSION", help=_SESSION_ID)
    which.add_argument(
        "--latest", action="store_true", help="the newest session, unless it already has a note and has not continued"
    )
    which.add_argument(
        "--hook", action="store_true", help="the session that has ended, from the JSON of an agent's hook on stdin"
    )
    remember.add_argument(
        "--messages", type=count, metavar="N", help="save the last N messages; by default as set in the settings (15)"
    )
    remember.add_argument("--slug", type=nonempty, metavar="WORDS", help="name of the note, after its date")
    remember.add_argument("--again", action="store_true", help="write a note even if this session already has one")
    remember.add_argument(
        "--dry-run", action="store_true", help="only print the note and the file that it would be written to"
    )


def _add_session_filters(sessions: argparse.ArgumentParser, *, listing: bool = True) -> None:
    sessions.add_argument(
        "--agent",
        metavar="NAME",
        help="only sessions of this agent: claude-code, codex …; a part is enough",
    )
    sessions.add_argument("--project", metavar="TEXT", help="only sessions whose project folder contains this text")
    sessions.add_argument("--model", metavar="TEXT", help="only sessions that used a model with this in its name")
    sessions.add_argument(
        "--machine", metavar="NAME", help="only sessions from this machine, as named in the setting sessions.machines"
    )
    sessions.add_argument(
        "--since", type=parse_since, metavar="D", help="only sessions with messages on or after this date"
    )
    sessions.add_argument(
        "--until", type=parse_until, metavar="D", help="only sessions that began on or before this date"
    )
    if listing:
        sessions.add_argument("--max", "--max-results", type=count, metavar="N", help="list at most N sessions")


def _add_duplicates(duplicates: argparse.ArgumentParser) -> None:
    duplicates.add_argument("--all", action="store_true", help="also list the groups that were hidden in the window")


def _add_facts(facts: argparse.ArgumentParser) -> None:
    from engine.records import FACT_CATEGORIES, FORGOTTEN_DAYS, USUAL_IMPORTANCE

    add = _action_adder(facts)
    facts.set_defaults(state=_STATES[0], category=None)
    listing = add("list", "List facts, the newest first.")
    listing.add_argument(
        "--state", choices=_STATES, help="list only facts in this state; waiting means not approved yet"
    )
    listing.add_argument("--category", choices=FACT_CATEGORIES, help="list only facts of this kind")
    adding = add("add", "Save a fact, unless it is saved already.")
    adding.add_argument("text", nargs="+", type=nonempty, metavar="TEXT", help="the fact, as one sentence")
    adding.add_argument("--category", choices=FACT_CATEGORIES, help="category; by default derived from its words")
    adding.add_argument(
        "--importance", type=share, default=USUAL_IMPORTANCE, metavar="F", help=f"0 to 1; default {USUAL_IMPORTANCE}"
    )
    search = add("search", "Find facts by words and meaning.")
    search.add_argument("query", nargs="+", type=nonempty, metavar="Q", help="words or a question")
    search.add_argument("--max-results", "--max", type=count, default=5, metavar="N", help="show at most N facts")
    search.add_argument(
        "--min-score", type=share, default=None, metavar="F", help="show facts that score at least F, 0 to 1"
    )
    for action, text in (
        ("approve", "Approve pending facts, so that agents see them."),
        ("forget", f"Forget facts; for {FORGOTTEN_DAYS} days they can be restored."),
        ("restore", "Restore forgotten facts."),
    ):
        named = add(action, text)
        named.add_argument(
            "ids", nargs="+", type=nonempty, metavar="ID", help="the id of a fact, or a unique beginning of it"
        )
        if action == "forget":
            named.add_argument(
                "--for-good", action="store_true", default=False, help="delete them permanently from every file"
            )
    add("export", "Print all facts as Markdown, or as JSON with --json.")
    _add_message_hooks(add)


def _add_message_hooks(add: Callable[[str, str], argparse.ArgumentParser]) -> None:
    """Add the actions that hooks of agents run with the user's message."""
    for action, text in (
        ("recall", "Print the facts and passages that match a message; for hooks of agents."),
        ("capture", "Save statements of a message that are worth remembering, for approval; for hooks of agents."),
    ):
        hook = add(action, text)
        hook.add_argument(
            "message",
            nargs="*",
            default=[],
            metavar="MESSAGE",
            help="the user's message; by default read from standard input, as text or as a hook's JSON",
        )
        hook.add_argument("--session", default=None, metavar="KEY", help="the key of the agent's session")


def _add_status(status: argparse.ArgumentParser) -> None:
    status.add_argument("--deep", action="store_true", help="also test the embedding model and sqlite-vec")
    status.epilog = (
        'The lines "Degraded", with --json the list "degraded", name each part that works less well than '
        "configured, with the reason and what to do. The exit code is 0 whenever the status could be read."
    )


def _add_doctor(doctor: argparse.ArgumentParser) -> None:
    doctor.add_argument(
        "--deep", action="store_true", help="also re-embed some passages and compare them with their stored vectors"
    )
    action = doctor.add_mutually_exclusive_group()
    action.add_argument(
        "path", nargs="?", type=nonempty, metavar="PATH", help="only explain why this file is found or not"
    )
    action.add_argument("--repair", action="store_true", help="repair everything that can be repaired without loss")
    doctor.epilog = "The exit code is 1 if a check failed; with PATH, if there is no such file or it could not be read."


def _add_mcp(mcp: argparse.ArgumentParser) -> None:
    mcp.add_argument(
        "--session-key",
        type=nonempty,
        metavar="KEY",
        help="the agent's session, such as agent:main:discord:group:123; only private sessions get facts and sessions",
    )


_ADD_ARGUMENTS: dict[str, Callable[[_Parser], None]] = {
    "index": _add_index,
    "search": _add_search,
    "get": _add_get,
    "sessions": _add_sessions,
    "remember": _add_remember,
    "duplicates": _add_duplicates,
    "facts": _add_facts,
    "status": _add_status,
    "doctor": _add_doctor,
    "mcp": _add_mcp,
}
"""Adds the arguments of each verb that has its own."""
