"""Properties of every remote provider, over real HTTP, with every fault that a service can have."""

import logging
import math
import threading

import numpy as np
import pytest

from engine.base.cancellation import CancelToken
from engine.base.errors import Cancelled, Closed, ProviderError
from engine.embedding.provider_interface import PartialAnswer
from engine.embedding.service_errors import ATTEMPTS
from engine.settings.options import RemoteSettings
from tests.helpers.embedding_servers.server import Drop, Hang, Say, Truncate

_OUT_OF_QUOTA = r"no credit left for this key|quota for today is used up"
TEXTS = [f"note {number} about pumps and lighthouses" for number in range(12)]


class Vectors:
    """Vectors that equal others of the same shape up to rounding; `pytest.approx` compares numbers in Python."""

    __array_ufunc__ = None  # so that numpy leaves `==` to this class
    __hash__ = None

    def __init__(self, expected) -> None:
        self._expected = np.asarray(expected)

    def __eq__(self, other) -> bool:
        return np.shape(other) == self._expected.shape and np.allclose(other, self._expected, rtol=0, atol=1e-6)

    def __repr__(self) -> str:
        return repr(self._expected)


def unit(server, text):
    return Vectors(server.vector(text))


def all_units(server, texts=TEXTS):
    return Vectors([server.vector(text) for text in texts])


def test_vectors_in_order_with_unit_length(server, provider):
    vectors = provider.embed_documents(TEXTS)
    assert vectors.dtype == np.float32
    assert vectors == all_units(server)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(12), abs=1e-5)
    assert provider.embed_query(TEXTS[3]) == unit(server, TEXTS[3])
    assert provider.dims == vectors.shape[1] == server.dims


def test_empty_input_sends_nothing(server, provider):
    assert provider.embed_documents([]).shape == (0, server.dims)
    assert server.requests == []


def test_tokens_are_counted_for_billed_providers(server, provider, make):
    assert provider.tokens_used == 0
    provider.embed_documents(TEXTS)
    estimated = sum(map(provider.count_tokens, TEXTS))
    assert provider.tokens_used == getattr(server, "tokens", estimated) > 0
    free = make(server, prices={})
    free.embed_documents(TEXTS)
    assert (free.price, free.tokens_used) == (0, 0)


