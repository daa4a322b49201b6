"""Home folders of Linux, macOS and Windows: places that are found, counted and skipped."""

import json
import os
from pathlib import Path

import pytest

from engine import (
    Cancelled,
    CancelToken,
    FoundSource,
    FoundSources,
    find_sources,
    measure_sessions,
    sessions_workspace,
)
from engine.corpus import folder_walk, source_detection


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


def put(path: Path, text: str = "{}\n", *, time: float | None = None) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    if time is not None:
        os.utime(path, (time, time))
    return path


def look(home: Path, **environ: object) -> FoundSources:
    return find_sources(home, {name: str(value) for name, value in environ.items()})


def brief(found: FoundSources, home: Path) -> set[tuple[str, str, str, str, int]]:
    return {
        (source.kind, source.agent, source.name, Path(source.path).relative_to(home).as_posix(), source.files)
        for source in found.sources
    }


def by_path(found: FoundSources) -> dict[str, FoundSource]:
    return {source.path: source for source in found.sources}


def list_vaults(config: Path, *vaults: Path) -> None:
    known = {f"{number:016x}": {"path": str(vault), "ts": 1} for number, vault in enumerate(vaults)}
    put(config / "obsidian/obsidian.json", json.dumps({"vaults": known}))


def test_encrypted_chats_of_windsurf_are_named(home):
    (home / ".codeium/windsurf/cascade").mkdir(parents=True)
    (issue,) = find_sources(home, {}).issues
    assert (issue.path, issue.detail) == (
        str(home / ".codeium/windsurf/cascade"),
        "Windsurf, now Devin Desktop, encrypts its own chats, so they can't be read.",
    )


def test_an_empty_home_has_nothing(home):
    assert look(home) == FoundSources(sources=(), issues=())
    assert find_sources(home / "missing", {}) == FoundSources(sources=(), issues=())


def test_opencode_databases_replace_copied_files(home):
    data = home / ".local/share/opencode"
    put(data / "storage/session/p/ses_1.json")
    for name in ("opencode.db", "opencode-dev.db", "opencode.db-wal", "other.db", "opencode.db.bak"):
        put(data / name, "12345")
    put(home / "else/mine.db", "12345")
    expected = {("", data / "opencode.db", 10), ("opencode-dev.db", data / "opencode-dev.db", 5)}

    def seen(**environ: object) -> set[tuple[str, Path, int]]:
        return {(source.name, Path(source.path), source.bytes) for source in look(home, **environ).sources}

    assert seen() == seen(OPENCODE_DB="opencode.db") == seen(OPENCODE_DB=":memory:") == expected
    assert seen(OPENCODE_DB=home / "else/mine.db") == expected | {("mine.db", home / "else/mine.db", 5)}


def test_sessions_of_every_agent_are_found(home):
    put(home / ".claude/projects/-home-ada/one.jsonl", "{}\n", time=1e9)
    put(home / ".claude/projects/-home-ada/one/subagents/agent-2.jsonl", "{}\n{}\n", time=2e9)
    put(home / ".claude/projects/-home-ada/notes.md")
    put(home / ".claude/history.jsonl")
    put(home / ".codex/sessions/2026/03/01/rollout-1.jsonl")
    put(home / ".codex/archived_sessions/rollout-0.jsonl")
    put(home / ".gemini/tmp/4be1/chats/session-2026.json")
    put(home / ".local/share/opencode/storage/session/p/ses_1.json")
    put(home / ".local/share/opencode/storage/message/ses_1/msg_1.json")
    put(home / ".openclaw/agents/main/sessions/one.jsonl")
    put(home / ".openclaw/agents/main/sessions/two.jsonl.deleted.2026-03-01T10-00-00.000Z")
    put(home / ".openclaw/agents/empty/sessions/sessions.json")
    put(home / ".openclaw/state/sessions/older/one.jsonl")
    found = look(home)
    assert found.issues == ()
    assert brief(found, home) == {
        ("sessions", "claude-code", "", ".claude/projects", 2),
        ("sessions", "codex", "", ".codex/sessions", 1),
        ("sessions", "codex", "archived", ".codex/archived_sessions", 1),
        ("sessions", "gemini", "", ".gemini/tmp", 1),
        ("sessions", "opencode", "", ".local/share/opencode/storage", 1),
        ("sessions", "openclaw", "main", ".openclaw/agents/main/sessions", 2),
        ("sessions", "openclaw", "older", ".openclaw/state/sessions/older", 1),
    }
    claude = by_path(found)[str(home / ".claude/projects")]
    assert (claude.bytes, claude.newest, claude.complete) == (9, 2e9, True)


