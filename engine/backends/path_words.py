"""The state of one path in a sentence or two."""

from engine.corpus.standing import Standing
from engine.records import FolderContents, RuleOrigin

MISSING = "There is no such file or folder: look for a slip in its name."
NEW = "It is new and waits for the next sync."
CHANGED = "It has changed since it was indexed: until the next sync its old text is found."
GONE = "It is gone from the disk. What was indexed of it can be found until the next sync."


def indexed(chunks: int, vectors: int | None, sessions: int, refused: str) -> str:
    """`refused`: why some of it has no vector, one sentence; empty where that is not known."""
    if not chunks:
        return "It is indexed, but holds no text that could be found."
    of = f" of {_counted(sessions, 'session')}" if sessions > 1 else ""
    said = f"It is indexed: {_counted(chunks, 'chunk')}{of}"
    if vectors is None:
        return f"{said}, found by words."
    if vectors == chunks:
        return f"{said}, found by words and by meaning."
    return f"{said}, of which {vectors:,} can be found by meaning so far. {refused}".rstrip()


def excluded(standing: Standing, detail: str, origin: RuleOrigin, *, addable: bool) -> str:
    """What the rule says, what it is about where that is a folder above, and where it is set.

    `addable`: it would be indexed as an extra path.
    """
    above = standing.barred and standing.barred != standing.name
    said = f"It lies in {standing.barred}: {_lowered(detail)}" if above else detail
    if addable and "extra path" not in said:
        return f"{said} This rule is built in; add the path to extra_paths in the settings to have it indexed."
    return f"{said} {_set_at(origin)}"


def outside(wanted: bool) -> str:
    if not wanted:
        return "It lies outside of all that is indexed here."
    return "It lies outside of all that is indexed here. Add it to extra_paths in the settings to have it indexed."


def folder(contents: FolderContents) -> str:
    known = contents.indexed + contents.waiting + contents.failed
    said = f"A folder of which {_counted(contents.indexed, 'file')} {'is' if contents.indexed == 1 else 'are'} indexed"
    if not known and not contents.gone:
        said = "A folder without a file that could be indexed"
    more = [
        f"{contents.waiting:,} for the next sync" if contents.waiting else "",
        f"{contents.failed:,} failed" if contents.failed else "",
        f"{contents.gone:,} gone from the disk" if contents.gone else "",
    ]
    tail = "".join(f", {part}" for part in more if part)
    partly = "" if contents.whole else " It is too large to be looked at as a whole."
    return f"{said}{tail}.{_passed(contents)}{partly}"


def _passed(contents: FolderContents) -> str:
    if not contents.passed_total:
        return ""
    first = contents.passed[0]
    names = first.path if contents.passed_total == 1 else f"{first.path} and {contents.passed_total - 1:,} more"
    return f" Passed over: {names}. {first.detail if contents.passed_total == 1 else ''}".rstrip()


def _set_at(origin: RuleOrigin) -> str:
    if not origin.key:
        return "This rule is built in."
    if origin.layer == "built-in":
        return f"This is the built-in value of {origin.key}: set another in the settings."
    whose = "this folder" if origin.layer == "workspace" else "all folders"
    return f"The settings for {whose} say so: {origin.key} in line {origin.line} of {origin.file}."


def _lowered(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]


def _counted(number: int, word: str) -> str:
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"
