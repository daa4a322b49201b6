"""File transfers to and from a provider: large files, read in steps, with timeouts that grow with their size."""

import contextlib
import os
from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from typing import IO, Any

import httpx2

from engine.base.cancellation import CancelToken
from engine.base.language import tr
from engine.embedding.batch_jobs.batch_api import BatchUnavailable
from engine.embedding.batch_jobs.jsonl_files import split
from engine.embedding.http import HttpClient
from engine.embedding.response_parsing import read_json
from engine.embedding.service_errors import Redirected, Refused, Transient
from engine.providers.registry import is_loopback
from engine.settings import Settings

ANSWER_SECONDS = 60.0
"""Timeout for everything but files."""
_SLOWEST = 50_000
"""Minimum speed expected of a connection, in bytes per second."""
_DOWNLOAD_SECONDS = 3600.0
_MOST_BYTES = 8 * 1024**3
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


def download(http: HttpClient, url: str, take: Callable[[bytes], None], *, cancel: CancelToken | None = None) -> None:
    """Pass each line of a file at this absolute URL to `take` as it arrives.

    One redirect, to the service's storage, is followed: by https, without the key and the headers of the settings.
    Raises `ProviderError`, `Cancelled`.
    """
    try:
        _read(http, url, take, cancel)
    except Redirected as redirect:
        target = _target(url, redirect)
        origin = f"{target.scheme}://{target.netloc.decode('ascii')}"
        storage = HttpClient(http.service, origin, _PLAIN, {})
        try:
            _read(storage, str(target), take, cancel)
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


def _read(http: HttpClient, url: str, take: Callable[[bytes], None], cancel: CancelToken | None) -> None:
    with (
        http.call(_DOWNLOAD_SECONDS, cancel=cancel, most_bytes=_MOST_BYTES),
        http.sdk.stream("GET", url) as response,
    ):
        for line in split(response.iter_bytes(_STEP)):
            take(line)
