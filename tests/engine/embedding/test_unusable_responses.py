"""Errors for unusable responses."""

import datetime
import email.utils
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.base.errors import ProviderError
from engine.embedding.provider_interface import TextsRefused
from engine.embedding.service_errors import ContentRefused, Refused, Service, TooLong, Transient, response_error

SERVICE = Service("OpenAI", "OPENAI_API_KEY")


def of(status: int, body: object = b"", **headers: str) -> ProviderError:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return response_error(SERVICE, status, {name.replace("_", "-"): value for name, value in headers.items()}, raw)


def after(error: ProviderError) -> float | None:
    assert isinstance(error, Transient)
    return error.after


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (402, b""),
        (429, {"error": {"code": "insufficient_quota", "type": "insufficient_quota", "message": "x"}}),
        (429, {"error": {"code": "billing_hard_limit_reached", "message": "x"}}),
        (403, {"error": {"message": "Your monthly spending limit is reached."}}),
        (402, {"error": {"code": 402, "message": "Insufficient credits", "metadata": {}}}),
    ],
)
def test_no_credit_stops_immediately(status: int, body: object) -> None:
    error = of(status, body)
    assert isinstance(error, Refused)
    assert str(error) == "OpenAI has no credit left for this key: check its plan, its limits and its billing."


def test_rate_limit_that_mentions_billing_is_retried() -> None:
    message = "You exceeded your current quota, please check your plan and billing details."
    assert isinstance(of(429, {"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": message}}), Transient)


@pytest.mark.parametrize("status", [500, 502, 503, 504, 529, 408])
def test_server_errors_are_transient(status: int) -> None:
    assert isinstance(of(status, b"<html>Bad gateway</html>"), Transient)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 413, 415, 422, 300, 301, 307, 308])
def test_client_errors_are_not_retried(status: int) -> None:
    error = of(status, {"error": {"message": "No."}})
    assert isinstance(error, Refused)
    assert error.status == status


def test_retry_delay_read_from_all_known_fields() -> None:
    retry_info = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.07s"}
    assert after(of(429, {"error": {"details": [retry_info]}})) == 34.07
    assert after(of(429, b"", retry_after="7")) == 7
    assert after(of(429, b"", retry_after="1.5")) == 1.5
    assert after(of(503, b"", retry_after_ms="250", retry_after="7")) == 0.25
    for useless in ("soon", "", "nan", "inf"):
        assert after(of(429, b"", retry_after=useless)) is None
    assert after(of(429, b"", retry_after="-3")) == 0


@pytest.mark.parametrize(
    ("words", "seconds"), [("1.2s", 1.2), ("20ms", 0.02), ("6m0s", 360), ("1h2m3.5s", 3723.5), ("a while", None)]
)
def test_retry_delay_read_from_openai_message(words: str, seconds: float | None) -> None:
    message = f"Rate limit reached for requests. Please try again in {words}. Visit the page of limits."
    assert after(of(429, {"error": {"message": message}})) == seconds


def test_loading_server_is_retried_after_8_seconds() -> None:
    error = of(503, {"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}})
    assert after(error) == 8


def test_messages_that_quote_a_text_are_dropped() -> None:
    text = "My diary\nsays that the pressure gauge was a present for Ines."
    quoting = {"error": {"message": f"Cannot embed: diary says that the pressure {text[-3:]}"}}
    error = response_error(SERVICE, 400, {}, json.dumps(quoting).encode(), [text])
    assert str(error) == "OpenAI refused the request (status 400)."
    short = response_error(SERVICE, 400, {}, b'{"error": {"message": "Bad input: diary!"}}', ["diary"])
    assert "diary" not in str(short)
    other = response_error(SERVICE, 400, {}, b'{"error": {"message": "Bad encoding format"}}', [text])
    assert "Bad encoding format" in str(other)


def test_retry_after_accepts_a_date() -> None:
    now = datetime.datetime.now(datetime.UTC)
    assert after(of(429, b"", retry_after=email.utils.format_datetime(now - datetime.timedelta(hours=1)))) == 0
    later = after(of(429, b"", retry_after=email.utils.format_datetime(now + datetime.timedelta(hours=1))))
    assert later == pytest.approx(3600, abs=60)


@pytest.mark.parametrize(
    "message",
    [
        "input (1202 tokens) is too large to process. increase the physical batch size (current batch size: 512)",
        "the input length exceeds the context length",
        "This model's maximum context length is 8192 tokens, however you requested 9000 tokens",
        "The input token count (9000) exceeds the maximum number of tokens allowed (2048).",
    ],
)
@pytest.mark.parametrize("status", [400, 500])
def test_too_long_texts_distinguished(status: int, message: str) -> None:
    assert isinstance(of(status, {"error": {"message": message}}), TooLong)


def test_too_many_total_tokens_not_long_text() -> None:
    message = "Requested 416735 tokens, max 300000 tokens per request"
    error = of(400, {"error": {"message": message, "code": "max_tokens_per_request"}})
    assert type(error) is ContentRefused, "half of the request may be small enough"


def test_service_message_quoted_on_one_line_masked() -> None:
    message = str(of(400, {"error": {"message": "Bad\n\nkey  sk-abcdefghijklmnop1234 " + "x" * 1000}}))
    assert "\n" not in message
    assert "abcdefgh" not in message
    assert len(message) < 400
    assert str(of(422, {"detail": [{"loc": ["body"], "msg": "field required"}]})).count("field required") == 1
    assert "boom" in str(of(400, [{"error": {"message": "boom"}}]))
    assert "boom" in str(of(400, {"error": "boom"}))


anything = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["error", "message", "detail", "details", "code", "violations", "x"]), inner)
    ),
    max_leaves=12,
)


@given(st.integers(300, 599), anything)
def test_any_answer_becomes_one_sentence(status: int, body: object) -> None:
    sentence = str(of(status, body, location="//", retry_after="x"))
    assert sentence.startswith("OpenAI")
    assert sentence.endswith(".")


@pytest.mark.parametrize(
    ("status", "message", "of_the_text"),
    [
        (400, "This content is not allowed.", True),
        (413, "", True),
        (422, "", True),
        (400, "The input is too long.", True),
        (401, "", False),
        (403, "", False),
        (404, "", False),
        (400, "Your spending limit is reached.", False),
        (302, "", False),
    ],
)
def test_text_errors_distinguished(status: int, message: str, of_the_text: bool) -> None:
    assert isinstance(of(status, {"error": {"message": message}}), TextsRefused) is of_the_text
