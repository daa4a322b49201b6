"""Explained searches: locations of words, parts of a score, and remedies for an empty result."""

import json
import re
import time
from pathlib import Path

import msgspec
import pytest

from engine.backends import builtin
from engine.embedding.provider_selection import Selection
from engine.providers import Calibration
from engine.records import EarlierQuery, ResultExplanation, SearchOutcome, SearchRemedy
from engine.search.query_conditions import Conditions
from engine.search.result_reasons import reasons_of
from engine.settings import Settings
from engine.settings.options import ChunkingSettings, SessionSettings
from tests.helpers.fake_provider import PaidProvider

NOTE = """\
---
title: Valves of the hothouse
---
# Repairs

## Drip lines

The left hose leaks at the joint, so the pump ran dry twice.
"""


def _increased(reason: ResultExplanation) -> float:
    return sum(increase.score for increase in reason.increases)


def _reason(outcome: SearchOutcome, path: str) -> ResultExplanation:
    index = [result.path for result in outcome.results].index(path)
    return outcome.explanation.results[index]


def _remedies(outcome: SearchOutcome) -> dict[str, SearchRemedy]:
    assert outcome.results == ()
    return {remedy.name: remedy for remedy in outcome.explanation.remedies}


def _write(workspace: Path, name: str, text: str) -> None:
    (workspace / name).parent.mkdir(parents=True, exist_ok=True)
    (workspace / name).write_text(text, "utf-8")


def test_term_names_its_fields(open_memory, workspace: Path) -> None:
    _write(workspace, "orchard/kiwi.md", NOTE)
    memory = open_memory(use=None)
    memory.sync()
    outcome = memory.search("hothouse drip kiwi leaks", explain=True, min_score=0.0)
    fields = {term.term: term.fields for term in _reason(outcome, "orchard/kiwi.md").terms}
    assert fields == {
        "hothouse": ("title", "body"),
        "drip": ("heading", "body"),
        "kiwi": ("name",),
        "leaks": ("body",),
    }


def test_the_parts_of_a_score_add_up(open_memory) -> None:
    memory = open_memory()
    memory.sync()
    outcome = memory.search("irrigation timer pressure", explain=True, min_score=0.0)
    assert len(outcome.results) == len(outcome.explanation.results) > 2
    for result, reason in zip(outcome.results, outcome.explanation.results, strict=True):
        assert reason.citation == result.citation
        assert reason.score == pytest.approx(result.score, abs=1e-5)
        assert sum(term.bm25 for term in reason.terms) == pytest.approx(reason.bm25)
        assert reason.text_score == pytest.approx(min(1.0, reason.from_bm25 + _increased(reason)))
        if not reason.missing:
            assert reason.from_bm25 == pytest.approx(reason.bm25 / reason.full_bm25 + reason.proximity)
        assert {term.term for term in reason.terms} | {*reason.missing} == {"irrigation", "timer", "pressure"}
        span = reason.cosine_high - reason.cosine_low
        assert reason.vector_evidence == pytest.approx((reason.cosine - reason.cosine_low) / span)
        assert reason.vector_score == pytest.approx(min(1, max(0, reason.vector_evidence)))
        words = reason.text_weight * reason.agreement * (reason.text_evidence or reason.text_score)
        mixed = reason.vector_weight * reason.vector_evidence + words
        assert reason.fresh_score == pytest.approx(min(1, max(0, mixed)), abs=1e-5)


def test_best_alternative_alone_is_scored(open_memory) -> None:
    memory = open_memory(use=None)
    memory.sync()
    outcome = memory.search("hose OR batteries", explain=True)
    reason = _reason(outcome, "shopping.md")
    assert len(reason.terms) == 2
    assert reason.bm25 == pytest.approx(max(term.bm25 for term in reason.terms))
    assert reason.coverage == 1.0
    assert sorted(term.score > 0 for term in reason.terms) == [False, True]
    assert "but of words joined by OR only the best one counts." in reasons_of(reason)[0].sentence


