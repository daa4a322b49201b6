"""Gemini's embeddings, after https://ai.google.dev/api/embeddings and https://ai.google.dev/gemini-api/docs/embeddings
(2026-11-22); the errors after https://cloud.google.com/apis/design/errors and
https://ai.google.dev/gemini-api/docs/troubleshooting.

Rejected as there: a missing or wrong key, another method, unknown fields and task types, unknown models, more than 100
texts, a model that differs from that of the address or is missing, empty texts, `title` for anything but documents,
sizes outside of 128 to 3072. A text beyond the limit of its model is rejected, too, where the service may cut it off.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tests.helpers.embedding_servers.server import FakeServer, Refusal, Reply, Request, Route, Say

KEY = "AIzaFake0123456789abcdefghijklmnopqrstu"
_TOKENS = {"gemini-embedding-001": 2048, "gemini-embedding-2": 8192}
_FIELDS = {"model", "content", "taskType", "title", "outputDimensionality"}
_TASKS = {
    *("RETRIEVAL_QUERY", "RETRIEVAL_DOCUMENT", "SEMANTIC_SIMILARITY", "CLASSIFICATION", "CLUSTERING"),
    *("QUESTION_ANSWERING", "FACT_VERIFICATION", "CODE_RETRIEVAL_QUERY"),
}
_INFO = "type.googleapis.com/google.rpc."


def error(status: int, message: str, kind: str, details: Iterable[Mapping[str, Any]] = ()) -> Refusal:
    body: dict[str, Any] = {"code": status, "message": message, "status": kind}
    if details := list(details):
        body["details"] = details
    return Refusal(status, {"error": body})


def _invalid(message: str) -> Refusal:
    return error(400, message, "INVALID_ARGUMENT")


class GeminiServer(FakeServer):
    """A fake that reports no token counts, as the service does. Vectors are not of length 1."""

    provider = "gemini"

    def __init__(self, *, model: str = "gemini-embedding-001", key: str = KEY) -> None:
        super().__init__(dims=3072, key=key)
        self.model = model

    @property
    def base_url(self) -> str:
        return f"{self.origin}/v1beta"

    def limited(self, headers: Mapping[str, str] | None = None) -> Say:
        """Reject with Google's error body; a requested Retry-After is put into the body as well."""
        seconds = (headers or {}).get("Retry-After")
        details = [{"@type": f"{_INFO}RetryInfo", "retryDelay": f"{seconds}s"}] if seconds else []
        message = "You exceeded your current quota, please check your plan and billing details."
        return Say(429, error(429, message, "RESOURCE_EXHAUSTED", [*_quota("PerMinute"), *details]).reply.body)

    def out_of_quota(self) -> Say:
        message = "You exceeded your current quota, please check your plan and billing details."
        wait = {"@type": f"{_INFO}RetryInfo", "retryDelay": "34.07s"}
        return Say(429, error(429, message, "RESOURCE_EXHAUSTED", [*_quota("PerDay"), wait]).reply.body)

    def unauthorized(self) -> Say:
        return Say(400, _wrong_key(f"API key not valid: {self.key}. Please pass a valid API key.").reply.body)

    def trouble(self) -> Say:
        message = "The model is overloaded. Please try again later."
        return Say(503, error(503, message, "UNAVAILABLE").reply.body)

    def items(self, body: Any) -> list[Any]:
        return body["embeddings"]

    def put(self, item: Any, vector: Any) -> None:
        item["values"] = vector

    def routes(self) -> Mapping[tuple[str, str], Route]:
        return {
            ("POST", f"/v1beta/models/{model}:{method}"): route
            for model in _TOKENS
            for method, route in (("embedContent", self._one), ("batchEmbedContents", self._batch))
        }

    def not_found(self, request: Request, methods: Any) -> Reply:
        message = f"{request.path} is not found for API version v1beta, or is not supported for embedContent."
        return error(404, message, "NOT_FOUND").reply

    def authorized(self, request: Request) -> None:
        """Refuse a request without the key."""
        key = request.headers.get("x-goog-api-key")
        if not key:
            message = (
                "Method doesn't allow unregistered callers. Please use API Key or other form of API consumer identity."
            )
            raise error(403, message, "PERMISSION_DENIED")
        if key != self.key:
            raise _wrong_key("API key not valid. Please pass a valid API key.")

    def _one(self, request: Request) -> Reply:
        self.authorized(request)
        text, vector = self.embed(_model_of(request), request.json, in_batch=False)
        return Reply(200, {"embedding": {"values": vector}}, counts=[text])

    def _batch(self, request: Request) -> Reply:
        self.authorized(request)
        body = request.json
        if set(body) != {"requests"}:
            raise _invalid(f"Invalid JSON payload received. Unknown name in {sorted(body)}: Cannot find field.")
        if not 1 <= len(body["requests"]) <= 100:
            raise _invalid("BatchEmbedContentsRequest.requests: at most 100 requests can be in one batch")
        found = [self.embed(_model_of(request), one, in_batch=True) for one in body["requests"]]
        embeddings = [{"values": vector} for _, vector in found]
        return Reply(200, {"embeddings": embeddings}, counts=[text for text, _ in found])

    def embed(self, model: str, body: Any, *, in_batch: bool) -> tuple[str, list[float]]:
        """Return text and vector of one request's body, direct or from a batch. Raises `Refusal`."""
        if unknown := set(body) - _FIELDS:
            raise _invalid(f'Invalid JSON payload received. Unknown name "{min(unknown)}": Cannot find field.')
        named = body.get("model")
        if named != f"models/{model}" and (in_batch or named is not None):
            raise _invalid("BatchEmbedContentsRequest.requests.model must be that of the request")
        task = body.get("taskType")
        if task is not None and task not in _TASKS:
            raise _invalid(f'Invalid value at "task_type", "{task}"')
        if "title" in body and task != "RETRIEVAL_DOCUMENT":
            raise _invalid("title can only be set for RETRIEVAL_DOCUMENT")
        dims = body.get("outputDimensionality", self.dims)
        if not isinstance(dims, int) or not 128 <= dims <= 3072:
            raise _invalid(f"outputDimensionality {dims} is out of range")
        text = "".join(part["text"] for part in body["content"]["parts"])
        if not text.strip():
            raise _invalid("EmbedContentRequest.content contains an empty Part.")
        if len(text) // 4 > _TOKENS[model]:
            raise _invalid("The input token count exceeds the maximum number of tokens allowed")
        return text, [2.5 * x for x in self.vector(text, dims)]

    def reliable(self, request: Request, body: Any) -> Sequence[str]:
        texts = ["".join(part["text"] for part in one["content"]["parts"]) for one in request.json["requests"]]
        vectors = [item["values"] for item in body["embeddings"]]
        if len(vectors) != len(texts):
            return []  # results are matched to texts by order alone
        return [text for text, vector in zip(texts, vectors, strict=True) if self.good(vector)]


def _model_of(request: Request) -> str:
    return request.path.rpartition("/")[2].partition(":")[0]


def _wrong_key(message: str) -> Refusal:
    details = [{"@type": f"{_INFO}ErrorInfo", "reason": "API_KEY_INVALID", "domain": "googleapis.com"}]
    return error(400, message, "INVALID_ARGUMENT", details)


def _quota(period: str) -> list[dict[str, Any]]:
    violation = {
        "quotaMetric": "generativelanguage.googleapis.com/embed_content_free_tier_requests",
        "quotaId": f"EmbedContentRequests{period}PerUserPerProjectPerModel-FreeTier",
    }
    return [{"@type": f"{_INFO}QuotaFailure", "violations": [violation]}]
