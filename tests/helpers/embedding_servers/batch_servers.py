"""The batch APIs of OpenAI, Voyage and Gemini.

After https://developers.openai.com/api/reference/resources/batches and …/files,
https://docs.voyageai.com/docs/batch-inference with https://docs.voyageai.com/reference/create-batch and
…/retrieve-file-content, https://ai.google.dev/gemini-api/docs/batch-api and https://ai.google.dev/api/batch-api
(2026-11-22).

Rejected as there: uploads without the purpose or the file, unknown input files, other endpoints and windows, metadata
that is too long; and of an input file as a whole: no JSON, keys that come twice, another endpoint in a line, too many
lines, several models, a model in a line of Voyage's. Voyage sends who downloads to its storage, which takes no key.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.helpers.embedding_servers import gemini_server, openai_server, voyage_server
from tests.helpers.embedding_servers.batch_work import BatchWork, Job, jsonl, parts_of
from tests.helpers.embedding_servers.gemini_server import GeminiServer
from tests.helpers.embedding_servers.openai_server import OpenAIServer
from tests.helpers.embedding_servers.server import Refusal, Reply, Request, Route
from tests.helpers.embedding_servers.voyage_server import VoyageServer


class _FilesAndBatches(BatchWork):
    """The API that OpenAI and Voyage share."""

    window: str
    most_lines: int

    def refused(self, message: str, status: int = 400) -> Refusal:
        raise NotImplementedError

    def invalid(self, lines: Sequence[Any], body: Any) -> str:
        """Return the errors of a job's lines; empty if there are none."""
        raise NotImplementedError

    def check_creation(self, body: Any) -> None:
        """Raise for requests that only one of the two services refuses."""

    def job_routes(self) -> Mapping[tuple[str, str], Route]:
        found: dict[tuple[str, str], Route] = {
            ("POST", "/v1/files"): self._upload,
            ("POST", "/v1/batches"): self._create,
            ("GET", "/v1/batches"): self._list,
        }
        for id_ in self.files:
            found["GET", f"/v1/files/{id_}/content"] = self.content
            found["DELETE", f"/v1/files/{id_}"] = self._delete
        for id_ in self.jobs:
            found["GET", f"/v1/batches/{id_}"] = self._look
            found["POST", f"/v1/batches/{id_}/cancel"] = self._cancel
        return found

    def _upload(self, request: Request) -> Reply:
        self.authorized(request)
        parts = {part.get_param("name", header="content-disposition"): part for part in parts_of(request)}
        purpose = parts["purpose"].get_content().strip() if "purpose" in parts else None
        if purpose is None:
            raise self.refused("'purpose' is a required property")
        if purpose != "batch":
            raise self.refused(f"'{purpose}' is not one of ['batch'] - 'purpose'")
        if "file" not in parts or not (parts["file"].get_filename() or "").endswith(".jsonl"):
            raise self.refused("Invalid file format: a .jsonl file is needed")
        content = parts["file"].get_payload(decode=True)
        with self._work:
            id_ = self.store(content, "file-")
        return Reply(200, {"id": id_, "object": "file", "bytes": len(content), "purpose": "batch"})

    def _create(self, request: Request) -> Reply:
        self.authorized(request)
        body = request.json
        if body.get("endpoint") != "/v1/embeddings":
            raise self.refused(f"Invalid value for 'endpoint': {body.get('endpoint')}")
        if body.get("completion_window") != self.window:
            raise self.refused(f"Invalid value for 'completion_window': only {self.window} is supported")
        if body.get("input_file_id") not in self.files:
            raise self.refused(f"No such File object: {body.get('input_file_id')}")
        metadata = body.get("metadata") or {}
        if len(metadata) > 16 or any(len(key) > 64 or len(value) > 512 for key, value in metadata.items()):
            raise self.refused("Invalid 'metadata'")
        self.check_creation(body)
        with self._work:
            job = self._begun(body)
            return Reply(200, self._shown(job))

    def _begun(self, body: Any) -> Job:
        id_ = f"batch_{len(self.jobs) + 1}"
        name = json.dumps(body.get("metadata"))
        try:
            lines = [json.loads(line) for line in self.files[body["input_file_id"]].splitlines()]
            problem = self.invalid(lines, body)
        except ValueError:
            lines, problem = [], "This line is not parseable as valid JSON."
        keys = [line.get("custom_id") for line in lines]
        if len(set(keys)) < len(keys):
            problem = f"The custom_id for this request is a duplicate of another: {keys[0]}"
        if len(lines) > self.most_lines:
            problem = f"The batch has {len(lines)} requests, more than {self.most_lines}."
        good = [] if problem else [(line["custom_id"], line["body"]) for line in lines]
        job = self.begin(name, body["input_file_id"], good, id_, request=body)
        if problem:
            self.fail_validation(job, problem)
        return job

    def _list(self, request: Request) -> Reply:
        self.authorized(request)
        query = parse_qs(urlsplit(request.path).query)
        limit, after = int(query.get("limit", ["20"])[0]), query.get("after", [""])[0]
        if not 1 <= limit <= 100:
            raise self.refused("'limit' must be between 1 and 100")
        with self._work:
            newest = list(reversed(self.jobs.values()))
            start = [job.id for job in newest].index(after) + 1 if after else 0
            page = newest[start : start + limit]
            more = start + limit < len(newest)
            return Reply(200, {"object": "list", "data": [self._shown(job) for job in page], "has_more": more})

    def _look(self, request: Request) -> Reply:
        self.authorized(request)
        with self._work:
            job = self.jobs[request.path.rpartition("/")[2]]
            self.look(job)
            return Reply(200, self._shown(job))

    def _cancel(self, request: Request) -> Reply:
        self.authorized(request)
        with self._work:
            job = self.jobs[request.path.split("/")[3]]
            if job.word not in {"validating", "in_progress"}:
                raise self.refused(f"Cannot cancel a batch with status '{job.word}'.", 409)
            job.word = "cancelling"
            return Reply(200, self._shown(job))

    def content(self, request: Request) -> Reply:
        self.authorized(request)
        return Reply(200, self.files[request.path.split("/")[3]], {"Content-Type": "application/octet-stream"})

    def _delete(self, request: Request) -> Reply:
        self.authorized(request)
        id_ = request.path.split("/")[3]
        with self._work:
            del self.files[id_]
        return Reply(200, {"id": id_, "object": "file", "deleted": True})

    def keep_results(self, job: Job, output: Sequence[Any], errors: Sequence[Any]) -> None:
        job.output = self.store(jsonl(output), "file-out-") if output else ""
        job.errors = self.store(jsonl(errors), "file-err-") if errors else ""

    def _shown(self, job: Job) -> Any:
        body = job.options["request"]
        return {
            "id": job.id,
            "object": "batch",
            "endpoint": "/v1/embeddings",
            "errors": {"object": "list", "data": [{"code": "x", "message": job.problem, "line": None, "param": None}]}
            if job.problem
            else None,
            "input_file_id": job.input_file,
            "completion_window": self.window,
            "status": job.word,
            "output_file_id": job.output or None,
            "error_file_id": job.errors or None,
            "request_counts": {"total": len(job.lines), "completed": job.answered, "failed": job.failed},
            "metadata": body.get("metadata"),
        }

    def text_of(self, job: Job, body: Any) -> str:
        return body["input"][0]


