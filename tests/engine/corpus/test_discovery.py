"""Discovery: files that are found, their order, and the rule for each skipped path."""

import os
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.base.cancellation import CancelToken
from engine.base.errors import Cancelled, WorkspaceError
from engine.corpus import folder_walk
from engine.corpus.discovery import Discovery, discover
from engine.indexing.session_workspace_assignment import preview_workspace
from engine.settings import Settings
from engine.settings.options import SessionSettings

Tree = Callable[..., Path]


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    def make(*names: str, under: str = "notes") -> Path:
        root = tmp_path / under
        root.mkdir(exist_ok=True)
        for name in names:
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("# Text\n", encoding="utf-8")
        return root

    return make


def names(found: Discovery) -> list[str]:
    return [file.name for file in found.files]


def rules(found: Discovery) -> dict[str, str]:
    return {issue.path: issue.rule for issue in found.skipped}


def test_plain_folder_is_indexed_completely(tree: Tree) -> None:
    workspace = tree("b.md", "a/z.md", "a/b/c.md", "a/a.md")
    found = discover(workspace, Settings())
    assert found.layout == "folder"
    assert names(found) == ["b.md", "a/a.md", "a/z.md", "a/b/c.md"]
    assert not found.skipped


def test_found_file_has_path_source_size_and_time(tree: Tree) -> None:
    workspace = tree("a/b.md")
    os.utime(workspace / "a/b.md", ns=(5, 1_700_000_000_123_456_789))
    (file,) = discover(workspace, Settings()).files
    assert (file.path, file.source, file.size) == (str(workspace / "a/b.md"), "memory", 7)
    assert file.mtime_ns == (workspace / "a/b.md").stat().st_mtime_ns


def test_a_memory_is_listed_in_the_order_of_the_reference(tree: Tree) -> None:
    workspace = tree("memory/2024/x.md", "memory/a.md", "memory.md", "MEMORY.md", "AGENTS.md", "z/y.md", "pic.png")
    extra = tree("one.md", under="more")
    found = discover(workspace, Settings(extra_paths=(str(extra), "z")))
    assert found.layout == "openclaw"
    assert names(found) == ["MEMORY.md", "memory.md", "memory/a.md", "memory/2024/x.md", "more/one.md", "z/y.md"]
    assert rules(found) == {"AGENTS.md": "outside-memory", "*.png": "extension"}


@pytest.mark.parametrize("mark", ["MEMORY.md", "memory.md", "memory/x.md"])
def test_any_memory_file_gives_openclaw_layout(tree: Tree, mark: str) -> None:
    found = discover(tree(mark, "other.md"), Settings())
    assert (found.layout, names(found)) == ("openclaw", [mark])


def test_linked_memory_folder_excludes_workspace(tree: Tree) -> None:
    workspace = tree("private.md")
    (workspace / "memory").symlink_to(tree("x.md", under="elsewhere"))
    found = discover(workspace, Settings())
    assert (found.layout, names(found), rules(found)["memory"]) == ("openclaw", [], "symlink")


def test_two_names_of_one_memory_file_count_once(tree: Tree) -> None:
    workspace = tree("MEMORY.md")
    os.link(workspace / "MEMORY.md", workspace / "memory.md")
    assert names(discover(workspace, Settings())) == ["MEMORY.md"]


def test_every_skipped_path_names_its_rule(tree: Tree) -> None:
    workspace = tree(
        "keep.md",
        ".git/x.md",
        "sub/node_modules/p/readme.md",
        ".obsidian/x.md",
        "._keep.md",
        ".ssh/notes.md",
        "keys/server.pem",
        ".env.md",
        "old/a.md",
        "b.draft.md",
        "big.md",
        "we\\ird.md",
        "bell\a.md",
    )
    (workspace / "big.md").write_bytes(b"x" * 1001)
    (workspace / "link.md").symlink_to("keep.md")
    (workspace / "folder.md").mkdir()
    os.mkfifo(workspace / "pipe.md")
    found = discover(workspace, Settings(exclude=("old/", "*.draft.md"), max_file_bytes=1000))
    assert names(found) == ["keep.md"]
    assert rules(found) == {
        ".git": "ignored-folder",
        "sub/node_modules": "ignored-folder",
        ".obsidian": "hidden",
        "._keep.md": "hidden",
        ".ssh": "secret",
        "keys/server.pem": "secret",
        ".env.md": "secret",
        "old": "exclude",
        "b.draft.md": "exclude",
        "big.md": "too-large",
        "we\\ird.md": "bad-name",
        "bell\a.md": "bad-name",
        "link.md": "symlink",
        "pipe.md": "not-a-file",
    }
    details = {issue.path: issue.detail for issue in found.skipped}
    assert '"*.draft.md"' in details["b.draft.md"]
    assert "1,001 bytes" in details["big.md"]
    assert "1,000" in details["big.md"]


