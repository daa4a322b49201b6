import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest.mock import Mock

import msgspec
import pytest

from engine.records import ModelUsage
from tests.helpers.command_line import Run
from tests.helpers.fake_memory import FakeMemory
from tests.helpers.fake_sessions import MASK, NOW, SECRET, SESSIONS, UNTITLED, VALVE, make_session

SAMPLE = Path(__file__).resolve().parents[3] / "resources" / "sample_sessions"
STORES = ("chatgpt", "claude-code", "codex", "gemini", "openclaw")


@pytest.fixture
def sample(verb: Run, settings: Path) -> Run:
    """Run verbs on an index of the sample sessions."""
    folders = ", ".join(f'"{(SAMPLE / store).as_posix()}"' for store in STORES)
    settings.write_text(f"{settings.read_text()}[defaults.sessions]\nfolders = [{folders}]\n")
    assert verb("index").code == 0
    return verb


@pytest.fixture(autouse=True)
def _sessions(memory: FakeMemory) -> None:
    memory.session_texts = dict(SESSIONS)


def only(memory: FakeMemory, *sessions: dict[str, object]) -> None:
    made = [make_session([("user", [("text", "Hello")])], **fields) for fields in sessions]
    memory.session_texts = {session.summary.path: session for session in made}


# --- list -----------------------------------------------------------------------------------------------------------


def test_the_list_is_newest_first_with_a_name_for_each(run: Run) -> None:
    lines = run("sessions").out.splitlines()
    assert len(lines) == 12
    valve = lines[1]
    assert valve.split()[:5] == ["3f6c0a1e", "2026-02-11", "20:52", "claude-code", "38"]
    assert valve.endswith("  Fix the valve controller  [greenhouse]")
    assert any("(part) Find unsettled relay reads" in line for line in lines)
    assert any(line.endswith("Untitled") for line in lines)
    assert lines[-1].startswith("without-  no date           codex")
    assert run("sessions", "list").out.splitlines() == lines


