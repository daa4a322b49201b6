"""Messages of the sessions view if another workspace has the sessions."""

import msgspec

from engine import FileIssue
from gui.sessions import listing_view
from gui.text.status_texts import INDEXED_ELSEWHERE, sessions_elsewhere
from tests.helpers.fake_records import make_status

_ELSEWHERE = FileIssue(
    path="sessions/claude",
    rule=INDEXED_ELSEWHERE,
    detail="3 sessions belong to the workspace boat (/home/ada/boat).",
)
_NOTICE = f"{_ELSEWHERE.path}: {_ELSEWHERE.detail} Search all workspaces to find them here."


def test_sessions_in_other_workspace_are_named():
    other = FileIssue(path="x.bin", rule="extension", detail="It is no note.")
    assert sessions_elsewhere(make_status(skipped_files=(other, _ELSEWHERE))) == _NOTICE
    assert sessions_elsewhere(make_status(skipped_files=(other,))) == ""


def test_many_folders_in_other_workspaces_are_counted():
    skipped = [msgspec.structs.replace(_ELSEWHERE, path=f"sessions/{number}") for number in range(14)]
    text = sessions_elsewhere(make_status(skipped_files=tuple(skipped)))
    assert text.count(_ELSEWHERE.detail) == 2
    assert text.endswith("12 similar messages are not shown. Search all workspaces to find them here.")


def test_empty_list_names_other_workspaces():
    title, sentence = listing_view.without_sessions(
        make_status(sources=("memory", "sessions"), skipped_files=(_ELSEWHERE,))
    )
    assert (title, sentence) == ("These sessions belong to other workspaces", _NOTICE)
