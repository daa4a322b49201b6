"""Agents, projects and files in queries: they boost their sessions, never filter, and are explained."""

import json
import unicodedata
from pathlib import Path

import pytest

from engine.search.result_reasons import reasons_of
from engine.settings.options import SessionSettings

FOLDED = "The cache folds its keys before it compares them, so two spellings share an entry."


def write_claude(
    folder: Path, id_: str, project: str, file: str, text: str = FOLDED, more: str = "", day: str = "2026-05-02"
) -> None:
    common = {"sessionId": id_, "cwd": f"/home/ada/{project}", "timestamp": f"{day}T08:00:00Z"}
    used = [
        {"type": "tool_use", "id": f"t{path}", "name": "Edit", "input": {"file_path": f"/home/ada/{project}/{path}"}}
        for path in (file, more)
        if path
    ]
    lines = [
        {"type": "user", "uuid": "a", "message": {"role": "user", "content": "How does the cache compare keys?"}},
        {"type": "assistant", "uuid": "b", "message": {"role": "assistant", "content": f"{text} Fixed in {id_}."}},
        {"type": "assistant", "uuid": "c", "message": {"role": "assistant", "content": used}},
    ]
    path = folder / ".claude" / "projects" / f"-home-ada-{project}" / f"{id_}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(common | line) + "\n" for line in lines))


def write_codex(folder: Path, id_: str, project: str, day: str = "2026-05-02") -> None:
    def line(kind: str, payload: object) -> str:
        return json.dumps({"timestamp": f"{day}T08:00:00Z", "type": kind, "payload": payload}) + "\n"

    def spoken(role: str, text: str) -> str:
        return line("response_item", {"type": "message", "role": role, "content": [{"type": "text", "text": text}]})

    path = folder / ".codex" / "sessions" / f"rollout-2026-05-02T08-00-00-{id_}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    meta = line("session_meta", {"id": id_, "cwd": f"/home/ada/{project}"})
    path.write_text(
        meta + spoken("user", "How does the cache compare keys?") + spoken("assistant", f"{FOLDED} Fixed in {id_}.")
    )


@pytest.fixture
def memory(open_memory, tmp_path: Path):
    """Three sessions with the same text, and a note."""
    write_claude(tmp_path, "1", "harbour-map", "src/keys.py", more=".envrc")
    write_claude(tmp_path, "2", "ledger", "src/tide_tables.py", more=unicodedata.normalize("NFD", "Überblick.md"))
    write_codex(tmp_path, "3", "recipes")
    (tmp_path / "notes" / "cache.md").write_text(f"# Keys\n\n{FOLDED}\n")
    folders = str(tmp_path / ".claude" / "projects"), str(tmp_path / ".codex" / "sessions")
    opened = open_memory(use=None, sessions=SessionSettings(folders=folders))
    opened.sync()
    return opened


def first(memory, query: str) -> str:
    found = memory.search(query, sources=["sessions"], min_score=0.0).results
    assert len({one.path for one in found}) == 3  # never a filter
    return Path(found[0].path).stem[-1]


@pytest.mark.parametrize(
    ("query", "session"),
    [
        ("cache keys with Codex", "3"),
        ("what did codex say about cache keys", "3"),
        ("was hat Codex zu cache keys erklärt", "3"),
        ("we solved the cache keys with Codex", "3"),
        ("cache keys in harbour-map", "1"),
        ("harbour map: cache keys", "1"),
        ("cache keys in ledger", "2"),
        ("ledger project, cache keys", "2"),
        ("cache keys tide_tables.py", "2"),
        ("cache keys in src/keys.py", "1"),
        ("cache keys in SRC\\Keys.py", "1"),
        ("cache keys harbour-map/src/keys.py", "1"),
        ("cache keys /home/ada/harbour-map/src/keys.py", "1"),
        ("cache keys, e.g. with Node.js from example.com at 9 a.m. in keys.py", "1"),
        ("cache keys überblick.md", "2"),
        ("claude code and the cache keys of ledger", "2"),
        ("Cache-Schlüssel keys mit Codex", "3"),
    ],
)
def test_named_agent_project_or_file_comes_first(memory, query: str, session: str) -> None:
    assert first(memory, query) == session


