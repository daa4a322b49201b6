"""Reasons for excluded files: stored in English, shown in the language of the window."""

from collections.abc import Iterator

import pytest

from engine.base import language, skip_reasons
from engine.base.skip_reasons import tr_reason
from tests.helpers.catalogue import translated


@pytest.fixture(autouse=True)
def english_again() -> Iterator[None]:
    yield
    language.set_language("en")


def test_stored_reason_english_and_unchanged() -> None:
    language.set_language("en-XA")
    stored = skip_reasons.TOO_LARGE.message(size=12_480, limit=1000)
    assert stored == "12,480 bytes; files of more than 1,000 bytes (max_file_bytes) are left out."
    language.set_language("en")
    assert tr_reason(stored) == stored


@pytest.mark.parametrize(
    ("stored", "expected"),
    [
        (skip_reasons.LINK.message(), language.marked("Links are not followed.")),
        (skip_reasons.EXCLUDED.message(pattern="a {b} (c) *.md"), 'Excluded by the pattern "a {b} (c) *.md".'),
        (skip_reasons.OTHER_EXTENSIONS.message(count=1, extensions=".md"), "1 file; only .md files are indexed."),
        (
            skip_reasons.OTHER_EXTENSIONS.message(count=2000, extensions=".md"),
            "2,000 files; only .md files are indexed.",
        ),
    ],
)
def test_stored_reason_translated_with_fields(stored: str, expected: str) -> None:
    assert stored == expected
    with translated("<{}>".format):
        assert tr_reason(stored) == f"<{expected}>".replace("2,000", "2.000")


def test_numbers_localized_and_nested_problem_translated() -> None:
    problem = skip_reasons.LARGE_EXPORT.message(limit=1_000_000)
    with translated("<{}>".format):
        assert tr_reason(skip_reasons.BROKEN_SESSIONS.message(count=1200, problem=problem)) == (
            "<1.200 sessions of this file can't be read: <The export is too large: it has more than 1.000.000 bytes.>>"
        )


def test_unknown_reason_unchanged() -> None:
    language.set_language("en-XA")
    assert tr_reason("A sentence of another program.") == "A sentence of another program."
    assert tr_reason("") == ""


def test_reason_counts_one_or_all_files() -> None:
    assert (
        skip_reasons.files_covered(skip_reasons.OTHER_EXTENSIONS.message(count=12_480, extensions=".md, .txt"))
        == 12_480
    )
    assert skip_reasons.files_covered(skip_reasons.OTHER_EXTENSIONS.message(count=1, extensions=".md")) == 1
    assert skip_reasons.files_covered(skip_reasons.ARCHIVES.message(count=7)) == 7
    assert skip_reasons.files_covered(skip_reasons.MORE_OF_A_RULE.message(number=20)) == 20
    assert skip_reasons.files_covered(skip_reasons.TOO_LARGE.message(size=12_480, limit=1000)) == 1
    assert skip_reasons.files_covered(skip_reasons.LINK.message()) == skip_reasons.files_covered("") == 1
