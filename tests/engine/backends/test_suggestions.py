"""Unknown words: offered suggestions, and no silent replacement."""

from pathlib import Path

import numpy as np
import pytest
from msgspec import UNSET
from msgspec.structs import replace

from engine.agent.memory_access import AgentAccess
from engine.agent.memory_tools import memory_search
from engine.base.errors import ProviderError
from engine.search import keyword_leg, suggestions
from engine.settings import Settings


def indexed(open_memory, workspace: Path, **notes: str):
    for name, text in notes.items():
        (workspace / f"{name}.md").write_text(text, "utf-8")
    memory = open_memory(use=None)
    memory.sync()
    return memory


def offered(memory, query: str, **changes) -> list[str]:
    return [suggestion.query for suggestion in memory.search(query, correct=False, **changes).suggestions]


def test_search_unknown_word_answers_its_correction(open_memory, workspace: Path) -> None:
    memory = indexed(open_memory, workspace)
    outcome = memory.search("irigation timer")
    assert outcome.results
    assert outcome.corrected is not None
    assert outcome.corrected.query == "irrigation timer"
    assert outcome.results == memory.search("irrigation timer").results
    assert memory.search("irrigation timer").corrected is None


def test_correction_counts_its_candidates_once(open_memory, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Choosing the correction finds and scores the chunks that its answer needs."""
    memory = indexed(open_memory, workspace)
    counted, count = list[str](), keyword_leg.count_terms
    monkeypatch.setattr(
        keyword_leg, "count_terms", lambda *arguments: (counted.append(arguments[3]), count(*arguments))
    )
    expected = memory.search("irrigation timer").results
    assert len(counted) == 1
    outcome = memory.search("irigation timer")
    assert outcome.corrected is not None
    assert outcome.results == expected
    assert len(counted) == 2


def test_search_unknown_word_keeps_query_without_match(open_memory, workspace: Path) -> None:
    """A correction that matches no chunk together with the other words is a guess, so it is only suggested."""
    memory = indexed(open_memory, workspace)
    outcome = memory.search("irigation quarterly")
    assert outcome.corrected is None
    assert [suggestion.query for suggestion in outcome.suggestions] == ["irrigation quarterly"]


def test_suggestion_that_finds_nothing_is_left_out(open_memory, workspace: Path) -> None:
    """A word of the index need not be in the phrase of the query."""
    memory = indexed(open_memory, workspace, phrase="An evening abend song. The exact phrase of it.")
    assert offered(memory, "absend") == ["abend"]
    assert offered(memory, '"evening absend"') == ['"evening abend"']
    assert offered(memory, '"exact absend"') == []


@pytest.mark.parametrize("typed", ["irrgation", "irrigaation", "irrigatoin"])
def test_evident_typo_in_a_long_question_is_corrected(open_memory, workspace: Path, typed: str) -> None:
    """Long questions seldom have a chunk with all their words."""
    memory = indexed(open_memory, workspace)
    outcome = memory.search(f"why was the {typed} of our submarine so expensive")
    assert outcome.corrected is not None
    assert outcome.corrected.query == "why was the irrigation of our submarine so expensive"


def test_words_known_to_the_model_are_not_corrected(open_memory, workspace: Path, provider, monkeypatch) -> None:
    query = "why was the irrgation of our submarine so expensive"
    memory = open_memory()
    memory.sync()
    monkeypatch.setattr(provider, "pieces", lambda word: 1 if word == "irrgation" else 2)
    outcome = memory.search(query)
    assert outcome.corrected is None
    assert outcome.suggestions
    assert memory.search("Irrgation timer").corrected is not None  # a passage has both words
    monkeypatch.setattr(provider, "pieces", lambda word: 2)
    assert memory.search(f"{query} now").corrected is not None


@pytest.fixture
def rare_words(provider, monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    """Words that the model rarely sees, with their rarities; it knows all others."""
    rarities = dict[str, float]()
    monkeypatch.setattr(provider, "rarity", lambda word: rarities.get(word, 12.0), raising=False)
    monkeypatch.setattr(provider, "pieces", lambda word: 3 if word in rarities else 1)
    monkeypatch.setattr(provider, "word_vectors", lambda words, **_: provider.vectors_of(words), raising=False)
    monkeypatch.setattr(provider, "nearest_pieces", lambda *_, **__: (np.zeros((0, 0)), np.zeros(0)), raising=False)
    return rarities


def test_word_that_is_rare_in_the_model_is_corrected(open_memory, rare_words: dict[str, float]) -> None:
    """Another letter and no passage with all words are no proof, but the model's frequencies are."""
    memory = open_memory()
    memory.sync()
    rare_words["irrigqtion"] = 20.0
    assert memory.search("irrigqtion quarterly").corrected is None
    rare_words["irrigqtion"] = rare_words["irrigation"] = 30.0
    assert memory.search("irrigqtion quarterly report").corrected is None
    del rare_words["irrigation"]
    outcome = memory.search("irrigqtion quarterly budget")
    assert outcome.corrected is not None
    assert outcome.corrected.query == "irrigation quarterly budget"
    rare_words["irrigqtixn"] = 30.0
    outcome = memory.search("irrigqtixn quarterly budget")
    assert outcome.corrected is None, "two wrong letters may be another word"
    assert [other.query for other in outcome.suggestions] == ["irrigation quarterly budget"]


def test_name_is_corrected_if_the_model_shows_a_typo(open_memory, rare_words: dict[str, float]) -> None:
    memory = open_memory()
    memory.sync()
    assert not memory.search("What did Irrigqtion cost in the budget?").suggestions
    query = "What did Irrigqtion cost in the quarterly budget?"
    rare_words["irrigqtion"] = 30.0
    outcome = memory.search(query)
    assert outcome.corrected is not None
    assert outcome.corrected.query == query.replace("Irrigqtion", "Irrigation")


@pytest.mark.parametrize(
    ("query", "unknown", "corrected"),
    [
        ("What was the quarterly irrigqtion budget?", "", True),
        ("What was the quarterly irrigqtion budget?", "english", False),
        ("Wie war das quarterly irrigqtion budget und warum?", "", False),
    ],
)
def test_rare_word_is_corrected_in_languages_of_model_and_notes(
    open_memory, provider, rare_words: dict[str, float], monkeypatch: pytest.MonkeyPatch, query, unknown, corrected
) -> None:
    """In other languages, real words are as rare as typing errors: Czech "šestá" is not "cesta"."""
    monkeypatch.setattr(provider, "calibration", replace(provider.calibration, unknown_languages=frozenset({unknown})))
    memory = open_memory()
    memory.sync()
    rare_words["irrigqtion"] = 30.0
    outcome = memory.search(query)
    offered = [other.query for other in (outcome.corrected or outcome.suggestions[0],)]
    assert (outcome.corrected is not None, offered) == (corrected, [query.replace("irrigqtion", "irrigation")])


def test_short_word_is_corrected_if_rare_in_the_model(open_memory, rare_words: dict[str, float]) -> None:
    memory = open_memory()
    memory.sync()
    rare_words["timr"] = 14.0
    corrected = memory.search("timr hose").corrected
    assert corrected is not None
    assert corrected.query == "hose"
    rare_words["timr"] = 18.0
    corrected = memory.search("timr hose 16").corrected
    assert corrected is not None
    assert corrected.query == "timer hose 16"
    outcome = memory.search("timr", explain=True)
    assert outcome.corrected is None
    assert not any("Similar words" in stage.note for stage in outcome.explanation.stages)


def test_known_words_decide_between_similar_ones(open_memory, workspace: Path) -> None:
    notes = {f"fair-{number}": f"The booth of hall {number}." for number in range(5)}
    memory = indexed(open_memory, workspace, **notes, shoes="Boots of leather.")
    assert offered(memory, "bootz")[0] == "booth"
    assert offered(memory, "bootz leather")[0] == "boots leather"


def test_words_unknown_to_the_model_are_looked_up_first(open_memory, rare_words: dict[str, float]) -> None:
    memory = open_memory()
    memory.sync()
    query = "submarine expedition quarterly budget irrgation"
    assert not offered(memory, query)
    rare_words["irrgation"] = 20.0
    assert offered(memory, f"{query} timer") == ["submarine expedition quarterly budget irrigation timer"]


@pytest.mark.parametrize(("word", "pieces"), [("innovation", 2), ("invocatoin", 1)])
def test_word_that_may_be_no_typo_is_not_replaced(
    open_memory, workspace: Path, provider, monkeypatch, word: str, pieces: int
) -> None:
    """A single word with two typos, or one that the model knows, is probably another word."""
    (workspace / "note.md").write_text("The invocation of the harbour master.\n", "utf-8")
    memory = open_memory()
    memory.sync()
    monkeypatch.setattr(provider, "pieces", lambda text: pieces)
    outcome = memory.search(word)
    assert outcome.corrected is None
    assert [suggestion.query for suggestion in outcome.suggestions] == ["invocation"]
    assert memory.search(f"{word} harbour").corrected is not None


def test_correction_works_without_the_model(open_memory, workspace: Path, provider, monkeypatch) -> None:
    def fail(word: str) -> int:
        raise ProviderError("The model cannot be loaded.")

    memory = open_memory()
    memory.sync()
    monkeypatch.setattr(provider, "pieces", fail)
    assert memory.search("why was the irrgation of our submarine so expensive").corrected is not None


def test_query_ranks_words_similar_to_an_unknown_one(open_memory, workspace: Path) -> None:
    """The other words decide which similar word is meant; only a search that corrects nothing ignores them."""
    notes = {"bricks": "Tables and chairs of the terrace.", "grip": "The cable of the crane.", "oil": "A fable."}
    memory = indexed(open_memory, workspace, **notes)
    outcome = memory.search("cfable crane pulley", min_score=0.0, explain=True)
    assert outcome.corrected is None
    assert outcome.results[0].path == "grip.md"
    assert {"oil.md", "bricks.md"}.intersection(result.path for result in outcome.results) == {"oil.md"}
    assert outcome.explanation is not None
    assert any(
        "Similar words were searched instead: “cable”, “fable”." in stage.note for stage in outcome.explanation.stages
    )
    literal = memory.search("cfable crane pulley", min_score=0.0, correct=False).results
    assert [result.path for result in literal] == ["grip.md"]
    assert outcome.results[0].score > literal[0].score
    assert len(outcome.results[0].match_ranges) == 2


@pytest.mark.parametrize("pieces", [1, 2])
def test_words_known_to_the_model_have_no_similar_ones(
    open_memory, workspace: Path, provider, monkeypatch, pieces: int
) -> None:
    (workspace / "gate.md").write_text("Hollyhocks by the gate.", "utf-8")
    memory = open_memory()
    memory.sync()
    monkeypatch.setattr(provider, "pieces", lambda word: pieces)
    outcome = memory.search("irrigqtion hollyhocks", explain=True)
    assert outcome.corrected is None
    assert any("Similar words were searched" in stage.note for stage in outcome.explanation.stages) == (pieces > 1)


@pytest.mark.parametrize("typed", ["Irrgation", "irritation", "orrigation"])
def test_names_and_other_words_in_a_long_question_stay(open_memory, workspace: Path, typed: str) -> None:
    memory = indexed(open_memory, workspace)
    outcome = memory.search(f"why was the {typed} of our submarine so expensive")
    assert outcome.corrected is None
    assert outcome.suggestions


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("vlves", "valves"), ("Aberystwth", "Aberystwyth"), ("kefuses", "refuses"), ("leagl", "legal")],
)
def test_typo_among_words_of_its_passage_is_corrected(open_memory, workspace: Path, typed: str, meant: str) -> None:
    """No passage has all words of the query, but one has several of them with the corrected one."""
    text = f"The harbour master {meant} the trawler while gulls circle.\n"
    memory = indexed(open_memory, workspace, right=text, other="Nothing of interest.\n")
    outcome = memory.search(f"why did the harbour {typed} at a trawler of submarines")
    assert outcome.corrected is not None
    assert outcome.corrected.words == ((typed, meant),)
    assert outcome.results[0].path == "right.md"


