"""Single responses of a chat model of OpenAI, or of any server with a compatible API.

Written from https://developers.openai.com/api/reference/resources/chat (read 2026-11-22). Only parameters that all such
servers accept are sent: newer models of OpenAI reject `max_tokens` and any temperature but the default.
"""

import time

from engine.base.cancellation import CancelToken
from engine.base.language import tr
from engine.embedding.http import HttpClient
from engine.embedding.openai_compatible import open_http, open_sdk
from engine.embedding.response_parsing import read_json
from engine.embedding.retry import Transient, retrying
from engine.settings import Settings

_MOST_BYTES = 1024 * 1024


class ChatModel:
    """A chat model. Created by `registry.open_chat` only; naming a model in the settings is the user's consent."""

    def __init__(self, settings: Settings, key: str | None) -> None:
        """Sends nothing. Raises `ProviderError`, also if the server needs a key and there is none."""
        self._http: HttpClient = open_http(settings, key)
        self._model = settings.model

    @property
    def name(self) -> str:
        """Name of the service for messages."""
        return self._http.service.name

    def ask(self, instruction: str, text: str, *, seconds: float, cancel: CancelToken | None = None) -> str:
        """Return the model's response to a text within `seconds` in total. Raises `ProviderError`, `Cancelled`."""
        create = open_sdk(self._http).chat.completions.with_raw_response.create
        end = time.monotonic() + seconds  # the time to load the SDK doesn't count

        def once() -> str:
            left = max(0.1, end - time.monotonic())
            with self._http.call(left, cancel=cancel, private=[text], most_bytes=_MOST_BYTES):
                raw = create(
                    model=self._model,
                    messages=[{"role": "system", "content": instruction}, {"role": "user", "content": text}],
                )
            return _said(raw.content)

        return retrying(once, cancel=cancel, seconds=seconds)

    def close(self) -> None:
        self._http.close()


def _said(body: bytes) -> str:
    answer = read_json(body)
    try:
        said = answer["choices"][0]["message"]["content"]
    except (KeyError, IndexError, TypeError):
        said = None
    if not isinstance(said, str):
        raise Transient(tr("The service's answer has no text."))
    return said
