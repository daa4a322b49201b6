import pytest

from engine import KeyState, ProviderProbe, Settings
from engine.settings.options import RemoteSettings
from gui.settings.value_formatting import (
    destination_sentence,
    fallback_owner,
    fallback_text,
    key_source_text,
    probe_text,
    save_label,
    sent_text,
)
from gui.text.formatting import embed_label, estimate_text, money, spent_text
from tests.helpers.fake_records import make_estimate


@pytest.mark.parametrize(
    ("provider", "base_url", "words"),
    [
        ("embedded", "", "Nothing leaves this machine."),
        ("gguf", "", "Nothing leaves this machine."),
        ("openai", "", "are sent to api.openai.com"),
        ("openai", "http://127.0.0.1:11434/v1", "a server on this machine"),
        ("openai", "https://openrouter.ai/api/v1", "are sent to openrouter.ai"),
        ("openai", "no address", "are sent to this server"),
        ("gemini", "", "are sent to generativelanguage.googleapis.com"),
        ("auto", "", "Unless you tick a service below, no text leaves"),
    ],
)
def test_text_destination_is_named_for_every_provider(provider, base_url, words):
    assert words in destination_sentence(provider, base_url)


@pytest.mark.parametrize("provider", ["embedded", "gguf", "auto", "voyage"])
@pytest.mark.parametrize(
    ("fallback", "host"), [("openai", "api.openai.com"), ("gemini", "generativelanguage.googleapis.com")]
)
def test_remote_fallback_is_named_for_any_provider(provider, fallback, host):
    settings = Settings(provider=provider, fallback=fallback)
    text = sent_text(settings)
    assert "If the provider fails, the texts of your notes" in text
    assert f"and your queries, are sent to {host}. Secrets in sessions are masked first." in text
    assert "Nothing leaves this machine." not in text


@pytest.mark.parametrize(
    "settings",
    [
        Settings(fallback="gguf"),
        Settings(provider="none", fallback="openai"),
        Settings(provider="openai", fallback="openai"),
        Settings(provider="auto", fallback="openai", remote=RemoteSettings(base_url="http://127.0.0.1:11434/v1")),
    ],
)
def test_fallback_that_sends_nothing_is_not_named(settings):
    assert fallback_text(settings) == fallback_owner(settings) == ""


def test_save_button_names_price_and_fallback():
    assert save_label(None, "OpenAI") == "Save, allow sending to OpenAI"
    assert save_label(make_estimate(cost=1.09), "Google") == "Save and embed for about $1.09, allow sending to Google"


@pytest.mark.parametrize(
    ("dollars", "words"), [(0, "$0"), (0.004, "under $0.01"), (0.0812, "$0.08"), (1234.5, "$1,234.50")]
)
def test_money_is_formatted_by_amount(dollars, words):
    assert money(dollars) == words


def test_estimate_names_passages_tokens_price_and_time():
    due = make_estimate(
        model="big-3", chunks=26_412, cached=312, tokens=8_412_000, price=0.13, cost=1.0936,
        price_checked="2026-11-22", seconds=412,
    )  # fmt: skip
    assert estimate_text(due) == (
        "26,412 passages to embed with big-3, 312 already have a vector: about 8.4 million "
        "tokens, $1.09 at $0.13 per million tokens (the list price of 22 Nov 2026), about 6 min 52 s."
    )
    assert embed_label(due) == "Embed for about $1.09"
    assert save_label(due) == "Save and embed for about $1.09"


def test_batch_estimate_names_cost_on_failure():
    due = make_estimate(batch=True, price=0.01, cost=0.5, most_cost=1.0)
    assert "(the list price of 22 Nov 2026), at most $1.00 if the jobs fail, by batch jobs" in estimate_text(due)


def test_unknown_price_is_not_zero():
    due = make_estimate(price=None, cost=None)
    assert "at an unknown price" in estimate_text(due)
    assert save_label(due) == "Save and embed"


def test_cached_vectors_cost_nothing():
    due = make_estimate(chunks=0, cached=40, tokens=0, cost=0.0)
    assert "saving sends and bills nothing" in estimate_text(due)
    assert save_label(due) == "Save"


def test_local_model_costs_only_time():
    due = make_estimate(remote=False, chunks=9, cached=0, price=0.0, cost=0.0, seconds=3)
    assert estimate_text(due).endswith("about 3 s, no cost.")


def test_spent_wording_is_empty_without_charge():
    assert spent_text(0, 0.0) == ""
    assert spent_text(1500, 0.03) == "1,500 tokens, $0.03"
    assert spent_text(1500, None) == "1,500 tokens, price not known"


def test_key_wording_names_only_its_location():
    found = KeyState(
        present=True, origin="environment", origin_text="the environment variable OPENAI_API_KEY", problem=""
    )
    assert key_source_text(found).startswith("The API key in the environment variable OPENAI_API_KEY takes precedence")
    locked = KeyState(present=False, origin=None, origin_text="", problem="It is locked.")
    assert key_source_text(locked) == "It is locked."


def test_successful_probe_names_latency_and_dimensions():
    probe = ProviderProbe(ok=True, error="", milliseconds=312.4, dims=1536, model="m")
    assert probe_text(probe) == "m answered in 312 ms, with 1,536 dimensions."


@pytest.mark.parametrize(
    ("settings", "present", "absent"),
    [
        (Settings(), "Nothing leaves this machine.", "sent"),
        (Settings(provider="voyage"), "api.voyageai.com", "Nothing"),
        (Settings(fallback="gemini"), "sent to generativelanguage.googleapis.com", "OpenAI"),
        (Settings(provider="auto"), "Nothing leaves this machine.", "tick"),
        (
            Settings(provider="auto", remote=RemoteSettings(approved=("openai", "voyage"))),
            "OpenAI or Voyage AI",
            "tick",
        ),
    ],
)
def test_sent_data_is_named_for_every_provider(settings, present, absent):
    assert present in sent_text(settings)
    assert absent not in sent_text(settings)