@pytest.mark.parametrize(
    ("other", "similar"), [("lawyer", "layer"), ("resorts", "reports"), ("prepositions", "propositions")]
)
def test_other_word_outside_its_passage_stays(open_memory, workspace: Path, other: str, similar: str) -> None:
    """A similar word isn't the correction if its passage has none of the query's other words."""
    texts = {"similar": f"Two {similar} of paint dried.\n", "rest": "The harbour master keeps a trawler.\n"}
    memory = indexed(open_memory, workspace, **texts)
    outcome = memory.search(f"which {other} of the harbour master has a submarine")
    assert outcome.corrected is None
    assert outcome.suggestions


def test_typo_next_to_other_unknown_words_is_corrected(open_memory, workspace: Path) -> None:
    memory = indexed(
        open_memory, workspace, right="The harbour master refuses the trawler at the pier.\n", b="tars lamp\n"
    )
    outcome = memory.search("harbour master refuess trawler tarp")
    assert outcome.corrected is not None
    assert outcome.corrected.words == (("refuess", "refuses"),)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("GITAUTHORNAME", "GIT AUTHOR NAME"),
        ("commandline", "command line"),
        ("pathtofile", "path to file"),
    ],
)
def test_unspaced_words_are_searched_separately(open_memory, workspace: Path, typed: str, meant: str) -> None:
    text = "Set GIT_AUTHOR_NAME on the command line, and the path to file descriptors.\n"
    memory = indexed(open_memory, workspace, apart=text, far="A line of command at the end of the file.\n")
    outcome = memory.search(typed)
    assert outcome.corrected is not None
    assert outcome.corrected.query == meant
    assert outcome.results[0].path == "apart.md"


