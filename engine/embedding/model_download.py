"""Downloads model files from the Hugging Face hub: only on request, and verified before use.

The hub answers `/owner/repository/resolve/main/file` with a redirect to the file's location, and gives its size and
SHA-256 in `X-Linked-Size` and `X-Linked-Etag` (huggingface_hub's documentation of downloads).

huggingface_hub 2.4 itself takes 300 ms to import and brings 20 MB of packages. Its HTTP download compares the size but
not the checksum, follows redirects to any host, and has no parameter to cancel it.
"""

import contextlib
import errno
import hashlib
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote

import filelock
import httpcore2
import httpx2

from engine.base.cancellation import CancelToken, checkpoint, pause
from engine.base.errors import ProviderError
from engine.base.language import number, tr
from engine.embedding.gguf_file import HubFile, model_path
from engine.embedding.http import system_proxy
from engine.embedding.service_errors import AnswerTooLarge, Service, Transient, backoff, response_error, retrying
from engine.embedding.transport import Call, Transport
from engine.providers.registry import host_of, is_loopback
from engine.records import ModelFetchProgress
from engine.settings import Settings

_HUB = "https://huggingface.co"
_CDN = (".huggingface.co", ".hf.co")
"""Domains of the hosts that store its files."""
_MAX_REDIRECTS = 5
_STALL_SECONDS = 60.0
_FREE_BYTES = 100_000_000
"""Bytes of disk space to leave free."""
_PIECE = 256 * 1024
_BETWEEN_REPORTS = 0.05
_ETAG = "X-Linked-Etag"
_SHA256 = re.compile(r"[0-9a-f]{64}")
_SIZE = re.compile(r"[0-9]{1,15}")

Progress = Callable[[ModelFetchProgress], None]


def hub_host() -> str:
    """Return the host that models are downloaded from."""
    return _url(_endpoint()).host


def fetch_model(settings: Settings, *, progress: Progress | None = None, cancel: CancelToken | None = None) -> Path:
    """Download the configured model if it is missing, and return its path.

    Call this only at the user's request. An interrupted download resumes where it stopped. `progress` is called some
    twenty times a second. Raises `ProviderError`, `Cancelled`.
    """
    location = model_path(settings)
    if location.path.is_file():
        return location.path
    if location.hub is None:
        raise ProviderError(
            tr("There is no file {path}: correct local.model_path in the settings.", path=location.path)
        )
    lock = filelock.FileLock(f"{location.path}.lock")
    try:
        location.path.parent.mkdir(parents=True, exist_ok=True)
        with lock.acquire(timeout=0), contextlib.closing(_Hub(cancel)) as hub:
            if not location.path.is_file():
                _Fetch(hub, location.hub, location.path, progress, cancel).run()
    except filelock.Timeout:
        raise ProviderError(
            tr("Another program is downloading {id}: wait until it has finished.", id=location.hub.id)
        ) from None
    except OSError as error:
        full = error.errno == errno.ENOSPC
        reason = tr("the disk is full") if full else error.strerror or type(error).__name__
        raise ProviderError(
            tr("The model can't be saved in {parent}: {what}.", parent=location.path.parent, what=reason)
        ) from error
    return location.path


@dataclass(frozen=True)
class _Content:
    """Size and checksum of a file according to the hub."""

    size: int
    sha256: str


