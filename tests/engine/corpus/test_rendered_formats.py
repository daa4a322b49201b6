"""Notes in Org, reStructuredText and AsciiDoc as Markdown."""

import re
import textwrap
import time
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.base.cancellation import CancelToken
from engine.corpus.chunk_boundaries import markdown_outline
from engine.corpus.markdown_writer import MAX_NESTED, Inline, MarkdownWriter
from engine.corpus.note_metadata import markdown_of, structure_of

FORMATS = ("org", "rst", "adoc")


def written(text: str, ending: str) -> str:
    lines = markdown_of(text, f"notes/harbour.{ending}")
    assert lines is not None
    return "\n".join(lines).strip()


_ORG_LINKS = "[b](<#B>) [c](<#B>) [U](<U>) [W](<W>)\n\n# B\n\n# [U](<U>)"
_ORG_ID = "[no](<#no>) [i](<#B>)\n\n# B\n\n\\[1/2\\]"
_ORG_LIST = "- a\n\n| 1 |\n|---|\n\n- b\n\n```\nc\n```\n\n- d\n\n  | 2 |\n  |---|"
_ORG_LOG = "# A\n\n*DEADLINE: \\<2026-01-02\\>*\n\nb"
_ORG_BLOCKS = "- a\n\n```\nb\n```\n\n- c\n\n> d"


@pytest.mark.parametrize("name", ["a.md", "a.txt", "a.pdf", "org"])
def test_other_formats_have_no_conversion(name: str) -> None:
    assert markdown_of("* text", name) is None