@pytest.mark.parametrize("word", ["notable", "therapist", "rapistof", "linecommand"])
def test_word_is_not_split_into_unrelated_words(open_memory, workspace: Path, word: str) -> None:
    text = "I am not able to see the rapist of the command line.\n"
    assert offered(indexed(open_memory, workspace, text=text), word) == []


def test_suggestion_of_one_word_comes_before_two_words(open_memory, workspace: Path) -> None:
    memory = indexed(open_memory, workspace, joined="A forkliff.\n", apart="A fork lift.\n")
    assert offered(memory, "forklift") == ["forkliff"]


def test_correction_off_offers_a_suggestion(open_memory, workspace: Path) -> None:
    memory = indexed(open_memory, workspace)
    outcome = memory.search("irigation", correct=False)
    assert outcome.results == ()
    (suggestion,) = outcome.suggestions
    assert (suggestion.query, suggestion.words, suggestion.chunks) == ("irrigation", (("irigation", "irrigation"),), 2)
    assert memory.search(suggestion.query).results


def test_known_words_stay_and_typos_corrected_together(open_memory, workspace: Path) -> None:
    memory = indexed(open_memory, workspace)
    assert offered(memory, "the Irigaton timer, spare batteires!") == ["the Irrigation timer, spare batteries!"]
    assert offered(memory, "irrigation timer") == []