def test_environment_variables_add_sources(home, tmp_path):
    other = tmp_path / "else"
    for name in (
        "claude/projects/p/1.jsonl", "codex/sessions/2.jsonl", "gemini/.gemini/tmp/3/checkpoint-a.json",
        "config/claude/projects/p/4.jsonl", "data/opencode/storage/session/p/ses_5.json",
        "state/agents/main/sessions/6.jsonl", "state/workspace/MEMORY.md", "work/MEMORY.md",
    ):  # fmt: skip
        put(other / name)
    list_vaults(other / "config", put(other / "vault/a.md").parent)
    put(home / ".codex/sessions/7.jsonl")
    found = look(
        home,
        CLAUDE_CONFIG_DIR=other / "claude",
        CODEX_HOME=other / "codex",
        GEMINI_CLI_HOME=other / "gemini",
        XDG_CONFIG_HOME=other / "config",
        XDG_DATA_HOME=other / "data",
        OPENCLAW_STATE_DIR=other / "state",
        OPENCLAW_WORKSPACE_DIR=other / "work",
    )
    assert {Path(source.path).relative_to(tmp_path).as_posix() for source in found.sources} == {
        "else/work", "else/state/workspace", "else/vault", "else/claude/projects", "else/config/claude/projects",
        "else/codex/sessions", "home/.codex/sessions", "else/gemini/.gemini/tmp", "else/data/opencode/storage",
        "else/state/agents/main/sessions",
    }  # fmt: skip
    assert found.sources[0].kind == "openclaw-workspace"


def test_unusable_variables_are_ignored(home):
    put(home / ".codex/sessions/7.jsonl")
    found = look(home, CODEX_HOME="", CLAUDE_CONFIG_DIR="not/absolute", XDG_DATA_HOME="~/nowhere", APPDATA="\0")
    assert brief(found, home) == {("sessions", "codex", "", ".codex/sessions", 1)}


def test_workspaces_in_openclaws_configuration_are_found(home, tmp_path):
    for name in (".openclaw/workspace", ".openclaw/workspace-coder", ".openclaw-dev/workspace", "shared", "shared/cook",
                 "deep/gardener", "tides", "older"):  # fmt: skip
        put(home / name / "MEMORY.md")
    put(home / ".openclaw/workspaces/MEMORY.md")
    put(tmp_path / "away/MEMORY.md")
    put(
        home / ".openclaw/openclaw.json",
        """{
          // shared by all
          agents: {
            defaults: { workspace: "~/shared", },
            list: [
              { id: "gardener", workspace: '${DEEP}/gardener' },
              { id: "cook" }, { id: "../.." }, { id: "gone", workspace: "/nowhere/at/all" }, "junk", { workspace: 7 },
            ],
            entries: { tides: { workspace: "~/tides" }, away: { workspace: "${AWAY}" } },
          },
          agent: { workspace: "~/older" },
        }""",
    )
    found = look(home, DEEP=home / "deep", AWAY=tmp_path / "away")
    assert found.issues == ()
    assert {(source.name, Path(source.path).relative_to(tmp_path).as_posix()) for source in found.sources} == {
        ("", "home/shared"),
        ("", "home/older"),
        ("gardener", "home/deep/gardener"),
        ("cook", "home/shared/cook"),
        ("tides", "home/tides"),
        ("away", "away"),
        ("", "home/.openclaw/workspace"),
        ("coder", "home/.openclaw/workspace-coder"),
        ("", "home/.openclaw-dev/workspace"),
    }


def test_openclaws_configuration_is_read_by_variable_or_link(home, tmp_path):
    put(home / "notes/MEMORY.md")
    put(home / "more/MEMORY.md")
    real = put(tmp_path / "dotfiles/openclaw.json", '{"agents": {"defaults": {"workspace": "~/notes"}}}')
    (home / ".openclaw").mkdir()
    (home / ".openclaw/openclaw.json").symlink_to(real)
    named = put(tmp_path / "named.json", '{"agent": {"workspace": "~/more"}}')
    found = look(home, OPENCLAW_CONFIG_PATH=named)
    assert [Path(source.path).name for source in found.sources] == ["more", "notes"]