@pytest.mark.parametrize(
    ("ending", "text", "expected"),
    [
        ("org", "*b* /i/ _u_ +s+ =c*= ~v~", "**b** *i* _u_ ~~s~~ `c*` `v`"),
        ("org", "*b /i/ b* a*b*c 2 * 3 * 4", "**b *i* b** a\\*b\\*c 2 \\* 3 \\* 4"),
        ("org", "#no $ [x](y) <b> %%c%% ^a", "\\#no \\$ \\[x\\]\\(y) \\<b\\> \\%\\%c\\%\\% \\^a"),
        ("org", "so $a_1 +\nb$, not $5 or $6", "so `$a_1 + b$`, not \\$5 or \\$6"),
        (
            "org",
            "a\n\\begin{align}\nx_1 \\\\\n\n\\end{align}\nb",
            "a\n\n```latex\n\\begin{align}\nx_1 \\\\\n\n\\end{align}\n```\n\nb",
        ),
        ("org", "\\begin{a}\n* H\n\\end{a}", "\\\\begin\\{a\\}\n\n# H\n\n\\\\end\\{a\\}"),
        ("org", "[[https://x.org/a b][the *wall*]]", "[the **wall**](<https://x.org/a%20b>)"),
        ("org", "[[id:ABCD-1][a]] [[file:./b.org::*C][d]] [[#e][f]]", "[a](<abcd-1>) [d](<b.org#C>) [f](<#e>)"),
        ("org", "[[file:a.png]] [[doi:10/x][paper]]", "![a.png](<a.png>) paper"),
        ("org", "a[fn:1] b[fn::inline]\n\n[fn:1] text", "a[^1] b^[inline]\n\n[^1]: text"),
        ("org", "1. a\n  - b\n2. c", "1. a\n   - b\n2. c"),
        ("org", "- [ ] a\n- [X] b\n- [-] c\n- t :: d", "- [ ] a\n- [x] b\n- [/] c\n- **t**: d"),
        ("org", "| a | =x\\vert= |\n|---+---|\n| 1 | 2 |", "| a | `x\\vert` |\n|---|---|\n| 1 | 2 |"),
        ("org", "#+begin_src sh :tangle x\n  ls\n    -l\n#+end_src", "```sh\nls\n  -l\n```"),
        ("org", "#+begin_warning\nhot\n#+end_warning\n", "> [!warning]\n>\n> hot"),
        ("org", "E. coli\n\nb) c", "E. coli\n\nb) c"),
        ("org", "#+begin_quote\n- a\n#+end_quote\nb", "> - a\n\nb"),
        ("org", "#+begin_comment\nhidden\n#+end_comment\n# hidden\n\na", "a"),
        ("org", "#+title: A *b*\n:PROPERTIES:\n:ID: x\n:END:", "# A b"),
        ("org", "[[b]] [[T][c]] [[U]] [[W]]\n* B <<t>>\n* [[U]]", _ORG_LINKS),
        ("org", "[[#no]] [[#i]]\n* B [1/2]\n:PROPERTIES:\n:CUSTOM_ID: i\n:END:", _ORG_ID),
        ("org", "- a\n| 1 |\n- b\n: c\n- d\n  | 2 |", _ORG_LIST),
        ("org", "* A\nDEADLINE: <2026-01-02>\n:LOGBOOK:\n- a\n:END:\nCLOCK: [2026-01-02]\nb", _ORG_LOG),
        ("org", "#+begin_example\n,* a\n ,#+b\n,,* c\n, d\n#+end_example", "```\n* a\n #+b\n,* c\n, d\n```"),
        ("org", "Press {{{kbd(TAB)}}} and ={{{kbd(x)}}}=", "Press TAB and `{{{kbd(x)}}}`"),
        ("org", "- a\n#+begin_src\nb\n#+end_src\n- c\n#+begin_quote\nd\n#+end_quote", _ORG_BLOCKS),
        ("org", ":LOGBOOK:\na\n* B\n:END:", "a\n\n# B"),
        ("rst", "**b** *i* ``c*`` :math:`x` 2 * 3 \\*no\\*", "**b** *i* `c*` `x` 2 \\* 3 \\*no\\*"),
        ("rst", "`t <https://x.org>`_ n_ `p q`_\n\n.. _n: u\n.. _p q: v", "[t](<https://x.org>) [n](<u>) [p q](<v>)"),
        ("rst", ".. _l:\n\nHead\n====\n:ref:`l` :doc:`../a`", "# Head\n\n[Head](<#Head>) [../a](<../a.rst>)"),
        ("rst", "a [1]_\n\n.. [1] note\n   more", "a[^1]\n\n[^1]: note more"),
        ("rst", "|v| |no|\n\n.. |v| replace:: 3.11", "3.11 \\|no\\|"),
        ("rst", "- a\n\n  - b\n\n1) c\n2) d", "- a\n\n  - b\n\n1. c\n2. d"),
        ("rst", "term : kind\n   Text", "- **term** *kind*\n\n  Text"),
        ("rst", "a::\n\n   code\n     more", "a:\n\n```\ncode\n  more\n```"),
        ("rst", ".. code-block:: python\n   :linenos:\n\n   x", "```python\nx\n```"),
        ("rst", ".. note:: hot\n   iron", "> [!note]\n>\n> hot\n> iron"),
        ("rst", ".. image:: a.png\n   :alt: b", "![b](<a.png>)"),
        ("rst", "+--+--+\n|a |b |\n+==+==+\n|1 |2 |\n|3 |  |\n+--+--+", "| a | b |\n|---|---|\n| 1 3 | 2 |"),
        ("rst", "== ==\na  b\n== ==\n1  2\n   3\n== ==", "| a | b |\n|---|---|\n| 1 | 2 3 |"),
        ("rst", ".. list-table::\n\n   * - a\n     - b\n   * - 1\n     - 2", "| a | b |\n|---|---|\n| 1 | 2 |"),
        ("rst", '.. csv-table::\n   :header: a, b\n\n   1, "2, 3"', "| a | b |\n|---|---|\n| 1 | 2, 3 |"),
        ("rst", ".. hidden\n   text\n\na", "a"),
        ("rst", "..\n\n   shown", "> shown"),
        ("rst", ".. class:: A(x)\n\n   b\n\n   .. method:: c()\n\n      d", "- `A(x)`\n\n  b\n\n  - `c()`\n\n    d"),
        ("rst", ".. class:: special\n\na", "a"),
        ("rst", ".. module:: m\n\n   *a*", "*a*"),
        ("rst", ".. epigraph::\n   *a*", "> *a*"),
        ("rst", ".. image:: a.png\n   :alt: b\n      c\n   :width: 3px", "![b c|3](<a.png>)"),
        ("rst", ".. image:: a.png\n   :width: 50%", "![a.png](<a.png>)"),
        ("rst", "H\\ :sub:`2`\\ O *a*\\ s :math:`\\pi` :file:`C:\\\\t`", "H2O *a*s `\\pi` `C:\\t`"),
        ("rst", "A. Einstein was here.\n\n(iv) x\n\n- y", "A. Einstein was here.\n\n\\(iv) x\n\n- y"),
        ("rst", "4. a\n5. b\nC. c\niv. d", "4. a\n5. b\n\nC. c\n\niv. d"),
        ("rst", "10. a\n\n   b", "10. a\n\n    b"),
        ("rst", "+------+---+\n| 水道 | b |\n+------+---+\nc", "| 水道 | b |\n|---|---|\n\nc"),
        ("rst", "+-----+\n|a    |\n+--+--+\n|1 |2 |\n+--+--+", "| a |  |\n|---|---|\n| 1 | 2 |"),
        ("rst", "+--+--+\n|a wide|\n+--+--+", "```\n+--+--+\n|a wide|\n+--+--+\n```"),
        ("rst", "==== ==\n水道 b\n==== ==", "| 水道 | b |\n|---|---|"),
        ("rst", "== ==\nlong b\n== ==", "```\n== ==\nlong b\n== ==\n```"),
        ("rst", "== == ==\n both c\n----- --\n1  2  3\n== == ==", "| both |  | c |\n|---|---|---|\n| 1 | 2 | 3 |"),
        ("rst", "== ==\na  b", "```\n== ==\na  b\n```"),
        ("rst", ".. csv-table::\n   :delim: space\n\n   a, b", "| a, | b |\n|---|---|"),
        ("rst", ".. csv-table::\n   :delim: ab\n\n   a b", "```\na b\n```"),
        ("rst", ".. list-table::\n\n   *   - a\n       -\n   * - b\n     - c", "| a |  |\n|---|---|\n| b | c |"),
        ("rst", ".. list-table::\n\n   * - | a,\n       | b\n     - c", "| a, b | c |\n|---|---|"),
        ("adoc", "\\https://x.org/a_b or \\me@x.org", "https://x.org/a\\_b or me@x.org"),
        (
            "rst",
            ".. list-table::\n\n   * - .. code-block:: py\n\n          >>> *a*\n     - b",
            "| `>>> *a*` | b |\n|---|---|",
        ),
        ("rst", ".. list-table::\n\n   a *b*", "```\na *b*\n```"),
        ("rst", "-a, --all  x\n           y\n-b F       z", "- `-a, --all`: x y\n\n- `-b F`: z"),
        ("adoc", "*b* _i_ `c*` #m# **u**n 2 * 3", "**b** *i* `c*` ==m== **u**n 2 \\* 3"),
        ("adoc", "https://x.org[a *b*] xref:o.adoc#s[t]", "[a **b**](<https://x.org>) [t](<o.adoc#s>)"),
        ("adoc", "<<i>>\n\n[[i]]\n== Head", "[Head](<#Head>)\n\n## Head"),
        ("adoc", "== Head\n<<i,here>>\n\n[[i]]\ntext", "## Head\n\n[here](<#Head>)\n\ntext"),
        ("adoc", ":v: 3\n\n{v} {no} a footnote:[b]", "3 \\{no\\} a ^[b]"),
        ("adoc", "* a\n** b\n* c\n+\nd\n\ne", "- a\n  - b\n- c\n\n  d\n\ne"),
        ("adoc", ". a\n.. b\n\nt:: d", "1. a\n   1. b\n      - **t**\n\n        d"),
        ("adoc", "* [x] a\n* [ ] b", "- [x] a\n- [ ] b"),
        ("adoc", "[source,sh]\n----\nls\n----", "```sh\nls\n```"),
        ("adoc", "a{apos}s {two-colons} {deg}{zwsp}C", "a's :: \u00b0C"),
        ("adoc", "{url-x}/a[*b* c], {d}", "**b** c, \\{d\\}"),
        ("adoc", "xref:b.adoc#_part[] xref:m:b.adoc[]", "[part](<b.adoc#_part>) [b.adoc](<m/pages/b.adoc>)"),
        ("rst", "``:func:`spam``` and ````a```` and ``b``", "`` :func:`spam` `` and ``` ``a`` ``` and `b`"),
        ("adoc", "NOTE: hot", "> [!note]\n>\n> hot"),
        ("adoc", "[TIP]\n====\n* a\n====\nb", "> [!tip]\n>\n> - a\n\nb"),
        ("adoc", "[cols=2*]\n|===\n|a\n|b\n2+|c\n|===", "| a | b |\n|---|---|\n| c |  |"),
        ("adoc", ",===\na,b\n1,2\n,===", "| a | b |\n|---|---|\n| 1 | 2 |"),
        ("adoc", "[cols=2*]\n|===\na\n|b \\| c\n|===", "| a | b \\| c |\n|---|---|"),
        ("adoc", "image::a.png[b,20]", "![b|20](<a.png>)"),
        ("adoc", "x image:a.png[b, width=30] image:c.png[]", "x ![b|30](<a.png>) ![c.png](<c.png>)"),
        ("adoc", 'image::a.png[alt="b, c",width=30]', "![b, c|30](<a.png>)"),
        ("adoc", 'x image:a.png["b, c",30] a menu:see [b]', "x ![b, c|30](<a.png>) a menu:see \\[b\\]"),
        ("adoc", 'image::a.png[width=30,alt="b, c"]', "![b, c|30](<a.png>)"),
        ("adoc", 'x image:a.png["b, c",30] image:c.png[width=9]', "x ![b, c|30](<a.png>) ![c.png|9](<c.png>)"),
        ("adoc", "menu:File[Save > As] menu:View[]", "`File > Save > As` `View`"),
        ("adoc", "a b :: c", "- **a b**\n\n  c"),
        ("adoc", "[verse, A, B]\nc", "> **A, B**\n>\n> c"),
        ("adoc", "[start=4]\n. a\n. b", "4. a\n1. b"),
        ("adoc", "7. a\n8. b", "7. a\n8. b"),
        ("adoc", "mailto:a@b.c[m]", "[m](<mailto:a@b.c>)"),
        ("adoc", "(((a, b)))(((c (d))))\nText ((e f)).indexterm:[g] h", "Text e f. h"),
        ("adoc", "indexterm2:[a _b_] `(((c)))`\n\n(((d)))\n\ne", "a *b* `(((c)))`\n\n\ne"),
        ("adoc", "a\n[source,sh]\n----\nls\n----\nb\n[see c\nd]", "a\n\n```sh\nls\n```\n\nb\n\\[see c\nd\\]"),
        ("adoc", "// hidden\n////\nhidden\n////\na", "a"),
    ],
)
def test_markup_becomes_markdown(ending: str, text: str, expected: str) -> None:
    assert written(text, ending) == expected