SLIPS = {
    "english": ("The conservatory door sticks.", "consrevatory", "conservatory"),
    "german": ("Das Gewächshaus braucht neue Scheiben.", "gewächshuas", "gewächshaus"),
    "german, capital": ("Das Gewächshaus braucht neue Scheiben.", "Gwächshaus", "Gewächshaus"),
    "french": ("La réservation du chalet est confirmée.", "reservasion", "réservation"),
    "spanish": ("El invernadero necesita cristales nuevos.", "imvernadero", "invernadero"),
    "italian": ("La serra ha bisogno di vetri nuovi.", "bizogno", "bisogno"),
    "portuguese": ("A irrigação da estufa parou.", "irigação", "irrigação"),
    "dutch": ("De vergadering is verplaatst naar dinsdag.", "vergaderign", "vergadering"),
    "russian": ("Теплица стоит за домом.", "теплтца", "теплица"),
    "russian, at its beginning": ("Теплица стоит за домом.", "пеплица", "теплица"),
    "greek": ("Το θερμοκήπιο είναι πίσω από το σπίτι.", "θερμοκίπιο", "θερμοκήπιο"),
    "arabic": ("الدفيئة خلف البيت.", "الدقيئة", "الدفيئة"),
    "hebrew": ("החממה נמצאת מאחורי הבית.", "החמנה", "החממה"),
    "hindi": ("किताबघर बाजार के पीछे है।", "किताबगर", "किताबघर"),
    "korean": ("전화번호를 수첩에 적어 두었다.", "전화벟호", "전화번호"),
}


@pytest.mark.parametrize("kind", SLIPS)
def test_typo_in_each_language_is_corrected(open_memory, workspace: Path, kind: str) -> None:
    text, slip, meant = SLIPS[kind]
    memory = indexed(open_memory, workspace, other=f"# Note\n\n{text}\n")
    found = offered(memory, slip)
    assert memory.search(found[0]).results[0].path == "other.md"
    assert found == [meant]


def test_likelier_typos_and_commoner_words_come_first(open_memory, workspace: Path) -> None:
    memory = indexed(
        open_memory, workspace, a="clamps and clamps", b="clams", c="clams again", d="crams, crabs and crabs"
    )
    assert offered(memory, "clamsp") == ["clamps", "clams"]  # swapped letters come before an added one
    assert offered(memory, "crads")[:2] == ["crabs", "crams"]
    assert offered(memory, "irrigatoin timre")[0] == "irrigation timer"


