import time
from functools import partial

import msgspec
import pytest

from engine import QuerySuggestion, Source
from engine.records import FileIssue, SearchExplanation, SourceCount, WatcherStatus
from gui.search import messages
from gui.search.query import Query
from tests.helpers.fake_explanations import make_stages
from tests.helpers.fake_records import make_progress, make_status, make_summary


@pytest.mark.parametrize(
    ("spent", "text"), [(0.2, "1 ms"), (9.2, "9 ms"), (999.4, "999 ms"), (1240, "1.2 s"), (65_000, "65.0 s")]
)
def test_milliseconds_are_rounded_in_words(spent: float, text: str):
    assert messages.milliseconds(spent) == text


def test_result_counts_are_worded_for_box_header_and_speech(make_result, make_outcome):
    outcome = make_outcome(make_result("a.md"), make_result("a.md", 9), make_result("b.md"))
    assert messages.box_state(outcome) == "3 results · 9 ms"
    assert messages.header_counts(outcome) == ("2 files · 3 results", "2 files")
    assert messages.spoken_counts(outcome) == "3 results in 2 files"


def test_counts_name_the_total_and_no_results(make_result, make_outcome):
    assert messages.box_state(make_outcome(make_result(), total=1234)) == "1 of 1,234 results · 9 ms"
    assert messages.box_state(make_outcome()) == "No results · 9 ms"
    assert messages.spoken_counts(make_outcome()) == "No results"


def test_suggestions_offered_if_weak_or_word_missing(make_result, make_outcome):
    often = QuerySuggestion(query="timer", words=(("tiemr", "timer"),), chunks=2)
    once = QuerySuggestion(query="tier", words=(("tiemr", "tier"),), chunks=1)
    both = (often, once)
    assert make_outcome(suggestions=both).offered == both
    assert make_outcome(make_result(score=0.4), suggestions=both).offered == (often,)
    good = partial(make_outcome, make_result(score=0.9), suggestions=both)
    assert good(all_words=True).offered == good(similar_only=True).offered == ()
    assert good().offered == (often,)
    assert messages.spelling(make_outcome(make_result(score=0.4), suggestions=(once,))) == ""


def test_index_without_watcher_may_be_outdated():
    unwatched = make_status(watcher=WatcherStatus(), last_sync=make_summary(started=time.time() - 600, seconds=0.0))
    (remedy,) = messages.remedies_of_status(unwatched)
    assert (remedy.name, remedy.advice) == ("sync", "Files are not watched for changes. Last update: 10 min ago.")
    watched = WatcherStatus(enabled=True, mode="native")
    assert messages.remedies_of_status(make_status(watcher=watched, last_sync=make_summary())) == ()
    assert messages.remedies_of_status(make_status(watcher=WatcherStatus(), last_sync=None)) == ()
    assert messages.remedies_of_status(None) == ()


def test_unusable_model_is_a_remedy_unless_none_is_selected():
    custom = {"providerUnavailableReason": "There is no API key for openai."}
    watched = WatcherStatus(enabled=True, mode="native")
    status = make_status(watcher=watched, provider="none", requested_provider="openai", custom=custom)
    (remedy,) = messages.remedies_of_status(status)
    assert (remedy.name, remedy.advice) == ("settings", "No search by meaning. There is no API key for openai.")
    assert messages.remedies_of_status(msgspec.structs.replace(status, requested_provider="none")) == ()


def test_hint_before_first_search_names_its_sources():
    assert messages.hint(None)[0] == "Search your notes"
    assert messages.hint(make_status(sources=("memory",)))[0] == "Search your notes"
    assert messages.hint(make_status())[0] == "Search your notes and sessions"
    only_sessions = (SourceCount(source="sessions", files=6, chunks=20),)
    assert messages.hint(make_status(source_counts=only_sessions))[0] == "Search your past sessions"
    assert "mean" in messages.hint(make_status())[1]
    assert "mean" not in messages.hint(make_status(custom={"searchMode": "keyword"}))[1]
    assert messages.hint(make_status(files=0))[0] == "Nothing is indexed yet"
    taken = FileIssue(path="sessions/codex", rule="kept-elsewhere", detail="9 sessions belong to the workspace boat.")
    hidden = FileIssue(path=".x", rule="hidden", detail="It is hidden.")
    said = messages.hint(make_status(files=0, last_sync=make_summary(), skipped_files=(taken, hidden)))[1]
    assert "1 file or folder was skipped. sessions/codex: 9 sessions belong to the workspace boat. Search all" in said
    assert messages.hint(make_status(index_error="The index is damaged."))[1] == "The index is damaged."
    read_only = make_status(index_error="No rights to write.", custom={"readOnly": "No rights to write."})
    assert messages.hint(read_only)[0] == "Search your notes and sessions", "it can be searched"
    assert messages.hint(make_status(backend="qmd", index_error="It is not there.")) == (
        "qmd does not answer",
        "It is not there. Meanwhile, the built-in index answers your searches.",
    )


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({}, "Mnemoscope is still reading files: 0 of 834 files. Results appear as files are indexed."),
        (
            {"completed": 1200, "total": 2000},
            ("Mnemoscope is still reading files: 1,200 of 2,000 files. Results appear as files are indexed."),
        ),
        ({"total": 1}, "Mnemoscope is still reading files: 0 of 1 file. Results appear as files are indexed."),
        (
            {"phase": "discovering", "total": 0},
            "Mnemoscope is still reading files. Results appear as files are indexed.",
        ),
        ({"phase": "embedding"}, ""),
    ],
)
def test_reading_during_first_index_counts_files(changes, text):
    step = make_progress(**{"phase": "indexing", "completed": 0, "total": 834} | changes)
    status = make_status(files=0, syncing=step)
    assert messages.reading(status) == text
    assert messages.hint(status)[1] == (text or "Notes can be found here as soon as they have been read.")


