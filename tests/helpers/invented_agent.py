"""An agent that does not exist, in one declaration: a task is a folder with a Markdown and a JSON file."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from engine.base.cancellation import CancelToken
from engine.corpus.transcripts import registry
from engine.corpus.transcripts.agents import Agent
from engine.corpus.transcripts.formats import Conversation, DocumentFormat
from engine.corpus.transcripts.messages import Message, SessionMetadata
from engine.corpus.user_environment import Machine


class QuillTask(DocumentFormat):
    """A folder with a Markdown file of messages and a JSON file with the title, which changes on its own."""

    agent = "quill"

    def matches(self, path: str, head: bytes) -> bool:
        return head.startswith(b"# quill task")

    def read(self, path: str, cancel: CancelToken | None) -> Iterator[Conversation]:
        task = Path(path)
        metadata = SessionMetadata(id=task.parent.name, title=(task.parent / "title.json").read_text())
        lines = [line for line in task.read_text().splitlines() if line.startswith(("> ", "< "))]
        messages = [
            Message("user" if line[0] == ">" else "assistant", "text", line[2:], number, number)
            for number, line in enumerate(lines, start=1)
        ]
        for message in messages:
            metadata.add_message(message)
        yield Conversation("", metadata, tuple(messages), Counter())


def _folders(machine: Machine) -> Iterator[tuple[str, str]]:
    yield "", machine.below_home(".quill", "tasks")


def _title(path: str) -> str:
    task = Path(path)
    return str(task.parent / "title.json") if task.name == "task.md" else ""


def _titled_task(path: str) -> str:
    title = Path(path)
    return str(title.parent / "task.md") if title.name == "title.json" else ""


QUILL = Agent(
    name="quill",
    label="Quill & Ink",
    resume="quill --continue {id}",
    usual="~/.quill/tasks",
    folders=_folders,
    stores=((r"/\.quill/tasks\Z", "quill"),),
    files=(r"task\.md",),
    databases=r"state\.quilldb",
    parts=(("tasks", "scratch"),),
    part_at=_title,
    part_of=_titled_task,
    formats=(f"{__name__}:QuillTask",),
)


def declare(monkeypatch: pytest.MonkeyPatch, *, newer: str = "") -> None:
    """Add the agent to the registry for one test; `newer`: an agent whose parser has another version."""
    agents = [agent for agent in registry.AGENTS if agent is not QUILL]
    known = [msgspec.structs.replace(agent, parser_version=99) if agent.name == newer else agent for agent in agents]
    monkeypatch.setattr(registry, "AGENTS", (*known, QUILL))


def write_task(home: Path) -> Path:
    """Write a task below a home folder; returns the folder of all tasks."""
    tasks = home / ".quill" / "tasks"
    for folder in ("t-1", "scratch"):
        (tasks / folder).mkdir(parents=True)
        (tasks / folder / "task.md").write_text("# quill task\n> Why does the heron stand?\n< It waits for frogs.\n")
        (tasks / folder / "title.json").write_text("Herons")
    return tasks
