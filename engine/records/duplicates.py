"""Texts that the notes hold more than once."""

from typing import Literal

from engine.base.language import marked, tr
from engine.records.base import Record

DuplicateKind = Literal["identical", "alike", "contained", "passage", "recurring"]
"""Files with the same text; files with nearly the same; a file contained in another one; a passage shared by otherwise
different files; one shared by so many files that it is a template, a licence or the like."""


class DuplicateMember(Record, frozen=True):
    """One file of a group, with the lines that the others have, too."""

    path: str
    title: str
    start_line: int
    end_line: int
    size: int
    """Bytes of the file, and below its time, as they were when it was indexed."""
    modified: float
    share: float
    """How much of the file's words the group shares, 0 to 1."""


class DuplicateGroup(Record, frozen=True):
    kind: DuplicateKind
    similarity: float
    """How much of the words of two files is in both, 0 to 1; the least of the pairs that make the group."""
    words: int
    """How many words are shared: in the longest passage that two of them have in common."""
    members: tuple[DuplicateMember, ...]
    """Newest first; of very many the newest."""
    files: int
    """How many there are."""
    excerpt: str
    """The beginning of the shared text."""
    key: str
    """Names the group as long as it has the same kind and the same files."""


_WORDS: dict[DuplicateKind, str] = {
    "identical": marked("The same text"),
    "alike": marked("Nearly the same"),
    "contained": marked("One holds the other"),
    "passage": marked("A passage in common"),
    "recurring": marked("Recurs in many notes"),
}


def duplicate_title(group: DuplicateGroup) -> str:
    """The relation of a group's notes: `Nearly the same · 92 %`."""
    if group.kind in ("identical", "recurring"):
        return tr(_WORDS[group.kind])
    return f"{tr(_WORDS[group.kind])} · {share_text(group.similarity)}"


def share_text(share: float) -> str:
    """`92 %`; never 100 unless all words are the same."""
    return tr("{percent} %", percent=100 if share >= 1 else min(99, round(100 * share)))


class DuplicateReport(Record, frozen=True):
    """All groups, most shared words first."""

    groups: tuple[DuplicateGroup, ...]
    found: int
    """How many groups there are: more than `groups` where they are very many."""
    files: int
    """How many notes were compared."""
    seconds: float
