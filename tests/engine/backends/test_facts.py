"""Facts in the whole engine: saved once, found by keywords and vectors, restored after forgetting, sent nowhere."""

import contextlib
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from engine.base.errors import FactRefused, IndexReadOnly
from engine.memory.facts import Facts
from engine.providers import Calibration
from engine.records import LONGEST_FACT
from engine.store.user_data import UserData
from tests.helpers.fake_provider import FakeProvider

DAY = 86_400


@pytest.fixture
def provider() -> FakeProvider:
    made = FakeProvider()
    made.calibration = Calibration(0.1, 0.9, 0.5)
    return made


@pytest.fixture
def user(tmp_path: Path) -> Iterator[UserData]:
    data = UserData(tmp_path / "user.sqlite")
    yield data
    data.close()


@pytest.fixture
def noted() -> list[str | None]:
    """Notes of the provider's failures and recoveries."""
    return []


@pytest.fixture
def facts(user: UserData, provider: FakeProvider, noted: list[str | None]) -> Facts:
    return Facts(user, lambda: provider, noted.append)


@pytest.fixture
def wordy(user: UserData, noted: list[str | None]) -> Facts:
    """Facts without a provider."""
    return Facts(user, lambda: None, noted.append)


def texts(facts: Facts, query: str, **options) -> list[str]:
    return [found.fact.text for found in facts.find(query, **options).results]


# --- saving -----------------------------------------------------------------------------------------------------------


def test_fact_saved_with_origin(facts: Facts) -> None:
    saved = facts.add(
        " I prefer tea. ", category="preference", origin="agent", session_key="agent:main:1", importance=7
    )
    assert not saved.duplicate
    assert facts.all() == (saved.fact,)
    assert (saved.fact.text, saved.fact.origin, saved.fact.session_key) == ("I prefer tea.", "agent", "agent:main:1")
    assert saved.fact.importance == 1.0
    assert saved.fact.created == pytest.approx(time.time(), abs=60)


@pytest.mark.parametrize("again", ["i prefer TEA", "I  prefer\ttea!", "“I prefer the tea.”"])
def test_the_same_words_are_a_duplicate(facts: Facts, again: str) -> None:
    first = facts.add("I prefer tea.").fact
    second = facts.add(again)
    assert (second.duplicate, second.fact) == (True, first)
    assert len(facts.all()) == 1


@pytest.mark.parametrize(
    ("known", "again"),
    [
        ("I'm lactose-intolerant", "I\u2019m lactose intolerant."),
        ("B\u00fccher sind gut", "Bu\u0308cher sind gut"),
        ("I prefer tea", "I pre\u00adfer t\u200bea"),
    ],
)
def test_other_spelling_is_the_same_fact(facts: Facts, known: str, again: str) -> None:
    facts.add(known)
    assert facts.add(again).duplicate


def test_parallel_processes_save_once(facts: Facts, tmp_path: Path, monkeypatch) -> None:
    with contextlib.closing(UserData(tmp_path / "user.sqlite")) as data:
        other = threading.Thread(target=Facts(data, lambda: None, print).add, args=("I prefer tea",))
        made = uuid.uuid4

        def meanwhile() -> uuid.UUID:
            if other.ident is None:
                other.start()
                other.join(0.2)  # gives the other thread a chance between the check and the write
            return made()

        monkeypatch.setattr(uuid, "uuid4", meanwhile)
        facts.add("I prefer tea!")
        other.join()
    assert [fact.text for fact in facts.all()] == ["I prefer tea!"]


@pytest.mark.parametrize(
    ("known", "new"),
    [
        ("I prefer tea over coffee.", "I prefer coffee over tea."),
        ("I am vegetarian.", "I am not vegetarian."),
        ("Mira was born in 2014", "Mira was born in 2015"),
        ("It costs 10 €", "It costs 10 $"),
        ("I write C", "I write C++"),
        ("We meet before lunch", "We meet after lunch"),
        ("It is -5 degrees", "It is 5 degrees"),
        ("The code is 10\u2075", "The code is 105"),
        ("!!!", "???"),
    ],
)
def test_different_fact_is_not_a_duplicate(facts: Facts, known: str, new: str) -> None:
    facts.add(known)
    assert not facts.add(new).duplicate
    assert {fact.text for fact in facts.all()} == {known, new}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("  ", "needs some words"),
        ("x" * (LONGEST_FACT + 1), "4,000 characters"),
        ("half a \ud83d letter", "can't be saved"),
        ("My key is sk-proj-abcdEFGH1234ijklMNOP5678qrstUVWX9012yzab", "password, a key or a token"),
    ],
)
def test_unsavable_fact_says_why(facts: Facts, text: str, why: str) -> None:
    with pytest.raises(FactRefused, match=why):
        facts.add(text)
    fact = facts.add("fine").fact
    with pytest.raises(FactRefused, match=why):
        facts.change(msgspec.structs.replace(fact, text=text))
    assert [fact.text for fact in facts.all()] == ["fine"]


