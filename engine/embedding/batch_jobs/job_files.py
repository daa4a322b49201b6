"""JSONL files of batch jobs: one line per text, keyed by the text's hash to match results; and their transfer.

Large files are read in steps, with timeouts that grow with their size.
"""

import contextlib
import json
import os
import tempfile
from collections.abc import Callable, Generator, Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import IO, Any, NamedTuple

import httpx2

from engine.base.cancellation import CancelToken
from engine.base.errors import ProviderError
from engine.base.language import tr
from engine.embedding.batch_jobs.batch_api import BatchApi, BatchUnavailable, JobNotFound, Result
from engine.embedding.http import HttpClient
from engine.embedding.response_parsing import json_object, read_json, vector_of
from engine.embedding.service_errors import Redirected, Refused, Transient
from engine.logs import redact
from engine.providers.registry import is_loopback
from engine.settings import Settings

_LONGEST_LINE = 256 * 1024
"""Maximum line length to read: a vector takes some 80 KB, and parsing must not hold the interpreter for long."""
_LONGEST_WORDS = 300


class Text(NamedTuple):
    """One text to embed in a batch job, with its hash."""

    hash: bytes
    text: str
    tokens: int


@dataclass
class Group:
    """The texts that are sent in one batch job."""

    lines: IO[bytes]
    """The input file, unnamed on disk if the system supports that; closed by the receiver."""
    texts: dict[bytes, int] = field(default_factory=dict)
    """Hash to tokens."""


def dump(value: object) -> bytes:
    """Encode a value as one JSON line with a line break; characters that UTF-8 can't encode are replaced."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"


def groups(texts: Iterable[Text], api: BatchApi, most_tokens: int) -> Generator[Group, None, None]:
    """Group texts in order, as many as fit into one job of `most_tokens`; duplicates within a group are dropped.

    Texts are consumed lazily, one group at a time.
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
    """Split a byte stream into lines, skipping blank lines and lines longer than any valid one."""
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
    """Parse a line of an output or error file of OpenAI or Voyage."""
    fields = _object(line)
    hash_ = _hash(fields.get("custom_id"))
    response = json_object(fields.get("response"))
    body = json_object(response.get("body"))
    data = body.get("data")
    if not fields.get("error") and response.get("status_code") == 200 and isinstance(data, list) and len(data) == 1:
        return _with_vector(
            hash_, json_object(data[0]).get("embedding"), json_object(body.get("usage")).get("total_tokens")
        )
    error = fields.get("error") or body.get("error") or response
    return Result(hash_, None, problem=error_text(error))


def read_gemini(line: bytes) -> Result:
    """Parse a line of Gemini's responses."""
    fields = _object(line)
    hash_ = _hash(fields.get("key") or json_object(fields.get("metadata")).get("key"))
    response = json_object(fields.get("response"))
    error = fields.get("error") or response.get("error")
    if error:
        return Result(hash_, None, problem=error_text(error))
    usage = json_object(response.get("usageMetadata"))
    return _with_vector(hash_, json_object(response.get("embedding")).get("values"), usage.get("promptTokenCount"))


def _with_vector(hash_: bytes, sent: object, tokens: object) -> Result:
    count = tokens if type(tokens) is int and tokens >= 0 else None
    try:
        return Result(hash_, vector_of(sent), count)
    except ProviderError:
        return Result(hash_, None, count)


def _object(line: bytes) -> dict[str, Any]:
    try:
        return json_object(json.loads(line))
    except (ValueError, RecursionError):
        return {}


def _hash(key: object) -> bytes:
    """The text's hash from a line's key; empty if invalid."""
    try:
        return bytes.fromhex(key) if isinstance(key, str) else b""
    except ValueError:
        return b""


def error_text(error: object) -> str:
    """The provider's error message on one line, with secrets redacted."""
    words = error if isinstance(error, str) else json_object(error).get("message")
    return " ".join(redact(str(words or "")).split())[:_LONGEST_WORDS]


