"""Messages of finding in the viewer: one set for files, another for sessions."""

from dataclasses import dataclass

from engine import marked


@dataclass(frozen=True)
class FindMessages:
    """Sentences for `tr`."""

    find: str
    looking: str
    unasked: str
    """With the `key` that opens the find bar."""
    missing: str
    without_word: str
    """No word of the query occurs there."""


IN_FILE = FindMessages(
    find=marked("Find in this file"),
    looking=marked("Looking through the rest of the file…"),
    unasked=marked("Nothing was searched for. Press {key} to find text in this file."),
    missing=marked("Not found in this file."),
    without_word=marked("No word of the search is in this file."),
)
IN_SESSION = FindMessages(
    find=marked("Find in this session"),
    looking=marked("Looking through the rest of the session…"),
    unasked=marked("Nothing was searched for. Press {key} to find text in this session."),
    missing=marked("Not found in this session."),
    without_word=marked("No word of the search is in this session."),
)
