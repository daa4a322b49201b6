"""Voyage's embeddings, after https://docs.voyageai.com/reference/embeddings-api and
https://docs.voyageai.com/docs/error-codes (2026-11-22).

Rejected as there: a missing or wrong key, another method, unknown fields, models, input types and sizes, empty texts,
more than 1,000 texts, more tokens than the model takes in a request, and with `truncation` false in a text.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from tests.helpers.embedding_servers.openai_server import packed
from tests.helpers.embedding_servers.server import FakeServer, Refusal, Reply, Request, Route, Say

KEY = "pa-fake-0123456789abcdefghijklmnopqrstu"
_REQUEST_TOKENS = {"voyage-4-large": 120_000, "voyage-4": 320_000, "voyage-4-lite": 1_000_000, "voyage-code-3": 120_000}
_FIELDS = {"input", "model", "input_type", "truncation", "output_dimension", "output_dtype", "encoding_format"}


def error(status: int, detail: str) -> Refusal:
    return Refusal(status, {"detail": detail})


class VoyageServer(FakeServer):
    """A fake that counts one token per four characters."""

    provider = "voyage"
    model = "voyage-4-large"

    def __init__(self, *, key: str = KEY) -> None:
        super().__init__(dims=1024, key=key)
        self.tokens = 0
        """Tokens charged for."""

    def limited(self, headers: Mapping[str, str] | None = None) -> Say:
        detail = (
            "You have not yet added your payment method in the billing page and will have reduced rate limits of 3 RPM "
            "and 10K TPM."
        )
        return Say(429, error(429, detail).reply.body, headers)

    def out_of_quota(self) -> Say:
        return Say(402, error(402, "Your account has insufficient balance.").reply.body)

    def unauthorized(self) -> Say:
        return Say(401, error(401, f"Provided API key {self.key} is invalid.").reply.body)

    def trouble(self) -> Say:
        return Say(500, b"Internal Server Error")

    def items(self, body: Any) -> list[Any]:
        return body["data"]

    def put(self, item: Any, vector: Any) -> None:
        item["embedding"] = vector

    def routes(self) -> Mapping[tuple[str, str], Route]:
        return {("POST", "/v1/embeddings"): self._embeddings}

    def not_found(self, request: Request, methods: Any) -> Reply:
        known = bool(list(methods))
        return error(405 if known else 404, "Method Not Allowed" if known else "Not Found").reply

    def authorized(self, request: Request) -> None:
        """Refuse a request without the key."""
        scheme, _, key = request.headers.get("authorization", "").partition(" ")
        if scheme != "Bearer" or key != self.key:
            raise error(401, "Provided API key is invalid." if key else "Forbidden: no API key provided.")

    def _embeddings(self, request: Request) -> Reply:
        self.authorized(request)
        return self.embed(request.json)

    def embed(self, body: Any) -> Reply:
        """Return the answer to a request's body, direct or from a batch."""
        if unknown := set(body) - _FIELDS:
            raise error(400, f"Argument '{min(unknown)}' is not supported by our API.")
        model = body.get("model")
        if model not in _REQUEST_TOKENS:
            raise error(400, f"Model {model} is not supported.")
        if body.get("input_type") not in {None, "query", "document"}:
            raise error(400, "input_type must be one of query, document")
        dims = body.get("output_dimension", self.dims)
        if dims not in {256, 512, 1024, 2048}:
            raise error(400, f"output_dimension {dims} is not supported by {model}.")
        if body.get("encoding_format") not in {None, "base64"}:
            raise error(400, "encoding_format must be null or base64")
        texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
        self._check_texts(texts, _REQUEST_TOKENS[model], truncation=body.get("truncation", True))
        tokens = sum(len(text) // 4 + 1 for text in texts)
        with self.lock:
            self.tokens += tokens
        as_text = body.get("encoding_format") == "base64"
        vectors = [self.vector(text, dims) for text in texts]
        data = [
            {"object": "embedding", "embedding": packed(vector) if as_text else vector, "index": index}
            for index, vector in enumerate(vectors)
        ]
        answer = {"object": "list", "data": data, "model": model, "usage": {"total_tokens": tokens}}
        return Reply(200, answer, counts=texts)

    def _check_texts(self, texts: Any, most: int, *, truncation: bool) -> None:
        if not isinstance(texts, list) or not 1 <= len(texts) <= 1000:
            raise error(400, "The request must have 1 to 1000 inputs.")
        if not all(isinstance(text, str) and text.strip() for text in texts):
            raise error(400, "Input cannot contain empty strings or empty lists")
        if sum(len(text) // 4 + 1 for text in texts) > most:
            raise error(400, f"The max allowed tokens per submitted batch is {most}.")
        if not truncation and any(len(text) // 4 + 1 > 32_000 for text in texts):
            raise error(400, "An input exceeds the context length of the model, and truncation is false.")

    def reliable(self, request: Request, body: Any) -> Sequence[str]:
        texts = request.json["input"]
        return [texts[item["index"]] for item in body["data"] if self.good(item["embedding"])]
