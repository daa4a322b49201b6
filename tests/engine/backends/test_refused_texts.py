"""Texts that a provider refuses: the others get vectors; refused ones are reported and not sent repeatedly."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from engine.base.errors import ProviderError
from engine.embedding.provider_interface import LeftOut, PartialAnswer, TextsRefused
from tests.helpers.fake_provider import FakeProvider

POISON = "forbidden"


class Fussy(FakeProvider):
    """Refuses every request that contains one word; records all requests."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[Sequence[str]] = []
        self.before = self.refuse

    def refuse(self, texts: Sequence[str]) -> None:
        self.asked.append(texts)
        if any(POISON in text for text in texts):
            raise TextsRefused("The service refused the request.")


@pytest.fixture
def provider() -> Fussy:
    return Fussy()


@pytest.fixture
def workspace(workspace: Path) -> Path:
    for number in range(60):
        word = POISON if number in {7, 41} else "fine"
        (workspace / f"n{number:02}.md").write_text(f"# Note {number}\n\nThis is {word}, says {number}.\n")
    return workspace


def test_refused_texts_are_named_and_others_embedded(open_memory, provider: Fussy) -> None:
    memory = open_memory()
    report = memory.sync()
    assert (report.error, report.vectors_embedded, report.vectors_pending) == ("", 62, 2)
    assert [(issue.path, issue.rule) for issue in report.failed] == [
        ("n07.md", "not-embedded"),
        ("n41.md", "not-embedded"),
    ]
    assert "The service refused the request." in report.failed[0].detail
    assert memory.status().failed_files == report.failed
    assert memory.search(POISON, min_score=0.1).results[0].path in {"n07.md", "n41.md"}
    assert len(provider.embedded) == len(set(provider.embedded)), "only refused texts are sent twice"


def test_refused_texts_are_resent_after_restart_or_force(open_memory, workspace: Path, provider: Fussy) -> None:
    memory = open_memory()
    memory.sync()
    provider.asked.clear()
    (workspace / "later.md").write_text("One more note.\n")
    report = memory.sync()
    assert (report.error, report.vectors_pending, len(report.failed)) == ("", 2, 2)
    assert len(provider.asked) == 1
    provider.before = lambda texts: None
    assert memory.sync(force=True).vectors_pending == 0
    assert memory.status().failed_files == ()


def test_repaired_text_no_longer_named(open_memory, workspace: Path, provider: Fussy) -> None:
    memory = open_memory()
    memory.sync()
    for name in ("n07.md", "n41.md"):
        (workspace / name).write_text(f"# {name}\n\nAll is well.\n")
    report = memory.sync()
    assert (report.vectors_pending, report.failed, memory.status().failed_files) == (0, (), ())


def test_single_refused_text_does_not_start_fallback(open_memory, workspace: Path, provider: Fussy) -> None:
    memory = open_memory(instead=FakeProvider(id="second"))
    provider.before = lambda texts: None
    memory.sync()
    provider.before = provider.refuse
    (workspace / "bad.md").write_text(f"This one is {POISON}.\n")
    report = memory.sync()
    assert (report.error, [issue.path for issue in report.failed]) == ("", ["bad.md"])
    assert memory.status().fallback is None


def test_a_provider_that_refuses_everything_has_failed(open_memory, provider: Fussy) -> None:
    def refuse(texts: Sequence[str]) -> None:
        provider.asked.append(texts)
        raise TextsRefused("The service does not know dimensions.")

    provider.before = refuse
    memory = open_memory()
    report = memory.sync()
    assert (report.error, report.failed) == ("The service does not know dimensions.", ())
    assert len(provider.asked) < 15
    provider.limits = msgspec.structs.replace(provider.limits, inputs=1)
    assert memory.sync().error == report.error
    assert memory.status().failed_files == ()


@pytest.mark.parametrize("wrapped", [False, True])
def test_only_missing_vectors_requested_again(open_memory, provider: Fussy, wrapped) -> None:
    def leave_out(texts: Sequence[str]) -> None:
        provider.asked.append(texts)
        if any(POISON in text for text in texts):
            arrived = {index: provider.vectors_of([text])[0] for index, text in enumerate(texts) if POISON not in text}
            error = LeftOut("The service has left out a vector.", arrived)
            if wrapped and arrived:
                raise PartialAnswer(str(error), arrived) from error
            raise error

    provider.before = leave_out
    report = open_memory().sync()
    assert (report.error, report.vectors_pending, len(report.failed)) == ("", 2, 2)
    sent = [text for texts in provider.asked for text in texts if text != "ping"]
    assert len(set(sent)) == 64
    assert all(count == 1 for text, count in Counter(sent).items() if POISON not in text)


def test_other_failure_ends_embedding(open_memory, provider: Fussy) -> None:
    def fail(texts: Sequence[str]) -> None:
        if any(POISON in text for text in texts):
            raise ProviderError("The quota is used up.")

    provider.before = fail
    assert open_memory().sync().error == "The quota is used up."
