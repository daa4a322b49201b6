"""Searching and reading, on every backend."""

import shutil
from collections.abc import Callable, Mapping, Sequence

import pytest

from engine.base.cancellation import CancelToken
from engine.base.errors import Cancelled, MnemoscopeError, PathRefused, Unsupported
from engine.embedding.provider_interface import TextsRefused
from engine.memory.memory_interface import MemorySearchManager
from engine.records import EarlierQuery, Feature, Passage, SearchOutcome, to_json
from tests.engine.backends.shared.open_backends import NOTES, Bench, write_notes

ODD = ("", " ", '"', '"unclosed', "-", "-- -n 5", "*", "a OR", "AND", "(", "~" * 50, "\0", "\ud800", "🌱", "w " * 5000)


def paths(outcome: SearchOutcome) -> set[str]:
    return {result.path for result in outcome.results}


# --- searching ------------------------------------------------------------------------------------------------------


def test_result_lines_are_within_the_file(memory: MemorySearchManager):
    outcome = memory.search("irrigation", min_score=0)
    assert {"greenhouse.md", "shopping.md", "shed.md"} <= paths(outcome)
    for result in outcome.results:
        assert result.source == "memory"
        text = memory.read_file(result.path).text.splitlines()
        assert 1 <= result.start_line <= result.end_line <= len(text)
        assert "\x1b" not in result.snippet


def test_first_answer_uses_keywords_alone(memory: MemorySearchManager):
    first: list[SearchOutcome] = []
    whole = memory.search("irrigation hose", min_score=0, on_keywords=first.append)
    assert [outcome.mode for outcome in first] == ([] if whole.mode == "keyword" else ["keyword"])
    for outcome in first:
        assert paths(outcome) == paths(memory.search("irrigation hose", min_score=0, mode="keyword"))


def test_best_answer_first(memory: MemorySearchManager):
    assert memory.search("pressure gauge", min_score=0).results[0].path == "people/ines.md"
    assert memory.search("tomatoes limp", min_score=0).results[0].path == "daily/2026-02-08.md"
    scores = [result.score for result in memory.search("irrigation timer", min_score=0).results]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)


def test_low_scores_left_out(memory: MemorySearchManager):
    least = 0.2
    above = memory.search("irrigation timer", min_score=least).results
    assert above
    for result in above:
        assert max(result.score, result.text_score or 0) >= least, "the keyword score can reach the minimum alone"
    assert not memory.search("irrigation timer", min_score=1.5).results


def test_search_respects_max_results(memory: MemorySearchManager):
    everything = memory.search("irrigation", min_score=0)
    first = memory.search("irrigation", min_score=0, max_results=1)
    assert [result.path for result in first.results] == [everything.results[0].path]
    assert first.total >= 1


def test_unknown_word_finds_nothing(memory: MemorySearchManager):
    assert not memory.search("xylophone", mode="keyword").results


def test_a_source_without_anything_has_no_results(memory: MemorySearchManager):
    assert memory.search("irrigation", sources=["memory"], min_score=0).results
    assert not memory.search("irrigation", sources=["sessions"]).results


def test_conditions_filter_results_or_are_refused(memory: MemorySearchManager):
    if "filters" in memory.unsupported:
        for options in ({"path_glob": "people/**"}, {"since": 1.0}, {"until": 1.0}):
            with pytest.raises(Unsupported, match="filters"):
                memory.search("Ines", **options)  # type: ignore[arg-type]
        return
    assert paths(memory.search("pressure gauge irrigation", path_glob="people/**", min_score=0)) == {"people/ines.md"}
    assert not memory.search("pressure gauge", path_glob="nowhere/**").results
    assert memory.search("pressure gauge", since=1.0, min_score=0).results
    assert not memory.search("pressure gauge", until=1.0).results
    assert paths(memory.search("irrigation path:greenhouse.md", min_score=0)) == {"greenhouse.md"}
    assert "shopping.md" not in paths(memory.search("irrigation -hose", min_score=0))


