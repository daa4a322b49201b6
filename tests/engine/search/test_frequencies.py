"""Counts of chunks with a word: read once while the index is unchanged, and again after a change."""

from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from engine.backends.builtin import BuiltinMemory
from engine.records import SearchExplanation
from engine.search import document_frequencies
from engine.search.document_frequencies import Counts, Frequencies
from engine.search.keyword_leg import KeywordLeg
from engine.settings import Settings
from engine.text import analyse_query

Explain = Callable[[str], str]


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.md").write_text("# Weirs\n\nThe weir and its weirkeeper.\n", "utf-8")
    (folder / "b.md").write_text("# Diary\n\nSaw the weir.\n", "utf-8")
    return folder


@pytest.fixture
def memory(tmp_path: Path, notes: Path) -> Iterator[BuiltinMemory]:
    settings = Settings(provider="none")
    store = msgspec.structs.replace(settings.store, path=str(tmp_path / "data"))
    memory = BuiltinMemory(notes, msgspec.structs.replace(settings, store=store), executor=None, background=False)
    memory.sync()
    yield memory
    memory.close()


def _counted(memory: BuiltinMemory, query: str) -> str:
    explanation = memory.search(query, explain=True).explanation
    assert isinstance(explanation, SearchExplanation)
    return next(stage.note for stage in explanation.stages if stage.name == "words")


def test_changed_index_recounted(memory: BuiltinMemory, notes: Path) -> None:
    assert "“weir”: 2" in _counted(memory, "weir and more")
    assert "“weirk”: 1" in _counted(memory, "weirk")
    (notes / "c.md").write_text("# More\n\nAnother weir, another weirkeeper.\n", "utf-8")
    memory.sync()
    assert "“weir”: 3" in _counted(memory, "weir and more")
    assert "“weirk”: 2" in _counted(memory, "weirk")


def test_words_are_counted_as_typed(memory: BuiltinMemory, notes: Path) -> None:
    (notes / "c.md").write_text("# Two\n\nTwo weirs.\n", "utf-8")
    (notes / "d.md").write_text("# Boats\n\nSailing boats.\n", "utf-8")
    memory.sync()
    assert "“weir”: 2 and 1 in another form." in _counted(memory, "weir and more")
    assert "“sails”: 1 in another form." in _counted(memory, "sails and more")


def test_counted_words_not_read_again(memory: BuiltinMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    original = Counts._read
    monkeypatch.setattr(Counts, "_read", lambda self, *words: read.append(words[0]) or original(self, *words))
    counts = [_counted(memory, query) for query in ("wei", "weir", "weirk", "wei", "dia", "diar")]
    assert read == ["wei", "dia"]
    assert "“weirk”: 1" in counts[2]


def test_prefix_with_long_lists_has_frequent_words(
    memory: BuiltinMemory, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(120):
        common = ("stone " * 3 + "store ") if number % 2 else "steep stream "
        rare = " ".join(f"stx{number}y{other}" for other in range(60))
        (notes / f"{number}.md").write_text(f"{common} {rare} tree\n\n# Still\n\n{common} lake", "utf-8")
    memory.sync()
    with memory.store.read() as snapshot:
        every = Frequencies().counts(snapshot).words("st")
        for name, value in (("LARGE", 0), ("_MAX_PAGES", 20)):
            monkeypatch.setattr(document_frequencies, name, value)
        counts = Frequencies().counts(snapshot)
        some = counts.words("st")
        assert 0.2 < some.chunks / every.chunks < 5
        assert len(some.tokens) < len(every.tokens) / 2
        assert {word for word in every.words if word.chunks > 50} <= {*some.words} <= {*every.words}
        assert counts.words("sto").words == every.narrowed("sto").words
        assert len(counts.words("stx1y").tokens) == 60
        hidden, *visible = (id_ for (id_,) in snapshot.connection.execute(f"SELECT id FROM {snapshot.tables.files}"))
        known = Frequencies().counts(snapshot.without(frozenset({hidden}), tuple(visible)))
        assert not known.words("st").estimate


def test_counts_of_indexed_words_outlast_missing_ones(memory: BuiltinMemory) -> None:
    read: list[str] = []
    with memory.store.read() as snapshot:
        counts = Frequencies().counts(snapshot)
        counts.expect(["weir"])
        counts.expect(f"missing{number}" for number in range(5000))
        counts.expect(["lock"])
        snapshot.connection.exec_trace = lambda _, statement, __: read.append(statement) or True
        try:
            assert counts.chunks("weir", "words") == 2
            assert not read
            assert counts.chunks("diary", "words") == 1
            assert read
        finally:
            snapshot.connection.exec_trace = None


def test_prefix_of_too_many_words_is_spelled_out(
    memory: BuiltinMemory, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def weaker_stems() -> tuple[str, ...]:
        with memory.store.read() as snapshot:
            analysis = analyse_query("weirkeeper rybník hráz", ["czech"])  # its stems match as prefixes, too
            return KeywordLeg(snapshot, analysis, Frequencies()).terms[0].weak_stems

    (notes / "c.md").write_text("# More\n\nWeirkeepers keeping weirs, weirkeeping.\n", "utf-8")
    memory.sync()
    assert weaker_stems() == ('"weirk" *',)
    monkeypatch.setattr(document_frequencies, "WIDEST_PREFIX", 2)
    assert weaker_stems() == ('"weirkeep"',)