def test_secret_files_are_skipped_for_any_settings(tree: Tree) -> None:
    workspace = tree(".env", ".env.local", ".aws/credentials.md", "id_rsa", "vault.kdbx", "a.key", "keyrings/login.md")
    extra = tree("config.md", under=".ssh")
    settings = Settings(
        include=("**",),
        extensions=(".md", ".env", ".local", ".kdbx", ".key", "id_rsa"),
        extra_paths=(".aws", ".env", "id_rsa", str(extra)),
    )
    found = discover(workspace, settings)
    assert names(found) == []
    assert set(rules(found).values()) == {"secret"}


def test_a_workspace_among_secrets_is_refused(tree: Tree) -> None:
    with pytest.raises(WorkspaceError, match="never read"):
        discover(tree("notes/a.md", under=".gnupg") / "notes", Settings())


def test_foreign_files_are_counted_by_extension(tree: Tree) -> None:
    workspace = tree(*(f"photos/{number}.JPG" for number in range(40)), "a.jpg", "Makefile", "a.md", "b.MD", "c.Md")
    found = discover(workspace, Settings())
    assert names(found) == ["a.md", "b.MD", "c.Md"]
    assert [(issue.path, issue.rule) for issue in found.skipped] == [
        ("*.jpg", "extension"),
        ("(no extension)", "extension"),
    ]
    assert found.skipped[0].detail == "41 files; only .md, .markdown, .mdx, .txt, .org, .rst, .adoc files are indexed."


def test_archives_have_the_advice_to_unpack_them(tree: Tree) -> None:
    found = discover(tree("a.zip", "b.ZIP", "c.7z", "d.md"), Settings())
    assert [(issue.path, issue.rule, issue.detail) for issue in found.skipped] == [
        ("*.zip", "archive", "2 archives are not read: unpack them to index their files."),
        ("*.7z", "archive", "1 archive is not read: unpack it to index its files."),
    ]


def test_rare_extensions_share_one_issue(tree: Tree) -> None:
    workspace = tree(*(f"backup.{number}" for number in range(40)))
    issues = discover(workspace, Settings()).skipped
    assert len(issues) == 31
    assert issues[-1].detail.startswith("10 files")


def test_a_rule_lists_a_thousand_names_and_counts_the_rest(tree: Tree) -> None:
    workspace = tree("a.md")
    for number in range(1005):
        (workspace / f"{number:04}.md").symlink_to("a.md")
    issues = discover(workspace, Settings()).skipped
    assert len(issues) == 1001
    assert (issues[-1].rule, issues[-1].detail) == ("symlink", "5 more were skipped by this rule.")


def test_extensions_in_settings_replace_the_default(tree: Tree) -> None:
    workspace = tree("a.md", "b.markdown", "c.txt", "d.rst")
    assert names(discover(workspace, Settings())) == ["a.md", "b.markdown", "c.txt", "d.rst"]
    settings = Settings(extensions=(".md", "markdown", "*.TXT"))
    assert names(discover(workspace, settings)) == ["a.md", "b.markdown", "c.txt"]


def test_includes_restrict_and_excludes_win(tree: Tree) -> None:
    workspace = tree("a.md", "journal/1.md", "journal/2.md", "journal/deep/3.md", "other/x.md")
    found = discover(workspace, Settings(include=("journal/**", "/a.md"), exclude=("**/2.md",)))
    assert names(found) == ["a.md", "journal/1.md", "journal/deep/3.md"]
    assert rules(found) == {"journal/2.md": "exclude", "other": "not-included"}


