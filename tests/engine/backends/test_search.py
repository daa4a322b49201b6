"""Searches of an indexed workspace through the public interface."""

import re
from collections import Counter
from pathlib import Path

import msgspec
import pytest

from engine.base.cancellation import CancelToken
from engine.base.errors import Cancelled, Closed, IndexReadOnly, PathRefused, QueryTooLong, WorkspaceError
from engine.records import LONGEST_QUERY, EarlierQuery
from engine.search import result_builder
from engine.search.result_export import outcome_values
from engine.settings import Settings
from tests.helpers.fake_provider import PaidProvider


def paths(outcome) -> list[str]:
    return [result.path for result in outcome.results]


def test_hybrid_search_finds_note_with_scores_and_marks(open_memory) -> None:
    memory = open_memory()
    memory.sync()
    outcome = memory.search("irrigation timer")
    assert paths(outcome)[:2] in (["greenhouse.md", "shopping.md"], ["shopping.md", "greenhouse.md"])
    best = outcome.results[0]
    assert outcome.mode == "hybrid"
    assert (outcome.provider, outcome.model) == ("fake", "bag-of-words")
    assert 0.35 <= best.score <= 1
    assert best.text_score > 0
    assert best.vector_score is not None
    assert {best.snippet[a:b].lower() for a, b in best.match_ranges} >= {"timer", "irrigation"}
    assert best.citation == f"{best.path}#L{best.start_line}-L{best.end_line}"
    assert outcome.notice == ""


def test_a_result_names_its_title_heading_and_lines(open_memory, workspace: Path) -> None:
    memory = open_memory()
    memory.sync()
    result = next(r for r in memory.search("drip irrigation").results if r.path == "greenhouse.md")
    assert result.title == "Greenhouse"
    assert result.heading[0] == "Greenhouse"
    lines = (workspace / result.path).read_text().split("\n")
    assert result.snippet.split("\n")[0] == lines[result.snippet_line - 1]
    assert result.start_line <= result.snippet_line <= result.end_line


def test_texts_of_later_results_are_made_when_read(open_memory, workspace: Path, monkeypatch) -> None:
    for number in range(30):
        (workspace / f"{number}.md").write_text(f"# Note {number}\n\nThe quokka of part {number} sleeps.\n")
    memory = open_memory()
    memory.sync()
    made = []
    make = result_builder.make_snippet
    monkeypatch.setattr(result_builder, "make_snippet", lambda *arguments: made.append(1) or make(*arguments))
    outcome = memory.search("quokka", max_results=30)
    assert len(outcome.results) == 30
    assert 0 < len(made) < 20
    assert {result.snippet[a:b] for result in outcome.results for a, b in result.match_ranges} == {"quokka"}
    assert len(made) == 30
    values = outcome_values(outcome)["results"]
    assert [value["snippet"] for value in values] == [result.snippet for result in outcome.results]
    assert values[29]["heading"] == (outcome.results[29].title,)


@pytest.mark.parametrize("query", ["", "   ", "\n", "\0", '"', "AND", "*", "NEAR(a b)", "-", "title:x", "\ud800"])
def test_query_of_signs_or_fts_syntax_raises_nothing(open_memory, query: str) -> None:
    memory = open_memory()
    memory.sync()
    assert isinstance(memory.search(query).total, int)


def test_query_over_the_limit_is_refused_in_one_sentence(open_memory) -> None:
    memory = open_memory()
    memory.sync()
    memory.search("timer " + "x" * (LONGEST_QUERY - len("timer ")))
    searches = [
        lambda: memory.search("x" * (LONGEST_QUERY + 1)),
        lambda: memory.search("timer", within=[EarlierQuery(query="x" * 200_000)]),
        lambda: memory.facts.find("x" * 200_000),
    ]
    for ask in searches:
        with pytest.raises(QueryTooLong, match=r"^This query has \d+,\d+ characters; a search takes at most 10,000\.$"):
            ask()


