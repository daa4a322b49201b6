"""The planted notes, the queries that they answer, and queries without an answer."""

import hashlib
import tomllib
from pathlib import Path
from typing import NamedTuple

_HERE = Path(__file__).parent

KINDS = {
    "exact": "exact words",
    "whole": "whole questions",
    "paraphrase": "paraphrases",
    "language": "another language",
    "code": "code and errors",
    "name": "names",
    "date": "dates",
    "short": "one or two words",
    "typo": "typing errors",
}
"""Labels in the table for each kind of question; the keys are used in the files."""


class Note(NamedTuple):
    name: str
    text: str


class Question(NamedTuple):
    kind: str
    text: str
    answer: str
    """Name of the only note that answers the question."""


def second_half(question: str) -> bool:
    """Select half of the questions of any set, by a hash: a change must hold on both halves."""
    return hashlib.sha256(question.encode()).digest()[0] % 2 == 1


def planted() -> tuple[list[Note], list[Question]]:
    notes: list[Note] = []
    questions: list[Question] = []
    for path in sorted((_HERE / "planted").glob("*.toml")):
        for entry in tomllib.loads(path.read_text("utf-8"))["note"]:
            notes.append(Note(entry["name"], entry["text"].lstrip("\n")))
            questions += (Question(kind, text, entry["name"]) for kind, text in entry["ask"])
    return notes, questions


def off_topic() -> list[str]:
    found: list[str] = tomllib.loads((_HERE / "off_topic.toml").read_text("utf-8"))["questions"]
    return found


def write_planted(folder: Path) -> None:
    for note in planted()[0]:
        path = folder / note.name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(note.text, "utf-8")
