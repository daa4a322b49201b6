"""Notes in CommonMark, MDX, Obsidian's and Logseq's Markdown, with the constructs that their specifications name.

CommonMark 0.31.2 (spec.commonmark.org), MDX 3 (mdxjs.com/docs/what-is-mdx), the help pages of Obsidian ("Properties",
"Tags", "Callouts", "Internal links", "Basic formatting syntax") and of Logseq ("Properties", "Tags", "Code block").
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.corpus.chunk_boundaries import markdown_outline
from engine.corpus.chunking import chunk_note
from engine.corpus.link_parsing import links_of
from engine.corpus.note_metadata import read_metadata, tags_of
from engine.insight.note_links import anchored_lines

COMMONMARK = """\
<!-- A remark
# above the title -->

Glass *house* [manual](a.md)
   ===

- ```sh
  # close the valve
  ```
1. ~~~
   # open it
   ~~~

  ## Panes `a_b` &amp; \\#1 ##

<pre>
# raw
</pre>

<!--
# remark
-->

    # indented code
Frost
-

> # quoted
> ```
> # code
> ```

* # in an item

#no heading
####### seven

````md
```
# nested
````

### <a id="x"></a>__Beds__ and [soil][1] <https://example.org>

[1]: soil%20(wet).md 'Soil'
[web]: https://example.org
"""
MDX = """\
import Plan from './plan.mdx'
import {
  Bed,
} from './beds.mdx'

export const year = 2026

{/* # a remark */}
{/*
# another
*/}

# Glass house {/* aside */}

<Plan>

## Beds {#beds}

</Plan>

```jsx
# code
```
"""
OBSIDIAN = """\
---
{
  "aliases": ["Conservatory"],
  "tags": ["garden", "under glass"],
  "created": "2024-05-01"
}
---
%%
# hidden
#hidden
%%
# Glass ==house== [^1] ^top

> [!question]- Which panes?
> > [!todo] # None
> > #callout

Water #garden/beds #🌱 #हिन्दी #y1984 #1984, see [[Beds#Soil|the beds]], ![[Plan.canvas]] and [[#Panes]]. ^water

- [/] half done #task
  ```js
  # code #no [[no]]
  ```

## Panes $a_1$ %% aside %%
"""
LOGSEQ = """\
title:: Glass house
tags:: garden, [[under glass]]
alias:: Conservatory

- ## Beds
  id:: 6356e902-3b7b-4cb2-8c3e-6a904c813c40
\t- TODO Water them #[[every day]] #daily ((6356e902-3b7b-4cb2-8c3e-6a904c813c40))
\t- ```calc
\t  # litres #no
\t  12 * 4
\t  ```
\t- after [[Panes]]
"""


def headings(text: str) -> list[tuple[int, str]]:
    return [(heading.level, heading.title) for heading in markdown_outline(text)[0]]


def test_commonmark_follows_its_specification() -> None:
    assert read_metadata(COMMONMARK, "a.md").title == "Glass house manual"
    assert headings(COMMONMARK) == [
        (1, "Glass house manual"),
        (2, "Panes a_b & #1"),
        (2, "Frost"),
        (3, "Beds and soil https://example.org"),
    ]
    lines = COMMONMARK.split("\n")
    found, code, _ = markdown_outline(COMMONMARK)
    assert [lines[heading.line - 1].strip()[:5] for heading in found] == ["Glass", "## Pa", "Frost", "### <"]
    assert [lines[heading.last - 1].strip()[:3] for heading in found] == ["===", "## ", "-", "###"]
    assert [(lines[first - 1].strip(), lines[last - 1].strip()) for first, last in code] == [
        ("- ```sh", "```"),
        ("1. ~~~", "~~~"),
        ("````md", "````"),
    ]
    assert [(link.line, link.target) for link in links_of(COMMONMARK)] == [
        (4, "a.md"),
        (len(lines) - 2, "soil (wet).md"),
    ]


@given(st.text(alphabet="aB 1.:;,-!?/()'\"+|$@é😀", max_size=30))
def test_title_without_markup_stays_as_written(title: str) -> None:
    words = " ".join(title.split())
    assert headings(f"# {title}") == headings(f"# {title} <br>") == ([(1, words)] if words else [])


def test_mdx_follows_its_specification() -> None:
    assert read_metadata(MDX, "a.mdx").title == "Glass house"
    assert headings(MDX) == [(1, "Glass house"), (2, "Beds")]


def test_obsidian_follows_its_help() -> None:
    about = read_metadata(OBSIDIAN, "a.md")
    assert (about.title, about.aliases) == ("Glass house", ("Conservatory",))
    assert about.dates == (1714521600,)
    assert headings(OBSIDIAN) == [(1, "Glass house"), (2, "Panes $a_1$")]
    tags = {"garden", "under glass", "garden/beds", "🌱", "y1984", "task", "callout"}
    assert tags < set(tags_of(OBSIDIAN, about))
    assert "हिंदी" in tags_of(OBSIDIAN, about)  # folded
    assert not {"no", "1984", "ह"} & set(tags_of(OBSIDIAN, about))
    assert [(link.kind, link.target, link.anchor) for link in links_of(OBSIDIAN)] == [
        ("link", "Beds", "Soil"),
        ("embed", "Plan.canvas", ""),
    ]


def test_logseq_follows_its_help() -> None:
    about = read_metadata(LOGSEQ, "pages/a.md")
    assert (about.title, about.aliases) == ("Glass house", ("Conservatory",))
    assert tags_of(LOGSEQ, about) == ("daily", "every day", "garden", "under glass")
    assert headings(LOGSEQ) == []
    assert [(link.kind, link.target) for link in links_of(LOGSEQ)] == [
        ("link", "under glass"),
        ("link", "every day"),
        ("block", "6356e902-3b7b-4cb2-8c3e-6a904c813c40"),
        ("link", "Panes"),
    ]


@pytest.mark.parametrize(("name", "text"), [("a.md", COMMONMARK), ("a.mdx", MDX), ("a.md", OBSIDIAN), ("a.md", LOGSEQ)])
def test_passages_are_exact_lines_below_their_headings(name: str, text: str) -> None:
    about = read_metadata(text, name)
    lines = text.split("\n")
    chunks = chunk_note(text, about, tokens=8, overlap=0)
    front = about.front.length if about.front else 0
    for chunk in chunks:
        for number, line in enumerate(chunk.text.split("\n"), chunk.start_line):
            assert number <= front or line in ("", lines[number - 1]) or line in lines[number - 1]
    titles = {title for _, title in headings(text)}
    assert {title for chunk in chunks for title in chunk.heading} <= titles


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("_soil_ and __beds__", "soil and beds"),
        ("snake_case and __init", "snake_case and __init"),
        ("`__init__` and `a``b`", "__init__ and a``b"),
        ("\\*plain\\* \\[x\\](y)", "*plain* [x](y)"),
        ("a == b", "a == b"),
        ("List<T> <b>bold</b> <kbd>Ctrl</kbd>", "List<T> bold Ctrl"),
        ("C# and F#", "C# and F#"),
        ("![plan](plan(1).png) below", "plan below"),
        ("2 * 3 * 4", "2 * 3 * 4"),
        ("Beds {.wide #beds}", "Beds"),
        ("Beds [^note] ^id-1", "Beds"),
        ("&lt;T&gt; &copy;", "<T> ©"),
    ],
)
def test_heading_is_read_without_its_markup(text: str, title: str) -> None:
    assert headings(f"# {text}\n") == [(1, title)]


@pytest.mark.parametrize("marks", ["<!--", "{/*", "<script>", "```"])
def test_unclosed_block_has_no_headings(marks: str) -> None:
    assert headings(f"# Before\n\n{marks}\n# Inside\n") == [(1, "Before")]