def test_read_only_data_finds_facts_by_keywords(tmp_path: Path, provider: FakeProvider) -> None:
    with contextlib.closing(UserData(tmp_path / "user.sqlite")) as data:
        Facts(data, lambda: None, print).add("I prefer tea")
        data.empty_log()
    with contextlib.closing(UserData(tmp_path / "user.sqlite", read_only=True)) as data:
        frozen = Facts(data, lambda: provider, lambda _: None)
        assert texts(frozen, "prefer tea") == ["I prefer tea"]
        assert "cannot be written" in frozen.read_only_reason
        assert provider.embedded == []
        with pytest.raises(IndexReadOnly):
            frozen.add("another")


# --- forgetting -------------------------------------------------------------------------------------------------------


def test_forgotten_fact_hidden_and_restorable(facts: Facts) -> None:
    fact = facts.add("I prefer tea").fact
    [before] = facts.forget([fact.id], "agent")
    assert before == fact
    assert texts(facts, "prefer tea") == []
    assert (facts.all()[0].forgotten_by, facts.all()[0].text) == ("agent", "I prefer tea")
    assert texts(facts, "prefer tea", everything=True) == ["I prefer tea"]
    assert facts.forget([fact.id]) == ()
    facts.restore([fact.id])
    assert facts.all() == (fact,)
    facts.change(msgspec.structs.replace(fact, text="I prefer coffee"))
    facts.revert_to(before)
    assert facts.all() == (fact,)
    assert texts(facts, "prefer tea") == ["I prefer tea"]


def test_forgotten_fact_is_deleted_after_a_month(user: UserData, facts: Facts, monkeypatch, tmp_path: Path) -> None:
    old, new = facts.add("Zitronenbaum im Garten").fact, facts.add("Kept for good").fact
    monkeypatch.setattr(time, "time", lambda clock=time.time: clock() - 31 * DAY)
    facts.forget([old.id])
    monkeypatch.undo()
    assert [fact.id for fact in Facts(user, lambda: None, print).all()] == [new.id]
    assert not any(b"Zitronenbaum" in file.read_bytes() for file in tmp_path.iterdir())


def test_erased_fact_removed_with_vector(facts: Facts, user: UserData) -> None:
    fact = facts.add("I prefer tea").fact
    assert texts(facts, "tea I prefer")
    facts.erase([fact.id])
    assert facts.all() == ()
    with user.reading() as connection:
        assert connection.execute("SELECT count(*) FROM fact_vectors").fetchone() == (0,)


def test_explicit_repeat_restores_but_capture_does_not(facts: Facts) -> None:
    fact = facts.add("I prefer tea").fact
    facts.forget([fact.id])
    assert facts.add("I prefer tea!", origin="capture", pending=True).duplicate
    assert facts.all()[0].forgotten is not None
    again = facts.add("I prefer tea!", category="preference")
    assert (again.duplicate, again.fact.id, again.fact.text) == (False, fact.id, "I prefer tea!")
    assert facts.all()[0].remembered


# --- approving --------------------------------------------------------------------------------------------------------


def test_pending_fact_not_sent_until_approved(facts: Facts, provider: FakeProvider) -> None:
    fact = facts.add("I prefer tea", origin="capture", pending=True).fact
    facts.add("Something else", origin="user")
    assert texts(facts, "prefer tea") == []
    assert provider.embedded == ["Something else"]
    assert texts(facts, "prefer tea", everything=True) == ["I prefer tea"]
    assert facts.add("I prefer tea", origin="agent", pending=True).duplicate
    facts.approve([fact.id])
    assert texts(facts, "prefer tea") == ["I prefer tea"]
    assert "I prefer tea" in provider.embedded


# --- searching --------------------------------------------------------------------------------------------------------


