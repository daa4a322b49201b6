"""Results ordered by similar words or by their similarity to the best ones, with the built-in model."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.backends.builtin import BuiltinMemory
from engine.base.cancellation import CancelToken
from engine.base.errors import Cancelled, ProviderError
from engine.embedding.embedded_model import EmbeddedProvider
from engine.records import SearchOutcome
from engine.search.result_reasons import reasons_of
from engine.settings import Settings
from engine.settings.options import StoreSettings

NOTES = {
    "coast": "On the second day we walked along the coast to the lighthouse, swam in the bay and ate fish at the "
    "harbour. The ferry back was late.",
    "inspection": "The car failed the inspection: the exhaust has a hole, and one headlight is too low.",
    "visit": "Mia's class visits us: twelve children, two of them vegetarian. Leo has an allergy to milk and brings "
    "his own bread. We play in the yard if it stays dry.",
    "fridge": "There is milk, butter and cheese in the fridge.",
    "soup": "For the soup, roast the pumpkin with ginger, then add coconut milk and let it simmer.",
    "南京錠": "A photo.",
}
TALKS = {
    "gym": "Anna: I went to the gym again.\nBen: Nice! How is the new coach?\nAnna: Strict. We lifted weights.",
    "shoes": "Anna: The kids were ill, so I stayed at home.\nBen: Oh no. Did you buy anything for them?\n"
    "Anna: Only syrup and some tea.\nBen: My sister adopted a little dog, it chews every shoe.\nAnna: Poor shoes!",
    "kennel": "The dogs live in a kennel behind the house.\nEvery dog gets meat and water at six.\nThe young dogs are "
    "trained on Sunday.",
}
PUMPS = {
    "pump": "The pump in the garden lost pressure in winter: frost had split the valve, so water ran from the pipe.",
    "tap": "In winter, water froze in the pipe of the garden tap: the frost had split its valve.",
    "hose": "Before the first frost, empty the hose and the pipe of the garden, so that no water freezes in them.",
    "tyres": "The pressure of the tyres falls in winter, so we checked each valve of the car before the trip to Rome.",
    "bill": "The electricity bill in winter was high.",
}

GERMAN = {
    "roof": "Das Dach vom Schuppen ist undicht, und der Dachdecker kommt erst im Herbst mit neuen Ziegeln.",
    "wheel": "Am Rad ist die Bremse locker; die Werkstatt hat bis Freitag zu.",
    "lake": "Wir sind um den See gelaufen, danach gab es Kuchen bei Oma, und abends haben wir Karten gespielt.",
}


def _memory(folder: Path, notes: dict[str, str]) -> BuiltinMemory:
    (folder / "notes").mkdir()
    for name, text in notes.items():
        path = folder / "notes" / f"{name}.md"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
    settings = Settings(store=StoreSettings(path=str(folder / "store")))
    memory = BuiltinMemory(folder / "notes", settings, executor=None, background=False)
    assert not memory.sync(approve=True).error
    return memory


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BuiltinMemory]:
    memory = _memory(tmp_path_factory.mktemp("words"), NOTES)
    yield memory
    memory.close()


def _explained(memory: BuiltinMemory, query: str) -> SearchOutcome:
    outcome = memory.search(query, mode="auto", min_score=0.0, explain=True)
    assert outcome.explanation is not None
    return outcome


def _similarities(outcome: SearchOutcome) -> list[float | None]:
    assert outcome.explanation is not None
    return [None if result.similarity_in_lines else result.word_similarity for result in outcome.explanation.results]


@pytest.mark.parametrize(
    ("query", "answer", "nearest"), [("灯台", "coast", "inspection"), ("牛乳アレルギー", "visit", "fridge")]
)
def test_word_decides_between_passages_in_another_language(
    memory: BuiltinMemory, query: str, answer: str, nearest: str
) -> None:
    outcome = _explained(memory, query)
    paths = [result.path.removesuffix(".md") for result in outcome.results]
    assert outcome.explanation is not None
    cosines = {of.citation.partition(".")[0]: of.cosine or 0.0 for of in outcome.explanation.results}
    assert cosines[nearest] > cosines[answer]
    assert paths[:2] == [answer, nearest]
    assert "language" in [stage.name for stage in outcome.explanation.stages]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("Which instrument does she play?", ["orchestra.md"]),
        ("Welches Instrument spielt sie?", ["orchestra.md"]),
        ("Wer schrieb die Oper?", []),
        ("Wo wird Musik unterrichtet?", []),
        ("她拉小提琴吗？", ["orchestra.md"]),
        ("音乐老师在哪里？", ["orchestra.md"]),
    ],
)
def test_passage_in_another_language_translates_the_query(tmp_path: Path, query: str, found: list[str]) -> None:
    notes = {
        "hotel": "The hotel room was small.",
        "keynote": "The keynote was about batteries of electric cars and how they age in cold weather.",
        "museum": "We visited the museum of modern art and saw paintings of Picasso.",
        "orchestra": "She plays the violin in an orchestra, and they travel a lot.",
    }
    memory = _memory(tmp_path, notes)
    try:
        outcome = memory.search(query, max_results=1, explain=True)
    finally:
        memory.close()
    assert [result.path for result in outcome.results] == found
    assert outcome.explanation is not None
    if not found:
        (note,) = [stage.note for stage in outcome.explanation.stages if stage.name == "unrelated"]
        assert "whose words don't translate the query" in note


def test_list_of_words_may_be_in_the_language_of_the_query(tmp_path: Path) -> None:
    memory = _memory(tmp_path, {"wifi": "Passwort WLAN: Router Rückseite", "rent": "Miete 850 Euro, Strom 90 Euro"})
    try:
        paths = [result.path for result in memory.search("Wie komme ich ins Internet?").results]
    finally:
        memory.close()
    assert paths == ["wifi.md"]


@pytest.mark.parametrize("bills", [0, 110])
@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("Feier mit der Verwandtschaft am Abend", []),
        ("Ein Spieleabend bei Verwandten", ["lake.md"]),
        ("Gebäude Reparatur", []),
        ("Familienfeier", ["lake.md"]),
    ],
)
def test_query_without_similar_words_finds_nothing(tmp_path: Path, bills: int, query: str, found: list[str]) -> None:
    memory = _memory(tmp_path, GERMAN | {str(bill): f"Die Rechnung {bill} wurde bezahlt." for bill in range(bills)})
    try:
        assert [result.path for result in memory.search(query).results] == found
    finally:
        memory.close()


def test_passages_in_other_languages_hide_none_in_its_own(tmp_path: Path) -> None:
    memory = _memory(tmp_path, {**NOTES, **GERMAN})
    try:
        outcome = memory.search("Welche Süßigkeit haben wir gegessen?")
        every = memory.search("Welche Süßigkeit haben wir gegessen?", min_score=0.0)
    finally:
        memory.close()
    assert [result.path for result in outcome.results] == ["lake.md"]
    assert outcome.vector_weight is not None
    assert every.vector_weight is None
    scores = {result.path: result.score for result in every.results}
    assert max(scores["fridge.md"], scores["soup.md"]) > scores["lake.md"]


def test_failed_word_vectors_leave_scores_unchanged(memory: BuiltinMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object, **__: object) -> None:
        raise ProviderError("no memory")

    compared = {result.path: result.score for result in _explained(memory, "牛乳アレルギー").results}
    monkeypatch.setattr(EmbeddedProvider, "word_vectors", failing)
    outcome = _explained(memory, "牛乳アレルギー ")
    assert {result.path: result.score for result in outcome.results} == compared
    assert not any(_similarities(outcome))


def test_note_named_like_the_query_stays_first(memory: BuiltinMemory) -> None:
    assert _explained(memory, "南京錠").results[0].path == "南京錠.md"


@pytest.mark.parametrize("query", ["beacon on the rocks", "What did the mechanic complain about?", "lighthouse"])
def test_words_in_the_same_language_are_not_compared(memory: BuiltinMemory, query: str) -> None:
    outcome = _explained(memory, query)
    assert outcome.results
    assert not any(_similarities(outcome))


def test_similar_words_in_adjacent_lines_decide_in_one_language(tmp_path: Path) -> None:
    memory = _memory(tmp_path, TALKS)
    try:
        outcome = _explained(memory, "Which puppy ruined her sandals?")
        matching = _explained(memory, "kennel behind the house").explanation
        shared = memory.search("Which puppy ruined her sandals?", mode="keyword", min_score=0.0, explain=True)
    finally:
        memory.close()
    assert outcome.explanation is not None
    first, second, *_ = outcome.explanation.results
    assert (first.citation[:5], second.citation[:6]) == ("shoes", "kennel")
    assert (first.cosine or 0.0) < (second.cosine or 0.0)
    assert (first.word_similarity or 0.0) > (second.word_similarity or 0.0)
    assert all(result.similarity_in_lines for result in outcome.explanation.results)
    assert "lines" in [stage.name for stage in outcome.explanation.stages]
    assert any("two adjacent lines" in str(reason) for reason in reasons_of(first))
    for explanation in (matching, shared.explanation):
        assert explanation is not None
        assert not any(result.similarity_in_lines for result in explanation.results)


def test_similarity_of_lines_ignores_other_passages(tmp_path: Path) -> None:
    memory, query = _memory(tmp_path, TALKS), "Who repaired the roof?"
    try:
        explanation = _explained(memory, query).explanation
        assert explanation is not None
        together = {reason.citation.partition("#")[0]: reason.word_similarity for reason in explanation.results}
        for path, similarity in together.items():
            alone = memory.search(query, min_score=0.0, explain=True, path_glob=path).explanation
            assert alone is not None
            assert [reason.word_similarity for reason in alone.results] == [pytest.approx(similarity)]
    finally:
        memory.close()


def test_results_of_a_long_query_similar_to_the_best_move_up(tmp_path: Path) -> None:
    memory = _memory(tmp_path, PUMPS)
    try:
        outcome = _explained(memory, "Why did the garden pump lose so much pressure in winter?")
        short = _explained(memory, "garden pump pressure").explanation
        by_words = memory.search("garden pump lose pressure winter", mode="keyword", min_score=0.0, explain=True)
        varied = memory.search("garden pump lose pressure winter", min_score=0.0, explain=True, diverse=True)
    finally:
        memory.close()
    assert outcome.explanation is not None
    scores = {result.path.removesuffix(".md"): result.score for result in outcome.results}
    assert list(scores) == ["pump", "tap", "hose", "tyres", "bill"]
    assert scores["tyres"] > scores["hose"]
    first, *others = outcome.explanation.results
    assert first.best_similarity is None
    assert (others[1].best_similarity or 0.0) > (others[2].best_similarity or 0.0) > 0.0
    assert "best" in [stage.name for stage in outcome.explanation.stages]
    assert any("similarity to the best" in str(reason) for reason in reasons_of(others[0]))
    for explanation in (short, by_words.explanation, varied.explanation):
        assert explanation is not None
        assert all(result.best_similarity is None for result in explanation.results)


def test_results_with_rare_words_of_the_best_move_up(tmp_path: Path) -> None:
    names = "Brontovex, Kaldurin, Ostrimel"
    notes = {
        **PUMPS,
        "pump": f"The pump in the garden lost pressure in winter. Repaired by {names}.",
        "clinic": f"{names}: the doctor saw no reason to change the plan before winter.",
        "plumber": "Mirelund, Tasporin, Hevlaquin: the plumber mended leaking sprinklers before winter.",
    }
    memory = _memory(tmp_path, {"MEMORY": "Mine.", **{f"memory/{name}": text for name, text in notes.items()}})
    query, options = "Why did the garden pump lose so much pressure in winter?", {"min_score": 0.0, "explain": True}
    try:
        outcome = _explained(memory, query)
        of_group = memory.search(query, session_key="agent:main:discord:group:1", **options)
    finally:
        memory.close()
    assert outcome.explanation is not None
    similarities, by_vectors = (
        {Path(reason.citation).name.split(".")[0]: reason.best_similarity or 0.0 for reason in explanation.results}
        for explanation in (outcome.explanation, of_group.explanation)
    )
    scores = {Path(result.path).stem: result.score for result in outcome.results}
    assert list(scores)[-2:] == ["clinic", "plumber"]
    assert scores["plumber"] > scores["clinic"]
    assert similarities["clinic"] > similarities["plumber"] > 0.0
    assert 0.0 < by_vectors["clinic"] < by_vectors["plumber"], "shared words tell of notes that a group may not know of"
    (reason,) = (str(reason) for reason in reasons_of(outcome.explanation.results[-2]) if "best ones" in str(reason))
    assert "words" not in reason  # which count in the built-in index alone, and not in sessions of others


def test_note_named_like_a_long_query_is_not_compared(tmp_path: Path) -> None:
    query = "garden pump loses pressure in winter again"
    memory = _memory(tmp_path, {**PUMPS, query: "See the bill."})
    try:
        explanation = _explained(memory, query).explanation
    finally:
        memory.close()
    assert explanation is not None
    first, second, third, *_ = explanation.results
    assert first.citation.startswith(query)
    assert first.best_similarity is second.best_similarity is None
    assert third.best_similarity is not None


def test_single_result_is_compared_but_not_moved(tmp_path: Path) -> None:
    memory = _memory(tmp_path, {"shoes": TALKS["shoes"]})
    try:
        outcome = _explained(memory, "Which puppy ruined her sandals?")
    finally:
        memory.close()
    assert outcome.explanation is not None
    assert [result.similarity_in_lines for result in outcome.explanation.results] == [True]
    assert "lines" not in [stage.name for stage in outcome.explanation.stages]


def test_one_vector_among_results_of_a_long_query_moves_none(tmp_path: Path) -> None:
    memory = _memory(tmp_path, PUMPS)
    try:
        with memory.store.write() as writer:
            writer.connection.execute(
                "DELETE FROM embedding_cache WHERE rowid > (SELECT min(rowid) FROM embedding_cache)"
            )
        outcome = _explained(memory, "Why did the garden pump lose so much pressure in winter?")
    finally:
        memory.close()
    assert outcome.explanation is not None
    assert len(outcome.results) > 3
    assert "best" not in [stage.name for stage in outcome.explanation.stages]


def test_words_of_lower_results_show_the_language_of_a_query(tmp_path: Path) -> None:
    places = "trip wedding garden harbour festival mountain market castle bridge village river school museum church "
    places += "station beach forest concert parade balcony airport island valley lake park"
    notes = {
        place: f"The pictures of the {place} are in the album, and the camera wrote where each image was taken."
        for place in places.split()
    }
    notes["kitchen"] = "The slow cooker was on the shelf that we painted, and dinner is at six."
    notes["treasure"] = "They found a cache of coins in the field behind the old mill, and it was dry."
    notes["hall"] = "A photo of my aunt hangs next to the door."
    memory = _memory(tmp_path, notes)
    try:
        explanation = _explained(memory, "photo metadata slow cache").explanation
    finally:
        memory.close()
    assert explanation is not None
    assert [stage.name for stage in explanation.stages if stage.name in ("language", "lines")] == ["lines"]


def test_few_german_words_among_german_notes_are_not_compared(tmp_path: Path) -> None:
    notes = {
        "mast": "Die Verbindung der Leiterbahn mit dem Gehäuse ist am Rand der Platine, und sie wird dort verschraubt.",
        "bad": "Wir haben den Boden im Bad neu verlegt, und die Fliesen sind jetzt grau.",
    }
    memory = _memory(tmp_path, notes)
    try:
        outcome = _explained(memory, "Erde und Schirmung")
    finally:
        memory.close()
    assert len(outcome.results) == 2
    assert not any(_similarities(outcome))


@pytest.mark.parametrize("wordless", ["", "12345 678"])
def test_wordless_note_does_not_disable_word_comparison(tmp_path: Path, wordless: str) -> None:
    memory = _memory(tmp_path, {**NOTES, "empty": wordless})
    try:
        paths = [result.path for result in _explained(memory, "灯台").results if result.path != "empty.md"]
        assert any(_similarities(_explained(memory, "灯台")))
    finally:
        memory.close()
    assert paths[:2] == ["coast.md", "inspection.md"]


def test_chinese_words_of_chinese_notes_are_not_compared(tmp_path: Path) -> None:
    memory = _memory(tmp_path, {"coast": "灯塔在海岸边,我们走了一天。", "car": NOTES["inspection"]})
    try:
        outcome = _explained(memory, "海岸灯塔")
    finally:
        memory.close()
    assert outcome.results[0].path == "coast.md"
    assert not any(_similarities(outcome))


def test_note_in_the_language_of_the_query_keeps_its_place(tmp_path: Path) -> None:
    notes = {**NOTES, "besuch": "Am Samstag kommt die Klasse von Jonas zu uns, und wir haben noch nichts eingekauft."}
    memory = _memory(tmp_path, notes)
    try:
        outcome = _explained(memory, "Wer in der Klasse hat eine Allergie gegen Milch?")
    finally:
        memory.close()
    similar = dict(zip((result.path for result in outcome.results), _similarities(outcome), strict=True))
    assert similar.pop("besuch.md") is None
    assert all(similar.values())
    assert similar.keys() >= {"visit.md", "fridge.md"}
    assert next(iter(similar)) == "visit.md"


def test_passages_with_too_many_words_stay_in_place(tmp_path: Path) -> None:
    letters = "bcdfghklmn"
    notes = {
        str(number): "The lamp of the house is in the hall, and it was on the table that we have. "
        + " ".join(f"{one}a{two}o{letters[number]}ir" for one in letters for two in letters)
        for number in range(10)
    }
    memory = _memory(tmp_path, notes)
    try:
        compared = [similarity is not None for similarity in _similarities(_explained(memory, "家の照明"))]
    finally:
        memory.close()
    assert 2 <= sum(compared) <= 4
    assert compared == sorted(compared, reverse=True)


def test_cancelled_search_embeds_no_words(memory: BuiltinMemory) -> None:
    provider = EmbeddedProvider()
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        provider.word_vectors(["a word never seen"], cancel=cancel)
    provider.close()