def test_query_of_names_alone_finds_their_sessions(memory) -> None:
    """No text has these words, so a session that they name is the answer; other words must occur in its text."""
    expected = {
        "tide_tables.py": ["2"],
        "where we changed tide_tables.py": ["2"],
        "who touched .envrc?": ["1"],
        "wo haben wir tide_tables.py geändert": ["2"],
        "with Codex": ["3"],
        "with Codex in May": ["3"],
        "with Codex in recipes": ["3"],
        "claude code": ["1", "2"],
        "claude": [],
        "who edited keys.py": ["1"],
        "where we changed rudder.py": [],
        "quaternions with Codex": [],
    }
    found = {query: sorted(Path(one.path).stem[-1] for one in memory.search(query).results) for query in expected}
    assert found == expected
    (reason,) = memory.search("who touched .envrc?", explain=True).explanation.results
    assert "All words of the query name this session: they score 0.56." in map(str, reasons_of(reason))


def test_query_of_names_alone_lists_newest_session_first(memory, tmp_path: Path) -> None:
    for id_, day in {"4": "2026-05-04", "5": "2026-04-01"}.items():
        write_codex(tmp_path, id_, "recipes", day)
        memory.sync()
    assert [Path(one.path).stem[-1] for one in memory.search("with Codex").results] == ["4", "3", "5"]


def test_name_does_not_count_as_missing_word(memory) -> None:
    plain, named = (memory.search(query, min_score=0.0, explain=True) for query in ("cache keys", "cache keys codex"))
    scores = [{one.path: one.score for one in outcome.results} for outcome in (plain, named)]
    (codex,) = (path for path in scores[0] if "codex" in path)
    assert scores[1][codex] >= scores[0][codex]
    (reason,) = (of for one, of in zip(named.results, named.explanation.results, strict=True) if one.path == codex)
    assert (reason.missing, reason.session_names, reason.session_factor) == ((), ("codex",), 1.6)
    sentences = {of.part: of.sentence for of in reasons_of(reason)}
    assert sentences["session"].startswith("The query names “codex” of this session: × 1.60 = ")
    notes = {stage.name: stage.note for stage in named.explanation.stages}
    assert notes["sessions"] == "Passages in sessions that the query names, “codex”: 1."


def test_named_agent_is_no_typo_and_its_verb_is_not_missing(memory, tmp_path: Path) -> None:
    (tmp_path / "notes" / "code.md").write_text("# Code\n\nAs the code suggests, say it twice.\n")
    memory.sync()
    outcome = memory.search("what did codex suggest about cache keys", explain=True)
    assert (outcome.corrected, outcome.suggestions, Path(outcome.results[0].path).stem[-1]) == (None, (), "3")
    assert outcome.explanation.results[0].missing == ()


def test_verb_of_a_named_agent_is_no_unknown_word(memory) -> None:
    """It asks for what was said, and occurs nowhere."""
    outcome = memory.search("what did codex recommend about cache keys")
    assert (Path(outcome.results[0].path).stem[-1], outcome.unknown_words) == ("3", ())
    assert memory.search("who will recommend cache keys").unknown_words == ("recommend",)


@pytest.mark.parametrize(
    "query",
    [
        "ledger of cache keys",
        "cache keys for ledger",
        "cache keys on ledger",
        "map of the harbour cache keys",
        "cache keys.",
        "the code of cache keys",
        "cache py",
        "Claude Monet cache keys",
    ],
)
def test_ordinary_words_name_no_session(memory, query: str) -> None:
    outcome = memory.search(query, min_score=0.0, explain=True)
    assert {reason.session_factor for reason in outcome.explanation.results} == {1.0}


def test_longest_name_of_agent_boosts_once(memory) -> None:
    outcome = memory.search("cache keys with Claude Code", min_score=0.0, explain=True)
    assert {reason.session_names for reason in outcome.explanation.results} == {("Claude Code",), ()}


