"""Turn error responses of embedding services into exceptions, and retry those requests that may work later.

Attempts and delays are the same for every provider. tenacity does the counting; stamina, a wrapper of it, sleeps
without a way to cancel.
"""

import datetime
import email.utils
import json
import math
import random
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from engine.base.cancellation import CancelToken, checkpoint, pause
from engine.base.errors import ProviderError
from engine.base.language import tr
from engine.embedding.provider_interface import TextsRefused
from engine.logs import redact
from engine.text.writing_systems import shortened

if TYPE_CHECKING:
    import tenacity

ATTEMPTS = 4
MAX_DELAY_SECONDS = 60.0
"""Maximum delay that a server may request."""
_FIRST_SECONDS = 0.5
_MAX_SECONDS = 8.0
_JITTER = 0.2

Result = TypeVar("Result")


class Transient(ProviderError):
    """A temporary failure: a rate limit, a server error, a broken connection or response."""

    def __init__(self, message: str, after: float | None = None) -> None:
        """`after`: delay requested by the server in seconds; None if there is none."""
        super().__init__(message)
        self.after = after


def retrying(
    attempt: Callable[[], Result], *, cancel: CancelToken | None = None, seconds: float | None = None
) -> Result:
    """Return the result of `attempt`, with up to three retries if it raises `Transient`.

    `seconds` limits all attempts together: none starts later. Waits end on cancel. Raises the last attempt's error,
    `Cancelled`.
    """
    import tenacity

    end = None if seconds is None else time.monotonic() + seconds

    def checked() -> Result:
        checkpoint(cancel)
        return attempt()

    def enough(state: "tenacity.RetryCallState") -> bool:
        late = end is not None and time.monotonic() + state.upcoming_sleep >= end
        return late or state.attempt_number >= ATTEMPTS

    tries = tenacity.Retrying(
        retry=tenacity.retry_if_exception_type(Transient),
        wait=_wait,
        stop=enough,
        sleep=lambda duration: pause(duration, cancel),
        reraise=True,
    )
    return tries(checked)


def backoff(tries: int) -> float:
    """Return the default delay in seconds after this number of failed attempts, from 1."""
    return min(_FIRST_SECONDS * 2.0 ** (tries - 1) * (1 + random.uniform(0, _JITTER)), _MAX_SECONDS)


def _wait(state: "tenacity.RetryCallState") -> float:
    error = state.outcome.exception() if state.outcome is not None else None
    after = error.after if isinstance(error, Transient) else None
    return backoff(state.attempt_number) if after is None else min(max(after, 0.0), MAX_DELAY_SECONDS)


_LONGEST = 300
_OUT_OF_MONEY = {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "access_terminated"}
# "check your plan and billing" means nothing: Google and Voyage also use it for rate limits.
_MONEY_WORDS = re.compile(r"insufficient[ _](?:quota|credits?|balance|funds)|spending (?:limit|cap)", re.IGNORECASE)
_TOO_LONG = re.compile(
    r"context length|context size|too large to process|input token count|max(?:imum)? (?:allowed )?tokens"
    r"|(?:input|text|prompt) (?:is )?too long",
    re.IGNORECASE,
)
_DURATION = re.compile(r"(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?")
_TRY_AGAIN = re.compile(r"try again in ([\d.hms]+)", re.IGNORECASE)
_LOADING = re.compile(r"loading model|model is (?:currently )?loading", re.IGNORECASE)
_LOADING_SECONDS = 8.0
"""Retry delay for a local server that is still loading its model."""
_QUOTED_CHARACTERS = 20
"""Number of common characters in a row that count as a quotation of a text."""


class AnswerTooLarge(ProviderError):
    """A server sends more than any valid response."""

    def __init__(self) -> None:
        super().__init__(tr("The service's answer is larger than any valid answer: check base_url in the settings."))


class Refused(ProviderError):
    """A service refused a request, and would refuse it again."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class ContentRefused(Refused, TextsRefused):
    """The service probably refused the request because of its content."""


class TooLong(ContentRefused):
    """A text has more tokens than the model takes; shorter ones may work."""


class NoAccess(Refused):
    """All further requests would fail too, because of the key, the balance or the daily quota."""


class Redirected(Refused):
    """A service redirects the request, which is not followed."""

    def __init__(self, message: str, status: int, location: str) -> None:
        """`location`: the target; it may contain a signature, so messages must not include it."""
        super().__init__(message, status)
        self.location = location


@dataclass(frozen=True)
class Service:
    """A service's name for messages, and the variable of its key."""

    name: str
    """Name of the service, as in "OpenAI refused the key"."""
    key_variable: str = ""
    """Environment variable of its key; empty if it has none."""

    @property
    def key_hint(self) -> str:
        """How to fix the key, as the end of a sentence."""
        if self.key_variable:
            return tr("enter another one in the settings, or check {variable}", variable=self.key_variable)
        return tr("enter another one in the settings")