def test_off_topic_query_is_empty_with_reason(open_memory) -> None:
    memory = open_memory()
    memory.sync()
    outcome = memory.search("quarterly revenue forecast", explain=True)
    assert outcome.results == ()
    stages = {stage.name: stage for stage in outcome.explanation.stages}
    assert "Not found in the index" in stages["words"].note
    assert stages["threshold"].after == 0


def test_two_unknown_characters_suggest_typing_one_more(open_memory) -> None:
    memory = open_memory()
    memory.sync()

    def note(query: str) -> str:
        return next(one.note for one in memory.search(query, explain=True).explanation.stages if one.name == "words")

    assert note("zq").endswith("Type 1 more character to find words that begin with “zq”.")
    for complete in ("zq ", "zq?", "zq*", '"zq"', "猫犬", "고양"):
        assert "more character" not in note(complete)
    assert "begin with" not in note("zqx")
    assert "begin with" not in note("zq irrigation")


def test_stages_ordered_with_counts(open_memory) -> None:
    memory = open_memory()
    memory.sync()
    stages = memory.search("the irrigation timer", path_glob="daily/**", explain=True).explanation.stages
    assert [stage.name for stage in stages] == [
        *("embedding", "filters", "words", "keywords", "vectors", "scores", "threshold", "results")
    ]
    assert [(stage.before, stage.after, stage.unit) for stage in stages[1:4]] == [
        *((4, 1, "files"), (3, 2, "words"), (4, 0, "chunks"))
    ]


def test_the_stages_together_take_the_time_of_the_search(open_memory) -> None:
    memory = open_memory()
    memory.sync()
    outcome = memory.search("the irrigation timer", explain=True)
    spent = [stage.milliseconds for stage in outcome.explanation.stages]
    assert all(each > 0 for each in spent)
    assert sum(spent) < outcome.timings.total + 0.01 * len(spent)


def test_failing_provider_keeps_keyword_answer(open_memory, provider) -> None:
    memory = open_memory()
    memory.sync()
    provider.fails_queries = "The quota is used up."
    outcome = memory.search("irrigation timer")
    assert outcome.mode == "keyword"
    assert "The quota is used up." in outcome.notice
    assert paths(outcome)


def test_only_failed_query_is_sent_again(open_memory, provider) -> None:
    memory = open_memory()
    memory.sync()
    provider.questions.clear()
    provider.fails_queries = "No answer."
    memory.search("irrigation timer")
    provider.fails_queries = ""
    first, second = memory.search("irrigation timer"), memory.search("irrigation timer")
    assert provider.questions == ["irrigation timer"] * 2
    assert (first.mode, second.results) == ("hybrid", first.results)
    for number in range(100):
        memory.search(f"question {number}")
    memory.search("irrigation timer")
    assert provider.questions[-1] == "irrigation timer"


def test_query_not_sent_without_vectors(open_memory, provider) -> None:
    memory = open_memory()
    assert memory.search("irrigation timer").mode == "keyword"
    assert provider.questions == []


def test_without_a_provider_everything_works_by_keywords(open_memory) -> None:
    memory = open_memory(use=None)
    report = memory.sync()
    outcome = memory.search("irrigation timer")
    assert (outcome.mode, outcome.provider) == ("keyword", "none")
    assert paths(outcome)
    assert (report.vectors_embedded, report.vectors_pending) == (0, 0)


def test_filters_restrict_both_legs(open_memory, workspace: Path) -> None:
    import os

    os.utime(workspace / "shopping.md", (1_000_000, 1_000_000))
    memory = open_memory()
    memory.sync()
    everything = {"min_score": 0.0, "max_results": 50}
    assert set(paths(memory.search("timer", path_glob="daily/**", **everything))) == {"daily/2026-02-08.md"}
    assert set(paths(memory.search("timer", until=2_000_000, **everything))) == {"shopping.md"}
    assert "shopping.md" not in paths(memory.search("timer", since=2_000_000, **everything))
    assert paths(memory.search("timer", sources=["sessions"], **everything)) == []


