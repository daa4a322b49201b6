import pytest

from engine import FileIssue, PreviewFolder, WorkspacePreview
from gui.sources.index_preview import (
    indexed_text,
    session_files_text,
    sessions_only_text,
    skipped_text,
    storage_text,
)


def _preview(**changes) -> WorkspacePreview:
    fields = {
        "workspace": "/n",
        "layout": "folder",
        "files": 12,
        "bytes": 30_000,
        "folders": (PreviewFolder(path=".", files=12, bytes=30_000),),
        "skipped": (),
        "session_files": 0,
        "session_bytes": 0,
    }
    return WorkspacePreview(**(fields | changes))


def _issues(*rules: str) -> tuple[FileIssue, ...]:
    return tuple(FileIssue(path=f"{number}", rule=rule, detail="") for number, rule in enumerate(rules))


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({}, "12 files, 30 KB in this folder and the folders inside it."),
        ({"files": 1, "bytes": 1}, "1 file, 1 byte in this folder and the folders inside it."),
        ({"files": 0, "bytes": 0}, "This folder is empty. Choose a folder that contains notes."),
        ({"files": 0, "bytes": 0, "skipped": _issues("symlink")}, "No file in this folder would be indexed."),
        ({"files": 0, "bytes": 0, "session_files": 2}, "This folder is empty."),
        ({"program": "obsidian"}, "Obsidian vault: 12 files, 30 KB in this folder and the folders inside it."),
        ({"program": "logseq"}, "Logseq graph: 12 files, 30 KB in this folder and the folders inside it."),
        (
            {"layout": "openclaw"},
            "12 files, 30 KB: MEMORY.md and the folder memory, as an assistant's workspace keeps them.",
        ),
    ],
)
def test_indexed_files_wording(changes, sentence):
    assert indexed_text(_preview(**changes)) == sentence


def test_sessions_of_other_workspaces_are_named():
    detail = "370 sessions belong to the workspace Garden (/n)."
    taken = (FileIssue(path="sessions/claude-code", rule="kept-elsewhere", detail=detail),)
    assert sessions_only_text(_preview(skipped=taken)) == f"No session would be indexed. {detail}"
    assert sessions_only_text(_preview(skipped=taken, session_files=2, session_bytes=2_000)) == (
        f"2 AI session files, 2.0 KB. {detail}"
    )


@pytest.mark.parametrize(
    ("rules", "sentence"),
    [
        ((), "No files are skipped."),
        (("symlink", "too-large", "symlink"), "Reasons: symbolic link, too large."),
        (("a", "b", "c", "d"), "Reasons: a, b, c and 1 more."),
        (("a", "a", "b", "b", "c", "c", "d", "e"), "Reasons: a, b, c and 2 more."),
    ],
)
def test_skipped_files_wording(rules, sentence):
    assert skipped_text(_preview(skipped=_issues(*rules))) == sentence


def test_storage_text_says_that_nothing_is_written():
    assert "Indexing writes nothing" in storage_text("/data/x")


@pytest.mark.parametrize(
    ("files", "size", "sentence"),
    [
        (0, 0, ""),
        (1, 812, "Plus 1 AI session file, 812 bytes."),
        (1412, 118_000_000, "Plus 1,412 AI session files, 118 MB."),
    ],
)
def test_indexed_sessions_wording(files, size, sentence):
    assert session_files_text(_preview(session_files=files, session_bytes=size)) == sentence