ITEMS = """\
- ```sh
  # one

{less}
- [[Panes]] #beds
  ## Soil
# After
"""


@pytest.mark.parametrize("less", ["", "text", " ## Nested", "- next", "- ```\n  # two\n  ```", "```"])
def test_code_in_list_item_ends_with_the_item(less: str) -> None:
    text = ITEMS.format(less=less)
    assert [title for _, title in headings(text) if title != "Nested"] == ["Soil", "After"]
    assert tags_of(text, None) == ("beds",)
    assert [link.target for link in links_of(text)] == ["Panes"]
    quoted = "".join(f"> {line}\n" for line in text.split("\n"))
    assert [link.target for link in links_of(quoted)] == ["Panes"]
    assert anchored_lines(text.split("\n"), "After", "note.md") is not None


def test_code_in_nested_items_contains_indented_lines() -> None:
    text = "1. - ```\n     # a\n       # b\n   # C\n\n-\t~~~\n\t# d\n\t\t# e\n# F\n"
    assert headings(text) == [(1, "C"), (1, "F")]


def test_comment_without_end_is_one_line() -> None:
    text = "# A\n\n%% aside\n# hidden\n%%\n\n# B\n\n%% todo\n\n# C\n"
    assert headings(text) == [(1, "A"), (1, "B"), (1, "C")]
    assert anchored_lines(text.split("\n"), "C", "note.md") is not None


def test_json_value_other_than_object_between_rules_is_text() -> None:
    for inner in ("[1]", "{", '{"a": ' * 9_000, '{"a"}'):
        assert read_metadata(f"---\n{inner}\n---\n", "a.md").front is None
    assert read_metadata('---\n{"title": "a\\ud800"}\n---\n', "a.md").title == "a?"
