"""Aider: `.aider.chat.history.md` in the folder of a project, with all sessions of that project.

Written from its public source of May 2026 (`aider/io.py`, `aider/utils.py`), which has written the same since 2023. A
line `# aider chat started at <local time>` begins a session. Lines with `#### ` are the user's, lines with `> ` are
output of the program, all others are the model's. The files have neither ids nor times of messages. A session
without a word of the user or the model is left out. The output names the model and, after each answer,
its rounded tokens, its cost and the files that it edited; each edit becomes a tool call.
"""

import os
import re
from collections import Counter
from collections.abc import Iterator

import msgspec

from engine.base.cancellation import CancelToken
from engine.corpus.safe_open import open_binary
from engine.corpus.transcripts.formats import Conversation, DocumentFormat, LineParser, Part, tool_call, tool_result
from engine.corpus.transcripts.json_values import local_time
from engine.corpus.transcripts.messages import Message, SessionMetadata, clean
from engine.corpus.transcripts.token_usage import Usage, dollars, tokens, without_cached

_BLOCK = 256 * 1024
_BLOCKS_BETWEEN_CHECKS = 1000
_MAX_TEXT = 64 * 1024**2
"""Maximum number of characters of one session, which is held in memory as a whole."""
_START = re.compile(r"# aider chat started at (\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)\s*")
_STARTS = re.compile(rb"^# aider chat started at \d{4}-\d\d-\d\d ", re.MULTILINE)
_USER, _OUTPUT, _FENCE = "#### ", "> ", ("```", "~~~")
_BLANK = "<blank>"
_REQUESTS = frozenset("architect ask code context".split())
"""Commands followed by a request to the model; others configure the program."""
_SHELLS = frozenset("run test git".split())


_MODEL = re.compile(r"^(?:Main model|Model): (\S+) with ", re.MULTILINE)
_EDITED = re.compile(r"^Applied edit to (.+)\n?", re.MULTILINE)
_NUMBER = re.compile(r"\d{1,15}(?:\.\d{1,15})?k?")
_USAGE = re.compile(
    r"^Tokens: ([\d.]+k?) sent(?:, ([\d.]+k?) cache write)?(?:, ([\d.]+k?) cache hit)?, ([\d.]+k?) received\."
    r"(?:\s+Cost: \$([\d.]+) message)?",
    re.MULTILINE,
)


class _Session(LineParser, kw_only=True):
    """Collects the messages of one session, line by line."""

    key: str
    started: float | None = None
    messages: list[Message] = msgspec.field(default_factory=list)
    author: str = ""
    lines: list[str] = msgspec.field(default_factory=list)
    held: int = 0
    model: str = ""
    fenced: bool = False
    """Whether the line is in a code block of the model, whose lines may begin like output of the program."""

    def add_line(self, line: str, *, continued: bool) -> None:
        """Add a line with its line end.

        `continued`: whether it continues a line that was too long to read in one piece.
        """
        if continued:
            author = self.author
        elif line.startswith(_USER):
            author, line = "user", line[len(_USER) :]
        elif line.startswith(_OUTPUT) and not self.fenced:
            author, line = "output", line[len(_OUTPUT) :]
        else:
            author = "model" if line.strip() or self.author == "model" else self.author
        if author != self.author:
            self.finish()
            self.author = author
        if author == "model" and not continued and line.startswith(_FENCE):
            self.fenced = not self.fenced
        self.held += len(line)
        if self.held <= _MAX_TEXT:
            # Two blanks at the end of a line are Markdown for a line end.
            self.lines.append(line.rstrip() + "\n" if line.endswith("\n") else line)
        elif self.held - len(line) <= _MAX_TEXT:
            self.count_unknown("rest of a session that is too long")

    def finish(self) -> None:
        """Complete the current message."""
        text = "".join(self.lines).strip()
        author, self.author, self.lines, self.fenced = self.author, "", [], False
        if not text or text == _BLANK:
            return
        if author == "output":
            self._count(text)
        parts = [_prompt(text)] if author == "user" else _output_part(text, author)
        self.messages += self.next_message(parts, time=self.started)

    def _count(self, output: str) -> None:
        """Add the tokens and costs that lines of Aider's output report; Aider counts cached tokens as sent."""
        if model := _MODEL.search(output):
            self.model = model[1]
            self.use_model(self.model)
        for counts in _USAGE.finditer(output):
            sent, written, read, received = (tokens(_number(text)) for text in counts.groups()[:4])
            cost = dollars(_number(counts[5]))
            self.use(self.model, Usage(without_cached(sent, read, written), received, read, written, cost=cost))

    @property
    def has_speech(self) -> bool:
        return any(message.is_speech for message in self.messages)


def _number(text: str | None) -> int | float | None:
    """Return a number as Aider writes it: `950`, `1.2k`, `12k`, `0.0034`; None if `text` is not a number."""
    if text is None or not _NUMBER.fullmatch(text):
        return None
    value = float(text.removesuffix("k"))
    return round(value * 1000) if text.endswith("k") else value if "." in text else int(text)


def _output_part(text: str, author: str) -> list[Part]:
    """Return a text of the model, or output of the program with the edits that it reports, as parts."""
    if author == "model":
        return [Part("assistant", "text", text)]
    edits = [tool_call(path.strip(), "edit") for path in _EDITED.findall(text)]
    return [*edits, tool_result(_EDITED.sub("", text).strip())]


def _prompt(text: str) -> Part:
    """Return the user's text as a part; a command counts as the user's words if it contains a request."""
    if text.startswith("!"):
        return Part("user", "tool-call", text[1:].strip(), "run")
    if not text.startswith("/"):
        return Part("user", "text", text)
    name, _, rest = text[1:].partition(" ")
    if name in _SHELLS and rest:
        return Part("user", "tool-call", rest if name == "run" else text[1:], name)
    return Part("user" if name in _REQUESTS and rest else "system", "text", text)


class AiderHistory(DocumentFormat):
    agent = "aider"

    def matches(self, path: str, head: bytes) -> bool:
        return bool(_STARTS.search(head)) and path.lower().endswith(".md")

    def read(self, path: str, cancel: CancelToken | None) -> Iterator[Conversation]:
        """Yield the sessions in order. The key of each is its time, with a number if two began in the same second."""
        project = clean(os.path.dirname(path))
        keys: Counter[str] = Counter()
        session = _new_session("", None, project)
        whole = True
        for number, line in enumerate(_lines(path)):
            if cancel and number % _BLOCKS_BETWEEN_CHECKS == 0:
                cancel.checkpoint()
            if whole and (start := _START.fullmatch(line)):
                yield from _completed(session)
                time = f"{start[1]}T{start[2].replace(':', '-')}"
                keys[time] += 1
                key = time if keys[time] == 1 else f"{time}-{keys[time]}"
                session = _new_session(key, local_time(f"{start[1]} {start[2]}"), project)
            else:
                session.add_line(line, continued=not whole)
            whole = line.endswith("\n")
        yield from _completed(session)


def _new_session(key: str, started: float | None, project: str) -> _Session:
    metadata = SessionMetadata(id=key, project=project, started=started)
    return _Session(metadata=metadata, key=key or "earlier", started=started)


def _completed(session: _Session) -> Iterator[Conversation]:
    session.finish()
    if session.has_speech:
        yield session.conversation(session.key, session.messages)


def _lines(path: str) -> Iterator[str]:
    """Yield the lines of a file with their ends, long ones in pieces. Raises OSError."""
    with open_binary(path) as file:
        while line := file.readline(_BLOCK):
            yield line.decode("utf-8", "replace").replace("\r\n", "\n")