@pytest.mark.parametrize("words_alone", [True, False])
@pytest.mark.parametrize(
    ("query", "missing"),
    [
        ("irrigation timer", set()),
        ("timer OR irrigation", set()),
        ("irrigation (timer OR clock)", set()),
        ("hose timer batteries OR clock", set()),
        ('"timer batteries" gauge', {"gauge"}),
        ("quagga OR irrigation zebra", {"zebra"}),
    ],
)
def test_the_parts_of_the_words_add_up(open_memory, query: str, missing: set[str], words_alone: bool) -> None:
    memory = open_memory(**({"use": None} if words_alone else {}))
    memory.sync()
    outcome = memory.search(query, min_score=0, explain=True)
    for reason in outcome.explanation.results:
        assert reason.text_score == pytest.approx(min(1.0, reason.from_bm25 + _increased(reason)))
        if reason.coverage == 1.0:
            assert reason.from_bm25 >= sum(term.score for term in reason.terms) + reason.proximity - 1e-6
        if words_alone:
            whole = reason.text_weight * (reason.text_evidence or reason.text_score)
            assert reason.fresh_score == pytest.approx(min(1.0, whole), abs=1e-5)
    assert set(_reason(outcome, "shopping.md").missing) == missing


def test_operator_alone_has_no_scores(open_memory) -> None:
    memory = open_memory()
    memory.sync()
    reason = _reason(memory.search("path:people", explain=True), "people/ines.md")
    assert (reason.full_bm25, reason.terms, reason.cosine_low) == (0.0, (), None)


def test_answers_with_results_have_no_remedies(open_memory) -> None:
    memory = open_memory()
    memory.sync()
    explanation = memory.search("irrigation", explain=True).explanation
    assert (explanation.emptied_by, explanation.remedies) == ("", ())
    assert memory.search("irrigation").explanation is None


# --- remedies -----------------------------------------------------------------------------------------------------


def test_blocking_limit_named(open_memory) -> None:
    memory = open_memory(use=None)
    memory.sync()
    outcome = memory.search("irrigation", path_glob="people/**", since=time.time() - 3600, explain=True)
    remedies = _remedies(outcome)
    assert outcome.explanation.emptied_by == "keywords"
    assert set(remedies) == {"scope"}
    assert (remedies["scope"].finds, remedies["scope"].finds_at_least) == (2, False)
    assert remedies["scope"].advice == "In all files, this query finds 2 results."


def test_combined_limits_named_together(open_memory) -> None:
    memory = open_memory(use=None)
    memory.sync()
    outcome = memory.search("irrigation", path_glob="people/**", sources=["sessions"], explain=True)
    assert outcome.explanation.emptied_by == "filters"
    assert set(_remedies(outcome)) == {"limits", "add-sessions"}


def test_missing_provider_is_the_reason_for_no_meaning(open_memory, monkeypatch) -> None:
    reason = "There is no API key for openai."
    lacking = Selection(None, "openai", unavailable_reason=reason)
    memory = open_memory()
    monkeypatch.setattr(builtin, "select_provider", lambda *_, **__: lacking)
    memory.sync()
    outcome = memory.search("quagga", explain=True)
    assert outcome.notice == f"Searched by words only: {reason}"
    assert outcome.explanation.stages[0].note == outcome.notice
    assert "settings" in _remedies(outcome)
    assert memory.search("timer").notice == outcome.notice
    assert memory.search("timer", mode="keyword").notice == "", "meaning was not requested"


def test_empty_index_is_the_reason_before_any_filter(open_memory, workspace) -> None:
    memory = open_memory()
    options = {"sources": ["memory"], "explain": True}
    outcome = memory.search("quagga", **options)
    assert (outcome.explanation.emptied_by, set(_remedies(outcome))) == ("index", {"sync", "folder"})
    for note in workspace.rglob("*.md"):
        note.unlink()
    memory.sync()
    outcome = memory.search("quagga", **options)
    assert (outcome.explanation.emptied_by, set(_remedies(outcome))) == ("index", {"folder"})
    (workspace / "quagga.bin").write_bytes(bytes(9))
    memory.sync()
    outcome = memory.search("quagga", **options)
    assert (outcome.explanation.emptied_by, set(_remedies(outcome))) == ("index", {"skipped", "folder"})