def test_shared_session_does_not_find_memory_md(open_memory, workspace: Path) -> None:
    (workspace / "MEMORY.md").write_text("The timer code is 4711.")
    memory = open_memory()
    memory.sync()
    assert "MEMORY.md" in paths(memory.search("timer code"))
    assert "MEMORY.md" in paths(memory.search("timer code", session_key="agent:main:discord:direct:1"))
    for key in ("agent:main:discord:group:1", "agent:main:slack:channel:2", "agent:main:matrix:room:3", "7@g.us"):
        assert "MEMORY.md" not in paths(memory.search("timer code", session_key=key, min_score=0))


def test_group_search_hides_memory_of_extra_workspace(open_memory, workspace: Path, tmp_path: Path) -> None:
    agent = tmp_path / "agent"
    for file in ("MEMORY.md", "memory/day.md"):
        (agent / file).parent.mkdir(exist_ok=True, parents=True)
        (agent / file).write_text("The timer code is 4711.")
    (tmp_path / "MEMORY.md").write_text("The timer code is 4712.")
    (workspace / "MEMORY.md").write_text("The timer code is 4713.")
    memory = open_memory(extra_paths=(str(agent), str(tmp_path / "MEMORY.md")))
    memory.sync()
    wide = {"min_score": 0.0, "max_results": 50}
    mine = set(paths(memory.search("timer code", **wide)))
    assert mine >= {"MEMORY.md", "MEMORY-2.md", "agent/MEMORY.md", "agent/memory/day.md"}
    shared = set(paths(memory.search("timer code", session_key="agent:main:discord:group:1", **wide)))
    assert shared == mine - {"MEMORY.md", "MEMORY-2.md", "agent/MEMORY.md"}


def test_total_counts_results_beyond_the_maximum(open_memory, workspace: Path) -> None:
    for number in range(20):
        (workspace / f"n{number}.md").write_text(f"# Note {number}\n\nvalve pressure {number}\n")
    memory = open_memory()
    memory.sync()
    outcome = memory.search("valve", max_results=5)
    assert len(outcome.results) == 5
    assert outcome.total == 20


def test_scores_do_not_depend_on_number_of_results(open_memory) -> None:
    memory = open_memory()
    memory.sync()
    few = {r.citation: r.score for r in memory.search("irrigation timer", max_results=1, min_score=0).results}
    many = {r.citation: r.score for r in memory.search("irrigation timer", max_results=50, min_score=0).results}
    assert few.items() <= many.items()


def test_a_search_can_be_cancelled_and_refused(open_memory) -> None:
    memory = open_memory()
    memory.sync()
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        memory.search("timer", cancel=token)
    memory.close()
    with pytest.raises(Closed):
        memory.search("timer")


@pytest.mark.parametrize("engine", ["numpy", "sqlite-vec"])
def test_both_vector_engines_agree(open_memory, engine: str) -> None:
    store = Settings().store
    memory = open_memory()
    memory.sync()
    expected = [(r.citation, r.score) for r in memory.search("watering clock", min_score=0).results]
    memory.close()
    vector = msgspec.structs.replace(store.vector, engine=engine)
    path = str(memory.store.files.folder.parent.parent)
    memory = open_memory(store=msgspec.structs.replace(store, path=path, vector=vector))
    memory.sync()
    assert [(r.citation, r.score) for r in memory.search("watering clock", min_score=0).results] == expected
    assert memory.status().vector.engine == engine


def test_missing_extension_reported_numpy_used(open_memory, tmp_path: Path) -> None:
    vector = msgspec.structs.replace(Settings().store.vector, engine="sqlite-vec", extension_path="/nowhere/vec0.so")
    store = msgspec.structs.replace(Settings().store, path=str(tmp_path / "data"), vector=vector)
    memory = open_memory(store=store)
    memory.sync()
    assert memory.search("irrigation timer").mode == "hybrid"
    status = memory.status().vector
    assert (status.engine, status.available) == ("numpy", False)
    assert "/nowhere/vec0.so" in status.load_error


