"""Collections that `qmd` is configured to index."""

import json
import os
import sys
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.backends.qmd.collections import Collection, SavedConfiguration, literal, plan, read_applied, with_paths
from engine.settings import Settings


def planned(workspace: Path, sessions: Path | None = None, qmd: dict | None = None, **changes):
    settings = Settings(**changes)
    settings = msgspec.structs.replace(settings, qmd=msgspec.structs.replace(settings.qmd, **(qmd or {})))
    return plan(workspace, with_paths(settings), sessions)


def names(made) -> list[str]:
    return [one.name for one in made.collections]


def test_notes_folder_becomes_one_collection(workspace):
    made = planned(workspace, workspace.parent / "sessions")
    others = (
        "**/*.[mM][aA][rR][kK][dD][oO][wW][nN],**/*.[mM][dD][xX],**/*.[tT][xX][tT],"
        "**/*.[oO][rR][gG],**/*.[rR][sS][tT],**/*.[aA][dD][oO][cC]"
    )
    assert [(one.name, one.pattern, one.prefix) for one in made.collections] == [
        ("memory-dir-notes", f"**/*.[mM][dD],{others}", ""),
        ("sessions-notes", "*.md", ""),
    ]
    assert made.collections[0].stable_name("daily/2026-02-08.md") == "daily/2026-02-08.md"
    assert len(made.files) == 4


def test_openclaw_workspace_has_memory_collection(workspace):
    (workspace / "MEMORY.md").write_text("x\n")
    (workspace / "memory").mkdir()
    made = planned(workspace)
    assert names(made) == ["memory-root-notes", "memory-dir-notes"]
    root, folder = made.collections
    assert (root.pattern, root.stable_name("MEMORY.md"), root.stable_name("greenhouse.md")) == (
        "MEMORY.md",
        "MEMORY.md",
        None,
    )
    assert folder.stable_name("a.md") == "memory/a.md"


def test_collection_names_are_lower_case_and_unique(workspace, tmp_path):
    for name in ("Über uns", "uber_uns", "über-uns"):
        (tmp_path / name).mkdir()
    made = planned(workspace, extra_paths=tuple(str(tmp_path / name) for name in ("Über uns", "über-uns", "ber!uns")))
    assert names(made)[1:] == ["ber-uns-notes", "ber-uns-notes-2"]  # the last one doesn't exist
    assert all(set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-") for name in names(made))


def test_extensions_match_in_any_case(workspace):
    made = planned(workspace, extensions=(".md", "txt"))
    assert made.collections[0].pattern == "**/*.[mM][dD],**/*.[tT][xX][tT]"


def test_rejected_files_excluded_by_name(workspace):
    for name in ("drafts/a.md", "drafts/deep/b.md", "photos/1.jpg", "people/old [1].md", "venv/x.md"):
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_text("x\n")
    made = planned(workspace, exclude=("drafts/", "old*.md"))
    assert made.collections[0].ignore == ("@(drafts|venv)/**", "people/old [[]1\\].md")


def test_many_names_need_few_patterns(workspace):
    """`qmd` tries each pattern on each file."""
    (workspace / "drafts").mkdir()
    for number in range(200):
        (workspace / f"drafts/{'d' * 200}{number:03}.md").write_text("x\n")
    (workspace / "drafts/keep.md").write_text("x\n")
    ignore = planned(workspace, exclude=("dddd*.md",)).collections[0].ignore
    assert [one.count("|") + 1 for one in ignore] == [64, 64, 64, 8]
    assert all(len(one) < 65_536 for one in ignore)


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege on Windows")
def test_links_are_left_out(workspace):
    (workspace / "link.md").symlink_to(workspace / "greenhouse.md")
    assert planned(workspace).collections[0].ignore == ("link.md",)


def test_single_file_gets_own_collection(workspace, tmp_path):
    (tmp_path / "a, b.md").write_text("x\n")
    made = planned(workspace, extra_paths=(str(tmp_path / "a, b.md"),))
    one = made.collections[1]
    assert (one.pattern, one.folder, one.stable_name("a, b.md"), one.stable_name("c.md")) == (
        "a[,] b.md",
        os.path.realpath(tmp_path),
        "a, b.md",
        None,
    )
    refused = planned(workspace, extra_paths=(str(tmp_path / "a, b.md"),), max_file_bytes=1)
    assert refused.collections[1].ignore == ("a[,] b.md",)


def test_extra_paths_become_named_collections(workspace, tmp_path, user_home):
    (user_home / "specs").mkdir()
    made = planned(workspace, qmd={"paths": {"My Specs": "~/specs/**/*.md", "none": "~/nowhere"}})
    assert [(one.name, one.pattern, one.prefix) for one in made.collections[1:]] == [
        ("my-specs-notes", "**/*.md", "specs")
    ]


def test_workspace_notes_can_be_excluded(workspace, tmp_path):
    (tmp_path / "extra").mkdir()
    made = planned(workspace, qmd={"include_default_memory": False}, extra_paths=(str(tmp_path / "extra"),))
    assert names(made) == ["extra-notes"]


def test_files_in_skipped_folders_reported(workspace):
    (workspace / "vendor").mkdir()
    (workspace / "vendor/a.md").write_text("x\n")
    made = planned(workspace)
    (issue,) = [issue for issue in made.skipped if issue.rule == "qmd"]
    assert (issue.path, issue.detail) == ("vendor/a.md", "qmd never looks into folders named vendor.")
    assert len(made.files) == 4


def test_collection_file_is_json_and_round_trips(tmp_path):
    made = (Collection("a-b", "memory", '/x"y\n', "*.md", "p", "", ("q",)), Collection("s", "sessions", "/s", "*", ""))
    saved = SavedConfiguration(made, {"embed": "/m.gguf"})
    listed = json.loads(saved.text())
    assert listed["models"] == {"embed": "/m.gguf"}
    assert listed["collections"] == {
        "a-b": {"path": '/x"y\n', "pattern": "*.md", "ignore": ["q"]},
        "s": {"path": "/s", "pattern": "*"},
    }
    (tmp_path / "noted").write_bytes(msgspec.json.encode(saved))
    assert read_applied(tmp_path / "noted") == saved
    (tmp_path / "noted").write_bytes(b"[1, 2]")
    assert read_applied(tmp_path / "noted") == SavedConfiguration() == read_applied(tmp_path / "missing")


@given(st.text(alphabet="ab[]{}()!*?+@|,#\\\"'` .-", max_size=12))
def test_pattern_characters_are_escaped(name):
    pattern = literal(name)
    plain = ""
    while pattern:
        step = 2 if pattern[0] == "\\" else 3 if pattern[0] == "[" else 1
        plain += pattern[1] if step > 1 else pattern[0]
        assert step > 1 or pattern[0] not in "[]{}()!*?+@|,#\\\"'`"
        pattern = pattern[step:]
    assert plain == name


def test_documents_are_left_to_the_built_in_index(workspace):
    (workspace / "a.pdf").write_bytes(b"%PDF")
    made = planned(workspace, extensions=(".md", ".pdf"))
    assert made.collections[0].pattern == "**/*.[mM][dD]"
    assert "a.pdf" not in {file.name for file in made.files}
    only = planned(workspace, extensions=(".pdf",))
    assert (only.collections[0].ignore, only.files) == (("**",), ())