FAULTS = {
    "429 with a wait": lambda server: server.limited({"Retry-After": "7"}),
    "429": lambda server: server.limited(),
    "500": lambda server: server.trouble(),
    "dropped": lambda server: Drop(),
    "cut off": lambda server: Truncate(announced=True),
    "cut off silently": lambda server: Truncate(announced=False),
    "no JSON": lambda server: Say(200, b"<html>Please log in</html>"),
    "something else": lambda server: Say(200, {"object": "list"}),
    "a number for a vector": lambda server: server.garbled(2),
    "fewer": lambda server: server.fewer(1, 5),
    "none": lambda server: server.fewer(*range(12)),
    "shuffled": lambda server: server.shuffled(),
    "NaN": lambda server: server.replaced(4, [math.nan] * server.dims),
    "infinite": lambda server: server.replaced(4, [math.inf, *[0.5] * (server.dims - 1)]),
    "zero": lambda server: server.replaced(4, [0.0] * server.dims),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_temporary_fault_recovers_without_repeats(server, provider, waits, fault):
    if server.provider == "gemini" and fault == "shuffled":
        pytest.skip("its responses have no index")
    server.faults.append(FAULTS[fault](server))
    assert provider.embed_documents(TEXTS) == all_units(server)
    assert server.answered == dict.fromkeys(TEXTS, 1)
    assert len(server.requests) == (1 if fault == "shuffled" else 2)


def test_waits_grow_with_jitter_up_to_three_further_tries(server, provider, waits):
    server.faults.extend(server.trouble() for _ in range(ATTEMPTS - 1))
    assert provider.embed_query("pumps") == unit(server, "pumps")
    assert len(waits) == 3
    for wait, least in zip(waits, (0.5, 1.0, 2.0), strict=True):
        assert least <= wait <= 1.2 * least


def test_lasting_failure_gives_one_sentence(server, provider, waits):
    server.faults.extend(server.trouble() for _ in range(ATTEMPTS))
    with pytest.raises(ProviderError, match=r"reports an internal error \(status 50[03]"):
        provider.embed_documents(TEXTS)
    assert len(server.requests) == ATTEMPTS
    assert provider.embed_documents(TEXTS) == all_units(server)


def test_all_attempts_of_a_query_share_its_timeout(server, provider, waits, monkeypatch):
    given = []
    embed = provider._api.embed

    def noting(texts, *, seconds, **rest):
        given.append(seconds)
        return embed(texts, seconds=seconds, **rest)

    monkeypatch.setattr(provider._api, "embed", noting)
    server.faults.extend([server.trouble(), server.trouble()])
    provider.embed_query("pumps")
    assert given[0] > given[1] > given[2] > 0
    given.clear()
    server.faults.append(server.trouble())
    provider.embed_documents(TEXTS)
    assert given[0] == given[1] == 600  # five times the timeout for another machine


@pytest.mark.parametrize(("requested", "waited"), [("7", 7), ("86400", 60), ("0", 0)])
def test_requested_wait_limited_to_minute(server, provider, waits, requested, waited):
    server.faults.append(server.limited({"Retry-After": requested}))
    provider.embed_documents(TEXTS)
    assert waits == [waited]


@pytest.mark.parametrize(
    ("fault", "says"),
    [("out_of_quota", _OUT_OF_QUOTA), ("unauthorized", r"refused the API key: enter another .* check \w+_API_KEY")],
)
def test_quota_and_key_errors_stop_immediately(server, provider, waits, fault, says):
    server.faults.append(getattr(server, fault)())
    with pytest.raises(ProviderError, match=says) as caught:
        provider.embed_documents(TEXTS)
    assert waits == []
    assert len(server.requests) == 1
    assert server.key not in str(caught.value)


def test_wrong_key_reported_without_repeating(server, make, waits, caplog):
    caplog.set_level(logging.DEBUG)
    wrong = "wrong-key-0123456789abcdef"
    provider = make(server, wrong)
    with pytest.raises(ProviderError, match="refused the API key") as caught:
        provider.embed_query("pumps")
    assert wrong not in str(caught.value) + repr(caught.value) + repr(provider) + repr(vars(provider)) + caplog.text


@pytest.mark.parametrize("key", ["bad\nkey", "bad key ", "schlüssel"])
def test_unsendable_key_refused_before_request(server, make, key):
    with pytest.raises(ProviderError, match="The API key contains characters that can't be sent") as caught:
        make(server, key)
    assert key not in str(caught.value)


def test_errors_never_repeat_sent_text(server, provider, waits, caplog):
    caplog.set_level(logging.DEBUG)
    private = "Ines lent us her grandmother's pressure gauge"
    server.faults.append(Say(400, {"error": {"message": f"cannot embed '{private}'"}, "detail": f"see '{private}'"}))
    with pytest.raises(ProviderError, match=r"refused the request \(status 400\)\.$"):
        provider.embed_documents([private, "pumps"])
    assert "Ines" not in caplog.text


def test_vector_of_wrong_length_error_names_the_setting(server, provider):
    server.faults.append(server.resized(server.dims // 2))
    with pytest.raises(ProviderError, match=f"instead of {server.dims}: set dimensions = {server.dims // 2}"):
        provider.embed_documents(TEXTS)
    assert len(server.requests) == 1
    assert provider.embed_documents(TEXTS) == all_units(server)


def test_shorter_vectors_are_requested(server, make):
    provider = make(server, dimensions=256)
    assert provider.dims == 256
    assert provider.embed_query("pumps") == pytest.approx(server.vector("pumps", 256), abs=1e-6)
    with pytest.raises(ProviderError, match=r"has no vectors of 5000 dimensions: set dimensions to \d+"):
        make(server, dimensions=5000)


def test_persistent_broken_vector_used_as_possible(server, provider):
    half = [0.5] * (server.dims - 1)
    server.faults.extend(server.replaced(place, [math.nan, *half]) for place in (4, 0, 0))
    vectors = provider.embed_documents(TEXTS)
    assert np.isfinite(vectors).all()
    assert vectors[4, 0] == 0
    assert np.linalg.norm(vectors[4]) == pytest.approx(1, abs=1e-5)
    assert max(server.answered.values()) == 1


def test_vectors_before_lasting_fault_returned(server, provider, waits):
    zero = [0.0] * server.dims
    server.faults.extend([server.replaced(4, zero), server.out_of_quota()])
    with pytest.raises(PartialAnswer, match=_OUT_OF_QUOTA) as caught:
        provider.embed_documents(TEXTS)
    assert sorted(caught.value.arrived) == [place for place in range(12) if place != 4]
    assert caught.value.arrived[7] == unit(server, TEXTS[7])
    server.faults.extend(server.replaced(place, zero) for place in (4, 0, 0))
    with pytest.raises(PartialAnswer, match="has left out 1 of 12 vectors 3 times") as caught:
        provider.embed_documents(TEXTS)
    assert len(caught.value.arrived) == 11


def test_cancel_ends_a_request_that_hangs(server, provider):
    hang = Hang()
    server.faults.append(hang)
    cancel = CancelToken()
    canceller = threading.Thread(target=lambda: (hang.reached.wait(), cancel.cancel()))
    canceller.start()
    with pytest.raises(Cancelled):
        provider.embed_documents(TEXTS, cancel=cancel)
    canceller.join()
    assert provider.embed_query("pumps") == unit(server, "pumps")


def test_cancel_ends_request_on_reused_connection(server, provider):
    provider.embed_query("pumps")
    test_cancel_ends_a_request_that_hangs(server, provider)


def test_vectors_before_cancel_returned(server, provider):
    hang = Hang()
    server.faults.extend([server.replaced(4, [0.0] * server.dims), hang])
    cancel = CancelToken()
    canceller = threading.Thread(target=lambda: (hang.reached.wait(), cancel.cancel()))
    canceller.start()
    with pytest.raises(PartialAnswer) as caught:
        provider.embed_documents(TEXTS, cancel=cancel)
    canceller.join()
    assert len(caught.value.arrived) == 11


def test_cancel_ends_a_wait_between_tries(server, provider):
    fault = server.limited({"Retry-After": "50"})
    server.faults.append(fault)
    cancel = CancelToken()
    canceller = threading.Thread(target=lambda: (fault.reached.wait(), cancel.cancel()))
    canceller.start()
    with pytest.raises(Cancelled):
        provider.embed_documents(TEXTS, cancel=cancel)
    canceller.join()
    assert len(server.requests) == 1


def test_a_cancelled_token_sends_nothing(server, provider):
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        provider.embed_documents(TEXTS, cancel=cancel)
    assert server.requests == []


def test_closed_client_sends_nothing_new(server, provider):
    provider.close()
    provider.close()
    with pytest.raises(Closed):
        provider.embed_query("pumps")
    assert server.requests == []


def test_closing_lets_a_request_finish(server, provider):
    server.before = lambda request: provider.close()
    assert provider.embed_query("pumps") == unit(server, "pumps")
    with pytest.raises(Closed):
        provider.embed_query("pumps")


def test_several_threads_share_one_provider(server, provider):
    found = {}
    threads = [
        threading.Thread(target=lambda text=text: found.update({text: provider.embed_query(text)})) for text in TEXTS
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for text in TEXTS:
        assert found[text] == unit(server, text)


def test_redirects_are_refused_and_named(server, provider):
    for status in (301, 302, 307, 308):
        location = "https://user:secret@elsewhere.example/v1?key=secret"
        server.faults.append(Say(status, b"", {"Location": location}))
        with pytest.raises(ProviderError, match=r"redirects requests to elsewhere\.example, and") as caught:
            provider.embed_documents(TEXTS)
        assert "secret" not in str(caught.value)
    assert len(server.requests) == 4


def test_surrogates_and_blank_texts_sent_as_valid(server, provider):
    vectors = provider.embed_documents(["a \ud800 b", "", " \n"])
    assert vectors.shape == (3, server.dims)
    assert np.isfinite(vectors).all()


def test_long_texts_are_embedded_in_parts(server, provider):
    text = "pumps and lighthouses. " * 9000
    vector = provider.embed_documents([text, "other"])[0]
    assert float(vector @ np.array(server.vector("pumps and lighthouses."))) > 0.99
    assert sum(server.answered.values()) > 2


def test_only_listed_headers_leave(server, make, monkeypatch):
    for name in ("OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_ADMIN_KEY", "OPENAI_BASE_URL"):
        monkeypatch.setenv(name, "https://not-asked-for.example/secret")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Secret: secret\nAuthorization: Bearer secret")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    remote = RemoteSettings(base_url=server.base_url, headers={"X-Team": "notes"})
    make(server, remote=remote).embed_query("pumps")
    headers = server.requests[0].headers
    own = {"x-goog-api-key"} if server.provider == "gemini" else {"authorization"}
    http = {"host", "accept", "accept-encoding", "connection", "content-type", "content-length", "user-agent"}
    assert set(headers) == http | own | {"x-team"}
    assert headers["user-agent"] == "Mnemoscope"
    assert headers["x-team"] == "notes"
    assert "secret" not in str(headers)


def test_cache_key_covers_vector_options(server, make):
    first = make(server).key
    remote = server.settings().remote
    assert make(server).key == first
    assert make(server, dimensions=256).key != first
    assert make(server, remote=RemoteSettings(base_url=remote.base_url, headers={"X-Pool": "2"})).key != first
    assert make(server, remote=RemoteSettings(base_url=f"{server.origin}/other")).key != first
    assert make(server, "another-key-entirely").key == first
    localhost = RemoteSettings(base_url=remote.base_url.replace("127.0.0.1", "localhost"))
    assert make(server, remote=localhost).key == first