class _Fetch:
    """The download of one file."""

    def __init__(
        self, hub: "_Hub", model: HubFile, path: Path, progress: Progress | None, cancel: CancelToken | None
    ) -> None:
        self._hub = hub
        self._model = model
        self._path = path
        self._progress = progress
        self._cancel = cancel
        self._reported = 0.0

    def run(self) -> None:
        content = retrying(lambda: self._hub.content(self._model), cancel=self._cancel)
        # Named after its content, so that a partial download of another version is not resumed.
        part = self._path.with_name(f"{self._path.name}.{content.sha256[:12]}.part")
        have = part.stat().st_size if part.exists() else 0
        free = shutil.disk_usage(part.parent).free
        if free < content.size - have + _FREE_BYTES:
            raise ProviderError(
                tr(
                    "The model needs {size}, but {parent} has only {free} left: free some space, or choose another "
                    "folder for local.model_cache_dir.",
                    size=_megabytes(content.size),
                    parent=part.parent,
                    free=_megabytes(free),
                )
            )
        with part.open("ab") as file:
            while not retrying(lambda: self._resume(file, content), cancel=self._cancel):
                pause(backoff(1), self._cancel)
            file.flush()
            os.fsync(file.fileno())
        self._check(part, content)
        part.replace(self._path)
        for other in self._path.parent.glob(f"{self._path.name}.*.part"):  # partial downloads of other versions
            other.unlink(missing_ok=True)

    def _resume(self, file: BinaryIO, content: _Content) -> bool:
        """Download the rest; False if it was interrupted after some data. Raises `Transient` if there was no data."""
        start = file.seek(0, os.SEEK_END)
        if start > content.size:
            file.truncate(start := 0)
        try:
            if start < content.size:
                self._receive(file, start, content)
        except Transient:
            if file.tell() > start:
                return False
            raise
        return True

    def _receive(self, file: BinaryIO, start: int, content: _Content) -> None:
        with self._hub.opened(self._model, start, content.size) as response:
            if start and response.status_code != httpx2.codes.PARTIAL_CONTENT:
                file.truncate(0)
            elif start and not response.headers.get("Content-Range", "").startswith(f"bytes {start}-"):
                raise ProviderError(tr("The model hub sent the wrong part of {id}: try again.", id=self._model.id))
            for piece in response.iter_raw():
                file.write(piece)
                self._report(file.tell(), content.size)
        if file.tell() < content.size:
            raise Transient(tr("The model hub interrupted the download of {id}.", id=self._model.id))

    def _report(self, received: int, total: int) -> None:
        now = time.monotonic()
        if self._progress is not None and (now - self._reported >= _BETWEEN_REPORTS or received >= total):
            self._reported = now
            self._progress(ModelFetchProgress(self._model.id, received, total))

    def _check(self, part: Path, content: _Content) -> None:
        digest = hashlib.sha256()
        with part.open("rb") as file:
            while piece := file.read(_PIECE):
                checkpoint(self._cancel)
                digest.update(piece)
        if digest.hexdigest() != content.sha256:
            part.unlink()
            raise ProviderError(
                tr("The checksum of the downloaded file {id} doesn't match: download it again.", id=self._model.id)
            )


class _Call(Call):
    """A download: no time limit in total, but one minute for each step."""

    def seconds_left(self, most: float | None) -> float:
        return _STALL_SECONDS if most is None else min(most, _STALL_SECONDS)