def test_words_of_notes_with_the_known_words_are_offered_first(open_memory, workspace: Path) -> None:
    notes = {
        "haus": "Dein Rad steht im Hof, und daran ist ein Schloss.",
        "hose": "Drip irrigation: the valve is by the wall.",
        "tap": "The brass tap.",
    }
    memory = indexed(open_memory, workspace, **notes)
    assert offered(memory, "drin valve")[0] == "drip valve"
    assert offered(memory, "drin wall")[0] == "drip wall"
    assert offered(memory, "drin brass")[0] == "drip brass"


def test_name_is_not_corrected_to_a_common_word(open_memory, workspace: Path) -> None:
    text = "The plumber began on Monday. The heater and doors were replaced, and Bertrand paid.\n"
    memory = indexed(open_memory, workspace, other=text)
    for name in ("Bevan", "Heather", "Dolores"):
        assert offered(memory, f"when did {name} pay the plumber") == []
        assert memory.search(f"when did {name} pay the plumber").corrected is None
    assert offered(memory, "when did bevan pay the plumber") == ["when did began pay the plumber"]
    assert offered(memory, "when did Bertarnd pay") == ["when did Bertrand pay"]
    assert offered(memory, "doors replaced on Monday by Palumber") == []
    assert offered(memory, "doors replaced on Monday by Plubmer") == ["doors replaced on Monday by Plumber"]
    assert offered(memory, "doors replaced on Monday by Pllumber") == ["doors replaced on Monday by Plumber"]


def test_word_with_two_typos_has_no_wrong_letter(open_memory, workspace: Path) -> None:
    memory = indexed(open_memory, workspace, other="The sprinkler and the gutters were cleaned.\n")
    assert offered(memory, "guters") == ["gutters"]
    assert offered(memory, "gutesr") == ["gutters"]
    assert offered(memory, "gadters") == []
    assert offered(memory, "spronkker") == ["sprinkler"]


@pytest.mark.parametrize("query", ["tmr", "E0432x", "zzzzqqqq", "機械学習", "✅", "", "12345"])
def test_codes_and_short_words_not_corrected(open_memory, workspace: Path, query: str) -> None:
    memory = indexed(open_memory, workspace, code="E0432 os.replace foo_bar time 機械翻訳 12346 ✅ ✨\n")
    assert offered(memory, query) == []


def test_only_searched_words_suggested(open_memory, workspace: Path) -> None:
    memory = indexed(open_memory, workspace, MEMORY="The clandestine rendezvous.\n")
    (workspace / "memory").mkdir()
    (workspace / "memory/a.md").write_text("A plain note.\n")
    memory.sync()
    assert offered(memory, "rendezvuos") == ["rendezvous"]
    assert offered(memory, "rendezvuos", session_key="agent:main:discord:group:1") == []
    assert offered(memory, "rendezvuos", path_glob="memory/**") == []


def test_similar_words_of_unsearched_notes_are_not_named(open_memory, workspace: Path) -> None:
    (workspace / "memory").mkdir()
    (workspace / "memory/broth.md").write_text("Compost and soup.\n")
    memory = indexed(open_memory, workspace, MEMORY="The zanzibarium is in the cellar.\n")

    def notes_of(**options: str) -> str:
        outcome = memory.search("compst soup zanzibarum", explain=True, **options)
        assert outcome.explanation is not None
        return "\n".join(stage.note for stage in outcome.explanation.stages)

    assert "zanzibarium" in notes_of()
    assert "zanzibarium" not in notes_of(session_key="agent:main:discord:group:1")


def test_a_new_word_is_offered_once_it_is_indexed(open_memory, workspace: Path) -> None:
    memory = indexed(open_memory, workspace)
    assert offered(memory, "marmelade") == []
    indexed_again = workspace / "jam.md"
    indexed_again.write_text("Marmalade of three oranges.\n")
    memory.sync()
    assert offered(memory, "marmelade") == ["marmalade"]


def test_correction_is_found_among_many_words_of_one_prefix(open_memory, workspace: Path, monkeypatch) -> None:
    monkeypatch.setattr(suggestions, "_MAX_COMPARED", 8)
    crowd = " ".join(f"gree{a}{b}x" for a in "abcdef" for b in "abcdef")
    memory = indexed(open_memory, workspace, crowd=crowd, house="The greenhouse.\n")
    assert offered(memory, "greenhuose") == ["greenhouse"]


