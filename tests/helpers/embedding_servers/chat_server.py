"""OpenAI's chat completions, after https://developers.openai.com/api/reference/resources/chat/subresources/completions
(2026-11-22), limited to one plain response.

Like the service, it rejects a missing or wrong key, unknown models, invalid messages, and other parameters, since newer
models refuse some of them.
"""

from collections.abc import Mapping

from engine.settings import Settings
from engine.settings.agent_settings import RememberSettings, SlugSettings
from tests.helpers.embedding_servers.openai_server import KEY, OpenAIServer, error
from tests.helpers.embedding_servers.server import Reply, Request, Route

_FIELDS = {"model", "messages"}
_ROLES = {"system", "developer", "user", "assistant"}


class ChatServer(OpenAIServer):
    """A server that answers every conversation with `answer`."""

    model = "gpt-5-mini"

    def __init__(self, answer: str = "drip-valve-relay", *, key: str | None = KEY) -> None:
        super().__init__(dims=1, key=key)
        self.answer = answer

    def named(self, **options: object) -> Settings:
        """Return settings with this server's model for naming notes."""
        slug = SlugSettings(model=self.model, base_url=self.base_url, api_key_env="CHAT_KEY", **options)
        return Settings(remember=RememberSettings(slug=slug))

    def routes(self) -> Mapping[tuple[str, str], Route]:
        return {("POST", "/v1/chat/completions"): self._complete}

    def _complete(self, request: Request) -> Reply:
        self.authorized(request)
        body = request.json
        if unknown := set(body) - _FIELDS:
            raise error(400, f"Unsupported parameter: {', '.join(sorted(unknown))}", code="unsupported_parameter")
        if body.get("model") != self.model:
            raise error(404, f"The model `{body.get('model')}` does not exist", code="model_not_found")
        messages = body.get("messages")
        if not messages or any(m.get("role") not in _ROLES or not isinstance(m.get("content"), str) for m in messages):
            raise error(400, "Invalid type for 'messages'.")
        message = {"role": "assistant", "content": self.answer, "refusal": None}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return Reply(200, {"id": "chatcmpl-1", "object": "chat.completion", "model": self.model, "choices": [choice]})