def test_heading_shows_state_and_tags_below() -> None:
    text = "#+todo: NEXT | DONE\n* NEXT [#A] Call *Bob* :work:\ntext"
    assert written(text, "org") == "# Call **Bob**\n\n**NEXT \\[\\#A\\]** #work\n\ntext"


_LINES = st.text(alphabet="ab *-+.:=_`|#[]{}<>()~^/\\\t1\n", max_size=200)
_BLOCKS = st.lists(
    st.sampled_from(
        "* a|** b|- c|  - d|1. e|#+begin_quote|#+end_quote|#+begin_src x|#+end_src|:PROPERTIES:|:END:|Head\n====|"
        "Sub\n---|.. note::|   text|a::|== Title|=== Sub|====|----|____|[source,x]|[quote]|+|term:: x|.Title|\n|"
        "\\|===|\\|a \\|b|\\| a \\| b \\||+--+--+|== ==|text".replace("\\|", "\0").split("|")
    ).map(lambda line: line.replace("\0", "|")),
    max_size=25,
).map("\n".join)


@pytest.mark.parametrize("ending", FORMATS)
@given(text=_LINES | _BLOCKS)
def test_page_has_the_headings_of_the_source(ending: str, text: str) -> None:
    structure = structure_of(text, f"a.{ending}")
    assert structure is not None
    page, _, _ = markdown_outline(f"\n{written(text, ending)}\n", CancelToken().checkpoint)
    assert [heading.level for heading in page] == [heading.level for heading in structure.headings]