@pytest.mark.parametrize(
    ("query", "meant"),
    [
        ('"drip irigation"', ['"drip irrigation"']),
        ("timre path:shopping", ["timer path:shopping"]),
        ("pressure timre path:ines", []),
        ("timer -irigation", []),
        ("irigation OR timer", ["irrigation OR timer"]),
    ],
)
def test_query_language_stays_as_typed(open_memory, workspace: Path, query: str, meant: list[str]) -> None:
    assert offered(indexed(open_memory, workspace), query) == meant


GROUP = "agent:main:discord:group:1"


@pytest.mark.parametrize("correct", [False, True])
def test_similar_words_satisfy_the_conditions(open_memory, workspace: Path, correct: bool) -> None:
    """A word that only other passages have is not similar, whether or not the answer is explained."""
    memory = indexed(open_memory, workspace, bicycle="A red bicycle with a basket.\n", hammer="A hammer.\n")
    for query in ("hamner irrigation OR basket", 'hamner "red bicycle"', "hamner -hammer"):
        outcomes = [memory.search(query, explain=explain, correct=correct, min_score=0.0) for explain in (False, True)]
        answers = [[(result.path, result.score) for result in outcome.results] for outcome in outcomes]
        assert answers[0] == answers[1]
        assert [outcome.suggestions for outcome in outcomes] == [(), ()]


@pytest.mark.parametrize(
    ("private", "shared"),
    [("A forkliff and a fork lift.\n", "fork lift"), ("A fork lift. A forkfilt.\n", "forkfilt")],
)
def test_private_words_do_not_prevent_suggestions(open_memory, workspace: Path, private: str, shared: str) -> None:
    (workspace / "memory").mkdir()
    (workspace / "memory/pub.md").write_text(f"A {shared}.\n")
    memory = indexed(open_memory, workspace, MEMORY=private)
    found = memory.search("forklift", correct=False, session_key=GROUP).suggestions
    assert [(suggestion.query, suggestion.chunks) for suggestion in found] == [(shared, 1)]


def test_group_gets_no_advice_about_unindexed_files(open_memory, workspace: Path) -> None:
    (workspace / "divorce.md").write_bytes(b"\0" * 100)
    memory = indexed(open_memory, workspace)

    def named(**options: str) -> list[str]:
        outcome = memory.search("divorce", explain="if empty", **options)
        assert outcome.explanation is not None
        return [remedy.path for remedy in outcome.explanation.remedies if remedy.path]

    assert named() == ["divorce.md"]
    assert named(session_key=GROUP) == []

    def advice(**options: str) -> str:
        outcome = memory.search("source:sessions divorce", explain="if empty", **options)
        assert outcome.explanation is not None
        return " ".join(remedy.advice for remedy in outcome.explanation.remedies)

    assert "No sessions are indexed" in advice()
    assert "No sessions are indexed" not in advice(session_key=GROUP)


def test_counts_for_a_group_omit_private_notes(open_memory, workspace: Path) -> None:
    (workspace / "memory").mkdir()
    (workspace / "memory/pub.md").write_text("The crane of the marina.\n")
    memory = indexed(open_memory, workspace, MEMORY="A secretproject near the crane.\n")

    def note_for(query: str, **options: str) -> str:
        outcome = memory.search(query, explain=True, correct=False, min_score=0.0, **options)
        assert outcome.explanation is not None
        return " ".join(stage.note for stage in outcome.explanation.stages if stage.name == "words")

    assert "“crane”: 2" in note_for("crane secretproj")
    assert "“secretproj”: 1" in note_for("crane secretproj")
    shared = note_for("crane secretproj", session_key=GROUP)
    assert "“crane”: 1" in shared
    assert "Not found in the index: “secretproj”." in shared
    assert "secretproject" not in shared


def test_typo_before_a_particle_is_corrected(open_memory, workspace: Path) -> None:
    (workspace / "korean.md").write_text("# 함수\n\nexecutor에 함수를 넘깁니다. 결과는 나중에 옵니다.\n", "utf-8")
    memory = open_memory(use=None)
    memory.sync()
    outcome = memory.search("exeuctor에")
    assert outcome.corrected is not None
    assert (outcome.corrected.query, outcome.results[0].path) == ("executor에", "korean.md")