def test_shared_session_gets_no_hidden_remedy(open_memory, workspace) -> None:
    _write(workspace, "memory/a.md", "# A\n\nNothing of note.\n")
    _write(workspace, "MEMORY.md", "# Mine\n\nThe safe opens with the quagga song.\n")
    memory = open_memory(use=None)
    memory.sync()
    options = {"session_key": "agent:main:discord:group:1", "path_glob": "memory/**", "explain": True}
    assert _remedies(memory.search("quagga song", **options)) == {}
    assert set(_remedies(memory.search("quagga song", path_glob="memory/**", explain=True))) == {"scope"}


def test_empty_answer_names_types_of_documents(open_memory, workspace: Path) -> None:
    for name in ("a.docx", "b.docx", "mail.mbox", "data.json", "c.exe"):
        _write(workspace, name, "Quagga\n")
    memory = open_memory(use=None)
    memory.sync()
    group = {"session_key": "agent:main:discord:group:1"}
    for query, options, is_named in (
        ("quagga", {}, True),
        ("quagga path:**", {}, True),
        ("quagga source:sessions", {}, False),
        ("quagga path:nowhere", {}, False),
        ("quagga", group, False),
        ("mail.mbox", {}, False),  # has a remedy of its own
    ):
        remedy = _remedies(memory.search(query, explain=True, **options)).get("skipped")
        advice = "" if remedy is None else remedy.advice
        assert advice == ("The settings exclude files of these types: .docx, .mbox." if is_named else "")


def test_empty_answer_names_hidden_folders_of_the_user(open_memory, workspace: Path) -> None:
    for folder in (".archive", ".obsidian", "work/.old"):
        _write(workspace, f"{folder}/a.md", "# Quagga\n")
    memory = open_memory(use=None)
    memory.sync()
    remedy = _remedies(memory.search("quagga", explain=True))["excluded"]
    assert (remedy.advice, remedy.path) == ("Hidden folders are not indexed: .archive, work/.old.", ".archive")
    group = memory.search("quagga", explain=True, session_key="agent:main:discord:group:1")
    assert "excluded" not in _remedies(group)


def test_empty_answer_names_files_that_were_not_read(open_memory, workspace: Path) -> None:
    _write(workspace, "long.md", "# Quagga\n" * 500)
    _write(workspace, "scan.pdf", "quagga")
    memory = open_memory(use=None, extensions=(".md", ".pdf"), max_file_bytes=2048)
    memory.sync()
    found = memory.search("quagga", explain=True).explanation.remedies
    assert [(remedy.name, remedy.advice, remedy.path) for remedy in found] == [
        ("excluded", "Too large to be indexed: long.md.", "long.md"),
        ("excluded", "Could not be read: scan.pdf.", "scan.pdf"),
    ]
    excluded = memory.search("irrigation -timer", explain=True)  # its words are in the index
    assert "excluded" not in _remedies(excluded)


def test_phrase_offered_as_words_without_exclusion(open_memory) -> None:
    memory = open_memory(use=None)
    memory.sync()
    phrase = _remedies(memory.search('"timer irrigation"', explain=True))["condition"]
    assert (phrase.query, phrase.finds) == ("timer irrigation", 2)
    assert "Without the quotation marks" in phrase.advice
    excluded = _remedies(memory.search("irrigation -timer", explain=True))["condition"]
    assert (excluded.query, excluded.finds) == ("irrigation", 2)
    assert excluded.advice == "Without “-timer”, the query finds 2 results."


def test_excluded_chunks_are_listed_for_empty_answers(open_memory, monkeypatch) -> None:
    memory = open_memory(use=None)
    memory.sync()
    listed: list[object] = []
    list_chunks = Conditions.chunks
    monkeypatch.setattr(Conditions, "chunks", lambda *values: listed.append(values) or list_chunks(*values))
    for query in (
        *("irrigation -quagga", "irrigation -timer", "irrigation -timer -irrigation", '"timer irrigation"'),
        *("irrigation source:notes", "quagga source:notes"),
    ):
        listed.clear()
        outcome = memory.search(query, explain="if empty")
        assert bool(listed) == (not outcome.results), query
        if not outcome.results:
            always = memory.search(query, explain=True)
            first, second = (
                [(row.name, row.after, row.note) for row in one.explanation.stages] for one in (outcome, always)
            )
            assert (first, _remedies(outcome)) == (second, _remedies(always)), query