def test_found_folders_are_named_if_none_is_listed(verb: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert 'add folders = ["~/.claude/projects"], or where yours are, under' in verb("sessions").err
    session = tmp_path / ".codex" / "sessions" / "rollout-2026-02-11T10-00-00-x.jsonl"
    session.parent.mkdir(parents=True)
    session.write_text("{}\n")
    assert f'add folders = ["{session.parent.as_posix()}"] under [defaults.sessions] in ' in verb("sessions").err


@pytest.mark.parametrize(
    ("filters", "titles"),
    [
        (("--agent", "Codex"), ["Invoice double entry", "Postgres lock timeout on migrate", "Is the log rotated?"]),
        (("--project", "NAS"), ["Rename the backup job", "Is the log rotated?"]),
        (
            ("--since", "2026-02-01", "--until", "2026-02-08"),
            ["Trip to Lisbon, flat and keys", "Postgres lock timeout on migrate"],
        ),
        (("--agent", "codex", "--max", "1"), ["Invoice double entry"]),
        (("--agent", "abacus"), []),
    ],
)
def test_filters_and_limit_reduce_the_list(run: Run, filters: tuple[str, ...], titles: list[str]) -> None:
    found = run("sessions", *filters, "--json").json
    assert [session["title"] for session in found["sessions"]] == titles
    assert run("sessions", *filters, "list", "--json").json == found == run("sessions", "list", *filters, "--json").json


def test_unlisted_sessions_counted(run: Run) -> None:
    assert run("sessions", "--max", "2").out.endswith("\n2 of 12 sessions; --max shows more.\n")
    assert run("sessions", "--max", "2", "--json").json["total"] == 12
    assert run("sessions", "--since", "2999").out == "No session matches.\n"


def test_unknown_agent_or_project_lists_the_existing_ones(run: Run) -> None:
    agents = {session["agent"] for session in run("sessions", "--json").json["sessions"]}
    answer = run("sessions", "--agent", "abacus").out
    assert answer.startswith("No session matches. There are sessions of these agents: ")
    assert all(agent in answer for agent in agents)
    assert "of these projects: greenhouse" in run("sessions", "--project", "abacus").out


def test_model_selects_the_sessions_that_used_it(run: Run, memory: FakeMemory) -> None:
    opus, haiku = (ModelUsage(model=f"claude-{name}-4-5") for name in ("opus", "haiku"))
    only(
        memory,
        {"path": "sessions/a.jsonl", "id": "both", "usage": (haiku, opus)},
        {"path": "sessions/b.jsonl", "id": "haiku", "usage": (haiku,)},
        {"path": "sessions/c.jsonl", "id": "none"},
    )
    assert [session["id"] for session in run("sessions", "--model", "Opus", "--json").json["sessions"]] == ["both"]
    assert len(run("sessions", "--model", "claude", "--json").json["sessions"]) == 2


def test_unknown_model_or_machine_lists_the_existing_ones(run: Run, memory: FakeMemory) -> None:
    only(memory, {"path": "sessions/a.jsonl"})
    assert run("sessions", "--model", "x").out == "No session matches. No session names a model.\n"
    assert run("sessions", "--machine", "x").out == "No session matches. All sessions are from this machine.\n"
    only(memory, {"path": "sessions/a.jsonl", "machine": "Lab", "usage": (ModelUsage(model="claude-haiku-4-5"),)})
    assert run("sessions", "--model", "x").out.endswith(" with these models: claude-haiku-4-5.\n")
    assert run("sessions", "--machine", "x").out.endswith(" from these machines: Lab.\n")
    assert run("sessions", "--machine", "lab", "--model", "haiku", "--since", "2999").out == "No session matches.\n"


def test_part_of_an_agents_name_selects_its_sessions(run: Run) -> None:
    whole = run("sessions", "--agent", "claude-code", "--json").json
    assert whole["total"]
    assert run("sessions", "--agent", "Claude C", "--json").json == whole


def test_json_has_the_records(run: Run) -> None:
    valve = run("sessions", "--json").json["sessions"][1]
    assert (valve["path"], valve["id"], valve["branch"]) == (VALVE, "3f6c0a1e", "fix/valve")
    assert valve["resumeCommand"] == "cd /home/ines/src/greenhouse && claude --resume 3f6c0a1e"


def test_names_are_as_short_as_unique(run: Run, memory: FakeMemory) -> None:
    only(
        memory,
        {"path": "sessions/a/1", "id": "019b77aa-1", "title": "one"},
        {"path": "sessions/a/2", "id": "019b77aa-2", "title": "two"},
        {"path": "sessions/a/3", "id": "5f5f5f5f-3", "title": "three"},
        {"path": "sessions/a/4.reset", "id": "same", "title": "four"},
        {"path": "sessions/a/4", "id": "same", "title": "five"},
        {"path": "sessions/a/6", "id": "", "title": "six", "started": None, "ended": None},
    )
    names = {line.split()[0] for line in run("sessions").out.splitlines()}
    assert names == {"019b77aa-1", "019b77aa-2", "5f5f5f5f", "sessions/a/4.reset", "sessions/a/4", "sessions/a/6"}
    for name in names:
        assert run("sessions", "show", name).code == 0, name


def test_ids_of_one_agent_stay_unambiguous(run: Run, memory: FakeMemory) -> None:
    ids = {
        "session-5e6f7a8b-0000-4000-8000-000000000002": "session-5e6f7a8b",
        "20251103_1": "20251103_1",
        "20251103_12": "20251103_12",
        "20251104_1": "20251104_1",
        "20251103_101500_5e6f7a8b9c": "20251103_101500_5",
        "session_20251103_101500_0a1b2c3d": "session_20251103_101500_0",
        "2025-11-03-sanding-the-deck": "2025-11-03-sanding-",
        "ses_0a1b2c3d4e5f": "ses_0a1b2c3d",
    }
    only(memory, *({"path": f"sessions/a/{number}", "id": id} for number, id in enumerate(ids)))
    assert {line.split()[0] for line in run("sessions").out.splitlines()} == set(ids.values())
    for id, name in ids.items():
        assert run("sessions", "show", name, "--json").json["summary"]["id"] == id


def test_long_name_is_at_the_end_of_its_line(run: Run, memory: FakeMemory) -> None:
    long = "sessions/a/folder/of/another/machine/1.jsonl"
    only(
        memory,
        {"path": long, "id": "same", "title": "one"},
        {"path": "sessions/a/2", "id": "same", "title": "two"},
        {"path": "sessions/a/3", "id": "5f5f5f5f-3", "title": "three"},
    )
    first, second, third = run("sessions").out.splitlines()
    assert first.endswith(f"  one  [greenhouse]  {long}")
    assert (first[:14], second[:14], third[:14]) == ("…             ", "sessions/a/2  ", "5f5f5f5f      ")


def test_session_without_end_has_time_of_file(run: Run, memory: FakeMemory) -> None:
    day = 86_400.0
    only(
        memory,
        {"path": "sessions/a/1", "id": "old", "started": NOW - 9 * day, "ended": None, "modified": NOW - 3 * day},
        {"path": "sessions/a/2", "id": "new", "started": None, "ended": None, "modified": NOW - day},
        {"path": "sessions/a/3", "id": "never", "started": None, "ended": None},
    )
    dates = {line.split()[0]: line.split()[1] for line in run("sessions").out.splitlines()}
    assert dates == {"old": "2026-02-08", "new": "2026-02-10", "never": "no"}
    found = run("sessions", "--since", "2026-02-08", "--until", "2026-02-10", "--json").json["sessions"]
    assert {session["id"] for session in found} == {"old", "new"}
    found = run("sessions", "--since", "2026-02-09", "--json").json["sessions"]
    assert [session["id"] for session in found] == ["new"]


# --- show -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["3f6c0a1e", "3f6c", VALVE])
def test_session_shown_by_id_prefix_or_name(run: Run, name: str) -> None:
    out = run("sessions", "show", name).out
    assert out.startswith("Fix the valve controller\nClaude Code · /home/ines/src/greenhouse (fix/valve) · ")
    assert f"\n{VALVE}\n" in out
    resume = "cd /home/ines/src/greenhouse && claude --resume 3f6c0a1e"
    assert f"\nResume with: {resume} (the folder does not exist)\n" in out
    assert "\n--- 2026-02-11 ---\n\nUser  19:22\n" in out


def test_tool_calls_take_one_line_without_all(run: Run, memory: FakeMemory) -> None:
    turns = [
        ("user", [("text", "Tidy up.")]),
        ("assistant", [("thinking", "First\nlook."), ("tool-call", '{\n  "n": 1,\n  "file": "a.py"\n}', "Read")]),
        ("assistant", [("tool-call", "make\ntest", "Bash"), ("tool-call", "{broken", "Edit")]),
        ("tool", [("tool-result", "1 passed\nok", "Bash")]),
        ("tool", [("tool-result", "one\ntwo\nthree\n", "Read")]),
        ("tool", [("tool-result", "", "Stray")]),
        ("system", [("text", "Compacted.")]),
        ("assistant", [("text", "Done.\x1b[2J")]),
    ]
    session = make_session(turns, path="sessions/a/1", id="a1")
    memory.session_texts = {"sessions/a/1": session}
    body = run("sessions", "show", "a1").out.partition("---\n")[2]
    moments = [line.split()[-1] for line in body.splitlines() if line.startswith(("User", "Assistant"))]
    assert [line for line in body.splitlines() if line] == [
        f"User  {moments[0]}",
        "Tidy up.",
        f"Assistant  {moments[1]}",
        "  [Thinking] First look.",
        "  [Read] a.py → 3 lines",
        "  [Bash] make test → 2 lines",
        "  [Edit] {broken",
        "  [Stray: result]",
        "  [System] Compacted.",
        f"Assistant  {moments[2]}",
        "Done.\ufffd[2J",
    ]
    full = run("sessions", "show", "a1", "--full").out
    assert "\n[Thinking]\nFirst\nlook.\n" in full
    assert "\n[Bash: result]\n1 passed\nok\n" in full


def test_sub_agent_text_is_named_except_in_its_session(run: Run, memory: FakeMemory) -> None:
    side = [("user", [("text", "Count them.")])]
    one = make_session(side, side=True, path="sessions/a/1", id="a1")
    part = make_session(side, side=True, path="sessions/a/2", id="a2", parent="a1")
    memory.session_texts = {session.summary.path: session for session in (one, part)}
    assert "User (aside)" in run("sessions", "show", "a1").out
    out = run("sessions", "show", "a2").out
    assert "User (aside)" not in out
    assert "\nPart of a1\n" in out


@pytest.mark.parametrize(
    ("unknown", "expected"),
    [((), ""), ((("holo\x1bgram", 1200), ("x", 1)), "\n1,201 items of unknown type: holo\ufffdgram (1,200), x (1).\n")],
)
def test_unknown_types_reported(
    run: Run, memory: FakeMemory, unknown: tuple[tuple[str, int], ...], expected: str
) -> None:
    session = make_session([("user", [("text", "Count them.")])], path="sessions/a/1", id="a1")
    memory.session_texts = {"sessions/a/1": msgspec.structs.replace(session, unknown=unknown)}
    out = run("sessions", "show", "a1").out
    assert expected in out
    assert ("unknown" in out) == bool(unknown)


def test_abandoned_branch_is_one_line_unless_full(run: Run, memory: FakeMemory) -> None:
    turns = [(role, [("text", text)]) for role, text in (("user", "Go."), ("user", "Left."), ("assistant", "Gone."))]
    session = make_session([*turns, ("user", [("text", "Back.")])], path="sessions/a/1", id="a1")
    messages = tuple(
        msgspec.structs.replace(message, rewound=message.text in ("Left.", "Gone.")) for message in session.messages
    )
    memory.session_texts = {"sessions/a/1": msgspec.structs.replace(session, messages=messages)}
    out = run("sessions", "show", "a1").out
    assert "Go.\n\n[Abandoned branch: 2 messages]\n\nUser" in out
    assert "Gone." not in out
    full = run("sessions", "show", "a1", "--full").out
    assert "User (abandoned branch)" in full
    assert "Gone." in full


def test_list_counts_unknown_items(run: Run, memory: FakeMemory) -> None:
    only(memory, {"path": "sessions/a/1", "id": "a1", "unknown": 1}, {"path": "sessions/a/2", "id": "a2"})
    lines = run("sessions").out.splitlines()
    assert [line.endswith("  (1 item of unknown type)") for line in lines] == [True, False]
    assert [session["unknown"] for session in run("sessions", "--json").json["sessions"]] == [1, 0]


def test_secrets_stay_masked(run: Run, memory: FakeMemory) -> None:
    for arguments in ((), ("--full",), ("--json",)):
        out = run("sessions", "show", "3f6c", *arguments).out
        assert SECRET not in out
        assert MASK in out
    assert "Secrets are masked in 1 message.\n" in run("sessions", "show", "3f6c").out
    assert memory.session_reads[0] == (VALVE, False)


def test_json_is_the_record(run: Run) -> None:
    session = run("sessions", "show", UNTITLED, "--json").json
    assert set(session) == {"summary", "messages", "masked", "unknown"}
    assert [message["text"] for message in session["messages"]] == ["hm", "What can I do for you?"]


# --- errors ---------------------------------------------------------------------------------------------------------


def _ambiguous(memory: FakeMemory) -> None:
    only(memory, *({"path": f"sessions/a/{number}", "id": f"019b0000-{number}"} for number in range(6)))


def _titled(memory: FakeMemory) -> None:
    titles = ("Sew the sail", "Mend the Sail", "Shape the oar")
    only(memory, *({"path": f"sessions/a/{at}", "id": f"id-{at}", "title": title} for at, title in enumerate(titles)))


def _gone(memory: FakeMemory) -> None:
    memory.read_session = Mock(side_effect=FileNotFoundError(2, "No such file", "x"))


@pytest.mark.parametrize(
    ("prepare", "argv", "sentence"),
    [
        (None, ("show", "zzz"), "No session has the id zzz, or a title with it: see mnemoscope sessions."),
        (_ambiguous, ("show", "019b"), "6 sessions begin with 019b: 019b0000-0, 019b0000-1, 019b0000-2, 019b0000-3, …"),
        (_titled, ("show", "sail"), "2 sessions have sail in their titles: id-0, id-1"),
        (_gone, ("show", "3f6c"), f"The transcript of {VALVE} no longer exists: run mnemoscope index."),
    ],
)
def test_unreadable_session_is_one_line_error(
    run: Run, memory: FakeMemory, prepare: Callable[[FakeMemory], None] | None, argv: tuple[str, ...], sentence: str
) -> None:
    if prepare is not None:
        prepare(memory)
    answer = run("sessions", *argv)
    assert (answer.code, answer.out, answer.err) == (1, "", f"mnemoscope: {sentence}\n")


def test_session_is_shown_by_words_of_its_title(run: Run, memory: FakeMemory) -> None:
    title = next(session.title for session in memory.sessions() if session.path == VALVE)
    assert run("sessions", "show", title[2:-2].upper()).out == run("sessions", "show", VALVE).out


def test_words_after_sessions_name_the_search(run: Run) -> None:
    for argv in (("sessions", "valve"), ("sessions", "list", "valve")):
        answer = run(*argv)
        assert (answer.code, answer.out) == (2, "")
        assert "to search the text of sessions, use mnemoscope search --source sessions;" in answer.err
    assert run("sessions", "--max-results", "1").out == run("sessions", "--max", "1").out


def test_without_sessions_shows_how_to_add(run: Run, memory: FakeMemory, settings: Path) -> None:
    memory.session_texts = {}
    for argv in (("sessions",), ("sessions", "show", "x")):
        answer = run(*argv, "--config", str(settings))
        assert (answer.code, answer.out, answer.err.count("\n")) == (1, "", 1)
        assert (
            f'folders = ["~/.claude/projects"], or where yours are, under [defaults.sessions] in {settings}'
            in answer.err
        )
    settings.write_text('[defaults.sessions]\nfolders = ["/x"]\n')
    answer = run("sessions", "--config", str(settings))
    assert answer.err == "mnemoscope: No sessions are indexed yet: run mnemoscope index.\n"


# --- real index -----------------------------------------------------------------------------------------------------


def test_real_sessions_are_listed_shown_and_searched(sample: Run) -> None:
    ended = [session["ended"] for session in sample("sessions", "--json").json["sessions"]]
    assert ended == sorted(ended, reverse=True)
    listed = sample("sessions", "--agent", "codex", "--json").json
    assert listed["total"] == 3
    restore = next(session for session in listed["sessions"] if session["title"] == "Restore test of hazel")
    out = sample("sessions", "show", restore["id"][:8]).out
    assert "[shell] sudo cat /etc/restic.env → 3 lines" in out
    assert "RESTIC_PASSWORD=***" in sample("sessions", "show", restore["path"], "--full").out

    found = sample("search", "silence is not success", "--source", "sessions", "--json").json["results"]
    assert {result["source"] for result in found} == {"sessions"}
    assert found[0]["path"] == restore["path"]
    assert found[0]["message"]["agent"] == "codex"
    assert found[0]["message"]["ordinal"] > 1
    assert sample("search", "silence is not success", "--source", "memory", "--json").json["results"] == []


def test_get_prints_session_by_name_and_citation(sample: Run) -> None:
    [result, *_] = sample("search", "gummy", "crumb", "--json").json["results"]
    whole = sample("get", result["path"], "--json").json
    assert "Second loaf in a row that is flat" in whole["text"]
    cited = sample("get", result["citation"], "--json").json
    assert (cited["path"], cited["from"]) == (result["path"], result["startLine"])
    assert cited["lines"] == result["endLine"] - result["startLine"] + 1
    assert result["snippet"].split("\n")[0].removeprefix("User: ")[:20] in cited["text"]


def test_get_prints_message_of_export_by_number(sample: Run) -> None:
    [result, *_] = sample("search", "chapeau", "ruban", "--json").json["results"]
    assert result["path"].startswith("sessions/chatgpt/conversations.json/")
    text = sample("get", f"{result['path']}#L5", "--json").json["text"]
    assert text.startswith("User: Et pour le ruban intérieur")


def test_the_status_counts_each_source(sample: Run, folder: Path) -> None:
    (folder / "a.md").write_text("# A note\n")
    sample("index")
    assert "\n  sessions:      17 files · " in sample("status").out
    counts = {count["source"]: count["files"] for count in sample("status", "--json").json["sourceCounts"]}
    assert counts == {"memory": 1, "sessions": 17}


# --- export and context -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "name", "start"),
    [
        ((), "valve", "<!DOCTYPE html>"),
        (("--format", "markdown"), "valve", "# Fix the valve"),
        ((), "valve.md", "# Fix the valve"),
        (("--format", "html"), "valve.md", "<!DOCTYPE html>"),
    ],
)
def test_export_writes_a_file_with_masked_secrets(
    run: Run, tmp_path: Path, arguments: tuple[str, ...], name: str, start: str
) -> None:
    target = tmp_path / name
    answer = run("sessions", "export", "3f6c0a1e", *arguments, "-o", str(target))
    assert (answer.code, answer.out) == (0, f"Written to {target}.\n")
    text = target.read_text("utf-8")
    assert text.startswith(start)
    assert MASK in text
    assert SECRET not in text
    assert run("sessions", "export", VALVE, *arguments, "-o", str(target), "--json").json == {
        "file": str(target),
        "session": VALVE,
    }


