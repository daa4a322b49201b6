"""Every note gets the title that its owner would call it by."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.corpus.document import describe


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# Plain\n\ntext", "Plain"),
        ("text first\n\n## Later ##\n", "Later"),
        ("---\ntitle: From the front\n---\n# Heading\n", "From the front"),
        ('---\nTitle: "Quoted: \\"yes\\"" # why\n---\n', 'Quoted: "yes"'),
        ("---\ntitle: 'It''s'\n---\n", "It's"),
        ("---\ntitle: Bare # comment\n---\n", "Bare"),
        ("---\ntitle: >\n  folded\n---\n# Heading", "Heading"),
        ("---\ntags: [a]\n---\n# Heading", "Heading"),
        ("---\ntags: [a]\n# not closed", "not closed"),
        ('+++\ntitle = "Toml"\n+++\n', "Toml"),
        ("+++\r\ntitle = 'Toml'\r\n+++\r\n", "Toml"),
        ("Underlined\n==========\n", "Underlined"),
        ("==========\nOverlined!\n==========\n", "Overlined!"),
        ("a paragraph\nof two lines\n---\n", "file"),
        ("- an item\n---\n", "file"),
        ("```\n# a comment\n```\n# Real", "Real"),
        ("~~~\n# a comment\n", "file"),
        ("#hashtag\n\n#\n\n# \n", "file"),
        ("# [Linked](http://x) and `code` *now* {#id}", "Linked and code now"),
        ("# [[Page|alias]] ![[img]]", "alias img"),
        ("# 日本語 😀\n", "日本語 😀"),
        ("", "file"),
    ],
)
def test_the_title_is_found(text: str, title: str) -> None:
    assert describe(text, "some/where/file.md").title == title


@pytest.mark.parametrize(
    ("name", "title"), [("a/2024-05-01.md", "2024-05-01"), ("v1.2 notes.md", "v1.2 notes"), (".md", ".md"), ("x", "x")]
)
def test_else_the_file_name_is_the_title(name: str, title: str) -> None:
    assert describe("no heading", name).title == title


@given(st.text(alphabet="#-=+~` \n\ratile:\"'[]()", max_size=200))
def test_any_text_has_a_title(text: str) -> None:
    title = describe(text, "n.md").title
    assert title
    assert "\n" not in title