@pytest.mark.parametrize("content", ["one\r\ntwo\r\n", "no end", "\n\n", "", "\ufeffa\n"])
def test_whole_file_is_read_unchanged(open_memory, workspace: Path, content: str) -> None:
    (workspace / "a.md").write_bytes(content.encode())
    memory = open_memory()
    assert memory.read_file("a.md").text == content.removeprefix("\ufeff")
    assert memory.read_file("a.md", start=1).text == "\n".join(content.removeprefix("\ufeff").splitlines())


def test_files_are_read_by_their_names_and_nothing_else(open_memory, workspace: Path) -> None:
    memory = open_memory()
    memory.sync()
    whole = memory.read_file("greenhouse.md")
    assert whole.text == "# Greenhouse\n\n## Watering\n\nThe timer on the drip irrigation skipped Tuesday again.\n"
    part = memory.read_file("greenhouse.md", start=3, lines=1)
    assert (part.text, part.from_line, part.lines, part.truncated, part.next_from) == ("## Watering", 3, 1, True, 4)
    assert memory.read_file("greenhouse.md", start=99).text == ""
    (workspace / "shopping.md").unlink()
    assert memory.read_file("shopping.md").text == ""
    (workspace / "link.md").symlink_to(workspace / "greenhouse.md")
    outside = workspace.parent / "secret.md"
    outside.write_text("secret")
    for name in ("../secret.md", str(outside), "link.md", "a\0.md", "", ".env", "people", "people/../greenhouse.md"):
        with pytest.raises(PathRefused, match="not part of the index"):
            memory.read_file(name)


