"""Facts: recall for matching and other prompts, detection of duplicates, and time.

"The reference" is its rule: 1 / (1 + squared distance of the vectors), recalled from 0.3 on, a duplicate from 0.95.
"""

import re
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from tests.benchmarks.measuring import ROOT, Figure, measure, spread, timed
from tests.benchmarks.prepared import Bench

LABELLED = Path(__file__).parents[1] / "labelled" / "facts.toml"
_RECALLED = 3
_MANY = 3000
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_MIN, _MAX = 25, 200


def run(bench: Bench) -> Iterator[Figure]:
    for filler in (0, 1000):
        ours, theirs, unrelated, theirs_unrelated, count, queries = measure(_recall, filler).value
        yield Figure(
            f"facts, {count:,} of them: paraphrases that recall theirs among the first {_RECALLED}",
            "most",
            f"{ours} of {queries}",
            f"the reference's rule: {theirs}",
        )
        yield Figure(
            f"facts, {count:,} of them: unrelated prompts that recall anything",
            "none",
            f"{unrelated} of 40",
            f"the reference's rule: {theirs_unrelated}",
        )
    for name, what in (("personal", "natural questions"), ("personal_unseen", "unseen natural questions")):
        found, total, unrelated, others = measure(_personal, name).value
        yield Figure(f"facts: {what} about oneself that recall theirs among the first 5", "most", f"{found} of {total}")
        yield Figure(f"facts: unrelated questions that recall any of these {total}", "none", f"{unrelated} of {others}")
    same, same_theirs, other, other_theirs, pairs = measure(_duplicates).value
    yield Figure(
        "facts: the same words again, known as a duplicate",
        "all",
        f"{same} of 3",
        f"the reference's rule: {same_theirs}",
    )
    yield Figure(
        "facts: others of the same length that say something else, lost as a duplicate",
        "none",
        f"{other} of {pairs}",
        f"the reference's rule: {other_theirs}",
    )
    first, later = measure(_speed).value
    yield Figure(
        f"facts, {_MANY:,} of them: one question by words and meaning, with its embedding",
        "some ms",
        f"{spread(later)}; the first of a process {first:.0f} ms",
    )


def sentences() -> list[str]:
    """Return sentences of the sample notes in all their languages, which are neither facts nor about them."""
    found: dict[str, None] = {}
    for file in sorted((ROOT / "resources" / "sample").rglob("*.md")):
        for part in _SENTENCE.split(file.read_text("utf-8")):
            sentence = part.strip(" -*#>|[]")
            if _MIN < len(sentence) < _MAX and sentence.count(" ") > 3:
                found[sentence] = None
    return list(found)


def _recall(filler: int) -> tuple[int, int, int, int, int, int]:
    labelled = tomllib.loads(LABELLED.read_text("utf-8"))
    stored = [fact for fact, _ in labelled["facts"]] + sentences()[:filler]
    with tempfile.TemporaryDirectory() as folder:
        facts, provider = _facts(Path(folder), stored)
        vectors = provider.embed_documents(stored)

        def reference(prompt: str) -> list[str]:
            distances = 2 - 2 * (vectors @ provider.embed_query(prompt))
            near = sorted(range(len(stored)), key=lambda place: distances[place])[:_RECALLED]
            return [stored[place] for place in near if 1 / (1 + distances[place]) >= 0.3]

        def ours(prompt: str) -> list[str]:
            return [found.fact.text for found in facts.find(f"{prompt} ", max_results=_RECALLED).results]

        prompts = labelled["facts"]
        return (
            sum(fact in ours(prompt) for fact, prompt in prompts),
            sum(fact in reference(prompt) for fact, prompt in prompts),
            sum(bool(ours(prompt)) for prompt in labelled["off_topic"]),
            sum(bool(reference(prompt)) for prompt in labelled["off_topic"]),
            len(stored),
            len(prompts),
        )


def _personal(name: str) -> tuple[int, int, int, int]:
    labelled = tomllib.loads(LABELLED.read_text("utf-8"))
    queries, others = labelled[name], labelled["not_personal"] + labelled["off_topic"]
    with tempfile.TemporaryDirectory() as folder:
        facts, _ = _facts(Path(folder), list(dict.fromkeys(fact for fact, _ in queries)))
        found = [fact in [one.fact.text for one in facts.find(f"{query} ").results] for fact, query in queries]
        return sum(found), len(queries), sum(bool(facts.find(f"{query} ").results) for query in others), len(others)


def _duplicates() -> tuple[int, int, int, int, int]:
    labelled = tomllib.loads(LABELLED.read_text("utf-8"))

    def ours(pair: Sequence[str]) -> bool:
        with tempfile.TemporaryDirectory() as folder:
            facts, _ = _facts(Path(folder), pair[:1])
            return facts.add(pair[1]).duplicate

    from engine.embedding.embedded_model import EmbeddedProvider

    provider = EmbeddedProvider()

    def reference(pair: Sequence[str]) -> bool:
        first, second = provider.embed_documents(pair)
        return 1 / (1 + 2 - 2 * float(first @ second)) >= 0.95

    same, other = labelled["same"], labelled["other"]
    return (
        sum(map(ours, same)),
        sum(map(reference, same)),
        sum(map(ours, other)),
        sum(map(reference, other)),
        len(other),
    )


def _speed() -> tuple[float, list[float]]:
    texts = sentences()
    many = [f"{sentence} ({number})" for number in range(_MANY // len(texts) + 1) for sentence in texts][:_MANY]
    prompts = tomllib.loads(LABELLED.read_text("utf-8"))["off_topic"]
    with tempfile.TemporaryDirectory() as folder:
        facts, _ = _facts(Path(folder), many)
        (first,) = timed([partial(facts.find, prompts[0])])
        return first, timed([partial(facts.find, prompt) for prompt in prompts[1:]])


def _facts(folder: Path, texts: Sequence[str]):
    """Return the facts of a new workspace, all with vectors, and the provider of these."""
    from engine.embedding.embedded_model import EmbeddedProvider
    from engine.memory.facts import Facts
    from engine.records import Fact
    from engine.store.user_data import UserData

    provider = EmbeddedProvider()
    user = UserData(folder / "user.sqlite")
    facts = Facts(user, lambda: provider, lambda _: None)
    facts.revert_to(
        *(
            Fact(id=str(n), text=text, category="fact", importance=0.7, created=n, changed=n, origin="user")
            for n, text in enumerate(texts)
        )
    )
    for _ in range(len(texts) // 256 + 1):
        facts.find("everything")
    return Facts(user, lambda: provider, lambda _: None), provider