ANSWER_SECONDS = 60.0
"""Timeout for everything but files."""
_SLOWEST = 50_000
"""Minimum speed expected of a connection, in bytes per second."""
_DOWNLOAD_SECONDS = 3600.0
_MAX_BYTES = 8 * 1024**3
_STEP = 64 * 1024
_PLAIN = Settings()
"""Default settings: https only, and without the user's own headers."""


def size_of(file: IO[bytes]) -> int:
    return file.seek(0, os.SEEK_END)


def upload_seconds(size: int) -> float:
    """Return the timeout in seconds for uploading a file of this size in bytes."""
    return ANSWER_SECONDS + size / _SLOWEST


def send_request(
    http: HttpClient,
    method: str,
    url: str,
    *,
    cancel: CancelToken | None,
    seconds: float = ANSWER_SECONDS,
    **content: Any,
) -> dict[str, Any]:
    """Send a request to this absolute URL and return the response's JSON object, {} if it is empty.

    `content` as in httpx. Raises the same errors as `HttpClient.call`.
    """
    with http.call(seconds, cancel=cancel):
        body = http.sdk.request(method, url, **content).content
    answer = read_json(body) if body.strip() else {}
    if not isinstance(answer, dict):
        raise Transient(tr("{name} sent an answer that is not a JSON object.", name=http.service.name))
    return answer


@contextlib.contextmanager
def explained(sentence: str, statuses: AbstractSet[int]) -> Iterator[None]:
    """Raise `BatchUnavailable` with this message if a request is refused with one of these statuses.

    They mean that the server has no batch API, as opposed to refusing a single request.
    """
    try:
        yield
    except Refused as error:
        if error.status in statuses:
            raise BatchUnavailable(sentence) from error
        raise


@contextlib.contextmanager
def known_job(service: str, statuses: AbstractSet[int]) -> Iterator[None]:
    """Raise `JobNotFound` if a request about a submitted job is refused with one of these statuses."""
    try:
        yield
    except Refused as error:
        if error.status in statuses:
            raise JobNotFound(
                tr("{service} no longer knows a batch job that was submitted.", service=service)
            ) from error
        raise


def download(
    http: HttpClient, url: str, on_line: Callable[[bytes], None], *, cancel: CancelToken | None = None
) -> None:
    """Pass each line of a file at this absolute URL to `on_line` as it arrives.

    One redirect, to the service's storage, is followed: by https, without the key and the headers of the settings.
    Raises `ProviderError`, `Cancelled`.
    """
    try:
        _read(http, url, on_line, cancel)
    except Redirected as redirect:
        target = _target(url, redirect)
        origin = f"{target.scheme}://{target.netloc.decode('ascii')}"
        storage = HttpClient(http.service, origin, _PLAIN, {})
        try:
            _read(storage, str(target), on_line, cancel)
        except Redirected:
            raise redirect from None
        finally:
            storage.close()


def _target(url: str, redirect: Redirected) -> httpx2.URL:
    """Target of a download's redirect. Raises the redirect itself if it must not be followed."""
    try:
        target = httpx2.URL(url).join(redirect.location)
    except httpx2.InvalidURL:
        raise redirect from None
    if target.scheme not in {"http", "https"} or not target.host or target.userinfo or not redirect.location:
        raise redirect
    # Redirects to this machine are only allowed from a service on this machine.
    if not (is_loopback(url) if is_loopback(str(target)) else target.scheme == "https"):
        raise redirect
    return target


def _read(http: HttpClient, url: str, on_line: Callable[[bytes], None], cancel: CancelToken | None) -> None:
    with (
        http.call(_DOWNLOAD_SECONDS, cancel=cancel, most_bytes=_MAX_BYTES),
        http.sdk.stream("GET", url) as response,
    ):
        for line in split(response.iter_bytes(_STEP)):
            on_line(line)