def test_plain_agent_name_at_either_end_is_not_missing(open_memory, tmp_path: Path) -> None:
    write_claude(tmp_path, "1", "boat", "a.py", text="The valve leaks at the keel.")
    for number in range(20):
        (tmp_path / "notes" / f"{number}.md").write_text(f"# Note {number}\n\nNothing about valves or boats.\n")
    (tmp_path / "notes" / "monet.md").write_text("# Claude Monet\n\nPainted a garden.\n")
    memory = open_memory(use=None, sessions=SessionSettings(folders=(str(tmp_path / ".claude" / "projects"),)))
    memory.sync()
    found = {query: memory.search(query).results[:1] for query in ("leaks claude", "claude leaks", "Claude Monet")}
    assert [[one.source for one in results] for results in found.values()] == [["sessions"], ["sessions"], ["memory"]]
    assert [result.path for result in memory.search("garden claude").results][:1] == ["monet.md"]
    (tmp_path / "notes" / "rope.md").write_text("# Rope\n\nThe rope is frayed.\n")
    memory.sync()
    # No session of the agent has the word: the user is mistaken.
    assert [result.path for result in memory.search("claude frayed").results][:1] == ["rope.md"]


def test_agent_without_sessions_is_no_missing_word(open_memory, tmp_path: Path) -> None:
    for number in range(20):
        path = tmp_path / "notes" / f"{number}.md"
        path.write_text(f"# Note {number}\n\nThe clause and the code of a pushing rope, codes and clauses.\n")
    (tmp_path / "notes" / "rope.md").write_text("# Rope\n\nThe rope is frayed at the far end.\n")
    memory = open_memory(use=None)
    memory.sync()
    for query in ("claude frayed", "frayed codex", "Claude Code frayed rope", "ask codex frayed far end"):
        outcome = memory.search(query)
        assert [result.path for result in outcome.results][:1] == ["rope.md"], query
        assert outcome.suggestions == (), query
        assert outcome.corrected is None, query


@pytest.mark.parametrize(
    ("query", "condition"),
    [
        ("flibber codex", "agent:codex"),
        ("flibber ledger project", "project:ledger"),
        ("ledger", "project:ledger"),
        ("ledgercache in ledger", "project:ledger"),
    ],
)
def test_empty_answer_offers_the_named_sessions(memory, query: str, condition: str) -> None:
    outcome = memory.search(query, explain=True)
    assert not outcome.results
    assert condition in [remedy.query for remedy in outcome.explanation.remedies]


@pytest.mark.parametrize(
    ("query", "note"),
    [
        ("exhibition page in docs", "# Error in docs\n\nThe exhibition page has a typo in docs.\n"),
        ("exhibition page of docs", "# Error\n\nThe exhibition page is old. It is in the folder of docs.\n"),
        ("Claude exhibition", "# Claude Monet exhibition\n\nThe exhibition opens in June.\n"),
        ("exhibition by Claude", "# Monet\n\nAn exhibition of paintings by Claude Monet.\n"),
        ("exhibition in docs in May 2026", "# Error\n\nOn 2026-05-04, the exhibition was missing in docs.\n"),
    ],
)
def test_note_with_all_words_comes_before_sessions_that_lack_one(open_memory, tmp_path: Path, query, note) -> None:
    page = "The exhibition page is ready. The exhibition page has a picture."
    for id_ in range(12):
        write_claude(tmp_path, f"{id_}", "docs", "a.md", text=page)
    (tmp_path / "notes" / "note.md").write_text(note)
    (tmp_path / "notes" / "other.md").write_text("# Page\n\nThe page of the exhibition.\n")
    memory = open_memory(use=None, sessions=SessionSettings(folders=(str(tmp_path / ".claude" / "projects"),)))
    memory.sync()
    found = memory.search(query, min_score=0.0, max_results=20).results
    assert found[0].path == "note.md"
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)