class OpenAIBatchServer(_FilesAndBatches, OpenAIServer):
    window = "24h"
    most_lines = 50_000

    def refused(self, message: str, status: int = 400) -> Refusal:
        return openai_server.error(status, message)

    def invalid(self, lines: Sequence[Any], body: Any) -> str:
        if any(line.get("method") != "POST" or line.get("url") != body["endpoint"] for line in lines):
            return "The URL provided for this request does not match the batch endpoint."
        if len({line["body"].get("model") for line in lines}) > 1:
            return "The batch uses several models."
        if sum(len(line["body"]["input"]) for line in lines) > 50_000:
            return "More than 50,000 embedding inputs."
        return ""

    def result(self, job: Job, key: str, body: Any, *, empty: bool) -> tuple[bool, Any]:
        answer = self.embed(body)
        if empty:
            answer.body["data"][0]["embedding"] = []
        response = {"status_code": answer.status, "request_id": "req_1", "body": answer.body}
        return not empty, {"id": f"batch_req_{key[:6]}", "custom_id": key, "response": response, "error": None}

    def refusal_line(self, key: str, message: str) -> Any:
        body = openai_server.error(400, message).reply.body
        response = {"status_code": 400, "request_id": "req_2", "body": body}
        return {"id": "batch_req_x", "custom_id": key, "response": response, "error": None}


