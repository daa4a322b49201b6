"""The labelled sets, each written to disk in a user's format: notes, or sessions of an agent."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from engine.backends.builtin import BuiltinMemory
from engine.settings import Settings
from engine.settings.options import LocalSettings, SessionSettings
from tests.benchmarks.labelled import conversations, cranfield, handbook, help_pages
from tests.benchmarks.labelled.conversations import (
    write_conversation_notes,
    write_conversation_sessions,
    write_some_conversations,
)
from tests.benchmarks.labelled.cranfield_sessions import write_cranfield_sessions
from tests.benchmarks.labelled.debian_packages import can_download
from tests.benchmarks.labelled.haystack import write_haystack
from tests.benchmarks.labelled.identifiers import write_identifiers
from tests.benchmarks.labelled.labelled_query import LabelledQuery
from tests.benchmarks.labelled.planted import off_topic, planted, write_planted
from tests.benchmarks.labelled.spoiled import spoiled

_HANDBOOK = "handbook in "
_HELP = "help pages in "
_SOME_CONVERSATIONS = "half of the conversations"
_SPOILED = "spoiled "
"""Prefix of the name of a set whose questions have typing errors."""


class LabelledSet(NamedTuple):
    queries: Sequence[LabelledQuery]
    off_topic: Mapping[str, Sequence[str]]
    """Queries that no document answers, by language; the key "" is for several languages."""
    names_of: Callable[[str, int, int], Sequence[str]]
    """Return the documents in these lines of a file."""


def set_names() -> list[str]:
    """Return the sets that can be written on this machine."""
    names = ["planted notes", "conversations", _SOME_CONVERSATIONS, "sessions of conversations"]
    names += [f"{_SPOILED}conversations", "identifiers"]
    if cranfield.collection() is not None:
        names += ["Cranfield", "sessions of Cranfield"]
    if can_download():
        names += [f"{_HANDBOOK}{language}" for language in handbook.LANGUAGES]
        names += [f"{_HELP}{language}" for language in help_pages.LANGUAGES]
        names.append(f"{_SPOILED}{_HANDBOOK}en")
    return names


def write_set(name: str, cache: Path, folder: Path) -> LabelledSet:
    """Write a set below a folder: `notes`, perhaps empty, and `sessions`. `cache` contains downloaded packages."""
    if name.startswith(_SPOILED):
        whole = write_set(name.removeprefix(_SPOILED), cache, folder)
        own = [of for of in whole.queries if of.kind in {"en", *conversations.KINDS}]
        return LabelledSet(spoiled(own, folder / "notes"), {}, whole.names_of)
    (folder / "notes").mkdir(parents=True)
    if name.startswith(_HANDBOOK):
        language = name.removeprefix(_HANDBOOK)
        queries = handbook.write_handbook(language, cache, folder / "notes")
        unanswered = handbook.off_topic()
        if language != "en":
            queries = [of for of in queries if of.kind.partition(" ")[0] == language]
            unanswered = {of: texts for of, texts in unanswered.items() if of == language}
        return LabelledSet(queries, unanswered, lambda path, _first, _last: (path,))
    if name.startswith(_HELP):
        language = name.removeprefix(_HELP)
        queries = help_pages.write_help_pages(language, cache, folder / "notes")
        own = [of for of in queries if language in {"en", of.kind}]
        unanswered = {of: texts for of, texts in handbook.off_topic().items() if language in {"en", of}}
        return LabelledSet(own, unanswered, lambda path, _first, _last: (path,))
    if name.endswith("conversations"):
        return _write_conversations(name, folder)
    if name == "identifiers":
        queries = write_identifiers(folder / "notes")
        return LabelledSet(queries, {}, lambda path, _first, _last: (path,))
    if name == "planted notes":
        write_haystack(folder / "notes")
        write_planted(folder / "notes")
        queries = [LabelledQuery(question.text, question.kind, {question.answer: 1}) for question in planted()[1]]
        return LabelledSet(queries, {"": off_topic()}, lambda path, _first, _last: (path,))
    collection = cranfield.collection()
    assert collection is not None
    judged = zip(cranfield.questions(collection), cranfield.judgements(collection), strict=True)
    queries = [LabelledQuery(text, "", {str(number): gain for number, gain in gains.items()}) for text, gains in judged]
    if name == "Cranfield":
        cranfield.write_notes(collection, folder / "notes")
        return LabelledSet(queries, {"en": cranfield.OFF_TOPIC}, lambda path, _first, _last: (Path(path).stem,))
    lines: dict[str, list[tuple[int, str]]] = {}
    for (path, line), number in write_cranfield_sessions(collection, folder / "sessions").items():
        lines.setdefault(path, []).append((line, str(number)))

    def names_of(path: str, first: int, last: int) -> Sequence[str]:
        return list(dict.fromkeys(name for line, name in lines[path] if first <= line <= last))

    return LabelledSet(queries, {"en": cranfield.OFF_TOPIC}, names_of)


def _write_conversations(name: str, folder: Path) -> LabelledSet:
    off_topic: dict[str, Sequence[str]] = {}
    if name == _SOME_CONVERSATIONS:
        queries, off_topic["en"] = write_some_conversations(folder / "notes")
    elif name == "conversations":
        queries = write_conversation_notes(folder / "notes")
    else:
        queries = write_conversation_sessions(folder / "sessions")
    return LabelledSet(queries, off_topic, lambda path, _first, _last: (Path(path).stem,))


def open_set(folder: Path, model: Path | None = None) -> BuiltinMemory:
    """Index the written set. `model` is a GGUF file; without one, the built-in model embeds."""
    sessions = SessionSettings(folders=(str(folder / "sessions"),) if (folder / "sessions").exists() else ())
    settings = Settings(sessions=sessions)
    if model is not None:
        settings = Settings(provider="gguf", local=LocalSettings(model_path=str(model)))
    store = msgspec.structs.replace(settings.store, path=str(folder / "store"))
    settings = msgspec.structs.replace(settings, store=store)
    memory = BuiltinMemory(folder / "notes", settings, executor=None, background=False)
    report = memory.sync(approve=True)
    assert not report.error, report.error
    assert not report.vectors_pending
    return memory