def test_empty_answer_to_known_words_offers_fewer_of_them(open_memory, workspace: Path) -> None:
    _write(workspace, "weirs/north.md", "The weir leaks again.\n")
    _write(workspace, "weirs/south.md", "The southern weir is dry.\n")
    _write(workspace, "glider.md", "The glider needs a new rope.\n")
    memory = open_memory(use=None)
    memory.sync()
    outcome = memory.search("weir glider", min_score=0.9, explain="if empty", correct=False)
    assert outcome.explanation.reason == "Passages with each word in the whole index: “weir”: 2, “glider”: 1."
    assert [(remedy.query, remedy.advice) for remedy in outcome.explanation.remedies if remedy.query] == [
        ("glider", "Without “weir”, the query finds 1 result."),
        ("weir", "Without “glider”, the query finds 2 results."),
    ]
    elsewhere = memory.search("glider path:weirs", explain="if empty")
    assert elsewhere.understood == "No passage that matches path:weirs also fits the rest of the query."


def test_operator_alone_without_a_match_is_offered_as_words(open_memory) -> None:
    memory = open_memory()
    memory.sync()
    as_words = _remedies(memory.search("tag:irrigation", explain=True))["condition"]
    assert as_words.query == "irrigation"
    assert as_words.advice == f"Searched as words, “irrigation” finds {as_words.finds:,} results."
    assert _remedies(memory.search("tag:-irrigation", explain=True))["condition"].query == "irrigation"
    for query in ("tag:quagga", 'title:"quagga -quagga"', 'title:"source:notes"'):
        assert _remedies(memory.search(query, explain=True)) == {}, query


def test_advice_names_one_of_several_conditions(open_memory) -> None:
    memory = open_memory(use=None)
    memory.sync()
    dropped = _remedies(memory.search("irrigation -timer -zucchini", explain=True))["condition"]
    assert dropped.advice == "Without “-timer”, the query finds 2 results."


def test_remedy_preserves_unclosed_quotation_mark(open_memory) -> None:
    memory = open_memory(use=None)
    memory.sync()
    remedy = _remedies(memory.search('" irrigation -“drip hose” -timer', explain=True))["condition"]
    assert (remedy.query, remedy.finds) == ('" irrigation -“drip hose”', 2)


def test_plain_words_offered_when_nothing_else_helps(open_memory) -> None:
    memory = open_memory(use=None)
    memory.sync()
    outcome = memory.search('"timer irrigation" -hose', path_glob="people/**", explain=True)
    remedy = _remedies(outcome)["words"]
    assert (remedy.query, remedy.finds) == ("timer irrigation", 2)
    assert remedy.advice == "Without operators and limits, the words of this query find 2 results."


def test_earlier_query_named_when_scope_empty(open_memory) -> None:
    memory = open_memory(use=None)
    memory.sync()
    outcome = memory.search("pressure gauge", within=[EarlierQuery(query="irrigation")], explain=True)
    assert _remedies(outcome)["within"].finds == 1


def test_aged_result_offered_without_ageing(open_memory, workspace: Path) -> None:
    _write(workspace, "daily/2020-02-02.md", "# Sunday\n\nThe clock of the hothouse was the one of the shed.\n")
    memory = open_memory()
    memory.sync()
    options = {"path_glob": "daily/2020*", "min_score": 0.2, "explain": True}
    outcome = memory.search("the of the was quagga", half_life_days=30.0, **options)
    assert outcome.explanation.emptied_by == "age"
    assert _remedies(outcome)["age"].finds == 1