def test_export_never_replaces_a_note(run: Run, folder: Path) -> None:
    note = folder / "note.md"
    note.write_text("mine")
    answer = run("sessions", "export", "3f6c0a1e", "-o", str(note))
    assert (answer.code, note.read_text()) == (1, "mine")
    assert "one of your notes" in answer.err


@pytest.mark.skipif(os.name == "nt", reason="Windows has no named pipes in folders")
def test_export_is_written_to_a_pipe(run: Run, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.md"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as threads:
        received = threads.submit(pipe.read_bytes)
        assert run("sessions", "export", "3f6c0a1e", "-o", str(pipe)).code == 0
        assert received.result(60).startswith(b"# ")
    assert pipe.is_fifo()


def test_export_to_missing_folder_is_one_line(run: Run, tmp_path: Path) -> None:
    answer = run("sessions", "export", "3f6c0a1e", "-o", str(tmp_path / "gone" / "a.html"))
    assert answer.code == 1
    assert "cannot be written" in answer.err


@pytest.mark.parametrize("target", [(), ("-o", "-")])
def test_export_without_a_file_is_printed(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    answer = run("sessions", "export", "3f6c0a1e", *target)
    assert (answer.code, answer.out.splitlines()[0]) == (0, "# Fix the valve controller")
    assert MASK in answer.out
    assert SECRET not in answer.out
    assert run("sessions", "export", "3f6c0a1e", "--format", "html", *target).out.startswith("<!DOCTYPE html>")
    assert not (tmp_path / "-").exists()


def test_context_is_masked_and_within_limit(run: Run) -> None:
    context = run("sessions", "context", "3f6c0a1e", "--characters", "1200").out
    assert len(context) <= 1200
    assert "## Goal" in context
    assert SECRET not in run("sessions", "context", "3f6c0a1e").out
    assert run("sessions", "context", "3f6c0a1e", "--json").json["context"].startswith("Continue this session")


# --- the actions `files` and `touching` -------------------------------------------------------------------------------


def test_files_lists_kinds_of_use(sample: Run) -> None:
    name = sample("sessions", "--agent", "claude-code", "--max", "1").out.split()[0]
    lines = sample("sessions", "files", name).out.splitlines()
    assert lines
    for line in lines:
        kinds, path = line.rsplit("  ", 1)
        assert set(kinds.strip().split(", ")) <= {"read", "edited", "created", "deleted"}
        assert path.strip()
    uses = sample("sessions", "files", name, "--json").json["files"]
    assert {use["path"] for use in uses} == {line.rsplit("  ", 1)[1] for line in lines}


def test_touching_lists_sessions_newest_first(sample: Run) -> None:
    uses = sample("sessions", "touching", "src/otter/*.py", "--json").json["uses"]
    assert len({use["session"] for use in uses}) > 1
    assert [use["time"] for use in uses] == sorted((use["time"] for use in uses), reverse=True)
    lines = sample("sessions", "touching", "src/otter/*.py").out.splitlines()
    assert len(lines) == len({use["session"] for use in uses})
    assert "edited" in lines[0] or "read" in lines[0]
    agents = {line.split("  ")[2] for line in lines}
    assert len(agents) > 1
    for agent in agents:  # before or after the action
        filtered = sample("sessions", "touching", "src/otter/*.py", "--agent", agent).out
        assert filtered == sample("sessions", "--agent", agent, "touching", "src/otter/*.py").out
        assert filtered.count("\n") == sum(line.split("  ")[2] == agent for line in lines)
    *_, notice = sample("sessions", "touching", "src/otter/*.py", "--max", "1").out.splitlines()
    assert notice == f"1 of {len(lines)} sessions; --max shows more."
    assert sample("sessions", "touching", "src/otter/*.py", "--agent", "nobody").out.startswith("No session matches.")


def test_touching_unknown_file_is_reported(sample: Run) -> None:
    assert sample("sessions", "touching", "anchor.py").out == "No session read or changed a matching file.\n"
