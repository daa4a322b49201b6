"""`mnemoscope facts`: lists and edits remembered facts."""

import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from engine.base.bounded_json import decode_json
from engine.base.cancellation import CancelToken
from engine.base.errors import MnemoscopeError
from engine.base.formatting import plural
from engine.cli.output import print_json, safe
from engine.cli.workspace import find_workspace, interruptible, opened, refuse_unreadable
from engine.records import FACT_CATEGORIES, Fact

if TYPE_CHECKING:
    from engine.agent.memory_access import AgentAccess
    from engine.memory.facts import Facts

_SHORT_ID = 8
_LONGEST_INPUT = 256 * 1024
_BY = {"user": "you", "agent": "an agent", "capture": "captured"}


def run(arguments: Namespace) -> int:
    workspace = find_workspace(arguments)
    if arguments.action in ("recall", "capture"):
        from engine.agent.memory_access import AgentAccess  # the others need no tools of agents

        message, session = _read_messages(arguments)
        with interruptible() as token, opened(workspace) as manager:
            access = AgentAccess(lambda: manager, workspace.settings, session_key=arguments.session or session)
            _HOOKS[arguments.action](arguments, access, message, token)
        return 0
    with interruptible() as token, opened(workspace) as manager:
        refuse_unreadable(manager.facts.problem)
        _ACTIONS[arguments.action](arguments, manager.facts, token)
    return 0


def _list(arguments: Namespace, facts: "Facts", token: CancelToken) -> None:
    every = facts.all()
    listed = [fact for fact in every if fact.state == arguments.state and arguments.category in (None, fact.category)]
    if arguments.json:
        print_json({"facts": listed})
        return
    for fact in listed:
        print(_line(fact))
    if not listed:
        print('No facts yet: add one with mnemoscope facts add "…".' if not every else "No facts.")
    waiting = sum(fact.state == "pending" for fact in every)
    if waiting and arguments.state != "pending":
        print(f"{plural(waiting, 'fact')} to be approved: mnemoscope facts list --state pending")


def _add(arguments: Namespace, facts: "Facts", token: CancelToken) -> None:
    from engine.agent.fact_capture import category_of

    text = " ".join(arguments.text)
    category = arguments.category or category_of(text)
    saved = facts.add(text, category=category, importance=arguments.importance)
    if arguments.json:
        print_json(saved)
    else:
        print(f"{'Already saved' if saved.duplicate else 'Saved'}: {_line(saved.fact)}")


def _search(arguments: Namespace, facts: "Facts", token: CancelToken) -> None:
    results = facts.find(
        " ".join(arguments.query), max_results=arguments.max_results, min_score=arguments.min_score, cancel=token
    )
    if arguments.json:
        print_json(results)
        return
    if results.notice:
        print(f"Searched by words only: {results.notice}", file=sys.stderr)
    for match in results.results:
        print(f"{match.score:.3f}  {_line(match.fact)}")
    if not results.results:
        print("No matching facts.")


def _approve(arguments: Namespace, facts: "Facts", token: CancelToken) -> None:
    _change(arguments, facts, "pending", lambda chosen: facts.approve(fact.id for fact in chosen), "Approved")


def _forget(arguments: Namespace, facts: "Facts", token: CancelToken) -> None:
    if arguments.for_good:
        _change(arguments, facts, "", lambda chosen: facts.erase([fact.id for fact in chosen]), "Deleted permanently")
    else:
        _change(arguments, facts, "", lambda chosen: facts.forget([fact.id for fact in chosen]), "Forgotten")


def _restore(arguments: Namespace, facts: "Facts", token: CancelToken) -> None:
    _change(arguments, facts, "forgotten", lambda chosen: facts.restore(fact.id for fact in chosen), "Restored")


def _export(arguments: Namespace, facts: "Facts", token: CancelToken) -> None:
    saved = [fact for fact in facts.all() if fact.remembered]
    if arguments.json:
        print_json({"facts": saved})
        return
    print("# Facts")
    for category in FACT_CATEGORIES:
        of_kind = [fact for fact in saved if fact.category == category]
        if of_kind:
            print(f"\n## {category.capitalize()}\n")
        for fact in of_kind:
            print("- " + fact.text.replace("\n", "\n  "))


def _change(
    arguments: Namespace, facts: "Facts", state: str, act: Callable[[Sequence[Fact]], object], done: str
) -> None:
    """Apply a change to all named facts, or to none."""
    chosen = [_named(facts, beginning, state) for beginning in arguments.ids]
    act(chosen)
    if arguments.json:
        print_json({"ids": [fact.id for fact in chosen]})
    else:
        for fact in chosen:
            print(f"{done}: {safe(fact.text)}")


def _named(facts: "Facts", beginning: str, state: str) -> Fact:
    """Return the only fact whose id starts with this text, perhaps limited to a state."""
    matching = [fact for fact in facts.named(beginning) if not state or fact.state == state]
    if not matching:
        kind = {"pending": "pending ", "forgotten": "forgotten "}.get(state, "")
        raise MnemoscopeError(f"No {kind}fact has an id that begins with {beginning}: see mnemoscope facts list.")
    if len(matching) > 1:
        ids = ", ".join(fact.id[: len(beginning) + 4] for fact in matching[:4])
        raise MnemoscopeError(f"Several facts have ids that begin with {beginning}: add characters, as in {ids}.")
    return matching[0]


def _recall(arguments: Namespace, access: "AgentAccess", message: str, token: CancelToken) -> None:
    from engine.agent.fact_operations import recall_block

    block = recall_block(access, message, cancel=token)
    if arguments.json:
        print_json({"block": block})
    elif block:
        print(block)


def _capture(arguments: Namespace, access: "AgentAccess", message: str, token: CancelToken) -> None:
    from engine.agent.fact_operations import capture

    saved = capture(access, [{"role": "user", "content": message}])
    # Nothing else is printed: a hook's output is read by the agent.
    if arguments.json:
        print_json({"facts": saved})


def _read_messages(arguments: Namespace) -> tuple[str, str]:
    """Read the user's messages from standard input, and the session's id if a hook passes one."""
    if arguments.message:
        return " ".join(arguments.message), ""
    try:
        text = sys.stdin.read(_LONGEST_INPUT).strip()
    except UnicodeDecodeError:
        raise MnemoscopeError("Standard input is not UTF-8 text.") from None
    try:
        hook: Any = decode_json(text, dict) if text.startswith("{") else None
    except ValueError:
        hook = None
    if not isinstance(hook, dict):
        return text, ""
    prompt, session = hook.get("prompt"), hook.get("session_id")
    return prompt if isinstance(prompt, str) else "", session if isinstance(session, str) else ""


def _line(fact: Fact) -> str:
    when = datetime.fromtimestamp(fact.created)
    return f"{fact.id[:_SHORT_ID]}  {when:%Y-%m-%d}  {fact.category:<10}  {safe(fact.text)}  ({_BY[fact.origin]})"


_ACTIONS: dict[str, Callable[[Namespace, "Facts", CancelToken], None]] = {
    "list": _list,
    "add": _add,
    "search": _search,
    "approve": _approve,
    "forget": _forget,
    "restore": _restore,
    "export": _export,
}
_HOOKS: dict[str, Callable[[Namespace, "AgentAccess", str, CancelToken], None]] = {
    "recall": _recall,
    "capture": _capture,
}