def test_hint_after_update_without_files_names_the_cause():
    done = make_summary()
    empty = make_status(files=0, last_sync=done, sources=("memory", "sessions"))
    assert "found no note and no session." in messages.hint(empty)[1]
    skipped = FileIssue(path="big.md", rule="too-large", detail="It is too large.")
    notes_only = make_status(files=0, last_sync=done, sources=("memory",), skipped_files=(skipped,))
    assert "found no note. 1 file or folder was skipped." in messages.hint(notes_only)[1]
    running = make_status(files=0, last_sync=done, syncing=make_progress())
    assert "found no note" not in messages.hint(running)[1]
    cancelled = make_status(files=0, last_sync=msgspec.structs.replace(done, cancelled=True))
    assert "found no note" not in messages.hint(cancelled)[1]


def test_reading_while_paused_shows_paused():
    status = make_status(syncing=make_progress(phase="indexing", completed=3, total=9), paused=True)
    assert messages.reading(status) == "Indexing is paused: 3 of 9 files."


def test_reading_during_later_sync_is_empty():
    step = make_progress(phase="indexing", completed=0, total=834)
    assert messages.reading(make_status(syncing=step, last_sync=make_summary())) == ""
    assert messages.reading(make_status(syncing=step, last_sync=make_summary(cancelled=True)))
    assert messages.reading(make_status()) == messages.reading(None) == ""


@pytest.mark.parametrize(
    ("typed", "old", "new", "shown"),
    [
        ("timer battries", "battries", "batteries", "for “timer batteries”"),
        ("why standardise before gradient descent", "standardise", "standardize", "with “standardize”"),
    ],
)
def test_correction_shows_the_new_word(typed: str, old: str, new: str, shown: str):
    corrected = QuerySuggestion(query=typed.replace(old, new), words=((old, new),), chunks=2)
    assert messages.corrected_query(corrected) == f"Showing results {shown}"


def test_empty_answer_shows_interpreted_operators(make_outcome):
    outcome = make_outcome(understood="Searched for pump. Every result matches tag:x. No passage matches tag:x.")
    _, sentence = messages.empty(Query("pump tag:x", ("memory",)), outcome)
    assert sentence == f"{outcome.understood} Only notes were searched."


def test_empty_answer_shows_searched_sources_and_period(make_outcome):
    sources: tuple[Source, ...] = ("sessions",)
    title, sentence = messages.empty(Query("pump", sources, 7), make_outcome(notice="The provider is away."))
    assert title == "Nothing found for “pump”"
    assert "The provider is away." in sentence
    assert "Only sessions and files of the past 7 days were searched." in sentence


def test_empty_keyword_answer_does_not_mention_meaning(make_outcome):
    assert "meaning" in messages.empty(Query("pump"), make_outcome())[1]
    assert "meaning" not in messages.empty(Query("pump"), make_outcome(mode="keyword"))[1]
    assert "below the minimum score" in messages.empty(Query("pump", min_score=0.0), make_outcome())[1]


def test_empty_answer_shows_where_words_are_not_scores(make_outcome):
    words, *others = make_stages(0, 0)
    missing = msgspec.structs.replace(words, after=0, note="Not found in the index: “pmup”.")
    for stage, text in ((words, "“timer”: 5"), (missing, "“pmup”")):
        explained = SearchExplanation(stages=(stage, *others), results=(), emptied_by="threshold")
        assert text in messages.empty(Query("pmup"), make_outcome(explanation=explained))[1]


def test_empty_answer_says_once_that_no_word_is_known(make_outcome):
    missing = msgspec.structs.replace(make_stages(0, 0)[0], after=0, note="Not found in the index: “pmup”.")
    explained = SearchExplanation(stages=(missing,), results=(), emptied_by="words")
    assert messages.empty(Query("pmup"), make_outcome(explanation=explained))[1] == missing.note
    again = make_outcome(understood="It is excluded.", notice="It is excluded.", explanation=None)
    assert messages.empty(Query("pump -pump"), again)[1] == "It is excluded."


def test_long_query_is_shortened(make_outcome):
    assert len(messages.empty(Query("x" * 900), make_outcome())[0]) < 110