def test_short_query_without_a_match_is_searched_shorter(open_memory, workspace: Path) -> None:
    """The answer names the word that it leaves out; names and questions stay whole."""
    common = {f"common-{number}": "A lift for everybody.\n" for number in range(10)}
    plan = "Alter the hoist first."
    memory = indexed(open_memory, workspace, crane="The gantry lifts the boiler.", plan=plan, **common)
    outcome = memory.search("gantry trombone", min_score=0.9)
    assert outcome.corrected is not None
    assert (outcome.corrected.query, outcome.corrected.words) == ("gantry", (("trombone", ""),))
    assert [result.path for result in outcome.results] == ["crane.md"]
    assert "Nothing contains “trombone” together with the other words." in outcome.notice
    offered = {query: memory.search(query, min_score=0.9).suggestions for query in ("alte hoist", "alte boiler")}
    assert {query: [suggestion.query for suggestion in found] for query, found in offered.items()} == {
        "alte hoist": ["alter hoist"],
        "alte boiler": [],  # nothing contains "alter boiler" either
    }
    for query, shorter in {"Gantry Trombone": "Gantry", "lifts trombone": "lifts"}.items():  # "lift" alone is common
        outcome = memory.search(query, min_score=0.9)
        assert outcome.corrected is not None, query
        assert outcome.corrected.query == shorter
    whole = ["gantry Trombone", "who has the gantry trombone", '"gantry trombone"', "gantry trombone bassoon"]
    shorter = [query for query in whole if memory.search(query, min_score=0.9).corrected is not None]
    assert not shorter
    assert not memory.search("gantry trombone", min_score=0.9, correct=False).results


def test_quotation_that_nothing_contains_is_read_as_words(open_memory, workspace: Path) -> None:
    """Only next to other words, and not if another condition is unmet; the answer and the agent's tool say so."""
    memory = indexed(open_memory, workspace, crane="The gantry lifts the old boiler.", plan="Alter the hoist first.")
    for query, words in {
        '"lifts old gantry" boiler': "lifts old gantry boiler",
        'boiler: “gantry old”, "lifts the"': 'boiler: gantry old , "lifts the"',
        '-hoist "gantry old" boiler "old lifts"': "-hoist gantry old boiler old lifts",
    }.items():
        outcome = memory.search(query)
        assert outcome.corrected is not None, query
        assert (outcome.corrected.query, outcome.results[0].path) == (words, "crane.md")
        assert outcome.corrected.is_shorter
    assert outcome.notice == "Nothing contains “gantry old” or “old lifts”."
    answer = memory_search(AgentAccess(lambda: memory, Settings()), '"lifts old gantry" boiler')
    assert answer.notice == "Nothing contains “lifts old gantry”."
    whole = ['"gantry old"', 'path:crane "gantry old"', 'path:pump "gantry old" boiler', '"gantry -pump" boiler']
    whole += ['"lifts the old" boiler', '"bassoon trombone" sackbut', '-"gantry old" boiler']
    assert not [query for query in whole if memory.search(query).corrected is not None]
    assert not memory.search('"lifts old gantry" boiler', correct=False).results


def test_russian_words_in_latin_letters_are_corrected(open_memory, workspace: Path) -> None:
    text = "Сборка мусора в памяти. Здесь можно вернуть объект, который больше не нужен, и опираться на счётчик ссылок."
    memory = indexed(open_memory, workspace, memory=f"# Память\n\n{text}\n")
    for query, written in {
        "sborka musora": "сборка мусора",
        "vernut obyekt": "вернуть объект",
        "opiratsya": "опираться",
        "pamyati": "памяти",
    }.items():
        outcome = memory.search(query)
        assert outcome.corrected is not None, query
        assert (outcome.corrected.query, outcome.results[0].path) == (written, "memory.md")
    assert memory.search("sborku").corrected is None


def test_unknown_word_is_left_out_if_the_others_meet_once(open_memory, workspace: Path) -> None:
    """Three words in the same passage, not two, rarely meet by chance; more common ones may."""
    words = ["A cart.", "Some tar.", "Wet ropes.", "A boiler.", *["A lift."] * 12]
    others = {f"note-{at}": words[at % len(words)] for at in range(60)}
    memory = indexed(open_memory, workspace, **others, crane="A gantry and a lift, a cart, some tar and wet ropes.")
    found = memory.search("cart tar ropes trombone", min_score=0.9)
    assert found.corrected is not None
    assert (found.corrected.query, found.results[0].path) == ("cart tar ropes", "crane.md")
    for query in ("cart tar trombone", "cart tar ropes boiler"):
        assert memory.search(query, min_score=0.9).corrected is None
    assert memory.search("lift tar cart trombone", min_score=0.9).corrected is None


