"""The Hugging Face hub and its file hosts on loopback, after huggingface_hub's documentation of downloads.

`/owner/repository/resolve/main/file` answers with a redirect that contains size and SHA-256; the target host supports
ranges.
"""

import hashlib
from collections.abc import Mapping

from tests.helpers.embedding_servers.server import FakeServer, Refusal, Reply, Request, Route

MODEL = "hf:owner/some-model-GGUF/some-model-Q8_0.gguf"
_RESOLVE = "/owner/some-model-GGUF/resolve/main/some-model-Q8_0.gguf"


class HubServer(FakeServer):
    """A hub with one model. Its responses and behaviour may be changed between requests."""

    provider = "gguf"
    model = MODEL

    def __init__(self, content: bytes, *, token: str | None = None) -> None:
        """`token`: required by a gated model."""
        super().__init__(dims=1, key=token)
        self.content = content
        self.sha256 = hashlib.sha256(content).hexdigest()
        self.location = f"{self.origin}/cdn/blob"
        self.ranges = True
        """Whether the file host supports ranges."""

    def routes(self) -> Mapping[tuple[str, str], Route]:
        return {("GET", _RESOLVE): self._resolve, ("GET", "/cdn/blob"): self._blob, ("GET", "/circle"): self._circle}

    @property
    def fetched(self) -> list[str]:
        """The ranges requested from the file host, "" for the whole file."""
        return [request.headers.get("range", "") for request in self.requests if request.path == "/cdn/blob"]

    def _resolve(self, request: Request) -> Reply:
        if self.key is not None and request.headers.get("authorization") != f"Bearer {self.key}":
            raise Refusal(401, b"Invalid credentials")
        linked = {"X-Linked-Size": str(len(self.content)), "X-Linked-Etag": f'"{self.sha256}"'}
        return Reply(302, b"", {"Location": self.location, "X-Repo-Commit": "0" * 40} | linked)

    def _blob(self, request: Request) -> Reply:
        if "authorization" in request.headers:
            raise AssertionError("the file host was sent the hub's token")
        requested_range = request.headers.get("range")
        if requested_range is None or not self.ranges:
            return Reply(200, self.content)
        start = int(requested_range.removeprefix("bytes=").removesuffix("-"))
        if start >= len(self.content):
            raise Refusal(416, b"")
        last = len(self.content) - 1
        return Reply(206, self.content[start:], {"Content-Range": f"bytes {start}-{last}/{len(self.content)}"})

    def _circle(self, request: Request) -> Reply:
        return Reply(302, b"", {"Location": "/circle"})