class VoyageBatchServer(_FilesAndBatches, VoyageServer):
    window = "12h"
    most_lines = 100_000

    def refused(self, message: str, status: int = 400) -> Refusal:
        return voyage_server.error(status, message)

    def check_creation(self, body: Any) -> None:
        if not (body.get("request_params") or {}).get("model"):
            raise self.refused("Argument 'request_params' with a model is required.")

    def invalid(self, lines: Sequence[Any], body: Any) -> str:
        if any(set(line) != {"custom_id", "body"} for line in lines):
            return "A line has keys other than custom_id and body."
        return "Only input belongs into a body." if any(set(line["body"]) != {"input"} for line in lines) else ""

    def job_routes(self) -> Mapping[tuple[str, str], Route]:
        stored = {("GET", f"/storage/{id_}"): self._stored for id_ in self.files}
        return {**super().job_routes(), **stored}

    def content(self, request: Request) -> Reply:
        self.authorized(request)
        location = f"{self.origin}/storage/{request.path.split('/')[3]}?signature=abc"
        return Reply(307, b"", {"Location": location})

    def _stored(self, request: Request) -> Reply:
        if "authorization" in request.headers or "signature=abc" not in request.path:
            return Reply(400, b"<Error>Only one auth mechanism allowed</Error>")
        return Reply(200, self.files[urlsplit(request.path).path.rpartition("/")[2]], {"Content-Type": "text/plain"})

    def result(self, job: Job, key: str, body: Any, *, empty: bool) -> tuple[bool, Any]:
        answer = self.embed({**job.options["request"]["request_params"], **body})
        if empty:
            answer.body["data"][0]["embedding"] = []
        response = {"status_code": 200, "body": answer.body}
        return not empty, {"batch_id": job.id, "custom_id": key, "response": response, "error": None}

    def refusal_line(self, key: str, message: str) -> Any:
        response = {"status_code": 400, "message": message}
        return {"batch_id": "batch-x", "custom_id": key, "response": response, "error": None}


