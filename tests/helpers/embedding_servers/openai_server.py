"""OpenAI's embeddings, after https://developers.openai.com/api/reference/resources/embeddings/methods/create and
https://developers.openai.com/api/docs/guides/error-codes (2026-11-22).

Rejected as there: a missing or wrong key, another method, unknown fields, unknown models, empty texts, more than 2,048
texts, more than 8,192 tokens in a text or 300,000 in a request, `dimensions` for text-embedding-ada-002.
"""

import base64
import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tests.helpers.embedding_servers.server import FakeServer, Refusal, Reply, Request, Route, Say

KEY = "sk-fake-0123456789abcdefghijklmnop"
_FIELDS = {"input", "model", "dimensions", "encoding_format", "user"}
_DIMS = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536}


def error(status: int, message: str, *, code: str | None = None, kind: str = "invalid_request_error") -> Refusal:
    return Refusal(status, {"error": {"message": message, "type": kind, "param": None, "code": code}})


class OpenAIServer(FakeServer):
    """A fake that counts one token per four characters."""

    provider = "openai"
    model = "text-embedding-3-small"

    def __init__(self, *, dims: int | None = None, key: str | None = KEY) -> None:
        """Accept any model if `dims` is given, and any request without a key, as local servers do."""
        super().__init__(dims=dims or _DIMS[self.model], key=key)
        self.models = dict(_DIMS) if dims is None else {}
        """Known models with their vector lengths; if empty, any name is accepted, with vectors of `dims`."""
        self.tokens = 0
        """Number of billed tokens."""
        self.judge: Callable[[Any], Say | None] = lambda body: None
        """Hook that may refuse a request because of its body."""

    def limited(self, headers: Mapping[str, str] | None = None) -> Say:
        refusal = error(429, "Rate limit reached for requests", code="rate_limit_exceeded", kind="requests")
        return Say(429, refusal.reply.body, headers)

    def out_of_quota(self) -> Say:
        message = "You exceeded your current quota, please check your plan and billing details."
        return Say(429, error(429, message, code="insufficient_quota", kind="insufficient_quota").reply.body)

    def unauthorized(self) -> Say:
        return Say(401, self._wrong_key(self.key or "").reply.body)

    def trouble(self) -> Say:
        message = "The server had an error while processing your request. Sorry about that!"
        return Say(500, error(500, message, kind="server_error").reply.body)

    def items(self, body: Any) -> list[Any]:
        return body["data"]

    def put(self, item: Any, vector: Any) -> None:
        item["embedding"] = packed(vector) if isinstance(item["embedding"], str) else vector

    def routes(self) -> Mapping[tuple[str, str], Route]:
        return {("POST", "/v1/embeddings"): self._embeddings}

    def not_found(self, request: Request, methods: Any) -> Reply:
        if list(methods):
            return error(405, f"Not allowed to {request.method} on {request.path}", code="method_not_supported").reply
        return error(404, f"Invalid URL ({request.method} {request.path})").reply

    def authorized(self, request: Request) -> None:
        """Refuse a request without the key."""
        if self.key is None:
            return
        scheme, _, key = request.headers.get("authorization", "").partition(" ")
        if scheme != "Bearer" or not key:
            raise error(401, "You didn't provide an API key.")
        if key != self.key:
            raise self._wrong_key(key)

    def _wrong_key(self, key: str) -> Refusal:
        return error(401, f"Incorrect API key provided: {key}.", code="invalid_api_key")

    def _embeddings(self, request: Request) -> Reply:
        self.authorized(request)
        if not request.headers.get("content-type", "").startswith("application/json"):
            raise error(415, "Unsupported media type")
        if refusal := self.judge(request.json):
            return refusal.reply
        return self.embed(request.json)

    def embed(self, body: Any) -> Reply:
        """Return the answer to a request's body, direct or from a batch."""
        if unknown := set(body) - _FIELDS:
            raise error(400, f"Unrecognized request argument supplied: {', '.join(sorted(unknown))}")
        texts = self._checked_texts(body.get("input"))
        dims = self._checked_dims(body)
        encoded = body.get("encoding_format", "float")
        if encoded not in {"float", "base64"}:
            raise error(400, f"'{encoded}' is not one of ['float', 'base64'] - 'encoding_format'")
        tokens = sum(map(count, texts))
        with self.lock:
            self.tokens += tokens
        vectors = [self.vector(text, dims) for text in texts]
        data = [
            {"object": "embedding", "index": index, "embedding": packed(vector) if encoded == "base64" else vector}
            for index, vector in enumerate(vectors)
        ]
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        return Reply(200, {"object": "list", "data": data, "model": body["model"], "usage": usage}, counts=texts)

    def _checked_texts(self, given: Any) -> Sequence[str]:
        texts = [given] if isinstance(given, str) else given
        if (
            not isinstance(texts, list)
            or not texts
            or not all(isinstance(text, str) and text.strip() for text in texts)
        ):
            raise error(400, "'$.input' is invalid. Please check the API reference.")
        if len(texts) > 2048:
            raise error(400, f"'$.input' is invalid: {len(texts)} is more than 2048.")
        if any(count(text) > 8192 for text in texts):
            raise error(400, "This model's maximum context length is 8192 tokens; please reduce your prompt.")
        if sum(map(count, texts)) > 300_000:
            raise error(400, "Requested too many tokens, max 300000 tokens per request", code="max_tokens_per_request")
        return texts

    def _checked_dims(self, body: Any) -> int:
        model = body.get("model")
        if not isinstance(model, str) or not model:
            raise error(400, "you must provide a model parameter")
        if self.models and model not in self.models:
            raise error(
                404, f"The model `{model}` does not exist or you do not have access to it.", code="model_not_found"
            )
        most = self.models.get(model, self.dims)
        dims = body.get("dimensions")
        if dims is None:
            return most
        if model == "text-embedding-ada-002":
            raise error(400, "This model does not support specifying dimensions.")
        if not isinstance(dims, int) or not 1 <= dims <= most:
            raise error(400, f"Invalid value for 'dimensions': {dims}")
        return dims

    def reliable(self, request: Request, body: Any) -> Sequence[str]:
        texts = request.json["input"]
        return [texts[item["index"]] for item in body["data"] if self.good(unpacked(item["embedding"]))]


def count(text: str) -> int:
    return len(text) // 4 + 1


def packed(vector: list[float]) -> str:
    """Encode a vector as base64 of float32."""
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()


def unpacked(sent: Any) -> list[float]:
    """Decode a sent vector into a list."""
    if isinstance(sent, list):
        return sent
    raw = base64.b64decode(sent)
    return list(struct.unpack(f"<{len(raw) // 4}f", raw))