@pytest.mark.parametrize("mode", ["keyword", "auto"])
def test_day_is_found_without_the_year_that_occurs_nowhere(open_memory, workspace: Path, mode: str) -> None:
    texts = {
        "2031年12月24日": "12月24日にパーティーをする。",
        "2031년 5월 8일": "5월 8일에 만나자.",
        "21.06.2031": "Am 21.6. ist Sonnenwende.",
        "eat outside July 4, 2031": "On 4 July we eat outside.",
        "3 de marzo de 2031": "El 3 de marzo llega el tren.",
    }
    for number, text in enumerate(texts.values()):
        (workspace / f"{number}.md").write_text(f"# Note\n\n{text}\n", "utf-8")
    for number in range(20):
        (workspace / f"other-{number}.md").write_text(f"# Other\n\n{number + 1} trees, 12 birds, 24 days.\n", "utf-8")
    memory = open_memory()
    memory.sync()
    for number, query in enumerate(texts):
        outcome = memory.search(query, mode=mode)
        assert [result.path for result in outcome.results][:1] == [f"{number}.md"], query
        assert "Nothing contains “2031” together with the other words." in outcome.notice
        assert outcome.corrected.chunks == 1
    (workspace / "of-2031.md").write_text("# Note\n\nOn 4 July 2031 we eat outside.\n", "utf-8")
    memory.sync()
    outcome = memory.search("eat outside July 4, 2031", mode=mode)
    assert (outcome.corrected, outcome.results[0].path) == (None, "of-2031.md")
    outcome = memory.search("eat outside with trombones on 21.06.2031", mode=mode, min_score=0.1)
    assert outcome.results
    assert outcome.corrected is None  # without the year, nothing contains the other words either


def test_tool_answer_names_corrected_query(open_memory, workspace: Path) -> None:
    memory = indexed(open_memory, workspace, crane="The gantry lifts the boiler.")
    access = AgentAccess(lambda: memory, Settings())
    corrected, shorter = memory_search(access, "irigation timer"), memory_search(access, "gantry trombone", None, 0.9)
    assert (corrected.searched, shorter.searched) == ("irrigation timer", "gantry")
    assert corrected.notice == "Searched “irrigation timer” instead: nothing contains “irigation”."
    assert shorter.notice == "Nothing contains “trombone” together with the other words."
    assert memory_search(access, "irrigation timer").searched is UNSET
    incomplete = memory_search(access, "irrigation timer trombone", None, 0.1)
    assert [incomplete.results[0].path, incomplete.notice] == ["greenhouse.md", "Not found in the index: “trombone”."]
    assert memory.search("irrigation timer trombone", min_score=0.1).full_notice == incomplete.notice
    dated = memory_search(access, "irrigation timer in 1998", None, 0.1)
    assert dated.notice == "No result is dated “in 1998”."


@pytest.mark.parametrize("name", ["Zanzi-Barracuda", "📌 Zanzi/Barracuda", "Zänzi Barracuda"])
def test_query_that_begins_a_name_offers_it(open_memory, workspace: Path, name: str) -> None:
    memory = indexed(open_memory, workspace, other="# Zanz\n\nNothing of interest.\n")
    typed = "zänzibarr" if "ä" in name else "zanzibarr"
    assert offered(memory, typed[:4]) == offered(memory, typed) == []
    for _ in range(2):
        (workspace / "new.md").write_text(f"# {name}\n\nSoup.\n", "utf-8")
        memory.sync()
        assert [name in offered(memory, typed[:end]) for end in (3, 9)] == [False, True]
        (workspace / "new.md").unlink()
        memory.sync()
        assert offered(memory, typed) == []


def test_long_name_is_offered_after_many_shorter_ones(open_memory, workspace: Path) -> None:
    names = "".join(f"- Za {number}\n" for number in range(99))
    notes = {f"za{note}": f"---\naliases:\n{names}---\nSoup.\n" for note in "abc"}
    memory = indexed(open_memory, workspace, new="# Zanzi-Barracuda\n", **notes)
    assert offered(memory, "za")
    assert offered(memory, "zanzibarr") == ["Zanzi-Barracuda"]