class GeminiBatchServer(BatchWork, GeminiServer):
    def job_routes(self) -> Mapping[tuple[str, str], Route]:
        found: dict[tuple[str, str], Route] = {
            ("POST", "/upload/v1beta/files"): self._upload,
            ("POST", f"/v1beta/models/{self.model}:asyncBatchEmbedContent"): self._create,
            ("GET", "/v1beta/batches"): self._list,
        }
        for id_ in self.files:
            found["GET", f"/download/v1beta/{id_}:download"] = self._download
            found["DELETE", f"/v1beta/{id_}"] = self._delete
        for id_ in self.jobs:
            found["GET", f"/v1beta/{id_}"] = self._look
            found["POST", f"/v1beta/{id_}:cancel"] = self._cancel
        return found

    def _upload(self, request: Request) -> Reply:
        self.authorized(request)
        parts = parts_of(request)
        if "uploadType=multipart" not in request.path or len(parts) != 2:
            raise gemini_server.error(400, "Bad multipart upload", "INVALID_ARGUMENT")
        about = json.loads(parts[0].get_payload(decode=True))
        if about["file"]["mimeType"] != "application/jsonl":
            raise gemini_server.error(400, "Unsupported MIME type", "INVALID_ARGUMENT")
        with self._work:
            name = self.store(parts[1].get_payload(decode=True), "files/f")
        return Reply(200, {"file": {"name": name, "displayName": about["file"]["displayName"], "state": "ACTIVE"}})

    def _create(self, request: Request) -> Reply:
        self.authorized(request)
        batch = request.json["batch"]
        config = batch.get("inputConfig") or {}
        file = config.get("fileName") or config.get("file_name")
        if not batch.get("displayName"):
            raise gemini_server.error(400, "batch.display_name is required", "INVALID_ARGUMENT")
        if file not in self.files:
            raise gemini_server.error(400, f"Input file {file} was not found", "INVALID_ARGUMENT")
        with self._work:
            lines = [json.loads(line) for line in self.files[file].splitlines()]
            keys = [line["key"] for line in lines]
            requests = [(line["key"], line["request"]) for line in lines]
            job = self.begin(batch["displayName"], file, requests, f"batches/b{len(self.jobs) + 1}")
            if len(set(keys)) < len(keys):
                self.fail_validation(job, "Keys must be unique.")
            return Reply(200, self._shown(job))

    def _list(self, request: Request) -> Reply:
        self.authorized(request)
        query = parse_qs(urlsplit(request.path).query)
        start, size = int(query.get("pageToken", ["0"])[0]), int(query.get("pageSize", ["50"])[0])
        with self._work:
            newest = list(reversed(self.jobs.values()))
            body: dict[str, Any] = {"operations": [self._shown(job) for job in newest[start : start + size]]}
        if start + size < len(newest):
            body["nextPageToken"] = str(start + size)
        return Reply(200, body)

    def _look(self, request: Request) -> Reply:
        self.authorized(request)
        with self._work:
            job = self.jobs[request.path.removeprefix("/v1beta/")]
            self.look(job)
            return Reply(200, self._shown(job))

    def _cancel(self, request: Request) -> Reply:
        self.authorized(request)
        with self._work:
            job = self.jobs[request.path.removeprefix("/v1beta/").removesuffix(":cancel")]
            if job.word in {"validating", "in_progress"}:
                job.word = "cancelling"
        return Reply(200, {})

    def _download(self, request: Request) -> Reply:
        self.authorized(request)
        path = urlsplit(request.path).path.removeprefix("/download/v1beta/").removesuffix(":download")
        return Reply(200, self.files[path], {"Content-Type": "application/jsonl"})

    def _delete(self, request: Request) -> Reply:
        self.authorized(request)
        with self._work:
            del self.files[request.path.removeprefix("/v1beta/")]
        return Reply(200, {})

    def keep_results(self, job: Job, output: Sequence[Any], errors: Sequence[Any]) -> None:
        lines = [*output, *errors]
        job.output = self.store(jsonl(lines), "files/out") if lines else ""

    def _shown(self, job: Job) -> Any:
        words = {"validating": "PENDING", "in_progress": "RUNNING", "cancelling": "RUNNING", "completed": "SUCCEEDED"}
        state = words.get(job.word, job.word.upper())
        final = job.word in {"completed", "failed", "expired", "cancelled"}
        metadata: dict[str, Any] = {
            "@type": "type.googleapis.com/google.ai.generativelanguage.v1main.EmbedContentBatch",
            "name": job.id,
            "displayName": job.name,
            "state": f"BATCH_STATE_{state}",
            "batchStats": {
                "requestCount": str(len(job.lines)),
                "successfulRequestCount": str(job.answered),
                "failedRequestCount": str(job.failed),
            },
        }
        operation: dict[str, Any] = {"name": job.id, "metadata": metadata, "done": final}
        if job.output:
            metadata["output"] = {"responsesFile": job.output}
            if job.word == "completed":
                operation["response"] = {"responsesFile": job.output}
        if job.word == "failed":
            operation["error"] = {"code": 3, "message": job.problem}
        return operation

    def text_of(self, job: Job, body: Any) -> str:
        return "".join(part["text"] for part in body["content"]["parts"])

    def result(self, job: Job, key: str, body: Any, *, empty: bool) -> tuple[bool, Any]:
        _, vector = self.embed(self.model, body, in_batch=True)
        return not empty, {"key": key, "response": {"embedding": {"values": [] if empty else vector}}}

    def refusal_line(self, key: str, message: str) -> Any:
        return {"key": key, "error": {"code": 3, "message": message}}
