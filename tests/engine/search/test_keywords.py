"""The chunks that keyword search selects, also if a query matches too many chunks to rank all."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec
import pytest

from engine.backends.builtin import BuiltinMemory
from engine.providers import Calibration
from engine.records import ResultExplanation
from engine.search import document_frequencies, keyword_leg, search_context
from engine.search.chunk_filter import CachedFilters, ChunkFilter
from engine.search.document_frequencies import Frequencies
from engine.search.keyword_leg import KeywordLeg
from engine.search.keyword_scores import KeywordScores
from engine.search.result_reasons import reasons_of
from engine.search.scoring import Blend, Evidence
from engine.settings import Settings
from engine.text import analyse_query, parse_query
from tests.helpers.sync_worker import open_with_fake

_COUNT = 60
Find = Callable[..., list[str]]


def _kinds(reason: ResultExplanation) -> set[str]:
    return {increase.kind for increase in reason.increases}


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[BuiltinMemory]:
    """Many notes on pumps, one with a matching title and a few with more matches."""
    notes = tmp_path / "notes"
    notes.mkdir()
    for number in range(_COUNT):
        heading = "Pumps" if number == 0 else "Diary"
        extra = {3: " near the weir", 57: " and gauges"}.get(number, "")
        (notes / f"{number:02}.md").write_text(f"# {heading}\n\nLooked at the pump{extra} today.\n", "utf-8")
    settings = Settings(provider="none")
    store = msgspec.structs.replace(settings.store, path=str(tmp_path / "data"))
    memory = BuiltinMemory(notes, msgspec.structs.replace(settings, store=store), executor=None, background=False)
    memory.sync()
    yield memory
    memory.close()


@pytest.fixture
def find(memory: BuiltinMemory) -> Find:
    """Return a function that finds the paths of the best notes for a query."""

    def find(query: str, most: int = _COUNT) -> list[str]:
        return [result.path for result in memory.search(query, max_results=most, min_score=0).results]

    return find


@pytest.fixture(params=(10**6, 0), ids=("bm25", "ranking"))
def few(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lower the number of ranked chunks, as if the notes were too many to rank, also for FTS5's own ranking."""
    monkeypatch.setattr(document_frequencies, "LARGE", request.param)
    for name in ("_MAX_RANKED", "_CHOOSING", "_RECENT", "_COMMON"):
        monkeypatch.setattr(keyword_leg, name, 10)
    monkeypatch.setattr(document_frequencies, "WIDEST_PREFIX", 10)
    monkeypatch.setattr(search_context, "_MIN_CANDIDATES", 5)