@pytest.mark.parametrize(
    "config",
    ["{", "[]", "null", '{"agents": 3}', '{"agents": {"list": {}, "entries": [], "defaults": []}}', "\ufeff{}"],
)
def test_broken_configurations_hide_no_other_sources(home, config):
    put(home / ".openclaw/openclaw.json", config)
    put(home / ".config/obsidian/obsidian.json", config)
    put(home / ".openclaw/workspace/memory/a.md")
    found = look(home)
    assert [source.kind for source in found.sources] == ["openclaw-workspace"]
    assert [issue.rule for issue in found.issues] == (["unreadable"] * 2 if config == "{" else [])


def test_undecodable_or_long_configuration_is_an_issue(home):
    (home / ".openclaw").mkdir()
    (home / ".openclaw/openclaw.json").write_bytes(b"\xff\xfe\x00")
    put(home / ".config/obsidian/obsidian.json", " " * 300_000)
    put(home / ".config/claude/projects/p/1.jsonl")
    found = look(home)
    assert len(found.sources) == 1
    assert {Path(issue.path).name for issue in found.issues} == {"openclaw.json", "obsidian.json"}


@pytest.mark.parametrize(
    ("config", "environ"),
    [
        (".config", {}),
        (".var/app/md.obsidian.Obsidian/config", {}),
        ("snap/obsidian/current/.config", {}),
        ("Library/Application Support", {}),
        ("AppData/Roaming", {}),
        ("moved", {"APPDATA": "moved"}),
        ("moved", {"XDG_CONFIG_HOME": "moved"}),
    ],
)
def test_vaults_come_from_obsidians_own_list(home, config, environ):
    garden = put(home / "Documents/Garden ä/a.md", "# A").parent
    put(garden / "topics/b.md", "# B")
    put(garden / ".obsidian/app.json")
    put(garden / ".trash/old.md")
    put(home / "unlisted/.obsidian/app.json")
    (home / "empty").mkdir()
    list_vaults(home / config, garden, home / "gone", home / "empty", home / ".ssh")
    (home / ".ssh").mkdir()
    found = look(home, **{name: home / value for name, value in environ.items()})
    assert brief(found, home) == {("obsidian-vault", "obsidian", "Garden ä", "Documents/Garden ä", 2)}
    assert found.sources[0].bytes == 6
    assert [issue.path for issue in found.issues] == [str(home / ".ssh")]


def test_graphs_come_from_logseqs_own_list(home):
    graph = put(home / "Documents/my: graph/pages/a.md", "- A").parent.parent
    put(graph / "journals/2026_05_02.md", "- B")
    put(graph / "logseq/config.edn")
    put(graph / "logseq/bak/pages/a/old.md", "- old")
    put(graph / "logseq/version-files/local/pages/a/old.md", "- old")
    for folder in (graph, home / "gone"):
        put(home / ".logseq/graphs" / f"logseq_local_{str(folder).replace('/', '++').replace(':', '+3A+')}.transit")
    put(home / ".logseq/graphs/logseq_local_relative.transit")
    put(home / ".logseq/graphs/other.txt")
    assert brief(look(home), home) == {("logseq-graph", "logseq", "my: graph", "Documents/my: graph", 2)}


def test_a_vault_that_is_a_workspace_is_listed_once(home):
    put(home / ".openclaw/workspace/MEMORY.md")
    (home / "Garden").symlink_to(home / ".openclaw/workspace")
    list_vaults(home / ".config", home / "Garden")
    assert brief(look(home), home) == {("openclaw-workspace", "openclaw", "", ".openclaw/workspace", 1)}


def test_linked_sources_have_resolved_paths(home, tmp_path):
    put(tmp_path / "disk/projects/p/1.jsonl")
    (home / ".claude").symlink_to(tmp_path / "disk")
    (home / ".codex").mkdir()
    (home / ".codex/sessions").symlink_to(home / ".codex")
    (home / ".gemini").symlink_to(home / "nowhere")
    found = look(home)
    assert [(source.path, source.files) for source in found.sources] == [(str(tmp_path / "disk/projects"), 1)]


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root can read every folder")
def test_unreadable_folder_is_an_issue(home):
    for folder in (put(home / ".claude/projects/p/1.jsonl").parent.parent, put(home / ".openclaw/agents/a").parent):
        folder.chmod(0)
    try:
        found = look(home)
    finally:
        for name in (".claude/projects", ".openclaw/agents"):
            (home / name).chmod(0o700)
    assert found.sources == ()
    assert [(issue.path, issue.rule) for issue in found.issues] == [(str(home / ".claude/projects"), "unreadable")]