class _Hub:
    """Requests to the hub and to its storage hosts."""

    def __init__(self, cancel: CancelToken | None) -> None:
        """Raises `ProviderError` if HF_ENDPOINT is not an allowed URL."""
        self._base = _endpoint()
        self._cancel = cancel
        self._check(_url(self._base))
        self._origin = host_of(self._base)
        self._clients: dict[str | None, httpx2.Client] = {}

    def content(self, model: HubFile) -> _Content:
        """Return the size and checksum of the file. Raises `Transient`, `ProviderError`, `Cancelled`."""
        with self._call(1_000_000), self._follow(model, {}, lambda response: _ETAG in response.headers) as response:
            size = response.headers.get("X-Linked-Size", "")
            sha256 = response.headers.get(_ETAG, "").strip('"')
            trusted = host_of(str(response.request.url)) == self._origin
        if not (trusted and _SIZE.fullmatch(size) and _SHA256.fullmatch(sha256)):
            raise ProviderError(
                tr("The model hub provides no checksum for {id}: choose a model that has one.", id=model.id)
            )
        return _Content(int(size), sha256)

    @contextlib.contextmanager
    def opened(self, model: HubFile, start: int, size: int) -> Iterator[httpx2.Response]:
        """Open the file from byte `start` on. Raises `Transient`, `ProviderError`, `Cancelled`."""
        span = {"Range": f"bytes={start}-"} if start else {}
        with self._call(size), self._follow(model, span, lambda response: False) as response:
            yield response

    @contextlib.contextmanager
    def _follow(
        self, model: HubFile, headers: Mapping[str, str], arrived: Callable[[httpx2.Response], bool]
    ) -> Iterator[httpx2.Response]:
        """Follow redirects, and yield the final response or the first one accepted by `arrived`."""
        url = _url(f"{self._base}/{model.repository}/resolve/main/{quote(model.file)}")
        for _ in range(_MAX_REDIRECTS):
            with self._get(url, headers) as response:
                self._refuse(response, model)
                if not response.is_redirect or arrived(response):
                    yield response
                    return
                url = _url(response.headers.get("Location", ""), url)
            self._check(url)
        raise ProviderError(tr("The model hub redirects too often for {id}: try again later.", id=model.id))

    def close(self) -> None:
        for client in self._clients.values():
            client.close()

    @contextlib.contextmanager
    def _call(self, most_bytes: int) -> Iterator[None]:
        try:
            with _Call(0, most_bytes, self._cancel).on_this_thread():
                yield
        except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
            raise Transient(tr("The model hub cannot be reached ({error}): check the network.", error=error)) from None
        except (httpcore2.TimeoutException, httpcore2.NetworkError, httpcore2.ProtocolError, httpx2.HTTPError):
            raise Transient(tr("The model hub stopped in the middle of its answer: try again.")) from None
        except AnswerTooLarge:
            raise ProviderError(tr("The model hub sent more data than announced: try again later.")) from None

    @contextlib.contextmanager
    def _get(self, url: httpx2.URL, headers: Mapping[str, str]) -> Iterator[httpx2.Response]:
        sent = {"User-Agent": "Mnemoscope", "Accept-Encoding": "identity", **headers}
        if host_of(str(url)) == self._origin and (token := os.environ.get("HF_TOKEN")):
            sent["Authorization"] = f"Bearer {token}"  # for the hub itself, never for redirect targets
        proxy = system_proxy(url)
        if proxy not in self._clients:
            self._clients[proxy] = httpx2.Client(
                transport=Transport(proxy), follow_redirects=False, timeout=None, trust_env=False
            )
        with self._clients[proxy].stream("GET", url, headers=sent) as response:
            yield response

    def _check(self, url: httpx2.URL) -> None:
        """Raise `ProviderError` unless the URL is https and belongs to the hub or one of its storage hosts."""
        ours = httpx2.URL(self._base)
        if url.scheme == "http" and ours.host and is_loopback(str(ours)) and url.host and is_loopback(str(url)):
            return
        if url.scheme != "https" or not (url.host == ours.host or f".{url.host}".endswith(_CDN)):
            if not url.host:
                raise ProviderError(tr("The download was stopped: the model hub redirects to an invalid address."))
            raise ProviderError(
                tr(
                    "The download was stopped: the model hub redirects to {host}. Only the model hub's own https "
                    "servers are trusted.",
                    host=url.host,
                )
            )

    def _refuse(self, response: httpx2.Response, model: HubFile) -> None:
        status = response.status_code
        if status in {401, 403, 404}:
            raise ProviderError(
                tr(
                    "The model hub does not provide {id}: check its name, or agree to its terms on the model hub "
                    "and set HF_TOKEN.",
                    id=model.id,
                )
            )
        if status >= 400:
            raise response_error(Service(tr("The model hub"), "HF_TOKEN"), status, response.headers, b"")


def _endpoint() -> str:
    return os.environ.get("HF_ENDPOINT", "").rstrip("/") or _HUB


def _url(text: str, base: httpx2.URL | None = None) -> httpx2.URL:
    try:
        return httpx2.URL(text) if base is None else base.join(text)
    except httpx2.InvalidURL:
        raise ProviderError(tr("HF_ENDPOINT is not a valid address of a model hub: correct it, or unset it.")) from None


def _megabytes(count: int) -> str:
    return f"{number(count / 1_000_000, ',.0f')} MB"
