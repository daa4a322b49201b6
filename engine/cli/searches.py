"""`mnemoscope searches`, and what `search --saved NAME` asks: the searches that were saved in the window."""

import contextlib
import shlex
import time
from argparse import Namespace
from typing import TYPE_CHECKING, cast

import msgspec

from engine.cli.opening import find_place, interruptible, opened
from engine.cli.output import print_json, print_table, safe
from engine.control import CancelToken
from engine.corpus.globs import literal_glob
from engine.errors import MnemoscopeError, StoreError
from engine.records import AskedQuestion, EarlierQuestion, SearchOutcome, cite

if TYPE_CHECKING:
    from engine.backends.base import MemorySearchManager, SearchOptions

_DAY = 86_400


def run(arguments: Namespace) -> int:
    with interruptible(), opened(find_place(arguments)) as manager:
        saved = manager.kept_searches.saved()
    if arguments.json:
        print_json({"searches": saved})
    elif not saved:
        print("No search is saved yet: in the window, Ctrl+S saves the one on show.")
    else:
        print_table((safe(search.name), safe(" ".join(_words(search.question)))) for search in saved)
    return 0


def ask_saved(manager: "MemorySearchManager", name: str, given: "SearchOptions", cancel: CancelToken) -> SearchOutcome:
    """The answer to the search of this name; what is `given` besides takes the place of what was saved with it.

    Raises `MnemoscopeError` where there is none.
    """
    kept = manager.kept_searches
    question = next((search.question for search in kept.saved() if search.name == name), None)
    if question is None:
        raise MnemoscopeError(f"No search is saved as “{name}”: mnemoscope searches lists those that are.")
    with contextlib.suppress(StoreError):  # on a full disk it can still be asked
        kept.touch(name)
    named = cast("SearchOptions", {option: value for option, value in given.items() if value not in (None, ())})
    options: SearchOptions = {**_options(question), **named}
    if question.like is None:
        outcome = manager.search(question.text, cancel=cancel, **options)
    else:
        outcome = manager.search_like(question.like, cancel=cancel, **options)
    if question.order == "date":
        newest = sorted(outcome.results, key=lambda result: -result.modified)
        outcome = msgspec.structs.replace(outcome, results=tuple(newest))
    return outcome


def _options(question: AskedQuestion) -> "SearchOptions":
    """What it is asked with, apart from its text or what it is to be like."""
    earlier = tuple(
        EarlierQuestion(
            query=level.text,
            like=level.like,
            half_life_days=level.half_life_days,
            sources=level.sources,
            path_glob=literal_glob(level.path) if level.path else None,
            since=_since(level),
        )
        for level in _levels(question)
    )
    asked = earlier[-1]
    return {
        "sources": asked.sources,
        "path_glob": asked.path_glob,
        "since": asked.since,
        "half_life_days": question.half_life_days,
        "diverse": question.diverse,
        "within": earlier[:-1],
    }


def _levels(question: AskedQuestion) -> list[AskedQuestion]:
    """It and those that it is asked within, the widest first."""
    return [*([] if question.within is None else _levels(question.within)), question]


def _since(question: AskedQuestion) -> float | None:
    return None if question.days is None else time.time() - question.days * _DAY


def _words(question: AskedQuestion) -> list[str]:
    """The same as words of the command line."""
    like = question.like
    if like is None:
        words = [shlex.quote(question.text)]
    else:
        words = ["--like", shlex.quote(cite(like.path, like.start_line, like.end_line))]
    for source in question.sources or ():
        words += ["--source", source]
    if question.days is not None:
        words += ["--since", f"{question.days}d"]
    if question.path:
        words += ["--path", shlex.quote(literal_glob(question.path))]
    for level in _levels(question)[:-1]:
        words += ["--within", shlex.quote(level.text)] if level.text else []
    if question.half_life_days is not None:
        words += ["--half-life-days", f"{question.half_life_days:g}"]
    if question.diverse is not None:
        words.append("--diverse" if question.diverse else "--no-diverse")
    return words