def test_included_folder_includes_contents(tree: Tree) -> None:
    workspace = tree("a.md", "x/journal/deep/3.md")
    found = discover(workspace, Settings(include=("journal",)))
    assert names(found) == ["x/journal/deep/3.md"]
    assert rules(found) == {"a.md": "not-included"}


def test_roots_outside_get_unique_short_names(tree: Tree, tmp_path: Path) -> None:
    workspace = tree("wiki/own.md")
    extras = [tree("x.md", under="p"), tmp_path / "q"]
    for parent in extras:
        (parent / "Wiki").mkdir(parents=True)
        (parent / "Wiki" / "page.md").write_text("x")
        (parent / "todo.md").write_text("x")
    settings = Settings(extra_paths=tuple(f"{parent}/{name}" for parent in extras for name in ("Wiki", "todo.md")))
    assert names(discover(workspace, settings)) == [
        "wiki/own.md",
        "Wiki-2/page.md",
        "todo.md",
        "Wiki-3/page.md",
        "todo-2.md",
    ]


def test_globs_see_outside_roots_by_their_short_name(tree: Tree) -> None:
    extra = tree("a.md", "old/b.md", under="wiki")
    settings = Settings(extra_paths=(str(extra),), exclude=("wiki/old/",))
    assert names(discover(tree("n.md"), settings)) == ["n.md", "wiki/a.md"]


def test_extra_paths_inside_keep_their_names_and_come_once(tree: Tree) -> None:
    workspace = tree("a.md", ".private/b.md", "sub/c.md")
    settings = Settings(extra_paths=(".private", " sub ", "sub/../sub", "", str(workspace / "a.md"), "."))
    found = discover(workspace, settings)
    assert names(found) == [".private/b.md", "sub/c.md", "a.md"]
    assert not found.skipped


def test_extra_path_above_workspace_listed_once(tree: Tree, tmp_path: Path) -> None:
    workspace = tree("a.md")
    tree("b.md", under="beside")
    found = discover(workspace, Settings(extra_paths=("..",)))
    assert [name.partition("/")[2] or name for name in names(found)] == ["a.md", "beside/b.md"]


def test_extra_paths_that_cannot_be_used_are_reported(tree: Tree, tmp_path: Path) -> None:
    target = tree("x.md", under="target")
    (tmp_path / "link").symlink_to(target)
    workspace = tree("a.md")
    found = discover(workspace, Settings(extra_paths=(str(tmp_path / "link"), str(tmp_path / "gone"))))
    assert names(found) == ["a.md"]
    assert rules(found) == {"link": "symlink", str(tmp_path / "gone"): "missing"}


def test_a_linked_workspace_is_resolved(tree: Tree, tmp_path: Path) -> None:
    workspace = tree("a.md")
    (tmp_path / "shortcut").symlink_to(workspace)
    (file,) = discover(tmp_path / "shortcut", Settings()).files
    assert file.path == str(workspace / "a.md")


def test_decomposed_file_names_are_unchanged(tree: Tree) -> None:
    decomposed = unicodedata.normalize("NFD", "Übung.md")
    workspace = tree(decomposed, "日本/メモ.md")
    assert names(discover(workspace, Settings())) == [decomposed, "日本/メモ.md"]


def test_undecodable_name_is_reported_printably(tree: Tree) -> None:
    workspace = tree("a.md")
    Path(os.fsdecode(os.fsencode(workspace) + b"/caf\xe9.md")).touch()
    found = discover(workspace, Settings())
    assert names(found) == ["a.md"]
    assert [(issue.path, issue.rule) for issue in found.skipped] == [("caf�.md", "bad-name")]


def test_non_text_workspace_name_is_error(tmp_path: Path) -> None:
    """The index, the settings and every result would have to store the name as text."""
    workspace = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9"))
    workspace.mkdir()
    with pytest.raises(WorkspaceError, match="caf\ufffd contains bytes that are not text: rename the folder"):
        discover(workspace, Settings())


