"""Links between notes, written from the published help of Obsidian ("Internal links", "Aliases", "Embed files") and of
Logseq ("Properties", "Block reference", and the file names of its own documentation)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.corpus.link_parsing import (
    journal_names,
    link_distance,
    links_of,
    markup_links_of,
    names_of,
    without_links,
)
from engine.insight.note_links import anchored_lines


def found(text: str) -> list[tuple[str, str, str]]:
    return [(link.kind, link.target, link.anchor) for link in links_of(text)]


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("[[Three laws of motion]]", [("link", "Three laws of motion", "")]),
        ("[[Three laws of motion.md]]", [("link", "Three laws of motion.md", "")]),
        ("[Three laws](Three%20laws%20of%20motion.md)", [("link", "Three laws of motion.md", "")]),
        ("[[Projects/Three laws of motion]]", [("link", "Projects/Three laws of motion", "")]),
        ("[[About Obsidian#Links are first-class]]", [("link", "About Obsidian", "Links are first-class")]),
        ("[[Help#Questions#Report bugs]]", [("link", "Help", "Report bugs")]),
        ("[[2023-01-01#^37066d]]", [("link", "2023-01-01", "^37066d")]),
        ("[[Internal links|custom text]]", [("link", "Internal links", "")]),
        (
            "[[Go to|vault.topic.links#^a]] [[Node|node.js]]",
            [("link", "vault.topic.links", "^a"), ("link", "Node", "")],
        ),
        ("[[Bar|dendron://my.vault/bar#a]] [[dendron://v/b.c]]", [("link", "bar", "a"), ("link", "b.c", "")]),
        ("[[Wait|Condition.wait.all]]", [("link", "Wait", "")]),
        ("| a | [[Page\\|alias]] |", [("link", "Page", "")]),
        ("![[Internal links#^b15695]]", [("embed", "Internal links", "^b15695")]),
        ('[a](<with spaces.md> "title")', [("link", "with spaces.md", "")]),
        ("((60ab6f5b-4bdc-4ef0-a0f8-6cad9dcad2b2))", [("block", "60ab6f5b-4bdc-4ef0-a0f8-6cad9dcad2b2", "")]),
        ("{{embed ((60ab6f5b-4bdc-4ef0-a0f8-6cad9dcad2b2))}}", [("block", "60ab6f5b-4bdc-4ef0-a0f8-6cad9dcad2b2", "")]),
        ("tags:: #[[text editor]]", [("link", "text editor", "")]),
        ("![[Engelbart.jpg]] ![x](https://x.org/a.md) [y](mailto:a@b.c) [[#Here]] ![z](a.png)", []),
        ("`[[code]]`\n```\n[[fenced]]\n```\n- ```\n  [[fenced]]\n  ```\n", []),
        ("call((x)) f(([[a]]))", [("link", "a", "")]),
        ("[[]] [[ ]] [[a\nb]]", []),
        ("[x]([[Page B]]) [y]([[C]])", [("link", "Page B", ""), ("link", "C", "")]),
        ("[x](((60ab6f5b))) [y](z.md)", [("block", "60ab6f5b", ""), ("link", "z.md", "")]),
        ("[a](:/0123456789abcdef0123456789abcdef)", [("link", "0123456789abcdef0123456789abcdef", "")]),
        ("[[Board.canvas]] ![[Paper.PDF#page=3]]", [("link", "Board.canvas", ""), ("embed", "Paper.PDF", "page=3")]),
        ("[a](docs/Paper.pdf#page=12) [b](Log.odt)", [("link", "docs/Paper.pdf", "page=12"), ("link", "Log.odt", "")]),
        (
            "[[Plan.docx]] [[Book.epub|book]] [[Zoo.html#Pens]]",
            [("link", "Plan.docx", ""), ("link", "Book.epub", ""), ("link", "Zoo.html", "Pens")],
        ),
    ],
)
def test_links_have_their_target(text: str, links: list[tuple[str, str, str]]) -> None:
    assert found(text) == links


@pytest.mark.parametrize(
    ("line", "links"),
    [
        ("* see [[Page B]]", [("link", "Page B", "", "see Page B")]),
        ("** see [[Page B][the page]]. Next.", [("link", "Page B", "", "see the page.")]),
        ("[[file:sub/b.org::*Beds][B]] x", [("link", "sub/b.org", "Beds", "B x")]),
        ("[[./b.org]]", [("link", "./b.org", "", "./b.org")]),
        ("[[id:ABCD-1][c]] ((60ab6f5b))", [("block", "abcd-1", "", "c"), ("block", "60ab6f5b", "", "c")]),
        ("[[https://x.org][x]] [[*Here]] [[#id]] [[file:a.png]] [[mailto:a@b.c]]", []),
        ("[[]] [[a]", []),
        ("[[denote:20240501T123000][d]]", [("block", "20240501t123000", "", "d")]),
    ],
)
def test_org_links_have_their_target(line: str, links: list[tuple[str, str, str, str]]) -> None:
    assert [(link.kind, link.target, link.anchor, link.context) for link in markup_links_of(line, "a.org", ())] == links


def test_org_links_in_code_are_none() -> None:
    text = "#+begin_src sh\n[[a]]\n#+end_src\n[[b]]\n"
    assert [(link.line, link.target) for link in markup_links_of(text, "a.org", ((1, 3),))] == [(4, "b")]
    assert len(markup_links_of("[[a]] " * 500 + "\n" + "[[b]]\n" * 5_000, "a.org", ())) == 2_000


@pytest.mark.parametrize(
    ("name", "line", "links"),
    [
        ("a.adoc", "See xref:b.adoc#beds[the beds].", [("b.adoc", "beds", "See the beds.")]),
        ("a.adoc", "See xref:sub/b#beds[].", [("sub/b.adoc", "beds", "See beds.")]),
        ("a.asciidoc", "link:../my%20note.md[note^] x", [("../my note.md", "", "note x")]),
        ("a.adoc", "link:++my note.md++[a]", []),
        ("a.adoc", "xref:c::b.adoc[] <<c.adoc#,C>>", [("b.adoc", "", "b.adoc C"), ("c.adoc", "", "b.adoc C")]),
        ("a.adoc", "xref:1.0@part:module:b.adoc#x[]", [("module/pages/b.adoc", "x", "x")]),
        ("a.adoc", "<<beds>> xref:beds[] link:a.png[x] link:https://x.org/a.html[x] mailto:a@b.c[x]", []),
        ("a.rst", "See :doc:`../b`.", [("../b.rst", "", "See ../b.")]),
        ("a.rst", ":doc:`The beds </sub/b>` x", [("/sub/b.rst", "", "The beds x")]),
        (
            "a.rst",
            "The `beds <b.rst#rows>`_ and `notes <c.md>`__",
            [("b.rst", "rows", "The beds and notes"), ("c.md", "", "The beds and notes")],
        ),
        ("a.rst", "`b <https://x.org/a.html>`_ `b.rst` ``b <c.rst>`` :term:`b <c.rst>`", []),
        ("a.adoc", "+<<b.adoc>>+ `+xref:b.adoc[]+` ++xref:b.adoc[]++ \\xref:b.adoc[] \\<<b.adoc>>", []),
        ("a.adoc", "// xref:b.adoc[]", []),
        (
            "a.adoc",
            "C++ and +1+ and `xref:b.adoc[x]`, link:++c.adoc++[y]",
            [("b.adoc", "", "C++ and +1+ and `x`, y"), ("c.adoc", "", "C++ and +1+ and `x`, y")],
        ),
        ("a.rst", "``x <b.rst>`_`` :doc:`!b` :doc:`!x <b>`", []),
        ("a.rst", ".. see :doc:`b`", []),
        ("a.rst", ".. note:: ``a`` `x <b.rst>`_", [("b.rst", "", "note:: ``a`` x")]),
        ("a.docx", "[[b]] xref:b.adoc[]", []),
    ],
)
def test_links_in_other_markup_return_files(name: str, line: str, links: list[tuple[str, str, str]]) -> None:
    assert [(link.target, link.anchor, link.context) for link in markup_links_of(line, name, ())] == links


def test_org_ids_name_the_heading() -> None:
    text = ":PROPERTIES:\n:ID: aaaa-1\n:END:\n* One\n** Two\n:PROPERTIES:\n:id: BBBB-2\n:END:\n"
    blocks = {name.key: name.line for name in names_of("pages/c.org", "c", (), text) if name.kind == "block"}
    assert blocks == {"aaaa-1": 1, "bbbb-2": 5}


def test_links_context_is_the_sentence_around() -> None:
    [link] = links_of("Intro.\n\n- [ ] First one. Then [[Garden plan|the plan]] grew! Last.\n")
    assert (link.line, link.context) == (3, "Then the plan grew!")


def test_links_of_long_line_context_is_short() -> None:
    [link] = links_of("word " * 1_000 + "[[Here]]" + " word" * 1_000)
    assert "Here" in link.context
    assert len(link.context) <= 240


def test_links_are_at_most_two_thousand() -> None:
    assert len(links_of("[[a]] " * 500 + "\n" + "[[b]]\n" * 5_000)) == 2_000


@given(st.text(alphabet="[]|!#^()`\n ab.-:/%"))
def test_links_of_any_text_never_raise(text: str) -> None:
    for link in links_of(text):
        assert 1 <= link.line <= text.count("\n") + 1
    without_links(text)
    anchored_lines(text.split("\n"), "^a", "note.md")


@pytest.mark.parametrize(
    ("target", "from_note", "path", "rank"),
    [
        ("Note", "a/home.md", "Note.md", 1),
        ("note", "a/home.md", "a/NOTE.md", 2),
        ("Note", "a/home.md", "b/Note.md", 3),
        ("b/Note", "a/home.md", "vault/b/Note.md", 3),
        ("b/Note", "a/home.md", "c/Note.md", None),
        ("/Note", "a/home.md", "a/Note.md", 3),
        ("../Note", "a/home.md", "Note.md", 0),
        ("./Note", "a/home.md", "Note.md", None),
        ("Note.md", "a/home.md", "a/Note.md", 0),
        ("a/b", "home.md", "pages/a___b.md", 3),
        ("Überblick", "home.md", "überblick.md", 1),
    ],
)
def test_link_distance_of_path_ranks_as_obsidian(target: str, from_note: str, path: str, rank: int | None) -> None:
    assert link_distance(target, from_note, path) == rank


def test_names_of_note_are_file_aliases_and_blocks() -> None:
    text = "- item\n  text\n  id:: 6356E902-3b7b-4cb2-8c3e-6a904c813c40\n"
    names = names_of("pages/Community___Query Sprint.md", "Sprint", ("Doggo",), text)
    assert [(name.key, name.kind, name.line) for name in names] == [
        ("query sprint", "file", 1),
        ("sprint", "alias", 1),
        ("doggo", "alias", 1),
        ("6356e902-3b7b-4cb2-8c3e-6a904c813c40", "block", 1),
    ]


@pytest.mark.parametrize(
    ("path", "id_"),
    [
        ("zk/202405011230 Harbour wall.md", "202405011230"),
        ("20240501123000-harbour_wall.org", "20240501123000"),
        ("20240501T123000--harbour-wall__sea.org", "20240501t123000"),
    ],
)
def test_date_and_time_before_a_file_name_is_its_id(path: str, id_: str) -> None:
    assert id_ in [name.key for name in names_of(path, "Wall", (), "") if name.kind == "alias"]
    assert len(names_of("2024-05-01 Wall.md", "", (), "")) == 1


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("journals/2024_05_08.md", ("2024-05-08", "May 8th, 2024")),
        ("graph/journals/2024_01_22.md", ("2024-01-22", "Jan 22nd, 2024")),
        ("journals/2024_13_08.md", None),
        ("daily/2024_05_08.md", None),
        ("journals/ideas.md", None),
    ],
)
def test_journal_names_are_its_date(path: str, names: tuple[str, str] | None) -> None:
    assert journal_names(path) == names


NOTE = """# Top

