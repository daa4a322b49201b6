"""The title of a note, as its author would name it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.corpus.note_metadata import read_metadata


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# Plain\n\ntext", "Plain"),
        ("\ufeff\n\n# After a mark and blank lines #\r\n", "After a mark and blank lines"),
        ("text first\n\n# Later\n", "file"),
        ("## Questions and advice\n\n# Later\n", "file"),
        ("Section\n-------\n", "file"),
        ("<!-- for a tool -->\n<!--\nmore\n-->\n\n# Heading", "Heading"),
        ("<!-- never closed\n# Heading", "file"),
        ("    # code\n", "file"),
        ("> # quoted\n", "file"),
        ("# " + "no end " * 10_000, "file"),
        ("no end " * 10_000 + "\n===\n", "file"),
        ("---\ntitle: From the front\n---\n# Heading\n", "From the front"),
        ('---\nTitle: "Quoted: \\"yes\\"" # why\n---\n', 'Quoted: "yes"'),
        ("---\ntitle: 'It''s'\n---\n", "It's"),
        ("---\ntitle: Bare # comment\n---\n", "Bare"),
        ("---\ntitle: >-\n  folded\n  twice\n---\n# Heading", "folded twice"),
        ("---\ntitle: |\n\n  literal\n---\n", "literal"),
        ("---\ntitle:\n  on the next\n  line # why\n---\n", "on the next line"),
        ("---\ntitle: 'over two\n  lines'\nid: 1\n---\n", "over two lines"),
        ('---\ntitle: "\\u00fcber\\tall \\ud800"\n---\n', "über all"),
        ("---\ntitle: !!str &name Tagged\n---\n", "Tagged"),
        ("---\ntitle: [Draft] Plan\n---\n", "[Draft] Plan"),
        ("---\ntitle: '[[Page|alias]]'\n---\n", "alias"),
        ("---\ntitle: [[Page|alias]]\n---\n", "alias"),
        ("---\ntitle: 'unpaired\n---\n", "'unpaired"),
        ("---\ntitle: ~\n---\n# Heading", "Heading"),
        ("---\ntitle:\n---\n\n# Heading", "Heading"),
        ("---\ntitle: ''\nid: 1\n...\nText", "file"),
        ("---\ntitle:\n  en: nested\n---\n# Heading", "Heading"),
        ("\ufeff---\r\ntitle: Marked\r\n---\r\n", "Marked"),
        ("---\nsome prose: here\nand more prose\n---\n# Heading", "file"),
        ("---\n# only a comment\n---\n", "file"),
        ('+++\ntitle = """\nTwo\nlines"""\n+++\n', "Two lines"),
        ('+++\nabout = """\nTwo\nlines"""\ntitle = "Below"\n+++\n', "Below"),
        ('+++\n[extra]\ntitle = "In a table"\n+++\n', "In a table"),
        ("---\ntags: [a]\n---\n# Heading", "Heading"),
        ("---\ntags: [a]\n# not closed", "file"),
        ('+++\ntitle = "Toml"\n+++\n', "Toml"),
        ("+++\r\ntitle = 'Toml'\r\n+++\r\n", "Toml"),
        ("Underlined\n==========\n", "Underlined"),
        ("==========\nOverlined!\n==========\n", "Overlined!"),
        ("a paragraph\nof two lines\n---\n", "file"),
        ("- an item\n---\n", "file"),
        ("```\n# a comment\n```\n# Real", "file"),
        ("~~~\n# a comment\n", "file"),
        ("#hashtag\n\n#\n\n# \n", "file"),
        ("# [Linked](http://x) and `code` *now* {#id}", "Linked and code now"),
        ("# Harbour { #id }", "Harbour"),
        ("# Harbour {: #id .x }", "Harbour"),
        ("# Harbour {.x} #", "Harbour"),
        ('# Harbour {data-x="1" #id}', "Harbour"),
        ("# Harbour {-}", "Harbour"),
        ("# {Harbour} and {x}", "{Harbour} and {x}"),
        ("# Sum $E_{#a}$ of E_{#a}", "Sum $E_{#a}$ of E_{#a}"),
        ("# [[Page|alias]] ![[img]]", "alias img"),
        ("# 日本語 😀\n", "日本語 😀"),
        ("", "file"),
    ],
)
def test_title_is_read_from_front_matter_or_heading(text: str, title: str) -> None:
    assert read_metadata(text, "some/where/file.md").title == title


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("a/2024-05-01.md", "2024-05-01"),
        ("v1.2 notes.md", "v1.2 notes"),
        ("pages/Garden___Beds___Soil.md", "Garden/Beds/Soil"),
        (".md", ".md"),
        ("x", "x"),
        ("Notion/Harbour wall 0123456789abcdef0123456789abcdef.md", "Harbour wall"),
        ("bear/Harbour wall.textbundle/text.md", "Harbour wall"),
        ("joplin/0123456789abcdef0123456789abcdef.md", "no heading"),
    ],
)
def test_file_name_is_the_title_without_a_heading(name: str, title: str) -> None:
    assert read_metadata("no heading", name).title == title


@pytest.mark.parametrize(
    ("text", "title"),
    [("# Usage\n", "Garden/Beds"), ("type:: x\n\n# Usage\n", "Garden/Beds"), ("title:: Own\n", "Own")],
)
def test_page_in_a_namespace_is_not_named_by_heading(text: str, title: str) -> None:
    assert read_metadata(text, "pages/Garden___Beds.md").title == title


@given(st.text(alphabet="#-=+~` \n\ratile:\"'[]()", max_size=200))
def test_any_text_has_a_title(text: str) -> None:
    title = read_metadata(text, "n.md").title
    assert title
    assert "\n" not in title


@pytest.mark.parametrize(
    ("block", "aliases"),
    [
        ("aliases: [Kube, 'K, 8', \"k8s\"]", ("Kube", "K, 8", "k8s")),
        ("aliases:\n  - Kube\n  - 'It''s' # why\n  -\n  - ~", ("Kube", "It's")),
        ("aliases:\n- Kube\n- K8s", ("Kube", "K8s")),
        ("aliases: Kube, K8s", ("Kube", "K8s")),
        ("aliases: 'Kube, K8s'", ("Kube, K8s",)),
        ("alias: Kube", ("Kube",)),
        ("Aliases: [\n  Kube, # one\n  K8s\n]\nid: 2", ("Kube", "K8s")),
        ("aliases: [[Kube]]", ("Kube",)),
        ("aliases: [Kube, Kube]", ("Kube",)),
        ("aliases: []", ()),
        ("aliases: [Kube", ("[Kube",)),
        ("aliases:", ()),
        ("aliases: null", ()),
    ],
)
def test_describe_aliases_of_any_notation_are_read(block: str, aliases: tuple[str, ...]) -> None:
    assert read_metadata(f"---\nid: 1\n{block}\n---\n", "n.md").aliases == aliases


def test_prose_between_rules_is_not_front_matter() -> None:
    for text in ("---\nDear all,\n\nsee: below\n---\n", "---\n---text", "---\n\n", "----\na: 1\n----\n"):
        assert read_metadata(text, "n.md").front is None


_LINES = st.lists(
    st.sampled_from(
        [
            "title: ",
            "aliases:",
            "tags: [",
            "  - a",
            "- b",
            "]",
            "  c",
            "'",
            '"',
            "|",
            ">-",
            "# d",
            "[[e]]",
            "{f: g}",
            "",
        ]
    )
    | st.text(alphabet="ab:#-[]{}'\"\\|>&!*,~= \tü\r", max_size=12),
    max_size=12,
)


@given(st.sampled_from(["---", "+++"]), _LINES, st.text(max_size=20))
def test_front_matter_any_block_keeps_the_line_count(fence: str, inner: list[str], body: str) -> None:
    text = "\n".join([fence, *inner, fence, body])
    front = read_metadata(text, "n.md").front
    if front is not None:
        lines = front.searched_lines()
        assert len(lines) == front.length <= len(inner) + 2
        assert not any("\n" in line for line in lines)
        assert lines[0] == lines[-1] == ""


def test_front_matter_of_brackets_and_quotes_ends() -> None:
    for line in ("a: [", 'a: "', "a: '", "a: >", 'a = """', "a = [", "a: " + "[" * 60, "  - [", "&a *b"):
        for fence in ("---", "+++"):
            read_metadata("\n".join([fence, *[line] * 990, fence, "text"]), "n.md")


def test_page_property_without_a_value_is_empty() -> None:
    assert read_metadata("tags::\nicon::\nalias:: Glass house\n\ntext", "pages/a.md").aliases == ("Glass house",)


@pytest.mark.parametrize("text", ["std::fs::read returns Result\nstd::io is next\n\ntext", "Note::hello\ntext"])
def test_name_with_colons_is_not_a_page_property(text: str) -> None:
    assert read_metadata(text, "a.md").front is None