def test_trial_query_sends_nothing_new(open_memory, provider) -> None:
    memory = open_memory()
    memory.sync()
    memory.search("irrigation -timer -hose", explain=True)
    assert set(provider.questions) == {"irrigation"}
    provider.questions.clear()
    provider.fails_queries = "The service does not answer."
    outcome = memory.search("quagga", path_glob="people/**", explain=True)
    assert provider.questions == ["quagga"]
    assert _remedies(outcome)["settings"].stage == outcome.explanation.emptied_by


def test_unknown_language_of_query_is_a_reason(open_memory, provider) -> None:
    provider.calibration = Calibration(0.0, 1.0, 0.5, unknown=re.compile("[\u10a0-\u10ff]"))
    memory = open_memory()
    memory.sync()
    remedy = _remedies(memory.search("\u10d7\u10d1\u10d8\u10da\u10d8\u10e1\u10d8", explain=True))["settings"]
    assert remedy.advice == "The model does not know the query's language, so only its words count."
    assert "settings" not in _remedies(memory.search("quagga", explain=True, min_score=0.99))


def test_pending_vectors_offered_for_approval(open_memory, workspace: Path) -> None:
    paid_provider = PaidProvider()
    memory = open_memory(use=paid_provider)
    memory.sync(approve=True)
    _write(workspace, "long.md", f"# Long\n\n{' '.join(f'word{number}' for number in range(3000))}\n")
    memory.sync()
    remedy = _remedies(memory.search("quagga xylophone", explain=True, min_score=0.9))["embed"]
    assert "of the passages have a vector" in remedy.advice


def test_failed_file_named_by_matching_name(open_memory, workspace: Path) -> None:
    (workspace / "quagga-census.md").write_bytes(bytes(99))
    memory = open_memory(use=None)
    memory.sync()
    remedy = _remedies(memory.search("quagga", explain=True))["excluded"]
    assert remedy.path == "quagga-census.md"
    assert remedy.advice.startswith("quagga-census.md is not indexed: ")


def test_file_of_excluded_type_named_by_its_ending(open_memory, workspace: Path) -> None:
    (workspace / "quagga.pdf").write_bytes(b"%PDF-1.4")
    memory = open_memory(use=None)
    memory.sync()
    remedy = _remedies(memory.search("quagga.pdf", explain=True))["excluded"]
    assert remedy.path == "quagga.pdf"
    assert remedy.advice.startswith("*.pdf is not indexed: 1 file; only .md")
    assert remedy.extension == ".pdf"
    assert "excluded" not in _remedies(memory.search("quagga", explain=True))


def test_a_path_that_is_left_out_is_named_for_its_operator(open_memory, workspace: Path) -> None:
    _write(workspace, "drafts/plan.md", "# Plan\n\nNothing yet.\n")
    memory = open_memory(use=None, exclude=("drafts/**",))
    memory.sync()
    assert _remedies(memory.search("path:drafts", explain=True))["excluded"].path == "drafts/plan.md"


def test_folder_word_names_excluded_files_only_there(open_memory, workspace: Path) -> None:
    _write(workspace, "quagga/.git/note.md", "Nothing.\n")
    _write(workspace, "quagga/notes/zebra.md", "# Zebra\n\nStripes.\n")
    for name in ("a", "b", "c", "d"):
        _write(workspace, f"okapi/{name}.md", "Leaves.\n")
    memory = open_memory(use=None, exclude=("okapi/**",))
    memory.sync()
    assert "excluded" not in _remedies(memory.search("quagga tag:none", explain=True))
    advice = [
        remedy.advice
        for remedy in memory.search("okapi", explain=True).explanation.remedies
        if remedy.name == "excluded"
    ]
    assert [text.partition(" is not")[0] for text in advice] == ["okapi/a.md", "okapi/b.md"]
    assert [text.endswith(" 2 more such files are not indexed.") for text in advice] == [False, True]


def test_semantic_search_alone_is_explained(open_memory) -> None:
    query = Settings().query
    hybrid = msgspec.structs.replace(query.hybrid, enabled=False)
    memory = open_memory(query=msgspec.structs.replace(query, hybrid=hybrid))
    memory.sync()
    outcome = memory.search("irrigation timer", explain=True)
    assert outcome.mode == "vector"
    reason = outcome.explanation.results[0]
    assert (reason.vector_weight, reason.score) == (1.0, pytest.approx(reason.vector_score, abs=1e-5))
    empty = memory.search("quagga xylophone", explain=True, min_score=0.99)
    assert empty.explanation.emptied_by == "threshold"