def response_error(
    service: Service, status: int, headers: Mapping[str, str], body: bytes, private: Sequence[str] = ()
) -> ProviderError:
    """Return the error for a response that is not 2xx. `body`: its first bytes, JSON or not.

    `private`: texts in the request; a message that quotes from them is left out, since errors are logged.
    """
    answer = _parsed(body)
    message = _error_message(answer)
    quote = "" if quotes(message, private) else quoted(message)
    name = service.name
    if 300 <= status < 400:
        return Redirected(_redirected(name, headers), status, headers.get("location", ""))
    if status == 402 or (status < 500 and _is_out_of_money(answer, message)):
        return NoAccess(
            tr("{name} has no credit left for this key: check its plan, its limits and its billing.", name=name), status
        )
    if status == 401 or _is_bad_key(answer):
        return NoAccess(tr("{name} refused the API key: {hint}.", name=name, hint=service.key_hint), status)
    if status == 403:
        return NoAccess(
            tr(
                "{name} does not allow this with this API key{quote}: {hint}.",
                name=name,
                quote=quote,
                hint=service.key_hint,
            ),
            status,
        )
    if status == 429:
        if _is_daily(answer):
            return NoAccess(
                tr("{name}'s quota for today is used up: continue tomorrow, or raise it.", name=name), status
            )
        return Transient(
            tr("{name} asks for fewer requests{quote}: try again later.", name=name, quote=quote),
            _retry_delay(headers, answer, message),
        )
    if _TOO_LONG.search(message):  # llama-server reports it with status 500
        return TooLong(tr("{name} says that a text is too long{quote}.", name=name, quote=quote), status)
    if status >= 500 or status == 408:
        return Transient(
            tr("{name} reports an internal error (status {status}{quote}).", name=name, status=status, quote=quote),
            _retry_delay(headers, answer, message),
        )
    if status == 404:
        return Refused(
            tr(
                "{name} does not know the model or the address{quote}: check model and base_url.",
                name=name,
                quote=quote,
            ),
            status,
        )
    if status == 413:
        return ContentRefused(tr("{name} says that the request is too large{quote}.", name=name, quote=quote), status)
    return ContentRefused(
        tr("{name} refused the request (status {status}{quote}).", name=name, status=status, quote=quote), status
    )


def _redirected(name: str, headers: Mapping[str, str]) -> str:
    target = re.match(r"https?://(?:[^/@\s]*@)?([^/\s?#]+)", headers.get("location", ""), re.IGNORECASE)
    if target is None:
        return tr(
            "{name} redirects requests to another address, and redirects are never followed: check base_url "
            "in the settings.",
            name=name,
        )
    return tr(
        "{name} redirects requests to {host}, and redirects are never followed: check base_url in the settings.",
        name=name,
        host=target[1][:100],
    )


def _parsed(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):  # a proxy's page, truncated, or nested too deeply
        return None


def _error(answer: Any) -> Mapping[str, Any]:
    """Return the error object, in the formats of OpenAI, Google, Ollama and FastAPI (Voyage)."""
    if isinstance(answer, list) and answer:  # some of Google's servers
        answer = answer[0]
    if not isinstance(answer, dict):
        return {}
    error = answer.get("error", answer)
    return error if isinstance(error, dict) else {"message": error}


def _error_message(answer: Any) -> str:
    """Return the service's message on one line, with secrets redacted."""
    error = _error(answer)
    message = error.get("message") or error.get("detail") or ""
    if isinstance(message, list):
        message = "; ".join(str(part.get("msg", part)) if isinstance(part, dict) else str(part) for part in message)
    return shortened(" ".join(redact(str(message)).split()), _LONGEST)


def quotes(message: str, texts: Sequence[str]) -> bool:
    """Whether the message quotes one of the texts."""
    if not message:
        return False
    plain = [" ".join(text.split()) for text in texts]
    starts = range(max(1, len(message) - _QUOTED_CHARACTERS + 1))
    pieces = {message[start : start + _QUOTED_CHARACTERS] for start in starts}
    return any(piece in text for text in plain for piece in pieces if len(piece) == _QUOTED_CHARACTERS) or any(
        text in message for text in plain if len(text) >= 4
    )


def quoted(message: str) -> str:
    """Return the service's message, formatted as part of our own; empty if there is none."""
    return tr(' ("{said}")', said=message) if message else ""


def _is_out_of_money(answer: Any, message: str) -> bool:
    error = _error(answer)
    return bool({str(error.get("code")), str(error.get("type"))} & _OUT_OF_MONEY or _MONEY_WORDS.search(message))


def _details(answer: Any) -> list[Mapping[str, Any]]:
    """Return Google's machine-readable part of an error."""
    details = _error(answer).get("details")
    return [detail for detail in details if isinstance(detail, dict)] if isinstance(details, list) else []


def _is_bad_key(answer: Any) -> bool:
    reasons = {detail.get("reason") for detail in _details(answer)}
    return bool(reasons & {"API_KEY_INVALID", "API_KEY_EXPIRED"}) or _error(answer).get("code") == "invalid_api_key"


def _is_daily(answer: Any) -> bool:
    violations = [found for detail in _details(answer) for found in detail.get("violations") or ()]
    return any("PerDay" in str(found.get("quotaId", "")) for found in violations if isinstance(found, dict))


def _retry_delay(headers: Mapping[str, str], answer: Any, message: str) -> float | None:
    """Return the seconds that the service asks to wait: in a header, in Google's format, or in OpenAI's message."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        seconds = _seconds(headers.get(name, "").strip())
        if seconds is not None:
            return max(seconds * unit, 0.0)
    delays = [str(detail["retryDelay"]) for detail in _details(answer) if "retryDelay" in detail]
    delays += _TRY_AGAIN.findall(message)
    for delay in delays:
        match = _DURATION.fullmatch(delay.rstrip("."))
        if match is not None and any(match.groups()):
            hours, minutes, seconds, milliseconds = (float(part or 0) for part in match.groups())
            return 3600 * hours + 60 * minutes + seconds + milliseconds / 1000
    return _LOADING_SECONDS if _LOADING.search(message) else None


def _seconds(value: str) -> float | None:
    """Return the seconds of a Retry-After header, which is a number or a date; None for any other value."""
    try:
        number = float(value)
        return number if math.isfinite(number) else None
    except ValueError:
        pass
    try:
        moment = email.utils.parsedate_to_datetime(value)
    except ValueError:
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=datetime.UTC)
    return (moment - datetime.datetime.now(datetime.UTC)).total_seconds()
