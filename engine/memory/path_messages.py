"""Messages about the status of a path."""

from collections.abc import Iterator

from engine.base import skip_reasons
from engine.base.language import marked, tr, tr_count
from engine.base.skip_reasons import tr_reason
from engine.corpus.path_status import PathStatus
from engine.records import FolderContents, RuleOrigin

MISSING = marked("There is no such file or folder: look for a slip in its name.")
NEW = marked("It is new and waits for the next update.")
CHANGED = marked("It has changed since it was indexed: its old text is found until the next update.")
GONE = marked("It was deleted. Its indexed text can be found until the next update.")

_NAME_EXTRA_PATHS = frozenset({skip_reasons.HIDDEN_FOLDER.said(), skip_reasons.OUTSIDE_MEMORY.said()})
"""Reasons that already say what to do."""


def indexed(chunks: int, vectors: int | None, sessions: int, refused: str) -> str:
    """`refused`: why some of it has no vector, one sentence; empty if unknown."""
    if not chunks:
        return tr("It is indexed, but holds no text that could be found.")
    held = tr_count("{count:,} passage", "{count:,} passages", chunks)
    if sessions > 1:
        of = tr_count("{count:,} session", "{count:,} sessions", sessions)
        held = tr("{chunks} of {sessions}", chunks=held, sessions=of)
    if vectors is None:
        return tr("It is indexed: {chunks}, found by words.", chunks=held)
    if vectors == chunks:
        return tr("It is indexed: {chunks}, found by words and by meaning.", chunks=held)
    partly = tr("It is indexed: {chunks}, and {count:,} can be found by meaning so far.", chunks=held, count=vectors)
    return f"{partly} {refused}".rstrip()


def excluded(standing: PathStatus, detail: str, origin: RuleOrigin, *, addable: bool) -> str:
    """The rule's message, with the folder it applies to if that is a parent, and the location of the rule.

    `addable`: the path would be indexed as an extra path.
    """
    said = tr_reason(detail)
    if standing.barred and standing.barred != standing.name:
        goes_on = _lowered(said) if said == detail else said
        said = tr("It lies in {folder}: {reason}", folder=standing.barred, reason=goes_on)
    if addable and detail not in _NAME_EXTRA_PATHS:
        advice = tr("This rule is built in; add the path to extra_paths in the settings to have it indexed.")
        return f"{said} {advice}"
    return f"{said} {_set_at(origin)}"


def outside(wanted: bool) -> str:
    if not wanted:
        return tr("It lies outside of all that is indexed here.")
    return tr("It lies outside of all that is indexed here. Add it to extra_paths in the settings to have it indexed.")


def folder(contents: FolderContents) -> str:
    known = contents.indexed + contents.waiting + contents.failed
    if not known and not contents.gone:
        said = tr("A folder without a file that could be indexed")
    else:
        said = tr_count(
            "A folder with {count:,} indexed file",
            "A folder with {count:,} indexed files",
            contents.indexed,
        )
    waiting = tr_count("{count:,} for the next update", "{count:,} for the next update", contents.waiting)
    failed = tr_count("{count:,} failed", "{count:,} failed", contents.failed)
    gone = tr_count("{count:,} gone from the disk", "{count:,} gone from the disk", contents.gone)
    more = ((waiting, contents.waiting), (failed, contents.failed), (gone, contents.gone))
    sentences = [", ".join((said, *(words for words, count in more if count))) + ".", *_passed(contents)]
    if not contents.whole:
        sentences.append(tr("It is too large to be looked at as a whole."))
    return " ".join(sentences)


def _passed(contents: FolderContents) -> Iterator[str]:
    if not contents.passed_total:
        return
    first = contents.passed[0]
    if contents.passed_total == 1:
        yield tr("Passed over: {names}.", names=first.path)
        if first.detail:
            yield tr_reason(first.detail)
    else:
        names = tr("{name} and {count:,} more", name=first.path, count=contents.passed_total - 1)
        yield tr("Passed over: {names}.", names=names)


def _set_at(origin: RuleOrigin) -> str:
    if not origin.key:
        return tr("This rule is built in.")
    if origin.layer == "built-in":
        return tr("This is the built-in value of {key}: set another in the settings.", key=origin.key)
    at = {"key": origin.key, "line": origin.line, "file": origin.file}
    if origin.layer == "workspace":
        return tr("It is set for this folder: {key} in line {line} of {file}.", **at)
    return tr("It is set for all folders: {key} in line {line} of {file}.", **at)


def _lowered(sentence: str) -> str:
    """Lower-case the first letter, to embed an English sentence in another one."""
    return sentence[:1].lower() + sentence[1:]
