"""Writes transcripts to measure on: the same ones for the same seed, with the shape of those of coding sessions.

Of ten sessions six are Claude Code's, two Codex's and two OpenClaw's. Of twenty bytes some ten are what tools gave
back, one was said and one thought, the rest holds them together; sizes differ by the hundredfold, and some lines, with
a picture or a long file, have hundreds of kilobytes. Each session holds one question with two words that occur nowhere
else.
"""

import base64
import json
import random
import zlib
from bisect import bisect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from pathlib import Path

import msgspec

from tests.benchmarks.notes import Words

STORES = (".claude/projects", ".codex/sessions", ".openclaw/agents/main/sessions")
_PROJECTS = ("boat", "garden-planner", "invoices", "weather", "tide-tables", "recipes", "website", "letters")
_FIRST_DAY = datetime(2025, 9, 1, tzinfo=UTC)
_DAYS = 400
_POOL = 600
"""Number of generated tool results; drawing each word of 500 MB would take minutes."""
_LONG_SHARE = 0.001
_Line = dict[str, object]


@dataclass(frozen=True)
class _Turn:
    """A user's request, and the agent's work up to its answer."""

    question: str
    steps: list[tuple[str, str, str]]
    """Reasoning, command and tool result of each step."""
    picture: str
    answer: str


def write_sessions(folder: Path, count: int, size: int, seed: int = 1) -> None:
    """Write `count` transcripts of `size` bytes in total below `folder`."""
    rng = random.Random(seed)
    material = _Material(rng)
    weights = [rng.lognormvariate(0, 1.2) for _ in range(count)]
    share = size / sum(weights)
    written = due = 0.0
    for number, weight in enumerate(weights):
        path = transcript(folder, number)
        path.parent.mkdir(parents=True, exist_ok=True)
        due += weight * share
        with path.open("wb") as file:
            for lines in _turns(material, rng, number):
                for line in lines:
                    written += file.write(msgspec.json.encode(line) + b"\n")
                if written >= due:
                    break


def stores(folder: Path) -> list[Path]:
    return [folder / store for store in STORES]


def transcript(folder: Path, number: int) -> Path:
    """Return the path of the session with this number."""
    store = folder / STORES[_agent(number)]
    session = _session(number)
    if _agent(number) == 0:
        return store / f"-home-ada-{_project(number)}" / f"{session}.jsonl"
    if _agent(number) == 1:
        begun = _begun(number)
        return store / f"{begun:%Y/%m/%d}" / f"rollout-{begun:%Y-%m-%dT%H-%M-%S}-{session}.jsonl"
    return store / f"{session}.jsonl"