def test_keyword_search_finds_other_forms_in_facts(wordy: Facts) -> None:
    wordy.add("We decided to migrate the databases in Spring")
    wordy.add("Ines grows tomatoes")
    wordy.add("温泉に行くのが好きです")
    found = wordy.find("database migrations decision")
    assert (found.mode, found.notice) == ("keyword", "")
    assert [one.fact.text for one in found.results] == ["We decided to migrate the databases in Spring"]
    assert texts(wordy, "温泉") == ["温泉に行くのが好きです"]
    assert texts(wordy, "tomato soup recipe for the winter") == []
    assert texts(wordy, "   ") == []


def test_each_fact_is_embedded_once_and_again_after_a_change(facts: Facts, provider: FakeProvider) -> None:
    fact = facts.add("I prefer tea").fact
    for _ in range(2):
        assert facts.find("tea").mode == "hybrid"
    assert provider.embedded == ["I prefer tea"]
    facts.change(msgspec.structs.replace(fact, category="preference"))
    facts.find("tea")
    assert provider.embedded == ["I prefer tea"]
    facts.change(msgspec.structs.replace(fact, text="I prefer coffee"))
    assert texts(facts, "prefer coffee") == ["I prefer coffee"]
    assert provider.embedded == ["I prefer tea", "I prefer coffee"]


def test_other_model_gets_own_vectors(user: UserData, provider: FakeProvider) -> None:
    other = FakeProvider(dims=32, model="other")
    using = [provider]
    facts = Facts(user, lambda: using[0], lambda _: None)
    facts.add("I prefer tea")
    facts.find("tea")
    using[0] = other
    assert facts.find("prefer tea").results[0].vector_score is not None
    using[0] = provider
    facts.find("tea")
    assert (provider.embedded, other.embedded) == (["I prefer tea"], ["I prefer tea"])


def test_no_request_without_facts_to_compare(facts: Facts, provider) -> None:
    facts.add("It waits", pending=True)
    assert facts.find("It waits").results == ()
    assert facts.find("waits", everything=True).mode == "keyword"
    assert (provider.questions, provider.embedded) == ([], [])


def test_secret_in_query_for_facts_is_masked_before_sending(facts: Facts, provider: FakeProvider) -> None:
    facts.add("I prefer tea")
    facts.find("what of tea, with sk-proj-abcdEFGH1234ijklMNOP5678qrstUVWX9012yzab?")
    assert "abcdEFGH1234" not in provider.questions[0]


def test_failing_provider_leaves_keyword_answer(facts: Facts, provider, noted) -> None:
    facts.add("I prefer tea")
    provider.fails_queries = "It is out of order."
    found = facts.find("prefer tea")
    assert (found.mode, found.notice) == ("keyword", "It is out of order.")
    assert [one.fact.text for one in found.results] == ["I prefer tea"]
    assert noted == ["It is out of order."]
    provider.fails_queries = ""
    assert facts.find("prefer tea").notice == ""
    assert noted[-1] is None


def test_each_query_embeds_a_limited_number_of_new_facts(facts: Facts, provider: FakeProvider, monkeypatch) -> None:
    monkeypatch.setattr("engine.memory.facts._BATCH_SIZE", 20)
    for number in range(50):
        facts.add(f"Number {number} of fifty")
    facts.find("fifty")
    assert len(provider.embedded) == 20
    facts.find("fifty")
    facts.find("fifty")
    assert len(provider.embedded) == len(set(provider.embedded)) == 50


def test_equal_matches_order_by_importance(facts: Facts) -> None:
    facts.add("Tea is green", importance=0.2)
    facts.add("Tea is black", importance=0.9)
    facts.add("Tea is white", importance=0.5)
    assert texts(facts, "tea") == ["Tea is black", "Tea is white", "Tea is green"]
    assert texts(facts, "tea", max_results=1) == ["Tea is black"]


def test_facts_of_another_process_are_found(facts: Facts, tmp_path: Path) -> None:
    assert facts.all() == ()
    with contextlib.closing(UserData(tmp_path / "user.sqlite")) as other:
        Facts(other, lambda: None, print).add("I prefer tea")
    assert texts(facts, "prefer tea") == ["I prefer tea"]


def test_fact_is_found_by_prefix_of_its_id(facts: Facts) -> None:
    fact = facts.add("I prefer tea").fact
    assert facts.named(fact.id[:8]) == (fact,)
    assert facts.named("") == facts.named("no such") == ()


def test_a_memory_keeps_its_facts_from_one_opening_to_the_next(open_memory: Callable) -> None:
    memory = open_memory()
    fact = memory.facts.add("I prefer tea").fact
    assert memory.facts.find("prefer tea").mode == "hybrid"
    memory.sync(force=True)
    memory.close()
    assert open_memory().facts.all() == (fact,)