@given(st.text())
def test_literal_text_has_no_tokens_and_no_markup(text: str) -> None:
    assert not re.search(r"(?<!\\)(?:\\\\)*[*`#\[<]", Inline(text).done())


def test_nesting_is_limited() -> None:
    out = MarkdownWriter()
    for _ in range(100):
        out.open("> ", "> ")
    out.line("text")
    assert out.take_lines() == ["> " * 10 + "text"]


@pytest.mark.parametrize("ending", FORMATS)
def test_deep_nesting_is_converted(ending: str) -> None:
    deep = "\n\n".join(f"{' ' * level}- a{level}" for level in range(0, 600, 2))
    page = written(deep, ending)
    assert re.findall(r"a\d+", page) == [f"a{level}" for level in range(0, 600, 2)]
    depth = 1 if ending == "adoc" else MAX_NESTED
    assert re.findall(r"(?m)^((?:  )*)- a", page)[:depth] == ["  " * level for level in range(depth)]


@pytest.mark.parametrize(
    ("ending", "text"),
    [("rst", '.. csv-table::\n\n   "'), ("adoc", ',===\n"')],
)
def test_cell_that_is_too_long_is_shown_as_code(ending: str, text: str) -> None:
    cell = "a" * 140_000
    assert written(f"{text}{cell}\n{',===' if ending == 'adoc' else ''}", ending) == f'```\n"{cell}\n```'