Purple gem ^37066d

## Part of [[it]]
text
### Deeper
more

> quoted
> twice

^37066f

## Next
- one
- two
  more ^item
"""


@pytest.mark.parametrize(
    ("anchor", "lines"),
    [
        ("Part of it", (5, 14)),
        ("deeper", (7, 14)),
        ("^37066d", (3, 3)),
        ("^37066F", (10, 11)),
        ("^item", (17, 18)),
        ("Missing", None),
        ("^missing", None),
    ],
)
def test_anchored_lines_of_heading_or_block(anchor: str, lines: tuple[int, int] | None) -> None:
    assert anchored_lines(NOTE.split("\n")[:-1], anchor, "note.md") == lines


_FORMATS = {
    "a.md": """# A { .x #own }

<a id="spot"></a>
## B

Setext
------

## Same
one

## Same
two
""",
    "a.org": """#+title: T
* One
:PROPERTIES:
:CUSTOM_ID: own
:END:
text <<spot>> here

** [[x][Setext]]
* Three
""",
    "a.rst": """Title
=====

.. _own:
.. _spot:

========
B & more
========

.. _A para:

Text
more

``.. _no:``
""",
    "a.adoc": """= Doc

[[own]]
== B

[#spot.role]
.Titled
----
[[no]]
----

== Same

== Same

[id="x",role=y]
=== What's new?
""",
}


@pytest.mark.parametrize(
    ("name", "anchor", "lines"),
    [
        ("a.md", "own", (1, 13)),
        ("a.md", "spot", (4, 5)),
        ("a.md", "setext", (6, 8)),
        ("a.md", "same-1", (12, 13)),
        ("a.md", "same-2", None),
        ("a.org", "own", (2, 8)),
        ("a.org", "spot", (6, 6)),
        ("a.org", "Setext", (8, 8)),
        ("a.org", "three", (9, 9)),
        ("a.rst", "own", (7, 16)),
        ("a.rst", "SPOT", (7, 16)),
        ("a.rst", "b-more", (7, 16)),
        ("a.rst", "a para", (13, 14)),
        ("a.rst", "no", None),
        ("a.adoc", "own", (4, 11)),
        ("a.adoc", "spot", (8, 10)),
        ("a.adoc", "no", None),
        ("a.adoc", "_same", (12, 13)),
        ("a.adoc", "_same_2", (14, 17)),
        ("a.adoc", "x", (17, 17)),
        ("a.adoc", "_whats_new", (17, 17)),
    ],
)
def test_anchored_lines_in_each_format(name: str, anchor: str, lines: tuple[int, int] | None) -> None:
    assert anchored_lines(_FORMATS[name].removesuffix("\n").split("\n"), anchor, name) == lines


def test_anchored_lines_of_heading_without_letters() -> None:
    assert anchored_lines(["# !!", "a", "# 🎉", "b"], "🎉", "note.md") == (3, 4)


@given(st.text(), st.text(min_size=1), st.sampled_from(sorted(_FORMATS)))
def test_anchored_lines_of_any_text_are_in_it(text: str, anchor: str, name: str) -> None:
    lines = f"{_FORMATS[name]}{text}".split("\n")
    first, last = anchored_lines(lines, anchor, name) or (1, 1)
    assert 1 <= first <= last <= len(lines)


def test_labels_of_restructured_text_are_names() -> None:
    found = names_of("docs/a.rst", "Title", (), _FORMATS["a.rst"])
    assert {(name.key, name.line) for name in found if name.kind == "block"} == {
        ("ref=own", 7),
        ("ref=spot", 7),
        ("ref=a para", 13),
    }
    links = markup_links_of("See :ref:`Own` and :std:numref:`words <A  para>`, not :ref:`!own`.", "a.rst", ())
    assert [(link.target, link.context) for link in links] == [
        ("ref=own", "See Own and words, not :ref:`!own`."),
        ("ref=a para", "See Own and words, not :ref:`!own`."),
    ]


def test_links_after_quoted_code_and_to_no_web_page() -> None:
    text = "> ```\n> x\n> ```\n\n[[Note]] [[https://example.org/page]]"
    assert [link.target for link in links_of(text)] == ["Note"]


@pytest.mark.parametrize(
    ("line", "count"),
    [("[[a" + "`" * 5000 + "a" * 9_000 + "]] [[b]]", 1), ("[[a]]" * 3200, 2000)],
)
def test_line_with_many_links_or_back_ticks_is_read(line: str, count: int) -> None:
    assert len(links_of(line)) == count