def planted(number: int) -> str:
    """Return the two words that occur only in the session with this number."""
    syllables = [consonant + vowel for consonant in "stvwxz" for vowel in "uy"]
    word = "".join(syllables[number // 12**index % 12] for index in range(5))
    return f"{word}q {word}j"


def message(number: int, text: str) -> bytes:
    """Return one more line of this session, a message of the user."""
    writer = _WRITERS[_agent(number)](number)
    writer.count = zlib.crc32(text.encode())  # other ids than those of the lines that are there
    return msgspec.json.encode(writer.said("user", text)) + b"\n"


def parse_all(place: Path) -> int:
    """Parse each line of a transcript, or of all in a folder, with the standard library, and return the bytes."""
    size = 0
    for path in place.rglob("*.jsonl") if place.is_dir() else [place]:
        with path.open("rb") as file:
            for line in file:
                size += len(line)
                json.loads(line)
    return size


def _turns(material: "_Material", rng: random.Random, number: int) -> Iterator[list[_Line]]:
    """Yield the lines of one turn after another, without end."""
    writer = _WRITERS[_agent(number)](number)
    lines = list(writer.head())
    words = planted(number)
    while True:
        turn = material.turn(words)
        lines.append(writer.said("user", turn.question, turn.picture))
        for thought, command, result in turn.steps:
            lines += writer.step(thought, command, result)
        lines.append(writer.said("assistant", turn.answer))
        writer.now += timedelta(minutes=rng.randint(1, 30))
        yield lines
        lines, words = [], ""


class _Material:
    """Words and tool results, to make turns of."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._words = Words(rng)
        self._results = [self._result(int(rng.lognormvariate(4.8, 1.3))) for _ in range(_POOL)]
        self._long = ["\n".join(rng.choices(self._results, k=50)) for _ in range(4)]
        self._cumulative = list(accumulate([1 - _LONG_SHARE] * _POOL + [_LONG_SHARE * _POOL / 4] * 4))
        self._pictures = [base64.b64encode(rng.randbytes(120_000)).decode() for _ in range(4)]

    def turn(self, planted: str) -> _Turn:
        rng = self._rng
        steps = [
            (self._speech(4), f"grep -rn {' '.join(self._words.draw(2))} src", self._draw())
            for _ in range(int(rng.lognormvariate(1.2, 0.8)))
        ]
        question = f"{self._speech(rng.randint(1, 6))}{f' Where is the {planted}?' if planted else ''}"
        picture = rng.choice(self._pictures) if rng.random() < 0.005 else ""
        return _Turn(question, steps, picture, self._answer())

    def _draw(self) -> str:
        at = bisect(self._cumulative, self._rng.random() * self._cumulative[-1])
        return self._results[at] if at < _POOL else self._long[at - _POOL]

    def _speech(self, sentences: int) -> str:
        rng, draw = self._rng, self._words.draw
        return " ".join(" ".join(draw(rng.randint(5, 16))).capitalize() + "." for _ in range(sentences))

    def _answer(self) -> str:
        rng = self._rng
        parts = [self._speech(rng.randint(2, 6)) for _ in range(rng.randint(1, 6))]
        if rng.random() < 0.3:
            parts.append("\n".join(f"- {self._speech(1)}" for _ in range(rng.randint(2, 6))))
        if rng.random() < 0.2:
            code = "\n".join(f"{a}_{b} = {c}({a})" for a, b, c in (self._words.draw(3) for _ in range(6)))
            parts.append(f"```python\n{code}\n```")
        return "\n\n".join(parts)

    def _result(self, words: int) -> str:
        drawn = self._words.draw(max(1, words))
        return "\n".join(f"{at:>6}\t{' '.join(drawn[at : at + 9])}" for at in range(0, len(drawn), 9))


class _Writer:
    """Writes the events of a session in the format of one agent."""

    def __init__(self, number: int) -> None:
        self.session = _session(number)
        self.folder = f"/home/ada/{_project(number)}"
        self.now = _begun(number)
        self.count = 0

    def stamp(self) -> str:
        self.now += timedelta(seconds=3)
        return f"{self.now:%Y-%m-%dT%H:%M:%S}.000Z"

    def next_id(self) -> str:
        self.count += 1
        return f"{self.session[:24]}{self.count:012x}"

    def head(self) -> Iterator[_Line]:
        raise NotImplementedError

    def said(self, role: str, text: str, picture: str = "") -> _Line:
        raise NotImplementedError

    def step(self, thought: str, command: str, result: str) -> Iterator[_Line]:
        raise NotImplementedError


class _ClaudeCode(_Writer):
    def head(self) -> Iterator[_Line]:
        yield {"type": "file-history-snapshot", "messageId": self.next_id(), "snapshot": {}, "isSnapshotUpdate": False}

    def said(self, role: str, text: str, picture: str = "") -> _Line:
        if role == "assistant":
            return self._line(role, self._answer([{"type": "text", "text": text}]))
        if picture:
            source = {"type": "base64", "media_type": "image/png", "data": picture}
            blocks = [{"type": "text", "text": text}, {"type": "image", "source": source}]
            return self._line(role, {"role": role, "content": blocks})
        return self._line(role, {"role": role, "content": text})

    def step(self, thought: str, command: str, result: str) -> Iterator[_Line]:
        call = self.next_id()
        thinking = {"type": "thinking", "thinking": thought, "signature": "Eo" * 200}
        used = {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": command, "description": "Search"}}
        yield self._line("assistant", self._answer([thinking]))
        yield self._line("assistant", self._answer([used]))
        given = {"tool_use_id": call, "type": "tool_result", "content": result, "is_error": False}
        detail = {"stdout": result, "stderr": "", "interrupted": False, "isImage": False}
        yield self._line("user", {"role": "user", "content": [given]}) | {"toolUseResult": detail}

    def _answer(self, content: list[_Line]) -> _Line:
        usage = {"input_tokens": 4, "cache_read_input_tokens": 20_000, "output_tokens": 300, "service_tier": "standard"}
        return {
            "model": "some-model", "id": self.next_id(), "type": "message", "role": "assistant", "content": content,
            "stop_reason": None, "stop_sequence": None, "usage": usage,
        }  # fmt: skip

    def _line(self, kind: str, message: _Line) -> _Line:
        return {
            "parentUuid": self.next_id(), "isSidechain": False, "userType": "external", "cwd": self.folder,
            "sessionId": self.session, "version": "2.1.0", "gitBranch": "main", "type": kind, "message": message,
            "uuid": self.next_id(), "timestamp": self.stamp(),
        }  # fmt: skip


class _Codex(_Writer):
    def head(self) -> Iterator[_Line]:
        instructions = "You are an agent that works in a terminal. " * 300
        meta = {
            "id": self.session, "timestamp": self.stamp(), "cwd": self.folder, "originator": "codex_cli",
            "cli_version": "0.144.0", "source": "cli", "base_instructions": {"text": instructions},
            "git": {"branch": "main"},
        }  # fmt: skip
        yield self._line("session_meta", meta)
        setting = f"<environment_context>\n  <cwd>{self.folder}</cwd>\n  <shell>bash</shell>\n</environment_context>"
        yield self.said("user", setting)

    def said(self, role: str, text: str, picture: str = "") -> _Line:
        block: _Line = {"type": "input_text" if role == "user" else "output_text", "text": text}
        blocks = (
            [block, {"type": "input_image", "image_url": f"data:image/png;base64,{picture}"}] if picture else [block]
        )
        return self._line("response_item", {"type": "message", "role": role, "content": blocks})

    def step(self, thought: str, command: str, result: str) -> Iterator[_Line]:
        call = self.next_id()
        summary = [{"type": "summary_text", "text": thought}]
        yield self._line("response_item", {"type": "reasoning", "summary": summary, "encrypted_content": "gA" * 600})
        arguments = msgspec.json.encode({"command": ["bash", "-lc", command]}).decode()
        used = {"type": "function_call", "name": "shell", "arguments": arguments, "call_id": call}
        yield self._line("response_item", used)
        yield self._line("response_item", {"type": "function_call_output", "call_id": call, "output": result})
        yield self._line("event_msg", {"type": "token_count", "info": {"total_token_usage": {"input_tokens": 9_000}}})

    def _line(self, kind: str, payload: _Line) -> _Line:
        return {"timestamp": self.stamp(), "type": kind, "payload": payload}


class _OpenClaw(_Writer):
    def head(self) -> Iterator[_Line]:
        yield {"type": "session", "version": 3, "id": self.session, "timestamp": self.stamp(), "cwd": self.folder}

    def said(self, role: str, text: str, picture: str = "") -> _Line:
        blocks: list[_Line] = [{"type": "text", "text": text}]
        if picture:
            blocks.append({"type": "image", "data": picture, "mimeType": "image/png"})
        return self._line({"role": role, "content": blocks})

    def step(self, thought: str, command: str, result: str) -> Iterator[_Line]:
        call = self.next_id()
        used = {"type": "toolCall", "id": call, "name": "exec", "arguments": {"command": command}}
        thinking = {"type": "thinking", "thinking": thought, "thinkingSignature": "Eo" * 200}
        yield self._line({"role": "assistant", "content": [thinking, used], "stopReason": "toolUse"})
        given = [{"type": "text", "text": result}]
        yield self._line({"role": "toolResult", "toolCallId": call, "toolName": "exec", "content": given})

    def _line(self, message: _Line) -> _Line:
        return {
            "type": "message", "id": self.next_id()[-8:], "parentId": None, "timestamp": self.stamp(),
            "message": message,
        }  # fmt: skip


_WRITERS: tuple[Callable[[int], _Writer], ...] = (_ClaudeCode, _Codex, _OpenClaw)


def _agent(number: int) -> int:
    return (0, 0, 0, 1, 2)[number % 5]


def _session(number: int) -> str:
    return f"{number:08x}-0000-4000-8000-{number:012x}"


def _project(number: int) -> str:
    return _PROJECTS[number // 5 % len(_PROJECTS)]


def _begun(number: int) -> datetime:
    return _FIRST_DAY + timedelta(days=number * 7 % _DAYS, hours=number % 24, minutes=number % 60)
