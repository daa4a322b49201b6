"""The JSONL of batch jobs: one line per text, named by the text's hash, so that results can be matched."""

import json
import tempfile
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, field
from typing import IO, Any, NamedTuple

from engine.base.errors import ProviderError
from engine.embedding.batch_jobs.base import BatchApi, Result
from engine.embedding.response_parsing import vector_of
from engine.logs import redact

_LONGEST_LINE = 256 * 1024
"""Longest line that is read: a vector has some 80 KB, and a parse must not hold the interpreter for long."""
_LONGEST_WORDS = 300


class Text(NamedTuple):
    """One text that is to be embedded."""

    hash: bytes
    text: str
    tokens: int


@dataclass
class Group:
    """Texts that go into one job."""

    lines: IO[bytes]
    """The input file, without a name on the disk where the system can do that; closed by who takes it."""
    texts: dict[bytes, int] = field(default_factory=dict)
    """Their hashes, with their tokens."""


def dump(value: object) -> bytes:
    """One line of JSON, with its end; what UTF-8 cannot hold is replaced."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"


def groups(texts: Iterable[Text], api: BatchApi, most_tokens: int) -> Generator[Group, None, None]:
    """Group the texts in order, each group as large as one job of `most_tokens`; each text once per group.

    The texts of a group are read when the group is requested.
    """
    limits = api.limits
    group, size, sum_of_tokens = _new_group(), 0, 0
    try:
        for hash_, text, tokens in texts:
            line = api.line(hash_.hex(), text)
            too_many = len(group.texts) == limits.requests
            too_much = size + len(line) > limits.bytes or sum_of_tokens + tokens > most_tokens
            if group.texts and (too_many or too_much):
                full, group, size, sum_of_tokens = group, _new_group(), 0, 0
                yield full
            if hash_ not in group.texts:
                group.lines.write(line)
                group.texts[hash_] = tokens
                size += len(line)
                sum_of_tokens += tokens
        if group.texts:
            full, group = group, _new_group()
            yield full
    finally:
        group.lines.close()


def _new_group() -> Group:
    return Group(tempfile.TemporaryFile())


def split(parts: Iterable[bytes]) -> Iterator[bytes]:
    """The lines of a stream of bytes, without blank ones and without those that are longer than any right one."""
    rest = bytearray()
    too_long = False
    for part in parts:
        *ends, open_end = part.split(b"\n")
        for end in ends:
            rest += end
            if rest.strip() and not too_long and len(rest) <= _LONGEST_LINE:
                yield bytes(rest)
            rest.clear()
            too_long = False
        if len(rest) + len(open_end) > _LONGEST_LINE:
            rest.clear()
            too_long = True
        elif not too_long:
            rest += open_end
    if rest.strip() and not too_long:
        yield bytes(rest)


def read_openai(line: bytes) -> Result:
    """A line of an output or error file of OpenAI or Voyage."""
    found = _object(line)
    hash_ = _hash(found.get("custom_id"))
    response = _dict(found.get("response"))
    body = _dict(response.get("body"))
    data = body.get("data")
    if not found.get("error") and response.get("status_code") == 200 and isinstance(data, list) and len(data) == 1:
        return _with_vector(hash_, _dict(data[0]).get("embedding"), _dict(body.get("usage")).get("total_tokens"))
    error = found.get("error") or body.get("error") or response
    return Result(hash_, None, problem=said(error))


def read_gemini(line: bytes) -> Result:
    """A line of Gemini's responses."""
    found = _object(line)
    hash_ = _hash(found.get("key") or _dict(found.get("metadata")).get("key"))
    response = _dict(found.get("response"))
    error = found.get("error") or response.get("error")
    if error:
        return Result(hash_, None, problem=said(error))
    usage = _dict(response.get("usageMetadata"))
    return _with_vector(hash_, _dict(response.get("embedding")).get("values"), usage.get("promptTokenCount"))


def _with_vector(hash_: bytes, sent: object, tokens: object) -> Result:
    count = tokens if type(tokens) is int and tokens >= 0 else None
    try:
        return Result(hash_, vector_of(sent), count)
    except ProviderError:
        return Result(hash_, None, count)


def _object(line: bytes) -> dict[str, Any]:
    try:
        return _dict(json.loads(line))
    except (ValueError, RecursionError):
        return {}


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _hash(key: object) -> bytes:
    """The hash of a line's text; empty if it can't be read."""
    try:
        return bytes.fromhex(key) if isinstance(key, str) else b""
    except ValueError:
        return b""


def said(error: object) -> str:
    """A provider's error message, on one line, with secrets masked."""
    words = error if isinstance(error, str) else _dict(error).get("message")
    return " ".join(redact(str(words or "")).split())[:_LONGEST_WORDS]