def test_group_search_omits_private_memory(opened: Bench):
    shutil.rmtree(opened.workspace)
    write_notes(opened.workspace, {"MEMORY.md": "# Mine\n\nThe irrigation shed has a key.\n"})
    write_notes(opened.workspace, {"memory/2026-02-08.md": "# Sunday\n\nMended the irrigation.\n"})
    handbook = opened.workspace.parent / "handbook"
    write_notes(handbook, {"pumps.md": "# Pumps\n\nIrrigation for everyone.\n"})
    memory = opened.ready(extra_paths=(str(handbook),))
    everything = paths(memory.search("irrigation", min_score=0, session_key="agent:main:discord:direct:7"))
    assert {"MEMORY.md", "memory/2026-02-08.md"} < everything
    for key in ("agent:main:discord:group:42", "agent:main:slack:channel:general"):
        shared = memory.search("irrigation", min_score=0, session_key=key)
        if shared.results:
            assert paths(shared) == everything - {"MEMORY.md"}
        else:
            assert shared.notice, "an empty answer has a notice"


GROUP = "agent:main:discord:group:42"
PRIVATE = """# Greenhouse tips

The therapist suggested a divorce lawyer. Irrigatoin, forkfilt, hoses. Der Anwalt und die Scheidung.
[[shopping]]

"""


def _refuse_lift(texts: Sequence[str]) -> None:
    if any("fork lift" in text for text in texts):
        raise TextsRefused("The service refused the request.")


QUERIES = (
    *("divorce", "divorce hose", "divorc hose", "irrigaton", "forklift", "hose", "hos", "hosee"),
    *("therapist irrigation", "irrigation timer", "backlinks:MEMORY", "links:shopping", "greenhouse tips"),
)


def test_private_notes_are_hidden_from_groups(opened: Bench) -> None:
    """Neither scores nor corrections, counts and advice depend on words that only private notes have."""
    if opened.backend == "qmd":
        pytest.skip("qmd counts the words of all its collections")
    write_notes(opened.workspace, {f"memory/{name}": text for name, text in NOTES.items()})
    memory = opened.ready()
    write_notes(opened.workspace, {"memory/lift.md": "# Lift\n\nThe fork lift in the shed. [[greenhouse]] [[shed]]\n"})
    opened.provider.before = _refuse_lift
    assert not memory.sync().error

    def answer(query: str) -> object:
        outcome = memory.search(query, min_score=0, session_key=GROUP, explain=True)
        found = [(result.path, pytest.approx(result.score, abs=1e-4)) for result in outcome.results]
        stages = outcome.explanation.stages if outcome.explanation else ()
        notes = [(stage.name, stage.before, stage.after, stage.note) for stage in stages]
        remedies = outcome.explanation.remedies if outcome.explanation else ()
        return found, outcome.suggestions, outcome.corrected, outcome.notice, outcome.understood, notes, remedies

    before = {query: answer(query) for query in QUERIES}
    assert ": 5 of 6" in str(before["irrigation timer"]), "passages without a vector are counted"
    text = PRIVATE + "\n\n".join(f"## {number}\n\nA divorce, hoses, irrigation." for number in range(20))
    write_notes(opened.workspace, {"MEMORY.md": text})
    assert not memory.sync().error
    private = memory.search("divorce", min_score=0)
    assert "MEMORY.md" in paths(private)
    assert {query: answer(query) for query in QUERIES} == before


def test_any_typed_query_gets_an_answer(memory: MemorySearchManager):
    for query in ODD:
        outcome = memory.search(query)
        assert len(outcome.results) <= len(NOTES)
        to_json(outcome)


def test_cancelled_search_raises_cancelled(memory: MemorySearchManager):
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        memory.search("a query that is not cached", cancel=token)
    assert memory.search("irrigation", min_score=0).results


# --- reading --------------------------------------------------------------------------------------------------------


def test_a_note_is_read_whole_or_in_part(memory: MemorySearchManager):
    assert memory.read_file("people/ines.md").text == NOTES["people/ines.md"]
    part = memory.read_file("people/ines.md", start=3, lines=1)
    assert (part.text, part.from_line, part.lines, part.next_from) == ("She lent us the pressure gauge.", 3, 1, 4)
    with memory.open_file("people/ines.md") as text:
        assert text.text(5, 5) == "Her dog is called Bruno."
    assert memory.locate("people/ines.md").read_text("utf-8") == NOTES["people/ines.md"]