def test_a_missing_or_wrong_workspace_is_an_error(tree: Tree, tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="does not exist"):
        discover(tmp_path / "nowhere", Settings())
    with pytest.raises(WorkspaceError, match="not a folder"):
        discover(tree("a.md") / "a.md", Settings())


def test_a_folder_that_cannot_be_listed_is_reported(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = tree("a.md", "locked/b.md")
    scan = folder_walk.scan_folder

    def refuse(path: str) -> object:
        if path.endswith("locked"):
            raise PermissionError(13, "Permission denied")
        return scan(path)

    monkeypatch.setattr(folder_walk, "scan_folder", refuse)
    found = discover(workspace, Settings())
    assert names(found) == ["a.md"]
    assert [(issue.path, issue.rule) for issue in found.skipped] == [("locked", "unreadable")]
    assert "Permission denied" in found.skipped[0].detail


def test_a_cancelled_discovery_stops(tree: Tree) -> None:
    token = CancelToken()
    seen: list[tuple[int, str]] = []

    def listener(count: int, folder: str) -> None:
        seen.append((count, folder))
        if folder == "b":
            token.cancel()

    with pytest.raises(Cancelled):
        discover(tree("x.md", "a/1.md", "b/2.md", "c/3.md"), Settings(), cancel=token, listener=listener)
    assert seen == [(0, "."), (1, "a"), (2, "b")]


def test_cancelled_discovery_stops_inside_a_folder(tree: Tree) -> None:
    token = CancelToken()
    with pytest.raises(Cancelled):
        discover(tree("x.md"), Settings(), cancel=token, listener=lambda count, folder: token.cancel())


def test_the_preview_counts_by_top_folder_and_opens_nothing(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = tree("a.md", "sub/b.md", "sub/deep/c.md", "photo.png")

    open_ = os.open

    def refuse(path: str, flags: int, *, dir_fd: int | None = None) -> int:
        assert flags & os.O_DIRECTORY, "a file was opened"
        return open_(path, flags, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", refuse)
    preview = preview_workspace(workspace, Settings())
    assert [(folder.path, folder.files, folder.bytes) for folder in preview.folders] == [("sub", 2, 14), (".", 1, 7)]
    assert (preview.layout, preview.files, preview.bytes) == ("folder", 3, 21)
    assert [issue.path for issue in preview.skipped] == ["*.png"]


def test_the_preview_lists_files_without_permission(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = tree("a.md", "locked.md")
    monkeypatch.setattr(os, "access", lambda path, mode: not (mode == os.R_OK and path.endswith("locked.md")))
    preview = preview_workspace(workspace, Settings())
    assert preview.files == 1
    assert [(issue.path, issue.rule) for issue in preview.skipped] == [("locked.md", "unreadable")]
    assert "change its permissions" in preview.skipped[0].detail


def test_the_preview_counts_the_sessions_that_the_settings_list(tree: Tree, tmp_path: Path) -> None:
    sessions = tmp_path / "sessions"
    sessions.mkdir()
    for name in ("a.jsonl", "b.jsonl", "c.txt"):
        (sessions / name).write_text("{}\n")
    listed = Settings(sessions=SessionSettings(folders=(str(sessions), str(tmp_path / "gone"))))
    preview = preview_workspace(tree("a.md"), listed)
    assert (preview.session_files, preview.session_bytes) == (2, 6)
    assert [issue.path for issue in preview.skipped if issue.rule == "missing"] == ["sessions/gone"]


@pytest.mark.parametrize(
    ("settings", "program"),
    [(".obsidian/app.json", "obsidian"), ("logseq/config.edn", "logseq"), ("obsidian/app.json", "")],
)
def test_preview_recognises_the_program_of_the_notes(tree: Tree, settings: str, program: str) -> None:
    assert preview_workspace(tree("a.md", settings), Settings()).program == program


def test_a_preview_names_the_first_notes(tree: Tree) -> None:
    workspace = tree("b.md", *(f"a/{number:02}.md" for number in range(20)))
    preview = preview_workspace(workspace, Settings())
    assert preview.files == 21
    assert preview.first[:2] == ("b.md", "a/00.md")
    assert len(preview.first) < preview.files
