"""The options of `mnemoscope facts`."""

import argparse

from engine.cli.values import count, nonempty, share
from engine.records import FACT_CATEGORIES, FORGOTTEN_DAYS, USUAL_IMPORTANCE

_STATES = ("remembered", "waiting", "forgotten")


def add_fact_actions(
    facts: argparse.ArgumentParser, kind: type[argparse.ArgumentParser], common: argparse.ArgumentParser
) -> None:
    """`kind` makes the parsers of the actions; what they have in common undoes nothing that was given before them."""
    actions = facts.add_subparsers(
        dest="action", metavar="list|add|search|approve|forget|restore|export|recall|capture", parser_class=kind
    )
    facts.set_defaults(action="list", state=_STATES[0], category=None)

    def add(action: str, text: str) -> argparse.ArgumentParser:
        return actions.add_parser(
            action,
            help=text,
            description=text,
            parents=[common],
            allow_abbrev=False,
            argument_default=argparse.SUPPRESS,
        )

    listing = add("list", "List facts, the newest first.")
    listing.add_argument("--state", choices=_STATES, help="those that are remembered, wait or were forgotten")
    listing.add_argument("--category", choices=FACT_CATEGORIES, help="only of this kind")
    adding = add("add", "Keep a fact; it is not kept twice.")
    adding.add_argument("text", nargs="+", type=nonempty, metavar="TEXT", help="one sentence")
    adding.add_argument("--category", choices=FACT_CATEGORIES, help="what kind it is; else told by its words")
    adding.add_argument(
        "--importance", type=share, default=USUAL_IMPORTANCE, metavar="F", help=f"0 to 1; else {USUAL_IMPORTANCE}"
    )
    search = add("search", "Find facts by words and meaning.")
    search.add_argument("query", nargs="+", type=nonempty, metavar="Q", help="words or a question")
    search.add_argument("--max-results", type=count, default=5, metavar="N", help="show at most N facts")
    search.add_argument(
        "--min-score", type=share, default=None, metavar="F", help="show facts that score at least F, 0 to 1"
    )
    for action, text in (
        ("approve", "Let agents be told of facts that wait for it."),
        ("forget", f"Forget facts; for {FORGOTTEN_DAYS} days they can be restored."),
        ("restore", "Remember forgotten facts again."),
    ):
        named = add(action, text)
        named.add_argument("ids", nargs="+", type=nonempty, metavar="ID", help="its id, or a unique beginning of it")
        if action == "forget":
            named.add_argument(
                "--for-good", action="store_true", default=False, help="leave nothing of them in any file, at once"
            )
    add("export", "Print all that is remembered as Markdown, or as JSON with --json.")
    for action, text in (
        ("recall", "Print what an agent is told before it answers a message; for its hooks."),
        ("capture", "Keep what sounds worth remembering in a message, to be approved; for the hooks of an agent."),
    ):
        hook = add(action, text)
        hook.add_argument(
            "message",
            nargs="*",
            default=[],
            metavar="MESSAGE",
            help="what the person said; else from standard input, as text or as the JSON of a hook with a prompt",
        )
        hook.add_argument("--session", default=None, metavar="KEY", help="the key of the agent's session")