def test_missing_note_reads_as_empty(memory: MemorySearchManager):
    assert memory.read_file("people/nobody.md").text == ""
    with pytest.raises(FileNotFoundError):
        memory.open_file("people/nobody.md")


@pytest.mark.parametrize(
    "path", ["../data/user.sqlite", "/etc/passwd", "people/../../elsewhere.md", ".git/config.md", "picture.png", ""]
)
def test_paths_outside_the_index_are_refused(memory: MemorySearchManager, path):
    for read in (memory.read_file, memory.open_file, memory.locate):
        with pytest.raises(PathRefused):
            read(path)


# --- reporting ------------------------------------------------------------------------------------------------------


def test_status_matches_the_indexed_notes(memory: MemorySearchManager):
    status = memory.status()
    assert status.files == len(NOTES)
    assert status.chunks >= len(NOTES)
    assert status.sources == ("memory",)
    assert [(count.source, count.files) for count in status.source_counts if count.files] == [("memory", len(NOTES))]
    assert sum(count.chunks for count in status.source_counts) == status.chunks
    assert not status.dirty
    assert status.last_sync is not None
    assert status.recent_syncs[-1] == status.last_sync
    assert not status.failed_files
    assert status.syncing is None
    assert not status.paused
    assert status.index_error is None
    assert status.custom["searchMode"] in ("keyword", "vector", "hybrid")
    assert not status.watcher.enabled
    to_json(status)


def test_status_lists_missing_features(memory: MemorySearchManager):
    assert memory.status().unsupported == memory.unsupported
    for sentence in memory.unsupported.values():
        assert sentence.strip() == sentence
        assert sentence.endswith((".", ")."))
        assert "\n" not in sentence


_PASSAGE = Passage(path="people/ines.md", start_line=1, end_line=3)
_USES: Mapping[Feature, tuple[Callable[[MemorySearchManager], object], ...]] = {
    "sessions": (
        lambda memory: memory.sessions(),
        lambda memory: memory.read_session("sessions/claude/x.jsonl"),
        lambda memory: memory.raw_lines("sessions/claude/x.jsonl", [1]),
        lambda memory: memory.session_image("sessions/claude/x.jsonl", 0, 0),
    ),
    "similar": (
        lambda memory: memory.search_like(_PASSAGE),
        lambda memory: memory.similar_sessions("sessions/claude/x.jsonl"),
    ),
    "filters": (
        lambda memory: memory.search("Ines", path_glob="people/*"),
        lambda memory: memory.search("Ines", since=1.0),
        lambda memory: memory.search("Ines", until=1.0),
    ),
    "within": (lambda memory: memory.search("Ines", within=[EarlierQuery(query="gauge")]),),
    "ordering": (
        lambda memory: memory.search("Ines", half_life_days=30),
        lambda memory: memory.search("Ines", diverse=True),
    ),
    "completion": (lambda memory: memory.query_values("path", "p"),),
    "path-states": (lambda memory: memory.explain_path("people/ines.md"),),
    "models": (
        lambda memory: memory.stored_models(),
        lambda memory: memory.estimate_embedding(),
        lambda memory: memory.purge_model("openai", "none", "none"),
    ),
}


@pytest.mark.parametrize("feature", _USES)
def test_method_works_or_raises_unsupported(memory: MemorySearchManager, feature):
    for use in _USES[feature]:
        refused = None
        try:
            use(memory)
        except Unsupported as error:
            refused = str(error)
        except MnemoscopeError:
            pass  # for another reason, such as a missing session
        assert refused == memory.unsupported.get(feature)


def test_missing_methods_match_missing_features(memory: MemorySearchManager):
    assert (memory.insight is None) == ("insight" in memory.unsupported)
    explained = memory.search("irrigation", explain=True, min_score=0)
    assert explained.results
    assert (explained.explanation is None) == ("explanation" in memory.unsupported)


def test_probe_without_success_has_an_error(memory: MemorySearchManager):
    for probe in (memory.probe_embedding(), memory.probe_vector()):
        assert probe.ok == (not probe.error)