@pytest.mark.parametrize(
    ("ending", "text"),
    [
        ("rst", "a\n b\n"),
        ("rst", "- a\n"),
        ("rst", "A. a\n"),
        ("rst", "== ==\na\n\n"),
        ("rst", ".. note::\n"),
        ("org", "#+begin_quote\n"),
        ("org", "#+begin_quote\n#+end_note\n"),
    ],
)
def test_time_grows_with_the_length(ending: str, text: str) -> None:
    def spent(times: int) -> float:
        start = time.process_time()
        written(text * times, ending)
        return time.process_time() - start

    spent(10)
    assert min(spent(3_000) for _ in range(3)) < 15 * max(0.01, min(spent(500) for _ in range(3)))


_VOCABULARY = ["kettle", "Brühe", "水道", "A.", "iv.", "E.", "half-open", "3.5%", "C#", "(b)", "D)"]
_INDENTED = [
    f".. {start}\n\n"
    for start in "class:: X|module:: m|note::|function:: f()|epigraph::|index:: y|figure:: a.png|z:: y".split("|")
]
_AROUND = {
    "org": [f"#+begin_{name}\n%s\n#+end_{name}" for name in ("quote", "note", "verse", "center")],
    "adoc": ["====\n%s\n====", "[NOTE]\n====\n%s\n====", "[quote, X]\n____\n%s\n____", "****\n%s\n****"],
}
_KINDS = {
    "org": "%s|- %s\n- %s|1. %s\n   - %s|- %s :: %s|: %s|* %s|\0 %s \0 %s \0|#+begin_src x\n%s\n#+end_src|[fn:1] %s"
    "|#+caption: %s",
    "rst": "%s|- %s\n- %s|1. %s\n2. %s|%s\n   %s|:x: %s|\0 %s\n\0 %s|%s::\n\n   %s|.. code:: x\n\n   %s|-a  %s|>>> %s"
    "|.. csv-table:: %s\n\n   %s,%s|.. list-table:: %s\n\n   * - %s\n     - %s|.. topic:: %s\n\n   %s|.. tip:: %s"
    "|.. [1] %s|   %s|.. rubric:: %s|..\n\n   %s|== ==\na  %s\n== ==",
    "adoc": "%s|* %s\n** %s|. %s\n. %s|x:: %s|NOTE: %s|== %s|.%s\n%s|[quote,X]\n%s|----\n%s\n----"
    "|\0===\n\0%s \0%s\n\0===|,===\n%s,%s\n,===|* [x] %s|[start=4]\n. %s",
}


def _inside(ending: str, blocks: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    if ending in _AROUND:
        return st.builds(lambda around, block: around % block, st.sampled_from(_AROUND[ending]), blocks)
    return st.builds(lambda start, block: start + textwrap.indent(block, "   "), st.sampled_from(_INDENTED), blocks)


def _documents(ending: str) -> st.SearchStrategy[list[str]]:
    words = st.lists(st.sampled_from(_VOCABULARY), min_size=2, max_size=4).map(" ".join)
    kinds = [kind.replace("\0", "|") for kind in _KINDS[ending].split("|")]
    blocks = st.one_of([st.tuples(*[words] * kind.count("%s")).map(kind.__mod__) for kind in kinds])
    return st.lists(blocks | _inside(ending, blocks) | _inside(ending, _inside(ending, blocks)), max_size=5)


_DOCUMENTS = {ending: _documents(ending) for ending in FORMATS}
_KNOWN = frozenset(re.findall(r"\w+", " ".join(_VOCABULARY)))


@pytest.mark.parametrize("ending", FORMATS)
@given(data=st.data())
def test_page_has_every_word_of_the_text(ending: str, data: st.DataObject) -> None:
    text = data.draw(_DOCUMENTS[ending])
    page = Counter(re.findall(r"\w+", written("\n\n".join(["text", *text]), ending).replace("\\", "")))
    source = re.findall(r"\w+", " ".join(text))
    assert Counter(word for word in source if word in _KNOWN) <= page


@pytest.mark.parametrize("start", ["1 of", "- of"])
def test_marker_within_a_line_is_not_escaped(start: str) -> None:
    writer = MarkdownWriter()
    writer.paragraph(f"{start} `step 2. -`")
    assert "".join(writer.take_lines()).lstrip("\\") == f"{start} `step 2. -`"


def test_inserted_values_are_limited() -> None:
    value = "x" * 200
    assert len(written(f":a: {value}\n\n" + "{a} " * 50_000, "adoc")) < 4_000_000
    assert len(written("|a| " * 50_000 + f"\n\n.. |a| replace:: {value}", "rst")) < 4_000_000
