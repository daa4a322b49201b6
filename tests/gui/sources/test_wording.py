import time

import pytest

from engine import FileIssue, FoundSource
from gui.sources.folder_rows import issue_lines, source_amount, source_title
from gui.text.formatting import short_path


def _source(**changes) -> FoundSource:
    fields = {
        "kind": "sessions",
        "agent": "claude-code",
        "name": "",
        "path": "/home/ada/.claude/projects",
        "files": 412,
        "bytes": 8_200_000,
        "newest": time.time() - 7200,
        "complete": True,
    }
    return FoundSource(**(fields | changes))


@pytest.mark.parametrize(
    ("changes", "title"),
    [
        ({}, "Claude Code"),
        ({"agent": "openclaw", "name": "main"}, "OpenClaw: main"),
        ({"agent": "openclaw", "name": "", "kind": "openclaw-workspace"}, "OpenClaw workspace"),
        ({"agent": "openclaw", "name": "cook", "kind": "openclaw-workspace"}, "OpenClaw workspace: cook"),
        ({"agent": "obsidian", "name": "Garden", "kind": "obsidian-vault"}, "Obsidian vault Garden"),
        ({"agent": "logseq", "name": "Work", "kind": "logseq-graph"}, "Logseq graph Work"),
        ({"agent": "", "path": "/tmp/chatgpt.zip"}, "chatgpt.zip"),
        ({"agent": "", "path": "C:\\exports\\mine"}, "mine"),
        ({"agent": "", "path": "/media/old/claude-code"}, "Claude Code"),
        ({"agent": "", "path": "/home/ada/notes/goose", "files": 0}, "goose"),
    ],
)
def test_source_is_titled_by_program_and_name(changes, title):
    assert source_title(_source(**changes)) == title


@pytest.mark.parametrize(
    ("changes", "amount"),
    [
        ({}, "412 files, 8.2 MB, last changed 2 h ago"),
        ({"files": 1, "bytes": 1, "newest": None}, "1 file, 1 byte"),
        ({"files": 100_000, "bytes": 3 * 10**9, "newest": None, "complete": False}, "more than 100,000 files, 3.0 GB"),
        ({"files": 0}, "no files"),
        ({"files": 0, "complete": False}, "more files than could be counted"),
    ],
)
def test_source_amount_names_files_size_and_age(changes, amount):
    assert source_amount(_source(**changes)) == amount


@pytest.mark.parametrize(
    ("path", "home", "expected"),
    [
        ("/home/ada/notes", "/home/ada", "~/notes"),
        ("/home/ada", "/home/ada/", "~"),
        ("/home/adams/notes", "/home/ada", "/home/adams/notes"),
        ("C:\\Users\\ada\\notes", "C:\\Users\\ada", "~\\notes"),
        ("/notes", "/", "/notes"),
    ],
)
def test_paths_below_home_are_shortened(path, home, expected):
    assert short_path(path, home) == expected


def test_issue_lines_name_path_once():
    issues = [
        FileIssue(path="/h/a.json", rule="unreadable", detail="It cannot be read."),
        FileIssue(path="/h/gone", rule="missing", detail="The session folder /h/gone does not exist."),
    ]
    assert issue_lines(issues, "/h") == "~/a.json: It cannot be read.\nThe session folder /h/gone does not exist."