@pytest.fixture
def enlarge(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Return a function after which the index counts as large, and words in more than 10 chunks as frequent."""

    def enlarge(large: int = 0) -> None:
        monkeypatch.setattr(CachedFilters, "get", lambda self, snapshot, key, read: read())  # others are of a small one
        for name, value in (("LARGE", large), ("FREQUENT", 10)):
            monkeypatch.setattr(document_frequencies, name, value)

    return enlarge


def test_rankable_matches_complete(find: Find) -> None:
    assert len(find("pump")) == _COUNT
    assert len(find("pum")) == _COUNT


@pytest.mark.usefixtures("few")
def test_best_of_too_many_matches_is_first(find: Find) -> None:
    assert find("pump ", 1) == ["00.md"]


def test_filter_with_many_files_follows_changes(memory: BuiltinMemory, tmp_path: Path) -> None:
    folder = tmp_path / "notes" / "daily"
    folder.mkdir()
    for number in range(1010):
        (folder / f"{number:04}.md").write_text(f"# {number}\n\nA note on lake {number}.\n", "utf-8")
    memory.sync()

    def found(query: str) -> list[str]:
        results = memory.search(query, max_results=2000, min_score=0, path_glob="daily/*").results
        return [result.path for result in results]

    for query in ("pump", '"the pump"', "pump path:daily/1", "pump -lake"):
        assert found(query) == []
        (folder / "1000.md").write_text("# Weir\n\nLooked at the pump.\n", "utf-8")
        memory.sync()
        assert found(query) == ["daily/1000.md"]
        (folder / "1000.md").write_text("# 1000\n\nA note on lake 1000.\n", "utf-8")
        memory.sync()


@pytest.mark.parametrize(("query", "limited"), [("pump", True), ("weir", False)])
def test_limit_of_ranked_matches_is_explained(memory: BuiltinMemory, few: None, query: str, limited: bool) -> None:
    explanation = memory.search(query, max_results=3, explain=True).explanation
    assert explanation is not None
    [note] = [stage.note for stage in explanation.stages if stage.name == "keywords"]
    assert ("Too many match" in note) is limited


@pytest.mark.usefixtures("few")
def test_filtered_search_ranks_newest_of_too_many_matches(find: Find) -> None:
    titled, *others = find("pump -kettle", 3)
    assert titled == "00.md"
    assert all(name > "40.md" for name in others)


@pytest.mark.usefixtures("few")
def test_filtered_search_ranks_all_of_few_matches(find: Find) -> None:
    assert len(find("pump path:0*", 3)) == 3
    assert find("pump weir path:0*", 3)[0] == "03.md"
    assert {name[0] for name in find("pump path:5*")} == {"5"}  # only the last chunks


@pytest.mark.parametrize(
    "query",
    [
        "pump",
        "weir pump",
        "pump OR gauges",
        "pump -weir",
        "-pump",
        "-weir",
        '"at the pump"',
        "pump title:dia",
        "pump title:3.md",
        "pump path:5*",
        "today path:03",
        "pump path:md",
        "weir -path:57",
        "-path:0",
        "path:md path:0",
        "gauges path:nowhere",
    ],
)
def test_large_index_finds_the_same_chunks(find: Find, enlarge: Callable[..., None], query: str) -> None:
    found = find(query)
    enlarge()
    assert sorted(find(query, _COUNT + 1)) == sorted(found)
    assert bool(found) is (query not in ("-pump", "gauges path:nowhere"))


def test_other_forms_of_common_word_skipped_in_large_index(
    find: Find, enlarge: Callable[..., None], memory: BuiltinMemory, tmp_path: Path
) -> None:
    (tmp_path / "notes" / "soup.md").write_text("A pumpkin soup.\n", "utf-8")
    memory.sync()
    assert "soup.md" in find("pump", _COUNT + 1)
    enlarge()
    assert "soup.md" not in find("pump", _COUNT + 2)
    explanation = memory.search("pump soup", explain=True).explanation
    assert explanation is not None
    [note] = [stage.note for stage in explanation.stages if stage.name == "keywords"]
    assert "Other forms of common words were not searched: “pump”." in note


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ('"at the pump"', False),  # enough passages have it as words
        ('"near the weir"', True),
        ('pump "at the pump" tank', False),
        ('"at the pump" "near the weir"', True),
        ('pump -"near the weir"', False),
        ('tank -"at the pump"', False),
    ],
)
def test_frequent_phrase_within_names_in_large_index(
    memory: BuiltinMemory, find: Find, enlarge: Callable[..., None], tmp_path: Path, query: str, found: bool
) -> None:
    names = "The tank was at the pump_house, and near the weir_gate.\n"
    (tmp_path / "notes" / "tank.md").write_text(names, "utf-8")
    memory.sync()
    small = find(query, _COUNT + 1)
    enlarge(40)
    (tmp_path / "notes" / "tank.md").write_text(names + "\n", "utf-8")
    memory.sync()  # filters are cached
    assert ("tank.md" in find(query, _COUNT + 2)) is found
    assert found or "tank.md" in small or "-" in query


def test_exclusion_of_all_passages_is_reported(memory: BuiltinMemory) -> None:
    assert memory.search("pump -weir").understood == "Searched for pump. Every result excludes weir."
    assert memory.search("weir -today").understood == "No passage excludes today."


@pytest.mark.parametrize("few", [0], indirect=True)
@pytest.mark.usefixtures("few")
def test_title_with_common_words_is_a_candidate(memory: BuiltinMemory, find: Find, tmp_path: Path) -> None:
    many = {f"a{number}": "Pump today, pump today.\n" for number in range(30)}
    for texts in ({**many, "a-title": "# Pump today\n\nNothing.\n"}, {f"z{number}": "Rain." for number in range(9)}):
        for name, text in texts.items():
            (tmp_path / "notes" / f"{name}.md").write_text(text, "utf-8")
        memory.sync()
    assert find("pump today path:a", 1) == ["a-title.md"]


@pytest.mark.usefixtures("few")
def test_too_frequent_prefix_searches_titles_first(find: Find) -> None:
    assert find("pum", 1) == ["00.md"]


def test_common_words_of_a_title_are_found_in_large_index(
    memory: BuiltinMemory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, enlarge: Callable[[], None]
) -> None:
    (tmp_path / "notes" / "z.md").write_text(f"---\ntitle: Pump today\n---\n\n{FILLER * 20}\n", "utf-8")
    memory.sync()
    enlarge()
    for name in ("_CHOOSING", "_COMMON"):
        monkeypatch.setattr(keyword_leg, name, 10)
    with memory.store.read() as snapshot:
        candidates = KeywordLeg(snapshot, analyse_query("pump today "), Frequencies()).candidates(8, ChunkFilter())
        assert "z.md" in {chunk.path for chunk in snapshot.chunks(candidates).values()}
        assert len(candidates) < _COUNT


def test_chunks_below_those_of_a_filter_are_never_chosen(memory: BuiltinMemory) -> None:
    with memory.store.read() as snapshot:
        oldest, newest = snapshot.chunk_id_range()
        permitted = range((oldest + newest) // 2, newest + 1)
        leg = KeywordLeg(snapshot, analyse_query("pump today "), Frequencies())
        candidates = leg.candidates(8, ChunkFilter(chunks=permitted))
        assert len(candidates) == 8
        assert set(candidates) <= set(permitted)


def test_common_words_of_long_text_are_left_out(memory: BuiltinMemory, tmp_path: Path) -> None:
    rare = [f"{first}a{last}ox" for first in "bcdfghjklm" for last in "bcdfgh"]
    (tmp_path / "notes" / "long.md").write_text(f"# Parts\n\nThe pump: {' '.join(rare)}.\n", "utf-8")
    memory.sync()

    def ignored(query: str) -> bool:
        explanation = memory.search(query, explain=True).explanation
        assert explanation is not None
        return any("too common" in stage.note and "pump" in stage.note for stage in explanation.stages)

    assert ignored(text := f"pump {' '.join(rare)} unheard ")
    assert [result.path for result in memory.search(text).results] == ["long.md"]
    assert not ignored(f"pump {' '.join(rare[:30])} {' '.join(word[::-1] for word in rare[:30])} ")
    assert not ignored(f"pump OR {' OR '.join(rare)} ")


def test_prefix_represented_by_frequent_and_title_words() -> None:
    tools = [f"tool{number:02}" for number in range(30)]
    rows = [("topic", 2, 1), ("today", 60, 0), *((tool, 4, 0) for tool in tools), ("to", 1, 0)]
    words = [document_frequencies.Word(*row) for row in rows]
    for start, chosen in (("to", ["to", "today", *tools[:21], "topic"]), ("toda", ["today", *tools[:22], "topic"])):
        assert [word.token for word in document_frequencies.PrefixMatches(start, words).substitutes] == chosen


def test_rare_words_with_longer_prefix_are_narrowed() -> None:
    words = [document_frequencies.Word("topic", 2, 1), document_frequencies.Word("today", 60, 0)]
    whole = document_frequencies.PrefixMatches("to", words, "\nto\ntoad\ntodd\ntoddler\ntool")
    assert whole.chunks == 67
    assert [word.token for word in whole.substitutes] == ["to", "toad", "today", "todd", "toddler", "tool", "topic"]
    narrowed = {start: whole.narrowed(start) for start in ("tod", "tool", "toast")}
    assert [(begun.rare, begun.chunks) for begun in narrowed.values()] == [
        ("\ntodd\ntoddler", 62),
        ("\ntool", 1),
        ("", 0),
    ]


@pytest.mark.usefixtures("few")
def test_stem_found_without_prefix_match(find: Find) -> None:
    assert find("pumping", 1) == ["00.md"]


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(("query", "name"), [("weir pump", "03.md"), ("pump weir", "03.md"), ("gauges pum", "57.md")])
def test_rare_word_selects_regardless_of_position(find: Find, query: str, name: str) -> None:
    assert find(query, 1) == [name]


def test_rare_word_is_found_beside_forms_of_another(memory: BuiltinMemory, tmp_path: Path) -> None:
    for number in range(20):
        forms = "The valve: valves, valved, valving. A valve. "
        (tmp_path / "notes" / f"forms{number}.md").write_text(forms * 3, "utf-8")
    long = " ".join(f"Step {number} of the plan concerns machines and people." for number in range(9))
    (tmp_path / "notes" / "rare.md").write_text(f"{long} The flange leaks.\n", "utf-8")
    memory.sync()
    with memory.store.read() as snapshot:
        leg = KeywordLeg(snapshot, analyse_query("flange valve"), Frequencies())
        words = leg.score(leg.candidates(10, ChunkFilter()))
    assert [id_ for id_, (flange, _) in words.contributions.items() if flange]
    assert not any(map(words.rarity, words.evidence))  # in so few notes, a word may be in one by chance
    rare = msgspec.structs.replace(words.terms[0], idf=7.0)
    for terms, rarity in ((1, 1.0), (6, 0.0)):
        among = KeywordScores((rare, *(msgspec.structs.replace(rare, idf=2.0) for _ in range(terms))))
        among.add(1, (9.0, *(0.0 for _ in range(terms))), (), 0.0, 9.0, 7.0)
        assert among.rarity(1) == rarity
    among.add_optional({1: frozenset(range(1, terms + 1))}, {}, (), frozenset())  # the other words name its time
    assert among.rarity(1) == 1.0


@pytest.mark.usefixtures("few")
def test_three_words_that_rarely_meet_count_as_a_rare_one(memory: BuiltinMemory) -> None:
    """Not in a question, whose words often occur together."""
    with memory.store.read() as snapshot:
        legs = [
            KeywordLeg(snapshot, analyse_query(query), Frequencies()) for query in ("pump weir", "where the pump is")
        ]
        words, question = (leg.score(leg.candidates(10, ChunkFilter())) for leg in legs)
    assert (words.chunks, question.chunks) == (legs[0].chunks, 0)
    term = msgspec.structs.replace(words.terms[0], idf=4.0)
    for chunks, held, rarity in ((3_000, 3, 1.0), (100, 2, 0.0), (1_000_000, 3, 0.0), (0, 3, 0.0)):
        among = KeywordScores((term,) * 3, chunks=chunks)
        among.add(1, (5.0,) * held + (0.0,) * (3 - held), (), 0.0, 5.0 * held, 4.0 * held)
        assert among.rarity(1) == rarity, (chunks, held)


def test_word_that_is_its_own_stem_is_chosen_for_it_once(memory: BuiltinMemory, tmp_path: Path) -> None:
    texts = ["The weld is near the house.", "Old welds.", "The valves and all of the valves are old.", "A valve."]
    for number, text in enumerate(texts):
        (tmp_path / "notes" / f"new{number}.md").write_text(text, "utf-8")
    memory.sync()
    with memory.store.read() as snapshot:
        leg = KeywordLeg(snapshot, analyse_query("weld valves "), Frequencies())
        words = leg.score(leg.candidates(10, ChunkFilter()))
        assert leg.candidates(1, ChunkFilter()) == [max(words.evidence, key=words.evidence.__getitem__)]


@pytest.mark.usefixtures("few")
def test_all_forms_of_a_common_word_count(memory: BuiltinMemory, tmp_path: Path) -> None:
    texts = {f"new{number}": "The valve of the old boiler was cleaned." for number in range(20)}
    texts["new99"] = "Valves and valves, and again only old valves."
    for name, text in texts.items():
        (tmp_path / "notes" / f"{name}.md").write_text(f"{text}\n", "utf-8")
    memory.sync()
    with memory.store.read() as snapshot:
        leg = KeywordLeg(snapshot, analyse_query("valve "), Frequencies())
        chosen = snapshot.chunks(leg.candidates(1, ChunkFilter())[:1]).values()
    assert [chunk.path for chunk in chosen] == ["new99.md"]


@pytest.mark.usefixtures("few")
def test_common_word_is_counted_beside_its_own_stem(memory: BuiltinMemory, tmp_path: Path) -> None:
    for number in range(20):
        (tmp_path / "notes" / f"new{number}.md").write_text("Valves, valves and old valves.\n", "utf-8")
    long = "The plan concerns machines, people and what they need on every day of the year. " * 9
    both = f"{long} The weld is near the house, and one of the old valves is behind it.\n"
    welds = ((f"welds{number}", "Old welds.\n") for number in range(7))
    for name, text in (("both", both), ("valve", "A valve.\n"), *welds):
        (tmp_path / "notes" / f"{name}.md").write_text(text, "utf-8")
    memory.sync()
    with memory.store.read() as snapshot:
        leg, other = (KeywordLeg(snapshot, analyse_query("weld valves "), Frequencies()) for _ in range(2))
        ids = leg.candidates(1, ChunkFilter())
        assert [chunk.path for chunk in snapshot.chunks(ids[:1]).values()] == ["both.md"]
        holding = leg.score(ids[:1]).contributions
        assert all(holding[ids[0]])
        assert holding == other.score(ids[:1]).contributions


def test_use_of_a_name_leaves_the_first_scores_unchanged(memory: BuiltinMemory) -> None:
    with memory.store.read() as snapshot:
        leg = KeywordLeg(snapshot, analyse_query("weir"), Frequencies())
        words = leg.score(leg.candidates(10, ChunkFilter()))
    (id_,), before = words.evidence, dict(words.evidence)
    used = words.with_uses({id_: 1.0})
    assert used.evidence[id_] > before[id_]
    assert (words.evidence, words.names, words.used) == (before, {}, {})
    assert words.with_uses({}) is words


@pytest.mark.usefixtures("few")
def test_scores_do_not_depend_on_words_that_select_chunks(
    memory: BuiltinMemory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "notes" / "weirs.md").write_text("Old weirs with a gauge.\n", "utf-8")  # one word is its own stem
    memory.sync()

    def contributions() -> dict[int, Sequence[float]]:
        with memory.store.read() as snapshot:
            leg = KeywordLeg(snapshot, analyse_query("pump weir gauges today"), Frequencies())
            return dict(leg.score(leg.candidates(3, ChunkFilter())).contributions)

    by_rare = contributions()
    assert 1 < len(by_rare) < _COUNT
    for name in ("_CHOOSING", "_COMMON", "_MAX_RANKED"):
        monkeypatch.setattr(keyword_leg, name, 10**6)
    every = contributions()
    assert {id_: every[id_] for id_ in by_rare} == by_rare


def test_parts_of_keyword_score_add_up(memory: BuiltinMemory) -> None:
    outcome = memory.search("pump gauges weir today", max_results=_COUNT, min_score=0, explain=True)
    assert outcome.explanation is not None
    assert len(outcome.explanation.results) == _COUNT
    for reason in outcome.explanation.results:
        beside = sum(increase.score for increase in reason.increases)
        assert reason.text_score == pytest.approx(min(1.0, reason.from_bm25 + beside))
        if not reason.missing:
            assert reason.from_bm25 == pytest.approx(sum(term.score for term in reason.terms) + reason.proximity)
    assert any(reason.proximity for reason in outcome.explanation.results)


def test_adjacent_words_rank_above_same_words_apart(memory: BuiltinMemory, tmp_path: Path) -> None:
    notes = {
        "apart": "The valve of the old boiler in the cellar was changed, and a relief it was.",
        "beside": "The relief valve of the boiler in the old cellar was changed, as it was due.",
    }
    for name, text in notes.items():
        (tmp_path / "notes" / f"{name}.md").write_text(f"{text}\n", "utf-8")
    memory.sync()
    results = memory.search("relief valve").results
    assert [result.path for result in results] == ["beside.md", "apart.md"]


@pytest.mark.parametrize("title", ["", "# Apiary\n\n"])
def test_section_ranks_first_for_title_and_its_heading(memory: BuiltinMemory, tmp_path: Path, title: str) -> None:
    front = "---\ntitle: Apiary\ntags: [bees, winter]\n---\n\n"
    filler = "In a mild year nobody opens the hives, and everything stays closed until March. " * 12
    text = f"{front}{title}{filler}\n\n## Wintering\n\n{filler}\n\n## Honey\n\n{filler}\n"
    (tmp_path / "notes" / "Apiary.md").write_text(text, "utf-8")
    memory.sync()
    first = memory.search("apiary wintering", mode="keyword", max_results=1).results[0]
    assert first.heading[-1:] == ("Wintering",)


def test_long_question_is_answered_by_few_rare_words(memory: BuiltinMemory, tmp_path: Path) -> None:
    others = ("Ferries leave at nine.", "A kettle boils.", "The rent is due.", "Seven swans.", "Walter oiled hinges.")
    for number, line in enumerate(others):
        (tmp_path / "notes" / f"other {number}.md").write_text(f"{line}\n", "utf-8")
    memory.sync()
    outcome = memory.search(
        "Had Walter oiled ferries before rent or kettle or some swans boils nine times", explain=True
    )
    assert [result.path for result in outcome.results][:1] == ["other 4.md"]
    assert outcome.explanation is not None
    for result, reason in zip(outcome.results, outcome.explanation.results, strict=True):
        assert reason.text_weight > 1
        assert result.score == pytest.approx(min(1.0, reason.text_weight * reason.text_score), abs=1e-5)
        assert result.score >= 0.35
    assert any(reason.text_score < 0.35 for reason in outcome.explanation.results)


def test_full_match_trusted_in_long_chunk(memory: BuiltinMemory, tmp_path: Path) -> None:
    long = " ".join(f"Line {number} of the log is as dull as the others." for number in range(25))
    (tmp_path / "notes" / "log.md").write_text(f"{long} E4711 {long}\n", "utf-8")
    memory.sync()
    with memory.store.read() as snapshot:
        leg = KeywordLeg(snapshot, analyse_query("E4711"), Frequencies())
        words = leg.score(leg.candidates(10, ChunkFilter()))
    assert 0 < max(words.evidence.values()) < 1
    found = [Evidence(words.evidence[id_], 0.0, id_ in words.complete) for id_ in words.evidence]
    assert Blend.of(Calibration(0.0, 1.0, 0.1), found, 1).vector_weight == pytest.approx(0.1)


def test_scores_are_equal_for_candidates_and_other_chunks(memory: BuiltinMemory, few: None) -> None:
    """Candidates are looked for among the rarest words only, chunks that vectors chose among all words."""
    with memory.store.read() as snapshot:
        leg, other = (KeywordLeg(snapshot, analyse_query("pump near gauges"), Frequencies()) for _ in range(2))
        candidates = leg.candidates(10, ChunkFilter())
        as_candidates, by_others = leg.score(candidates), other.score(candidates)
        everywhere = leg.score(range(10 * _COUNT))
    assert as_candidates.evidence.keys() == set(candidates)
    assert as_candidates.evidence == by_others.evidence
    assert as_candidates.contributions == by_others.contributions
    assert len(everywhere.evidence) == _COUNT
    assert {id_: everywhere.evidence[id_] for id_ in candidates} == as_candidates.evidence


@pytest.mark.parametrize("query", ["kubernetes", '"kubernetes"', "kubernetes migration"])
def test_rare_word_in_long_note_among_short_notes_is_found(memory: BuiltinMemory, tmp_path: Path, query: str) -> None:
    """A chunk with every word is found whatever its length and the average of all notes."""
    long = " ".join(f"Step {number} of the plan concerns machines and people." for number in range(15))
    (tmp_path / "notes" / "long.md").write_text(f"{long} The kubernetes migration waits. {long}\n", "utf-8")
    memory.sync()
    results = memory.search(query).results
    assert results[0].path == "long.md"
    assert results[0].score >= 0.35


def test_explanation_names_title_bonus(memory: BuiltinMemory, tmp_path: Path) -> None:
    (tmp_path / "notes" / "Relief valves.md").write_text("Opened by hand once a year.\n", "utf-8")
    memory.sync()
    outcome = memory.search("how do relief valves and pumps work", min_score=0, explain=True)
    assert outcome.explanation is not None
    reason = outcome.explanation.results[0]
    assert "title" in _kinds(reason)
    assert any("title or file name" in str(part) for part in reasons_of(reason))


_USES = "Call `load_dotenv()` first: load_dotenv, then load_dotenv again, and the dotenv is loaded.\n"


@pytest.mark.parametrize(
    "definition",
    [
        "```python\n@click\nasync def load_dotenv(path):\n```",
        "```js\nexport const loadDotenv = (path) => read(path)\n```",
        "```go\nfunc (a *App) LoadDotenv(path string) {\n```",
        "```java\npublic class LoadDotenv extends Loader {\n```",
        "```sql\nCREATE TABLE load_dotenv (id INT);\n```",
        "```c\n#define LOAD_DOTENV 1\n```",
        ".. py:function:: load_dotenv(path)",
        "## load_dotenv",
        "- `load-dotenv`: whether to read it",
        "LOAD_DOTENV=1",
    ],
)
def test_definition_ranks_above_uses(memory: BuiltinMemory, tmp_path: Path, definition: str) -> None:
    for name, text in {"uses": _USES, "defines": f"{definition}\n\nReads the settings of a project.\n"}.items():
        (tmp_path / "notes" / f"{name}.md").write_text(text, "utf-8")
    memory.sync()
    for query in ("load_dotenv", "load dotenv", "LoadDotenv", "load-dotenv"):
        outcome = memory.search(query, explain=True)
        assert [result.path for result in outcome.results] == ["defines.md", "uses.md"]
        assert outcome.explanation is not None
        assert ["definition" in _kinds(reason) for reason in outcome.explanation.results] == [True, False]
    assert "The passage defines the name in the query" in " ".join(map(str, reasons_of(outcome.explanation.results[0])))


@pytest.mark.parametrize("other", ["Call getUserName().", "A user name."])
def test_exact_spelling_of_an_identifier_first(memory: BuiltinMemory, tmp_path: Path, other: str) -> None:
    for name, text in {"exact": "Here user_name is written as in the query.", "other": other}.items():
        (tmp_path / "notes" / f"{name}.md").write_text(f"{text}\n", "utf-8")
    memory.sync()
    assert [result.path for result in memory.search("user_name").results] == ["exact.md", "other.md"]


def test_overlapping_pairs_are_not_near_each_other(memory: BuiltinMemory, tmp_path: Path) -> None:
    """A word of three characters has two pairs, which are always neighbours, so their proximity means nothing."""
    (tmp_path / "notes" / "text.md").write_text("更改序列生成器的定义。\n", "utf-8")
    memory.sync()
    for query, near in {"生成器": False, "序列 生成": True}.items():
        outcome = memory.search(query, min_score=0.0, explain=True)
        assert outcome.explanation is not None
        assert (outcome.explanation.results[0].proximity > 0) is near


@pytest.mark.parametrize("query", ["extract value", "--extract-value", "ExtractValue"])
def test_name_in_one_word_ranks_above_its_words(memory: BuiltinMemory, tmp_path: Path, query: str) -> None:
    words = "Extract a value: each value that you extract is a value.\n"
    for name, text in {"words": words, "name": f"The option --extract-value calls extractValue. {_USES}"}.items():
        (tmp_path / "notes" / f"{name}.md").write_text(text, "utf-8")
    memory.sync()
    outcome = memory.search(query, explain=True)
    assert outcome.results[0].path == "name.md"
    assert outcome.explanation is not None
    match = {"extract value": {"spelling"}, "--extract-value": {"signs"}}.get(query, set())
    assert _kinds(outcome.explanation.results[0]) & {"spelling", "signs"} == match


@pytest.mark.parametrize(
    ("text", "spells"),
    [
        ("Call extractValueOf, then extract_values.", False),
        ("Call myExtractValue and read docs/extract-value.", False),
        ("Here extractValue reads a line.", True),
    ],
)
def test_only_the_whole_name_spells_the_query(memory: BuiltinMemory, tmp_path: Path, text: str, spells: bool) -> None:
    (tmp_path / "notes" / "name.md").write_text(f"{text}\n", "utf-8")
    memory.sync()
    outcome = memory.search("extract value", explain=True)
    assert outcome.explanation is not None
    assert ["spelling" in _kinds(reason) for reason in outcome.explanation.results] == [spells]


def test_use_of_a_name_is_not_a_definition(memory: BuiltinMemory, tmp_path: Path) -> None:
    lines = "def load_dotenv_all(path):", "x = load_dotenv(path)", "the class load_dotenv has", "load_dotenv == 1"
    for number, line in enumerate(lines):
        (tmp_path / "notes" / f"uses {number}.md").write_text(f"{line}\nCall load_dotenv first.\n", "utf-8")
    memory.sync()
    outcome = memory.search("load_dotenv", explain=True)
    assert outcome.explanation is not None
    assert ["definition" in _kinds(reason) for reason in outcome.explanation.results] == [False] * len(lines)


@pytest.mark.parametrize("query", ["weir", "pump gauges", "today weir unheardof", "pum"])
def test_shown_score_never_misses_the_minimum(memory: BuiltinMemory, query: str) -> None:
    results = memory.search(query, max_results=_COUNT).results
    assert all(result.score >= 0.35 for result in results)
    assert [result.score for result in results] == sorted((result.score for result in results), reverse=True)


def test_unknown_word_does_not_hide_the_known_one(memory: BuiltinMemory) -> None:
    assert [result.path for result in memory.search("zzyzx weir").results] == ["03.md"]


def test_one_word_suffices_if_other_is_probably_misspelt(memory: BuiltinMemory, tmp_path: Path) -> None:
    texts = ["Tricks with the stdin of a process."] * 4 + ["A password of many letters."] * 2
    for number, text in enumerate(texts):
        (tmp_path / "notes" / f"extra {number}.md").write_text(f"{text}\n", "utf-8")
    memory.sync()
    assert len(memory.search("stdin pasword").results) == 6
    assert len(memory.search("stdin pasword", correct=False).results) == 4
    assert not memory.search("skateboard tricks").results
    assert memory.search("skateboard gauges").results  # in one note only, as rare as a word can be


def test_missing_character_pair_is_not_a_missing_word(memory: BuiltinMemory, tmp_path: Path) -> None:
    for number in range(4):
        (tmp_path / "notes" / f"extra {number}.md").write_text("备份每天运行。\n", "utf-8")
    memory.sync()
    with memory.store.read() as snapshot:
        pairs = KeywordLeg(snapshot, analyse_query("备份硬盘"), Frequencies())
        words = KeywordLeg(snapshot, analyse_query("pump skateboard"), Frequencies())
        before = [[term.idf for term in leg.terms] for leg in (pairs, words)]
        for leg in (pairs, words):
            leg.weigh_missing(())
    assert [term.idf for term in pairs.terms] == before[0]
    assert words.terms[1].idf > before[1][1]


def test_pair_across_two_words_hardly_counts(memory: BuiltinMemory, tmp_path: Path) -> None:
    (tmp_path / "notes" / "extra.md").write_text("备份每天运行。用另一个硬盘。\n", "utf-8")
    memory.sync()
    with memory.store.read() as snapshot:
        across, unknown = (
            KeywordLeg(snapshot, analyse_query(query), Frequencies()) for query in ("备份硬盘", "备份 披萨")
        )
    assert across.terms[1].idf < across.terms[0].idf / 2
    assert unknown.terms[1].idf > unknown.terms[0].idf
    assert memory.search("备份硬盘").results
    assert not memory.search("备份披萨饼").results


def test_pair_found_by_chance_leaves_missing_words_their_weight(memory: BuiltinMemory, tmp_path: Path) -> None:
    (tmp_path / "notes" / "extra.md").write_text("外国人来了三位。\n", "utf-8")
    memory.sync()
    with memory.store.read() as snapshot:
        chinese, chance, people = KeywordLeg(snapshot, analyse_query("中国人民"), Frequencies()).terms
    assert chance.searched
    assert chinese.idf == people.idf > chance.idf
    assert not memory.search("中国人民").results


def test_long_katakana_is_found_by_its_words(memory: BuiltinMemory, tmp_path: Path) -> None:
    (tmp_path / "notes" / "nscd.md").write_text("ネームサービスの要求をキャッシュするデーモンです。\n", "utf-8")
    (tmp_path / "notes" / "other.md").write_text("サービスを止める。\n", "utf-8")
    memory.sync()
    assert [found.path for found in memory.search("ネームサービスキャッシュデーモン").results] == ["nscd.md"]


def test_long_katakana_word_finds_no_word_with_its_ending(memory: BuiltinMemory, tmp_path: Path) -> None:
    for number, text in enumerate(
        ["アプリケーションを更新する。", "バケーションの計画を立てる。", "ロケーションを選ぶ。"]
    ):
        (tmp_path / "notes" / f"extra {number}.md").write_text(f"{text}\n", "utf-8")
    memory.sync()
    assert not memory.search("コミュニケーション").results
    (tmp_path / "notes" / "talk.md").write_text("コミュニケーションを大切にする。\n", "utf-8")
    memory.sync()
    assert memory.search("コミュニケーション").results[0].path == "talk.md"


@pytest.mark.parametrize("filler", ["best ", "another "])
def test_filler_does_not_lower_weight_of_unknown_words(memory: BuiltinMemory, tmp_path: Path, filler: str) -> None:
    (tmp_path / "notes" / "extra.md").write_text("Another day, the best of all.\n", "utf-8")
    memory.sync()

    def weight(query: str) -> float:
        with memory.store.read() as snapshot:
            terms = KeywordLeg(snapshot, analyse_query(query), Frequencies()).terms
        (unknown,) = [term for term in terms if not term.chunks]
        return unknown.idf

    assert weight(f"{filler}weir gliders") == weight("weir gliders")


def test_kind_of_text_after_subject_counts_only_in_names(memory: BuiltinMemory, tmp_path: Path) -> None:
    for name, text in {
        "presentations": "# Presentations\n\nThe audience is the hero of the story.\n",
        "poles": "# Poles\n\nBoth tips are present, and the tip presents no danger.\n",
        "book": "# Book\n\nBring the book to the library.\n",
        "reading": "# Reading\n\n## Book notes\n\nThe third chapter is the best.\n",
    }.items():
        (tmp_path / "notes" / f"{name}.md").write_text(text, "utf-8")
    memory.sync()
    firsts = {query: memory.search(query).results[0].path for query in ("presentations tips", "book notes")}
    assert firsts == {"presentations tips": "presentations.md", "book notes": "reading.md"}


def test_filler_that_occurs_nowhere_is_not_missing(memory: BuiltinMemory, tmp_path: Path) -> None:
    (tmp_path / "notes" / "extra.md").write_text("Опечатки исправлены.\n", "utf-8")
    memory.sync()
    (alone,) = memory.search("опечатки").results
    (beside,) = memory.search("опечатки заметка").results
    assert beside.score == pytest.approx(alone.score)


def test_exact_word_outranks_words_of_which_it_is_a_prefix(memory: BuiltinMemory, tmp_path: Path) -> None:
    (tmp_path / "notes" / "exact.md").write_text("A nix and nothing else was tried that morning.\n", "utf-8")
    for number in range(9):
        (tmp_path / "notes" / f"longer{number}.md").write_text("Nixpkgs, nixops, nixos and nixpkgs again.\n", "utf-8")
    memory.sync()
    outcome = memory.search("nix", explain=True)
    assert outcome.results[0].path == "exact.md"
    assert outcome.explanation is not None
    assert outcome.explanation.results[0].terms[0].chunks == 1


@pytest.mark.parametrize(
    ("query", "other"),
    [
        ("accord", "The according text says so accordingly. According to it, it is according."),
        ("restarted", "Restart it: restart the server, then restart the job. A restart helps."),
        ("Messung", "Die Messungen: Messungen am Vormittag, Messungen am Abend. Viele Messungen."),
        ("книга", "Мы читаем книги: о книге, с книгой, без книги. Много книг."),
    ],
)
def test_word_as_typed_outranks_many_other_forms(memory: BuiltinMemory, tmp_path: Path, query: str, other: str) -> None:
    for number in range(10):
        (tmp_path / "notes" / f"other-{number}.md").write_text(f"# Diary {number}\n\n{other}\n", "utf-8")
    exact = f"# Diary\n\nThis page has {query} once, among a good many more words about quite another subject.\n"
    (tmp_path / "notes" / "exact.md").write_text(exact, "utf-8")
    memory.sync()
    found = [result.path for result in memory.search(query).results]
    assert found[0] == "exact.md"
    assert len(found) > 1  # other forms are answers too


@pytest.mark.parametrize(
    ("query", "exact", "other"),
    [
        ("interfaces", "Thread-aware interfaces", "User interface"),
        ("depend", "What jobs depend on", "Dependency list"),
        ("authorize", "How to authorize a device", "Authorization of devices"),
        ("Messung", "Ablauf der Messung", "Alle Messungen"),
    ],
)
def test_title_with_word_as_typed_precedes_other_forms(
    memory: BuiltinMemory, tmp_path: Path, query: str, exact: str, other: str
) -> None:
    """All notes with a title have the word once; those with other forms of it in their title have more of these."""
    (tmp_path / "notes" / "diary.md").write_text(f"Nothing but {other}.\n", "utf-8")
    text = f"This page has {query} once, among a good many more words about quite another subject.\n"
    for number in range(5):
        again = f"{other} again, and once more {other}.\n"
        (tmp_path / "notes" / f"other-{number}.md").write_text(f"# {other}\n\n{text}\n{again}", "utf-8")
    (tmp_path / "notes" / "exact.md").write_text(f"# {exact}\n\n{text}", "utf-8")
    memory.sync()
    assert next(result.path for result in memory.search(query).results) == "exact.md"


@pytest.mark.parametrize("name", ["pump.md", "sub/Pump.md"])
def test_note_named_by_a_common_word_ranks_first(
    memory: BuiltinMemory, find: Find, few: None, tmp_path: Path, name: str
) -> None:
    """Every note contains the word, so a ranking by words alone would not select the note of that name."""
    file = tmp_path / "notes" / name
    file.parent.mkdir(exist_ok=True)
    file.write_text("A device that moves water. " * 20, "utf-8")
    for number in range(_COUNT):
        (tmp_path / "notes" / f"more{number}.md").write_text("pump pump pump\n", "utf-8")
    memory.sync()
    for query in ("pump", "the pump", "what is a pump", "how does a pump work", "best pump examples"):
        assert find(query, 1) == [name]


@pytest.mark.parametrize(("query", "title"), [("über pumpen", "Über Pumpen"), ("pump/weir", "Pump-Weir")])
def test_note_is_found_by_name_among_many_such_names(
    memory: BuiltinMemory, find: Find, few: None, tmp_path: Path, query: str, title: str
) -> None:
    (tmp_path / "notes" / "named.md").write_text(f"# {title}\n\n" + "A device that moves water. " * 20, "utf-8")
    for number in range(220):
        words = f"{title} {title} {number}"
        (tmp_path / "notes" / f"more{number}.md").write_text(f"# About {words}\n\n{words}\n", "utf-8")
    memory.sync()
    assert find(query, 1) == ["named.md"]


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("bought", "We buy a boat."),
        ("mouse", "Two mice in the attic."),
        ("favourite", "Our favorites in the attic."),
        ("organisation", "They organized the attic."),
        ("analyze", "We analysed the attic."),
    ],
)
def test_irregular_form_found_without_the_exact_one(
    memory: BuiltinMemory, tmp_path: Path, query: str, text: str
) -> None:
    (tmp_path / "notes" / "irregular.md").write_text(f"{text}\n", "utf-8")
    memory.sync()
    outcome = memory.search(query)
    assert [result.path for result in outcome.results] == ["irregular.md"]
    assert outcome.all_words


def test_ambiguous_irregular_form_finds_no_other_word(memory: BuiltinMemory, tmp_path: Path) -> None:
    for name, text in (("index", "# Index\n\nThe index of the harbour."), ("exact", "As indicated by the chart.")):
        (tmp_path / "notes" / f"{name}.md").write_text(f"{text}\n", "utf-8")
    memory.sync()
    assert [result.path for result in memory.search("indicated", min_score=0).results] == ["exact.md"]
    assert memory.search("indices").results[0].path == "index.md"


def test_file_name_with_suffix_ranks_before_links_to_it(memory: BuiltinMemory, tmp_path: Path) -> None:
    for number in range(12):
        link = "See [the guide](./Plugins-Guide.md), which is Plugins-Guide.md."
        (tmp_path / "notes" / f"link{number}.md").write_text(f"{link}\n", "utf-8")
    (tmp_path / "notes" / "Plugins-Guide.md").write_text("# Hitchhiker\n\nHow to write one.\n", "utf-8")
    memory.sync()
    assert memory.search("Plugins-Guide.md").results[0].path == "Plugins-Guide.md"


def test_irregular_form_ranks_below_the_exact_one(memory: BuiltinMemory, tmp_path: Path) -> None:
    for name, verb in (("other", "buy"), ("exact", "bought")):
        (tmp_path / "notes" / f"{name}.md").write_text(f"They {verb} a new boat in spring.\n", "utf-8")
    memory.sync()
    results = memory.search("bought boat", min_score=0).results
    assert [result.path for result in results] == ["exact.md", "other.md"]
    assert results[0].score > results[1].score


def test_irregular_form_never_completes_a_query(memory: BuiltinMemory, tmp_path: Path) -> None:
    for name, text in (("verb", "They bought a kettle."), ("noun", "They buy a boat.")):
        (tmp_path / "notes" / f"{name}.md").write_text(f"{text}\n", "utf-8")
    memory.sync()
    assert not memory.search("bought boat", min_score=0).all_words
    assert memory.search("buy boat", min_score=0).all_words


def test_irregular_form_weighs_no_more_than_its_own_rarity(memory: BuiltinMemory, tmp_path: Path) -> None:
    for number in range(30):
        (tmp_path / "notes" / f"note{number}.md").write_text("They seek a harbour for the winter.\n", "utf-8")
    (tmp_path / "notes" / "sought.md").write_text("They sought a harbour for the winter.\n", "utf-8")
    memory.sync()
    outcome = memory.search("sought harbour", min_score=0, explain=True)
    assert outcome.explanation is not None
    exact, other = ({term.term: term for term in reason.terms} for reason in outcome.explanation.results[:2])
    assert other["sought"].fields == ("body",)
    assert other["sought"].bm25 < exact["sought"].bm25 / 2
    assert other["sought"].chunks == 1


def test_phrase_requires_its_exact_irregular_form(memory: BuiltinMemory, tmp_path: Path) -> None:
    (tmp_path / "notes" / "irregular.md").write_text("We buy a boat.\n", "utf-8")
    memory.sync()
    assert memory.search('"bought a boat"').results == ()


@pytest.mark.parametrize(("name", "query"), [("from_gauge", "from gauge"), ("IfGauge", "if gauge")])
def test_function_words_count_in_an_identifier(
    tmp_path: Path, memory: BuiltinMemory, find: Find, name: str, query: str
) -> None:
    for number in range(5):
        (tmp_path / "notes" / f"a{number}.md").write_text("The gauge, a gauge: gauge.\n", "utf-8")
    (tmp_path / "notes" / "z.md").write_text(f"Some lines call `{name}` to read the level of the house.\n", "utf-8")
    memory.sync()
    assert find(query, 1) == ["z.md"]


def test_two_words_find_their_joined_form(tmp_path: Path, memory: BuiltinMemory, find: Find) -> None:
    (tmp_path / "notes" / "z.md").write_text("The login failed.\n", "utf-8")
    memory.sync()
    assert find("log in", 1) == ["z.md"]


def test_joined_words_rank_above_a_single_word(tmp_path: Path, memory: BuiltinMemory, find: Find) -> None:
    for number in range(5):
        (tmp_path / "notes" / f"white-{number}.md").write_text("A white wall, white as snow.\n", "utf-8")
        (tmp_path / "notes" / f"space-{number}.md").write_text("Space for a shelf, space for a bed.\n", "utf-8")
    (tmp_path / "notes" / "z.md").write_text(f"{FILLER * 9}Trailing whitespace is removed.\n", "utf-8")
    memory.sync()
    assert find("white space", 1) == ["z.md"]


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("set-up", "set up"),
        ("re-use", "re use"),
        ("e-mail", "e mail"),
        ("too-large", "too large"),
        ("off-grid", "off grid"),
    ],
)
def test_word_with_hyphen_ranks_above_its_parts(memory: BuiltinMemory, tmp_path: Path, word: str, parts: str) -> None:
    filler = "and a second sentence on the weather of the day, which has nothing to do with the first one of this note."
    (tmp_path / "notes" / "hyphen.md").write_text(f"The note names {word} once, {filler}\n", "utf-8")
    for number in range(9):
        (tmp_path / "notes" / f"apart {number}.md").write_text(f"We {parts}, and {parts} again.\n", "utf-8")
    memory.sync()
    first, *others = memory.search(word, max_results=_COUNT).results
    assert first.path == "hyphen.md"
    assert len(others) == 9


def test_part_of_compound_with_function_word_found_last(memory: BuiltinMemory, tmp_path: Path) -> None:
    (tmp_path / "notes" / "whole.md").write_text("The disk is read-only since Monday.\n", "utf-8")
    (tmp_path / "notes" / "part.md").write_text("Nobody reads it. Read it, read it again.\n", "utf-8")
    memory.sync()
    assert [result.path for result in memory.search("read-only", max_results=_COUNT).results] == ["whole.md", "part.md"]


@pytest.mark.parametrize("query", ["?!.,;", "***", "→", '""', "\0", "\u0301", "-", "*", "__"])
def test_query_without_words_finds_nothing(tmp_path: Path, query: str) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "signs.md").write_text(f"{query} {query} and a word\n", "utf-8")
    memory = open_with_fake(tmp_path / "notes", tmp_path / "data")
    memory.sync()
    outcome = memory.search(query, min_score=0, explain="if empty")
    memory.close()
    assert outcome.results == ()
    assert "no letters" in outcome.understood


def test_form_that_a_shorter_prefix_matches_is_searched_once(memory: BuiltinMemory, tmp_path: Path) -> None:
    (tmp_path / "notes" / "buch.md").write_text("Das Abbildungsverzeichnis ist nicht im Buch.\n", "utf-8")
    memory.sync()
    analysis = analyse_query("Abbildung ", ("danish", "english", "german"))
    with memory.store.read() as snapshot:
        [term] = KeywordLeg(snapshot, analysis, Frequencies()).terms
    assert term.weak_stems == ('"abbild" *',)


FILLER = "Some plain words about the week and what was done in it. "
TWO_SECTIONS = "\n\n".join(
    ["# Shed", "## Roof", f"{FILLER * 60} The slates leak.", "## Wall", f"{FILLER * 60} The mortar crumbles.\n"]
)


def test_file_with_all_words_in_two_sections_comes_first(memory: BuiltinMemory, tmp_path: Path) -> None:
    (tmp_path / "notes" / "shed.md").write_text(TWO_SECTIONS, "utf-8")
    for number in range(5):
        (tmp_path / "notes" / f"roof-{number}.md").write_text("The slates are black and old.\n", "utf-8")
        (tmp_path / "notes" / f"wall-{number}.md").write_text("The mortar is grey and hard.\n", "utf-8")
    memory.sync()
    results = memory.search("slates mortar", max_results=3, explain=True)
    assert results.results[0].path == "shed.md"
    assert results.explanation is not None
    reason = results.explanation.results[0]
    assert "file" in _kinds(reason)
    assert any("Other passages of its file contain the rest" in str(part) for part in reasons_of(reason))
    complete = f"The slates lie here. {FILLER * 60} No mortar there."
    (tmp_path / "notes" / "both.md").write_text(complete[-2_000:] + "\n\nThe slates need no mortar.\n", "utf-8")
    memory.sync()
    found = [result.path for result in memory.search("slates mortar", max_results=20).results]
    assert [path for path in dict.fromkeys(found) if path in {"both.md", "shed.md"}] == ["both.md", "shed.md"]
    assert found.index("both.md") == 0
    for query in ("slates leak mortar crumbles", "roof slates leak wall mortar crumbles"):
        longer = memory.search(query, max_results=1, explain=True)
        assert longer.explanation is not None
        assert longer.results[0].path == "shed.md"
        assert "file" in _kinds(longer.explanation.results[0])


def test_score_of_words_in_two_sections_depends_on_no_other_note(memory: BuiltinMemory, tmp_path: Path) -> None:
    (tmp_path / "notes" / "shed.md").write_text(TWO_SECTIONS, "utf-8")

    def bonus() -> float:
        memory.sync()
        explanation = memory.search("slates mortar", max_results=9, explain=True).explanation
        assert explanation is not None
        return next(one.score for reason in explanation.results for one in reason.increases if one.kind == "file")

    alone = bonus()
    (tmp_path / "notes" / "both.md").write_text("The slates need no mortar.\n", "utf-8")
    assert bonus() == pytest.approx(alone, abs=0.02)


def test_everyday_words_of_a_journal_meet_by_chance(memory: BuiltinMemory, tmp_path: Path) -> None:
    days = (
        f"## Day {day}\n\n{FILLER * 15} {('The kettle boiled.', 'A sparrow came.')[day % 2]}\n" for day in range(40)
    )
    (tmp_path / "notes" / "journal.md").write_text("# Journal\n\n" + "\n".join(days), "utf-8")
    (tmp_path / "notes" / "box.md").write_text("# Sparrow box\n\nThe sparrow box hangs at the shed.\n", "utf-8")
    memory.sync()
    assert memory.search("kettle sparrow").results[0].path == "box.md"


@pytest.mark.parametrize("notes", [30, 300])
def test_query_of_function_words_finds_its_phrase_first(memory: BuiltinMemory, tmp_path: Path, notes: int) -> None:
    """Also if more notes hold the words than are ranked."""
    for number in range(notes):
        text = "It is not for us to be here, or to be there. Not now, or never: be it so, or be it not.\n"
        (tmp_path / "notes" / f"words-{number}.md").write_text(text, "utf-8")
    long = f"{FILLER * 20}The question is whether to be or not.\n"
    (tmp_path / "notes" / "hamlet.md").write_text(long, "utf-8")
    memory.sync()
    assert memory.search("to be or not", max_results=3).results[0].path == "hamlet.md"
    assert memory.search("not or be to", max_results=3).results[0].path != "hamlet.md"


def test_short_query_with_function_words_finds_its_phrase(memory: BuiltinMemory, tmp_path: Path) -> None:
    """But if the function words only come before the name of a note, this note is first."""
    for number in range(30):
        text = f"The number of it is a number, and of a number the number is {number}.\n"
        (tmp_path / "notes" / f"words-{number}.md").write_text(text, "utf-8")
    (tmp_path / "notes" / "number.md").write_text("# Number\n\nA number of any kind.\n", "utf-8")
    text = f"{FILLER * 20}Here n is the number of sets. It was a number, and a number was left.\n"
    (tmp_path / "notes" / "set.md").write_text(text, "utf-8")
    memory.sync()
    for query in ("is the number of", "a number was"):
        assert memory.search(query).results[0].path == "set.md", query
    for query in ("what is a number", "was a number", "the number"):
        assert memory.search(query).results[0].path == "number.md", query


def test_long_sentence_of_common_words_is_found(memory: BuiltinMemory, tmp_path: Path) -> None:
    """Also if its words have more matches together than are ranked, and other forms have most of them."""
    nouns = "브라우저 자바스크립트 페이지 요소 정보 문제 코드 함수 객체 배열 문자 숫자 파일 서버 화면 버튼 입력"
    words = [
        *nouns.split(),
        *"출력 변수 조건 테스트 데이터 사용자 네트워크 이벤트 스타일 애니메이션 컴포넌트 라이브러리 프로젝트".split(),
    ]
    sentence = " ".join(f"{word}에서" for word in words)
    sections = (f"## Day {day}\n\n" + " ".join(f"{word}만" for word in words[: -1 - day % 7] * 2) for day in range(500))
    (tmp_path / "notes" / "a.md").write_text(f"# A\n\n{sentence}.\n", "utf-8")
    memory.sync()
    (tmp_path / "notes" / "journal.md").write_text("# Journal\n\n" + "\n\n".join(sections), "utf-8")
    memory.sync()
    assert memory.search(sentence).results[0].path == "a.md"


def test_short_unknown_end_of_a_query_is_not_missing(memory: BuiltinMemory) -> None:
    found = {
        query: bool(memory.search(query).results) for query in ("weir gq", "weir gauges zq", "weir gqxz pqy", "gq")
    }
    assert found == {"weir gq": True, "weir gauges zq": True, "weir gqxz pqy": False, "gq": False}


@pytest.mark.parametrize(
    ("query", "phrase"),
    [
        ("to be or not", ("to", "be", "or", "not")),
        ("so wie es ist", ("so", "wie", "es", "ist")),
        ("the", None),
        ("to be or hamlet", ("to", "be", "or", "hamlet")),
        ("hamlet and ophelia", ("hamlet", "and", "ophelia")),
        ("skull to skull", ("skull", "to", "skull")),
        ("the hamlet", None),
        ("hamlet ophelia skull yorick", None),
        ("the OR of", None),
        ("to be or path:hamlet", ("to", "be", "or")),
    ],
)
def test_query_with_function_words_has_a_whole_phrase(query: str, phrase: tuple[str, ...] | None) -> None:
    whole = analyse_query(parse_query(query), ("english", "german")).whole_phrase
    assert (None if whole is None else whole.tokens) == phrase


@pytest.mark.parametrize("query", ["diary OR lake", "lake OR today -path:0", "note -path:0", "weir path:md"])
def test_vectors_of_large_index_find_the_same_chunks(tmp_path: Path, enlarge: Callable[..., None], query: str) -> None:
    (tmp_path / "notes").mkdir()
    for number in range(_COUNT):
        text = ("diary today", "weir today", "pump by the weir", "gauges and a pump", "lake")[number % 5]
        (tmp_path / "notes" / f"{number:02}.md").write_text(f"A note on {text}.\n", "utf-8")
    memory = open_with_fake(tmp_path / "notes", tmp_path / "data")
    memory.sync()
    found = memory.search(query, max_results=_COUNT, min_score=0)
    enlarge()
    same = memory.search(query, max_results=_COUNT + 1, min_score=0)
    memory.close()
    assert found.mode == "hybrid"
    assert found.results
    assert [result.path for result in same.results] == [result.path for result in found.results]


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("query", ["pump -weir", "weir -pump", "today -diary -gauges", 'note -"pump by"'])
def test_excluded_passages_are_not_found_by_vectors(tmp_path: Path, query: str) -> None:
    (tmp_path / "notes").mkdir()
    for number in range(_COUNT):
        text = ("diary today", "weir today", "pump by the weir", "gauges and a pump", "lake")[number % 5]
        (tmp_path / "notes" / f"{number:02}.md").write_text(f"A note on {text}.\n", "utf-8")
    memory = open_with_fake(tmp_path / "notes", tmp_path / "data")
    memory.sync()
    outcome = memory.search(query, max_results=_COUNT, min_score=0)
    texts = [(tmp_path / "notes" / result.path).read_text("utf-8") for result in outcome.results]
    memory.close()
    _, *excluded = query.replace('"', "").split(" -")
    assert outcome.mode == "hybrid"
    assert texts
    assert not [text for text in texts if any(word in text for word in excluded)]