def test_a_failing_disk_is_an_issue(home, monkeypatch):
    projects = put(home / ".claude/projects/p/1.jsonl").parent.parent
    vault = put(home / "Garden/a.md").parent
    list_vaults(home / ".config", vault)

    def failing(scan):
        def fail(path):
            if str(path) in (str(projects), str(vault)):
                raise PermissionError(13, "Permission denied", str(path))
            return scan(path)

        return fail

    monkeypatch.setattr(folder_walk, "scan_folder", failing(folder_walk.scan_folder))
    monkeypatch.setattr(os, "scandir", failing(os.scandir))
    found = look(home)
    assert found.sources == ()
    assert {issue.path for issue in found.issues} == {str(projects), str(vault)}
    details = {issue.path: issue.detail for issue in found.issues}
    assert "permission to read the folder" in details[str(vault)]
    assert "Permission denied" in details[str(projects)]


def test_counting_ends_at_its_limit(home, monkeypatch):
    monkeypatch.setattr(source_detection, "_MAX_ENTRIES", 5)
    for number in range(30):
        put(home / f".codex/sessions/{number % 10}/{number}.jsonl")
        put(home / f"Garden/{number % 10}/{number}.md")
    put(home / ".claude/projects/p/1.jsonl")
    list_vaults(home / ".config", home / "Garden")
    found = by_path(look(home))
    for path in (".codex/sessions", "Garden"):
        assert not found[str(home / path)].complete
        assert 0 <= found[str(home / path)].files < 30
    assert found[str(home / ".claude/projects")].complete


def test_no_file_is_opened_but_the_two_configurations(home, monkeypatch):
    put(home / ".claude/projects/p/1.jsonl")
    put(home / ".openclaw/workspace/MEMORY.md")
    put(home / ".openclaw/agents/main/sessions/sessions.json")
    put(home / ".openclaw/openclaw.json")
    list_vaults(home / ".config", put(home / "Garden/a.md").parent)
    opened, real = [], os.open

    def note(path, flags, *rest, **options):
        descriptor = real(path, flags, *rest, **options)
        if not flags & os.O_DIRECTORY:
            opened.append(path)
        return descriptor

    monkeypatch.setattr(os, "open", note)
    monkeypatch.setattr("builtins.open", lambda path, *_, **__: pytest.fail(f"{path} was opened"))
    assert len(look(home).sources) == 3
    assert set(opened) == {"openclaw.json", "obsidian.json"}


def test_cancelled_detection_raises(home):
    put(home / ".claude/projects/p/1.jsonl")
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        find_sources(home, {}, cancel=token)


def test_listed_folders_and_exports_are_measured(home):
    folder = put(home / "exports/conversations.json", "[]").parent
    export = put(home / "chatgpt.zip", "PK")
    (home / "empty").mkdir()
    listed = [str(folder), str(home / "gone"), str(export), str(home / "empty"), "", str(folder)]
    found = measure_sessions(listed)
    assert [(Path(source.path).name, source.files, source.bytes) for source in found.sources] == [
        ("exports", 1, 2),
        ("gone", 0, 0),
        ("chatgpt.zip", 1, 2),
        ("empty", 0, 0),
    ]
    assert [(issue.path, issue.rule) for issue in found.issues] == [(str(home / "gone"), "missing")]


def test_measure_names_unread_files(tmp_path: Path) -> None:
    folder = tmp_path / "saved"
    folder.mkdir()
    for name in ("a.jsonl", *(f"page-{number}.html" for number in range(30))):
        (folder / name).write_text("{}\n")
    found = measure_sessions([str(folder)])
    assert found.sources[0].files == 1
    (issue,) = found.issues
    assert (issue.path, issue.rule) == (str(folder), "no-transcript")
    assert issue.detail == (
        "30 files here are not read, because they are not transcripts of a known agent: "
        "page-0.html, page-1.html, page-10.html, …"
    )


def test_workspace_of_sessions_alone_is_made_in_the_store(tmp_path: Path) -> None:
    folder = sessions_workspace(str(tmp_path / "store"))
    assert folder.is_dir()
    assert folder.parent == tmp_path / "store"