def test_boost_stops_below_chunks_with_all_words(open_memory, tmp_path: Path) -> None:
    for id_ in range(12):
        write_claude(tmp_path, f"{id_}", "docs", "a.md", text="The exhibition page of the town hall is ready.")
    for number in range(2):
        (tmp_path / "notes" / f"{number}.md").write_text(f"Read chapter {number} of the docs.\n")
    far = " ".join(f"w{number}" for number in range(40))
    (tmp_path / "notes" / "note.md").write_text(f"Hall {far} exhibition {far} page {far} docs {far} town.\n")
    memory = open_memory(use=None, sessions=SessionSettings(folders=(str(tmp_path / ".claude" / "projects"),)))
    memory.sync()
    outcome = memory.search("town hall exhibition page in docs", min_score=0.0, max_results=20, explain=True)
    assert outcome.results[0].path == "note.md"
    boosts = [reason.session_factor for reason in outcome.explanation.results[:13]]
    assert boosts[0] == 1.0
    assert all(1.0 < boost < 1.6 for boost in boosts[1:])
    assert all(0.99 < other.score / outcome.results[0].score <= 1.0 for other in outcome.results[1:13])


def test_title_of_a_session_counts_for_one_passage(open_memory, tmp_path: Path) -> None:
    folder = tmp_path / "sessions"
    folder.mkdir()
    for id_, question, pieces in (("titled", "Repair the bilge pump", 30), ("other", "Sail", 1), ("sub", "Mast", 9)):
        lines = [{"type": "user", "uuid": "q", "message": {"role": "user", "content": question}}]
        for number in range(pieces):
            text = f"Plank number {number} was steamed, bent and fastened. " * 12
            text += "The bilge pump is next." if id_ == "other" else ""
            lines.append({"type": "assistant", "uuid": f"{number}", "message": {"role": "assistant", "content": text}})
        lines.append({"type": "custom-title", "customTitle": "Gooseneck" if id_ == "sub" else ""})
        common = {"sessionId": id_, "cwd": "/home/ada/boat", "timestamp": "2026-05-02T08:00:00Z"}
        (folder / f"{id_}.jsonl").write_text("".join(json.dumps(common | line) + "\n" for line in lines))
    memory = open_memory(use=None, sessions=SessionSettings(folders=(str(folder),)))
    memory.sync()
    (only,) = memory.search("gooseneck", per_file=0, max_results=50).results  # no text has the word
    assert "Mast" in only.snippet
    outcome = memory.search("bilge pump", per_file=0, max_results=50)
    assert [Path(result.path).stem for result in outcome.results] == ["titled", "other"]
    assert "Repair the bilge pump" in outcome.results[0].snippet  # the passage with the words comes before others
    assert outcome.total == 2
    found = memory.search("bilge planks", per_file=0, max_results=50).results  # a word of the text and one of the title
    assert sum(Path(result.path).stem == "titled" for result in found) > 10


def test_bare_agent_project_and_month_find_the_session(memory, tmp_path: Path) -> None:
    write_claude(tmp_path, "4", "ledger", "a.md", text="The tide runs late.", day="2026-04-03")
    write_claude(tmp_path, "5", "rudder", "a.md", text="The tide runs late.", day="2026-04-09")
    write_codex(tmp_path, "6", "rudder", "2026-04-21")
    memory.sync()
    for query, session in {
        "ledger claude april": "4",
        "claude april rudder": "5",
        "rudder codex april": "6",
        "codex rudder": "6",
        "Gezeiten claude april": "",
    }.items():
        found = memory.search(query).results
        assert (Path(found[0].path).stem[-1] if found else "") == session, query


@pytest.mark.parametrize(
    "query",
    [
        "what did we do on March 13, 2026",
        "session of 13 March 2026",
        "our sessions from 2026-03-13",
        "harbour-map session 2026-03-13",
        "what did we decide on 13 March 2026",
    ],
)
def test_day_alone_finds_the_sessions_of_that_day(open_memory, tmp_path: Path, query: str) -> None:
    for number, day in enumerate(("2026-03-02", "2026-03-13", "2026-04-13", "2026-05-13")):
        write_claude(tmp_path, f"{number}", "harbour-map", "", day=day)
    for number in range(5):
        (tmp_path / "notes" / f"session-{number}.md").write_text(f"A session of {number} hours, and of music.\n")
    opened = open_memory(use=None, sessions=SessionSettings(folders=(str(tmp_path / ".claude" / "projects"),)))
    opened.sync()
    assert Path(opened.search(query).results[0].path).stem[-1] == "1"
