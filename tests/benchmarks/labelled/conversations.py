"""Conversations of several days, written for this, as notes or as an agent's sessions, one per day.

Ten pairs of people, or a person and an agent, talk on fourteen days each; topics come up again on other days. A day
answers a query if one of its turns contains evidence.
"""

import json
import tomllib
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from tests.benchmarks.labelled.labelled_query import LabelledQuery

KINDS = {
    "fact": "single facts",
    "time": "times",
    "hops": "facts of several days",
    "inference": "inferences",
    "paraphrase": "paraphrases",
}
_BETWEEN_TURNS = timedelta(minutes=2)


def write_conversation_notes(folder: Path) -> list[LabelledQuery]:
    """Write a note for each day; the queries name the notes that answer them."""
    return _write_notes(folder, _conversations())


def write_some_conversations(folder: Path) -> tuple[list[LabelledQuery], list[str]]:
    """Write the notes of every other conversation. Also returns the queries about the others, which they don't answer:
    these are about the same matters of everyday life, but about other people.
    """
    conversations = list(_conversations())
    others = [question["text"] for _, conversation in conversations[1::2] for question in conversation["question"]]
    return _write_notes(folder, conversations[::2]), others


def _write_notes(folder: Path, conversations: Iterable[tuple[str, dict[str, Any]]]) -> list[LabelledQuery]:
    queries = []
    for name, conversation in conversations:
        first, second = conversation["people"]
        for number, day in enumerate(conversation["day"], 1):
            lines = [f"# {first} and {second}, {day['date'].replace('T', ' ')}"]
            lines += [f"{conversation['people'][person]}: {text}" for person, text in day["turns"]]
            (folder / f"{_day(name, number)}.md").write_text("\n\n".join(lines) + "\n", "utf-8")
        queries += _asked(name, conversation)
    return queries


def write_conversation_sessions(folder: Path) -> list[LabelledQuery]:
    """Write a session for each day, the first person as user; the queries name the sessions that answer them."""
    folder.mkdir(parents=True)
    queries = []
    for name, conversation in _conversations():
        for number, day in enumerate(conversation["day"], 1):
            begun = datetime.fromisoformat(day["date"])
            lines: list[dict[str, Any]] = [
                {"type": "session", "id": _day(name, number), "cwd": f"/home/user/{name}", "timestamp": _time(begun)}
            ]
            for turn, (person, text) in enumerate(day["turns"]):
                role = "assistant" if person else "user"
                time = _time(begun + turn * _BETWEEN_TURNS)
                message = {"role": role, "content": text}
                lines.append({"type": "message", "id": "m", "timestamp": time, "message": message})
            text = "".join(json.dumps(line) + "\n" for line in lines)
            (folder / f"{_day(name, number)}.jsonl").write_text(text, "utf-8")
        queries += _asked(name, conversation)
    return queries


def _conversations() -> Iterator[tuple[str, dict[str, Any]]]:
    for path in sorted(Path(__file__).with_name("conversations").glob("*.toml")):
        yield path.stem, tomllib.loads(path.read_text("utf-8"))


def _asked(name: str, conversation: dict[str, Any]) -> Iterator[LabelledQuery]:
    for question in conversation["question"]:
        days = {int(turn.partition(":")[0]) for turn in question["turns"]}
        yield LabelledQuery(question["text"], question["kind"], {_day(name, day): 1 for day in days})


def _day(name: str, number: int) -> str:
    return f"{name}-{number:02}"


def _time(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%S}Z"
