"""Texts for the rule that excluded a file, and the number of files it excluded."""

from collections.abc import Iterable

from engine import FileIssue, files_told, marked, tr

_WORDS = {
    "bad-name": marked("bad name"),
    "binary": marked("binary"),
    "broken": marked("broken"),
    "copied": marked("copied"),
    "crashed": marked("ended the program"),
    "exclude": marked("exclude"),
    "extension": marked("extension"),
    "generated": marked("generated"),
    "hidden": marked("hidden"),
    "ignored-folder": marked("ignored folder"),
    "kept-elsewhere": marked("kept elsewhere"),
    "missing": marked("missing"),
    "no-transcript": marked("no transcript"),
    "not-a-file": marked("not a file"),
    "not-embedded": marked("not embedded"),
    "not-included": marked("not included"),
    "not-text": marked("not text"),
    "not-utf8": marked("not UTF-8"),
    "outside-memory": marked("outside memory"),
    "packed-twice": marked("packed twice"),
    "part-of-session": marked("part of session"),
    "secret": marked("secret"),
    "source-off": marked("source off"),
    "symlink": marked("symlink"),
    "too-large": marked("too large"),
    "unknown-format": marked("unknown format"),
    "unreadable": marked("unreadable"),
}


def files_left_out(issues: Iterable[FileIssue]) -> int:
    """Number of files, or of folders with everything in them: some entries represent all files of a kind."""
    return sum(files_told(issue.detail) for issue in issues)


def rule_words(rule: str) -> str:
    """`ignored-folder` -> ignored folder; another program's rule stays unchanged."""
    return tr(_WORDS[rule]) if rule in _WORDS else rule.replace("-", " ")