def test_unreadable_files_and_index_give_one_sentence(open_memory, workspace: Path, monkeypatch) -> None:
    memory = open_memory()
    memory.sync()

    def refuse(path: object, *_args: object, **_options: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    with monkeypatch.context() as patch:
        patch.setattr("engine.corpus.line_reader.open_regular", refuse)
        with pytest.raises(WorkspaceError, match=r"greenhouse.md: Can't be read: Permission denied\."):
            memory.read_file("greenhouse.md")
    memory.close()
    with monkeypatch.context() as patch:
        patch.setattr("engine.store.index.open_writer", refuse)
        with pytest.raises(IndexReadOnly, match="make the folder writable"):
            open_memory()


def test_search_of_empty_index_gives_reason(open_memory) -> None:
    assert open_memory().search("timer").notice == "Nothing is indexed yet."


def test_searches_during_a_sync_use_both_legs(open_memory, workspace: Path, provider) -> None:
    """The matrix follows each commit; a reader of an earlier snapshot must not revert it."""
    memory = open_memory()
    memory.sync()
    for number in range(60):
        (workspace / f"n{number}.md").write_text(f"Note number {number} tells of pumps and valves.\n")
    seen: list[int] = []
    provider.before = lambda texts: seen.append(len(memory.search("irrigation timer").results))
    memory.sync()
    assert seen
    assert min(seen) >= 2
    outcome = memory.search("pumps valves number", max_results=100, min_score=0)
    assert sum(result.vector_score is not None for result in outcome.results) == outcome.total


def test_count_at_candidate_limit_is_minimum(open_memory, workspace: Path) -> None:
    for number in range(300):
        (workspace / f"n{number}.md").write_text(f"# Note {number}\n\nvalve number {number}\n")
    memory = open_memory(use=None)
    memory.sync()
    some = memory.search("valve", max_results=5)
    assert (some.total, some.total_is_least) == (200, True)
    everything = memory.search("valve", max_results=100)
    assert (everything.total, everything.total_is_least) == (300, False)


def test_vector_table_removed_with_engine_setting(open_memory, tmp_path: Path, provider) -> None:
    vector = msgspec.structs.replace(Settings().store.vector, engine="sqlite-vec")
    memory = open_memory(store=msgspec.structs.replace(Settings().store, path=str(tmp_path / "data"), vector=vector))
    memory.sync()
    memory.close()
    memory = open_memory(engine="numpy")
    memory.sync()
    with memory.store.read() as snapshot:
        query = "SELECT name FROM sqlite_schema WHERE name GLOB 'chunks_vec*' OR name GLOB 'discarded*'"
        assert snapshot.connection.execute(query).fetchall() == []
        assert snapshot.connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert memory.search("irrigation timer").mode == "hybrid"
    memory.close()
    memory = open_memory(store=msgspec.structs.replace(Settings().store, path=str(tmp_path / "data"), vector=vector))
    memory.sync()
    memory.search("irrigation timer")
    assert memory.status().vector.engine == "sqlite-vec"


def test_the_status_names_the_engine_that_answered(open_memory, workspace: Path, tmp_path: Path, provider) -> None:
    vector = msgspec.structs.replace(Settings().store.vector, engine="sqlite-vec")
    memory = open_memory(store=msgspec.structs.replace(Settings().store, path=str(tmp_path / "data"), vector=vector))
    engines: list[str] = []

    def look(texts) -> None:
        memory.search("irrigation timer")
        engines.append(memory.status().vector.engine)

    memory.sync()
    for number in range(40):
        (workspace / f"n{number}.md").write_text(f"Note number {number} tells of pumps and valves.\n")
    provider.before = look
    memory.sync(force=True)
    provider.before = lambda texts: None
    assert engines
    memory.search("irrigation timer")
    assert memory.status().vector.engine == "sqlite-vec"
    assert memory.vectors._matrix._matrix is None


def test_answer_says_whether_its_query_could_be_sent(open_memory) -> None:
    memory = open_memory(use=PaidProvider())
    memory.sync()
    assert memory.search("irrigation timer", mode="keyword").remote
    assert memory.search("irrigation timer").remote
    assert not open_memory().search("irrigation timer").remote


def test_search_long_file_shows_three_rows_and_a_count(open_memory, workspace: Path) -> None:
    """A file with many hits doesn't hide other files; its last row counts the rest."""
    filler = "Nothing of interest happened on this day, and the weather stayed dry. " * 24
    sections = "\n\n".join(f"## Day {day}\n\nThe landlord called. {filler}" for day in range(20))
    (workspace / "log.md").write_text(f"# Log\n\n{sections}\n", "utf-8")
    (workspace / "house.md").write_text("# House\n\nThe landlord wants the key back.\n", "utf-8")
    memory = open_memory()
    memory.sync()
    outcome = memory.search("landlord", max_results=50, min_score=0.01, mode="keyword")
    rows = [result for result in outcome.results if result.path == "log.md"]
    assert len(rows) == 3
    assert "house.md" in paths(outcome)
    assert [result.more_in_file for result in rows] == [0, 0, outcome.total - len(outcome.results)]
    every = memory.search("landlord", max_results=50, min_score=0.01, mode="keyword", per_file=0)
    assert len(every.results) == every.total == outcome.total
    assert not any(result.more_in_file for result in every.results)


@pytest.mark.parametrize("query", ["zanzibar", "zanzibar path:*.md", "zanzibar -kilimanjaro"])
def test_files_full_of_a_word_leave_room_for_others(open_memory, workspace: Path, query: str) -> None:
    """Their passages are more than the candidates of a search, and rank before all others."""
    for name, text in (("atlas.md", "zanzibar "), ("diary.md", "zanzibar ferry ")):
        (workspace / name).write_text(f"# {name}\n\n{text * 60_000}\n", "utf-8")
    for number in range(4):
        (workspace / f"trip{number}.md").write_text(f"# Trip {number}\n\nFrom the old town of Zanzibar.\n", "utf-8")
    memory = open_memory()
    memory.sync()
    rows = Counter(paths(memory.search(query, max_results=30, mode="keyword")))
    assert rows == {"atlas.md": 3, "diary.md": 3} | {f"trip{number}.md": 1 for number in range(4)}


def test_total_of_a_file_full_of_the_words_is_a_minimum(open_memory, workspace: Path) -> None:
    (workspace / "diary.md").write_text(f"# Diary\n\n{'zanzibar ferry ' * 60_000}\n", "utf-8")
    (workspace / "trip.md").write_text("# Trip\n\nFrom the old town of Zanzibar.\n", "utf-8")
    memory = open_memory()
    memory.sync()
    outcome = memory.search("zanzibar ferry", max_results=30, mode="keyword", min_score=0.9)
    assert {*paths(outcome)} == {"diary.md"}
    assert outcome.total_is_least


def test_search_single_file_shows_all_its_rows(open_memory, workspace: Path) -> None:
    filler = "Nothing of interest happened on this day, and the weather stayed dry. " * 24
    sections = "\n\n".join(f"## Day {day}\n\nThe landlord called. {filler}" for day in range(8))
    (workspace / "log.md").write_text(f"# Log\n\n{sections}\n", "utf-8")
    memory = open_memory()
    memory.sync()
    outcome = memory.search("landlord", max_results=50, min_score=0.01, mode="keyword")
    assert len(outcome.results) == outcome.total > 3


def _with_copies(workspace: Path) -> None:
    """Two copies of a note of two passages, and a short entry that several notes contain."""
    filler = "Nothing of interest happened on this day, and the weather stayed dry. " * 24
    note = (
        f"# Marina\n\nThe landlord of the berth called. {filler}\n\n## Rent\n\nThe landlord asked for more. {filler}\n"
    )
    for name in ("marina.md", "marina (1).md", "backup/old/marina.md"):
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_text(note, "utf-8")
    for day in range(3):
        (workspace / f"day {day}.md").write_text("The landlord called.\n", "utf-8")


def test_copies_of_a_note_are_one_result(open_memory, workspace: Path) -> None:
    _with_copies(workspace)
    memory = open_memory()
    memory.sync()
    options = {"max_results": 50, "min_score": 0.01, "mode": "keyword"}
    outcome = memory.search("landlord", **options)
    copied = [result for result in outcome.results if result.copies]
    assert {result.path for result in copied} == {"marina.md"}
    assert len(copied) > 1
    for result in copied:
        assert {copy.path for copy in result.copies} == {"marina (1).md", "backup/old/marina.md"}
        assert {(copy.start_line, copy.end_line) for copy in result.copies} == {(result.start_line, result.end_line)}
    assert sum(result.path.startswith("day") for result in outcome.results) == 3
    every = memory.search("landlord", copies=True, per_file=0, **options)
    assert every.total == len(every.results) == outcome.total + 2 * len(copied)
    assert not any(result.copies for result in every.results)
    text = memory.read_file("marina (1).md").text.splitlines()
    there = copied[-1].in_copy(next(copy for copy in copied[-1].copies if copy.path == "marina (1).md"))
    assert text[there.snippet_line - 1].startswith(there.snippet.splitlines()[0][:60])
    assert there.citation.startswith("marina (1).md#L")


def test_best_matching_copy_represents_others(open_memory, workspace: Path) -> None:
    _with_copies(workspace)
    memory = open_memory()
    memory.sync()
    (best,) = [result for result in memory.search("berth backup", mode="keyword").results if result.score > 0.9]
    assert best.path == "backup/old/marina.md"


def test_copies_are_separate_files_in_a_list(open_memory, workspace: Path) -> None:
    _with_copies(workspace)
    memory = open_memory()
    memory.sync()
    listed = memory.search("path:marina", max_results=50)
    assert set(paths(listed)) == {"marina.md", "marina (1).md", "backup/old/marina.md"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mode": "keywords"}, "Unknown mode 'keywords'; use 'auto' or 'keyword'."),
        ({"sources": ["notes"]}, "Unknown sources 'notes'; use 'memory' or 'sessions'."),
        ({"limit": 3}, "No option 'limit'; use max_results, "),
    ],
)
def test_unknown_option_is_an_error(open_memory, options, message) -> None:
    memory = open_memory()
    with pytest.raises((TypeError, ValueError), match=re.escape(message)):
        memory.search("timer", **options)