def test_pending_rebuild_for_other_reasons_leaves_tags_usable(open_memory, workspace: Path) -> None:
    _write(workspace, "tagged.md", "---\ntags: [garden]\n---\n# Tagged\n\nBeans.\n")
    memory = open_memory(use=None)
    memory.sync()
    memory.close()
    changed = open_memory(use=None, chunking=ChunkingSettings(tokens=200))
    assert [result.path for result in changed.search("tag:garden").results] == ["tagged.md"]
    assert "update that is due" not in changed.search("tag:nothing", explain=True).understood


TALKS = {
    "berth": ("boat", "Marlene rents us the berth in the harbour until autumn."),
    "mast": ("boat", "The varnish peels off in long strips, so sand it down again."),
    "bench": ("garden", "The varnish peels off in long strips, so sand it down again."),
    "plain": ("", "The varnish peels off in long strips, so sand it down again."),
}


@pytest.fixture
def talks(open_memory, workspace: Path, tmp_path: Path):
    """A memory of sessions about a boat, a garden and no project, and of a note with a sentence from the sessions."""
    folder = tmp_path / "talks"
    folder.mkdir()
    for number, (name, (project, text)) in enumerate(TALKS.items()):
        head = {"type": "session", "id": name} | ({"cwd": f"/home/ada/{project}"} if project else {})
        message = {"type": "message", "id": "m", "message": {"role": "user", "content": f"{text} Number {number}."}}
        (folder / f"{name}.jsonl").write_text(f"{json.dumps(head)}\n{json.dumps(message)}\n", "utf-8")
    _write(workspace, "varnish.md", TALKS["mast"][1])
    memory = open_memory(use=None, sessions=SessionSettings(folders=(str(folder),)))
    memory.sync()
    return memory


ABOUT_VARNISH = "does the varnish at Marlene's berth need sand"


def test_session_found_by_a_name_in_another_of_its_project(talks) -> None:
    outcome = talks.search(ABOUT_VARNISH, explain=True)
    assert [Path(result.path).stem for result in outcome.results] == ["berth", "mast"]
    reason = outcome.explanation.results[1]
    assert [one.words for one in reason.increases if one.kind == "project"] == [("Marlene's", "berth")]
    share = sum(term.score for term in reason.terms)
    parts = share + _increased(reason)
    assert outcome.results[1].score == pytest.approx(reason.text_weight * parts, abs=1e-5)
    [words] = [str(of) for of in reasons_of(reason) if of.part == "words"]
    assert "Other passages of the project contain “Marlene's”, “berth”: 0.28 more." in words


@pytest.mark.parametrize("name", ["bench", "plain", "varnish"])
def test_words_count_only_within_a_project(talks, name: str) -> None:
    outcome = talks.search(ABOUT_VARNISH, explain=True, min_score=0.0)
    [path] = [result.path for result in outcome.results if Path(result.path).stem == name]
    reason = _reason(outcome, path)
    assert "project" not in {increase.kind for increase in reason.increases}


def test_words_outside_the_filter_do_not_count(talks) -> None:
    [mast] = talks.search(f"{ABOUT_VARNISH} path:mast", explain=True, min_score=0.0).explanation.results
    assert "project" not in {increase.kind for increase in mast.increases}


def test_stages_agree_on_a_best_score_just_below_the_minimum(open_memory) -> None:
    memory = open_memory(use=None)
    memory.sync()
    best = memory.search("irrigation gauge", min_score=0, correct=False).results[0].score
    least = round(best, 2) - 1e-6 if round(best, 2) > best else best + 1e-6
    outcome = memory.search("irrigation gauge", min_score=least, explain=True, correct=False)
    assert outcome.results == ()
    notes = {stage.name: stage.note for stage in outcome.explanation.stages}
    assert notes["threshold"].endswith(notes["scores"])
    assert best < least
