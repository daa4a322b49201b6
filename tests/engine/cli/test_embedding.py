"""Messages and prompts of the verbs about embedding, its price, and the receiver of the text."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from engine.base.errors import ProviderError
from engine.base.formatting import dollars
from engine.cli.embedding_messages import awaiting_text, duration, estimate_text
from engine.cli.output import progress_text, spent_text
from engine.embedding import provider_selection
from engine.embedding.api_keys import store_key
from engine.embedding.provider_interface import TextsRefused
from engine.records import MemoryProviderStatus
from engine.settings import Settings
from tests.helpers.command_line import Answer, Run
from tests.helpers.fake_memory import FakeMemory
from tests.helpers.fake_provider import FakeProvider, PaidProvider
from tests.helpers.fake_records import make_estimate, make_progress
from tests.helpers.keychain import FakeKeychain

NOTE = "# Long\n\n" + " ".join(f"word{number:04}" for number in range(1500))


# --- messages -----------------------------------------------------------------------------------------------------


def test_estimate_lists_texts_tokens_and_cost() -> None:
    assert estimate_text(make_estimate()) == (
        "25,000 passages to embed with openai, text-embedding-3-small; 1,043 have a vector already. "
        "About 7,500,000 tokens, $0.15 ($0.02 per million tokens, list price of 2026-11-22), about 9 minutes. "
        "The text is sent to openai."
    )
    assert estimate_text(make_estimate(), "vm:8080").endswith("The text is sent to openai at vm:8080.")
    here = make_estimate(provider="gguf", model="m", remote=False, price=0.0, cost=0.0, price_checked="")
    assert estimate_text(here).endswith("About 7,500,000 tokens, free, about 9 minutes.")
    assert "an unknown price" in estimate_text(make_estimate(price=None, cost=None))
    assert estimate_text(make_estimate(chunks=0)) == (
        "All 1,043 passages of the index have a vector of openai, text-embedding-3-small."
    )


def test_empty_index_is_not_called_complete() -> None:
    assert estimate_text(make_estimate(chunks=0, cached=0)) == (
        "Nothing is indexed yet that openai, text-embedding-3-small could embed."
    )


def test_pending_embedding_says_how_to_approve() -> None:
    sentence = awaiting_text(make_estimate())
    assert "costs $0.15 and was not begun" in sentence
    assert "--yes" in sentence
    assert "costs an unknown amount" in awaiting_text(make_estimate(price=None, cost=None))
    assert "takes about 9 minutes" in awaiting_text(make_estimate(price=0.0, cost=0.0))


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (0.2, "about 1 second"),
        (45, "about 45 seconds"),
        (100, "about 2 minutes"),
        (7000, "about 2 hours"),
        (300_000, "about 3 days"),
    ],
)
def test_durations_are_round(seconds: float, expected: str) -> None:
    assert duration(seconds) == expected


def test_amounts_below_a_cent_are_shown() -> None:
    assert [dollars(cost) for cost in (0.0, 0.004, 0.015, 1234.5)] == [
        "$0.00",
        "less than $0.01",
        "$0.01",
        "$1,234.50",
    ]
    assert spent_text(0, 0.0) == ""
    assert spent_text(1200, None) == "1,200 tokens, at an unknown price"
    assert "1,200 tokens, $0.02" in progress_text(make_progress(tokens=1200, cost=0.02), 1)


# --- consent of index -----------------------------------------------------------------------------------------------


@pytest.fixture
def paid(folder: Path, settings: Path, monkeypatch: pytest.MonkeyPatch) -> PaidProvider:
    """Create a note whose embedding costs some cents, and settings with the paid provider."""
    provider = PaidProvider()
    provider.id = "openai"
    monkeypatch.setitem(provider_selection.FACTORIES, "openai", lambda settings, key: provider)
    (folder / "long.md").write_text(NOTE)
    settings.write_text(settings.read_text().replace('"none"', '"openai"'))
    return provider


def fail(texts: Sequence[str]) -> None:
    raise ProviderError("No answer.")


def test_nothing_sent_without_user_to_ask(verb: Run, paid: PaidProvider) -> None:
    answer = verb("index")
    assert answer.code == 1
    assert answer.out.startswith("Indexed 1 file")
    assert answer.err.count("\n") == 1
    assert "to agree, run mnemoscope index --yes" in answer.err
    assert paid.embedded == []
    assert "word" in verb("search", "word0007").out, "keyword search works in the meantime"


def test_index_yes_approves_embedding(verb: Run, paid: PaidProvider) -> None:
    answer = verb("index", "--yes")
    assert (answer.code, answer.err) == (0, "")
    assert "0 pending" in answer.out
    assert "Spent: " in answer.out
    assert paid.embedded
    assert f"{paid.tokens_used:,} tokens, $" in verb("status").out


def test_json_report_has_pending(verb: Run, paid: PaidProvider) -> None:
    answer = verb("index", "--json")
    assert answer.code == 1
    assert answer.json["awaitingApproval"]["provider"] == "openai"
    assert answer.json["awaitingApproval"]["cost"] > 0.01
    assert paid.embedded == []


@pytest.mark.parametrize("typed", ["y\n", "YES\n"])
def test_yes_at_terminal_starts_embedding(typing: Callable[..., Answer], paid: PaidProvider, typed: str) -> None:
    answer = typing(typed, "index")
    assert answer.code == 0
    assert "Begin? [y/N]" in answer.err
    assert "tokens, $" in answer.err
    assert paid.embedded


@pytest.mark.parametrize("typed", ["\n", "n\n", "", "maybe\n"])
def test_prompt_without_yes_embeds_nothing(typing: Callable[..., Answer], paid: PaidProvider, typed: str) -> None:
    answer = typing(typed, "index")
    assert answer.code == 0
    assert "Nothing was embedded" in answer.out
    assert paid.embedded == []


@pytest.fixture
def fallback(paid: PaidProvider, settings: Path, monkeypatch: pytest.MonkeyPatch) -> PaidProvider:
    """Configure an equally expensive fallback for the paid provider, which fails."""
    paid.before = fail
    paid.price = 0.001
    provider = PaidProvider(id="voyage")
    monkeypatch.setitem(provider_selection.FACTORIES, "voyage", lambda settings, key: provider)
    settings.write_text(settings.read_text() + 'fallback = "voyage"\n')
    return provider


def test_pending_fallback_shown_with_failure(verb: Run, fallback: PaidProvider) -> None:
    answer = verb("index")
    assert (answer.code, answer.err.count("\n")) == (1, 1)
    assert "No answer. Embedding" in answer.err
    assert "with voyage costs" in answer.err
    assert verb("index", "--yes").code == 0
    assert fallback.embedded


@pytest.mark.parametrize(("typed", "code"), [("y\n", 0), ("n\n", 1)])
def test_fallback_asks_for_approval_at_terminal(
    typing: Callable[..., Answer], fallback: PaidProvider, typed: str, code: int
) -> None:
    answer = typing(typed, "index")
    assert answer.code == code
    assert "No answer." in answer.err
    assert bool(fallback.embedded) is (code == 0)


def test_missing_provider_reported_after_indexing(
    verb: Run, paid: PaidProvider, settings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def make(settings: Settings, key: str | None) -> None:
        raise ProviderError("There is no key.")

    monkeypatch.setitem(provider_selection.FACTORIES, "openai", make)
    answer = verb("index")
    assert answer.code == 0
    assert answer.out.startswith("Indexed 1 file")
    assert answer.err == "mnemoscope: No search by meaning: There is no key.\n"
    monkeypatch.setitem(provider_selection.FACTORIES, "embedded", lambda settings, key: FakeProvider(id="embedded"))
    settings.write_text(settings.read_text() + '\nfallback = "embedded"\n')
    answer = verb("index")
    assert answer.err == "mnemoscope: embedded is used instead of openai: There is no key.\n"


# --- dry run --------------------------------------------------------------------------------------------------------


def test_dry_run_shows_price_before_reading(verb: Run, paid: PaidProvider, folder: Path, tmp_path: Path) -> None:
    answer = verb("index", "--dry-run")
    assert "1 file not read yet (13.5 KB): roughly 4,502 tokens, $0.05" in answer.out
    assert not (tmp_path / "data").exists()
    verb("index")
    exact = verb("index", "--dry-run", "--json").json["embedding"]
    assert (exact["unreadFiles"], exact["unreadCost"]) == (0, 0.0)
    assert exact["indexed"]["chunks"] > 0
    assert exact["indexed"]["price"] == paid.price
    assert paid.embedded == []
    (folder / "new.md").write_text("new")
    assert "1 file not read yet" in verb("index", "--dry-run").out


def test_dry_run_reports_keyword_only_setting(verb: Run) -> None:
    assert "No search by meaning: it is turned off in the settings." in verb("index", "--dry-run").out


# --- status and doctor ------------------------------------------------------------------------------------------------


def test_doctor_and_status_show_pending(verb: Run, paid: PaidProvider) -> None:
    verb("index")
    sentence = verb("status").out.partition("Waiting:")[2].splitlines()[0].strip()
    assert "was not begun" in sentence
    assert sentence in verb("doctor").out
    paid.before = fail
    assert verb("index", "--yes").code == 1
    assert "Waiting:" not in verb("status").out, "the approval is stored for the next update"
    assert "found by words only, for now. Run mnemoscope index." in verb("doctor").out


def test_doctor_does_not_compare_billed_vectors(verb: Run, paid: PaidProvider) -> None:
    verb("index", "--yes")
    paid.embedded.clear()
    found = {check["id"]: check for check in verb("doctor", "--deep", "--json").json["checks"]}
    assert (
        found["vector-agreement"]["detail"]
        == "Stored vectors were not compared, because texts would be sent to the provider and billed."
    )
    assert paid.embedded == []
    assert "vector-agreement" not in {check["id"] for check in verb("doctor", "--json").json["checks"]}


def test_refused_passage_named_everywhere(verb: Run, paid: PaidProvider) -> None:
    def refuse(texts: Sequence[str]) -> None:
        if any("word0007" in text for text in texts):
            raise TextsRefused("The service refused the request.")

    paid.before = refuse
    answer = verb("index", "--yes")
    assert (answer.code, answer.err) == (0, "")
    for out in (answer.out, verb("status").out, verb("doctor").out):
        assert "long.md" in out
        assert "found by words only: The service refused the request." in out


def with_custom(status: MemoryProviderStatus, **custom: object) -> dict[str, object]:
    return {"custom": status.custom | custom}


def test_status_shows_text_recipient(run: Run, memory: FakeMemory) -> None:
    dealings = {"remote": True, "server": "work.example", "price": 0.02, "consent": "agreed to"}
    dealings |= {"keyOrigin": "the keychain", "skippedProviders": ["gguf: there is no file."]}
    memory.set_status(
        provider="openai",
        awaiting_approval=make_estimate(),
        **with_custom(memory.status(), **dealings),
    )
    out = " ".join(run("status").out.split())
    assert "Texts are sent: to openai at work.example, because remote.approved in the settings allows it" in out
    assert "API key: from the keychain" in out
    assert "Price: $0.02 per million tokens" in out
    assert "Skipped: gguf: there is no file." in out
    assert "Waiting: Embedding 25,000 passages with openai costs $0.15" in out


def test_built_in_model_sends_no_texts(verb: Run, settings: Path) -> None:
    assert "Texts are sent: nowhere" in " ".join(verb("status").out.split())


def test_status_counts_a_remote_fallback(verb: Run, settings: Path) -> None:
    settings.write_text(settings.read_text().replace('"none"', '"embedded"\nfallback = "openai"'))
    out = " ".join(verb("status").out.split())
    assert (
        "Texts are sent: to openai at api.openai.com if embedded fails, because it is set as fallback in the settings; "
        "until then nowhere: embedded works on this machine"
    ) in out
    assert verb("status", "--json").json["custom"]["remoteFallback"] == {
        "provider": "openai",
        "server": "api.openai.com",
    }
    assert "if it fails, texts are sent to openai at api.openai.com" in checks(verb("doctor", "--json"))["Embedding"][1]


def test_status_names_provider_and_fallback(run: Run, memory: FakeMemory) -> None:
    dealings = {"remote": True, "price": 0.02, "consent": "named as provider"}
    fallback = {"provider": "voyage", "server": "api.voyageai.com"}
    memory.set_status(provider="openai", **with_custom(memory.status(), remoteFallback=fallback, **dealings))
    assert (
        "Texts are sent: to openai, because it is set as provider in the settings; to voyage at api.voyageai.com if "
        "openai fails, because it is set as fallback in the settings"
    ) in " ".join(run("status").out.split())


def checks(answer: Answer) -> dict[str, tuple[str, str]]:
    return {check["name"]: (check["state"], check["detail"]) for check in answer.json["checks"]}


def test_doctor_shows_key_source_never_key(
    verb: Run, paid: PaidProvider, keychain: FakeKeychain, monkeypatch: pytest.MonkeyPatch
) -> None:
    store_key("openai", Settings(provider="openai"), "the-very-secret-key")
    answer = verb("doctor", "--json")
    assert checks(answer)["API key of openai"] == ("fine", "The API key is in the keychain.")
    state, detail = checks(answer)["Embedding"]
    assert state == "fine"
    assert detail == ("openai, dear; texts are sent to this provider (named as provider); $10 per million tokens")
    assert paid.questions == ["ping"]
    keychain.fails = OSError("the-very-secret-key")
    broken = verb("doctor", "--json")
    assert checks(broken)["API key of openai"][0] == "degraded"
    assert "No search by meaning" in checks(broken)["Embedding"][1]
    for text in (answer.out, broken.out, verb("status").out, verb("status", "--deep").out):
        assert "the-very-secret-key" not in text


def test_doctor_reports_missing_parts(verb: Run, paid: PaidProvider, monkeypatch: pytest.MonkeyPatch) -> None:
    def make(settings: Settings, key: str | None) -> None:
        raise ProviderError("There is no key.")

    monkeypatch.setitem(provider_selection.FACTORIES, "openai", make)
    found = checks(verb("doctor", "--json"))
    assert found["API key of openai"] == ("fine", "There is no API key.")
    assert found["Embedding"] == ("degraded", "No search by meaning: There is no key.")


def test_doctor_ignores_unneeded_keys(verb: Run) -> None:
    assert not [name for name in checks(verb("doctor", "--json")) if name.startswith("Key")]
