"""Markdown extensions of Obsidian and Logseq, as a page. The notes are written from Obsidian's help ("Obsidian Flavored
Markdown", "Callouts", "Basic formatting syntax", "Embed files") and Logseq's documentation ("Properties")."""

import time
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QUrl
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QLabel, QPushButton

from engine import CancelToken, LinkedText, MnemoscopeError, NumberedText, set_language
from engine.insight.note_links import NoteImages
from engine.settings import Settings
from gui.core.location import Location
from gui.style.theme import theme_tokens
from gui.style.typography import fixed_font
from gui.viewer.markdown_extensions import SEPARATOR, NoteMarkup
from gui.viewer.markdown_page import (
    CODE_INDENT,
    QUOTE_INDENT,
    Page,
    PageStyle,
    blocks,
    is_code,
    page_steps,
    quote_level,
)
from gui.viewer.markdown_parts import markdown_slices
from gui.viewer.outline import Outline
from gui.viewer.panel import ViewerPanel
from gui.viewer.text_lines import FileLines
from tests.helpers.fake_memory import FakeMemory
from tests.helpers.windows import finish_jobs

BLOCK = "60ab6f5b-4bdc-4ef0-a0f8-6cad9dcad2b2"
LINKED = {
    ("Garden", "Beds"): LinkedText(
        path="Garden.md", title="Garden", line=5, text="## Beds\nCarrots and [[Peas]].", cut=True
    ),
    ("Garden", ""): LinkedText(path="Garden.md", title="Garden", line=1, text="# Garden\nAll."),
    ("Code", ""): LinkedText(
        path="Code.md",
        title="Code",
        line=1,
        text="Intro\n\n## Run\n\n```sh\n[[not a link]]\n```\n\n- item\n",
    ),
    (BLOCK, ""): LinkedText(path="Plan.md", title="Plan", line=3, text="\t- Sow [[Peas]]\n"),
}


def resolve(target: str, anchor: str) -> LinkedText | None:
    return LINKED.get((target, anchor))


def rewritten(text: str, *toggled: int) -> str:
    markup = NoteMarkup(resolve, frozenset(toggled))
    numbered = list(enumerate(text.split("\n"), 1))
    markup.find_comments(numbered)
    lines = (markup.line(number, line) for number, line in numbered)
    return "\n".join(line for line in lines if line is not None)


@pytest.mark.parametrize(
    ("text", "markdown"),
    [
        ("See [[Note]].", "See [Note](note:Note)."),
        ("[[My note#Part *one*|a_b]]", r"[a\_b](note:My%20note#Part%20%2Aone%2A)"),
        ("[[Note#^37066d]]", "[Note › 37066d](note:Note#%5E37066d)"),
        ("[[#Here]]", "[Here](note:#Here)"),
        ("`[[code]]` [[Out]]", "`[[code]]` [Out](note:Out)"),
        ("[[a b.png]] [[c.mp4|See *c*]]", r"[a b.png](note:a%20b.png) [See \*c\*](note:c.mp4)"),
        ("| [[a.png\\|a]] | `[[a.png]]` |", "| [a](note:a.png) | `[[a.png]]` |"),
        ("[[Filter#`link`|`link` x]] [[https://a.b]]", "[link x](note:Filter#link) [https://a.b](<https://a.b>)"),
        ("[[a](javascript:x)]]", "[[a](javascript:x)]]"),
        ("[x](y.md) stays", "[x](y.md) stays"),
        ("#idea and (#garden/beds_2)", r"[\#idea](tag:idea) and ([\#garden/beds\_2](tag:garden/beds_2))"),
        ("# Plan #grün", r"# Plan [\#grün](tag:gr%C3%BCn)"),
        ("#12, a#b, `#code`, [see #x](#here), \\#no", "#12, a#b, `#code`, [see #x](#here), \\#no"),
        (f"Did (({BLOCK})) today", rf"Did [Sow Peas](note:{BLOCK}) today"),
        ("((60ab6f5b))", "[((60ab6f5b))](note:60ab6f5b)"),
        ("a %%hidden%% b", "a  b"),
        ("%%\nhidden\n%% shown", "\n\n shown"),
        ("%%\n`%%` hidden\n%% shown", "\n\n shown"),
        ("is %% text\nlater", "is %% text\nlater"),
        ("a %%b%% c %% d\nlater", "a  c %% d\nlater"),
        ("use `%%` here\nlater `%%`\n", "use `%%` here\nlater `%%`\n"),
        ("> [!faq]- Fold?%% x\n> y %% z\nafter", "> [▸](fold:1) **Faq: Fold?**\n>\nafter"),
        ("> [!note] NOTE\n> text", "> **Note**\n>\n> text"),
        ("> [!tip] Space \n> text", "> **Tip: Space**\n>\n> text"),
        ("costs $5 and $6", "costs $5 and $6"),
        ("so $e^{i\\pi}$ is", "so `$e^{i\\pi}$` is"),
        ("$$\na_1 * b\n$$\nafter", "`$$` \u2028\n`a_1 * b` \u2028\n`$$` \u2028\nafter"),
        (
            "$$a_1 \\\\\n\nb_2$$\n[[c]]\n$$\nd\n$$",
            "`$$a_1 \\\\` \u2028\n \u2028\n`b_2$$` \u2028\n[c](note:c)\n`$$` \u2028\n`d` \u2028\n`$$` \u2028",
        ),
        ("$$a\nb [[c]]", "$$a\nb [c](note:c)"),
        ("- [/] half *done*", "- ◐ half *done*"),
        ("- [-] dropped", "- ✕ ~~dropped~~"),
        ("- [x] done", "- [x] done"),
        ("- [>] moved\n- [<] planned", "- → moved\n- ← planned"),
        ("1. [!] now *{x}*\n1. [?] why", "1. **!** now *{x}*\n1. **?** why"),
        ("a^[b] `^[c]` \\^[d]", r"a[\[\*1\]](#footnote-%2A1) `^[c]` \^[d]"),
        ("> [!tip] Callouts can have titles\n> text", "> **Tip: Callouts can have titles**\n>\n> text"),
        ("> ```py\n> [[a]] #b\n> ```\n> [[c]]", "> ```py\n> [[a]] #b\n> ```\n> [c](note:c)"),
        ("> ~~~\n> [[a]]\n[[c]]", "> ~~~\n> [[a]]\n[c](note:c)"),
        ("> [!faq]- Q\n> ```\n> a\n> ```\n\n[[c]]", "> [▸](fold:1) **Faq: Q**\n>\n\n[c](note:c)"),
        ("> [!NOTE]\n> text", "> **Note**\n>\n> text"),
        ("> [!faq]- Fold?\n> Yes.\n> > deep\nafter", "> [▸](fold:1) **Faq: Fold?**\n>\nafter"),
        ("> [!faq]+ Open\n> Yes.", "> [▾](fold:1) **Faq: Open**\n>\n> Yes."),
        ("- text\n  id:: x\n  more", "- text\n  more"),
        ("- id:: x\n  more", "-\n  more"),
        ("See [[https://x.org/a_b|the *page*]]", "See [the \\*page\\*](<https://x.org/a_b>)"),
        ("[[http://x.org]]", "[http://x.org](<http://x.org>)"),
        ("a : : b\nkey:: later", "a : : b\nkey:: later"),
        ("![[Garden]] inside text", "[Garden](note:Garden) inside text"),
        ("![[Missing]]", "[Missing](note:Missing)"),
        (
            "- #+BEGIN_NOTE\n  [[a]]\n\n  b\n  #+END_NOTE\n- c",
            f"- {SEPARATOR}\n  > **Note**\n  >\n  > [a](note:a)\n  >\n  > b\n\n  {SEPARATOR}\n\n- c",
        ),
        ("#+begin_quote\na\n#+end_quote\nb", f">\n> a\n\n{SEPARATOR}\n\nb"),
        ("\t- #+BEGIN_SRC py\n\t   a[[b]]\n\t  #+END_SRC", f"\t- ```py\n\t   a[[b]]\n\t  ```\n\n\t  {SEPARATOR}\n"),
        ("#+BEGIN_QUERY\nx\n#+END_QUERY", f"```clojure\nx\n```\n\n{SEPARATOR}\n"),
        ("#+BEGIN_TIP\nno end\n#+END_NOTE", "#+BEGIN_TIP\nno end\n#+END_NOTE"),
        ("#+BEGIN_TIP\na", "#+BEGIN_TIP\na"),
        ("![[film.mp4#t=1]] ![](a/my_b.png)", r"*film.mp4* [my_b.png](<a/my_b.png>)"),
        ("![a *b* & _c_](x.png) ![a_b](x.png)", "[a b c](<x.png>) [a_b](x.png)"),
        ("![a|40](x.png) ![b c](d.png)", "[a](<x.png>) [b c](d.png)"),
        ("![a](x.png){:height 53, :width 42} ![b](y.png){x}", "[a](x.png) [b](y.png){x}"),
        ("^^lit^^ and 2^^3 x^^", "\ue002lit\ue003 and 2^^3 x^^"),
        ("**a:** ^Id", "**a:** \ue000^id\ue001"),
        ("<s>a</s> <del>b</del> <audio src='https://x.org/a'></audio>", "~~a~~ ~~b~~ <https://x.org/a>"),
        (
            "x <table border='1'><tr><th>a<th>b|c</tr><tr><td><b>d</b></td></tr></table> y",
            "x \n\n| a | b\\|c |\n|---|---|\n| **d** |  |\n\n y",
        ),
        ("`<table><tr><td>x</td></tr></table>`", "`<table><tr><td>x</td></tr></table>`"),
        ("cp <source> <target> from <table>", "cp <source> <target> from <table>"),
        ("<table>\n<tr><td>a</td>\n<td>b</td></tr>\n</table>\nc", "\n\n| a | b |\n|---|---|\n\n\nc"),
        ("- `<table>` or\n- x\n\n`</table>`", "- `<table>` or\n- x\n\n`</table>`"),
        ("a <table> or `<table>`\n\n</table>", "a  or `<table>`\n\n"),
        ("> <table>\n> <tr><td>a</td></tr>\n> </table>", "> \n> \n> | a |\n> |---|\n> \n> "),
        ("<table><tbody>\n<td>a</td>\n</tbody></table>", "\n\n| a |\n|---|\n\n"),
        ("- <table><tr><td>a</td></tr></table>", "- \n  \n  | a |\n  |---|\n  \n  "),
        ("> <table>\n>   <tr><td>a\n>\n> b</td></tr>\n> </table>", "> \n>   a\n>\n> b\u2003\n> "),
        ("<table>\n    <tr><td>a\n\n```\nx\n```\n</table>", "\na\n\n```\nx\n```\n"),
        ('<iframe width="9" src="https://x.org/v#a"></iframe> <iframe></iframe>', "<https://x.org/v#a> "),
        ("# Part {#own .x}\n## {a}", "# Part\n## {a}"),
        ("# Part { #own }\n# Part {: #own .x} #\n{a}", "# Part\n# Part #\n{a}"),
        (
            "<div align='left'>\n<b>x</b> <kbd>Ctrl</kbd>+<u>C</u><br/>y <!-- no -->z\n</div>",
            "\n**x** `Ctrl`+C \u2028y z\n",
        ),
        ('<a href="https://x.org/a">b</a> <a name="c"></a> <i>d', "[b](<https://x.org/a>)  d"),
        ("<h1 align='center'>A</h1>\n<p>b</p>\n<p>c\nd</p>", "**A**\n\nb\n\nc\nd"),
        ("a<br>\nb <br /> \nc<br>[[d]]", "a \u2028\nb  \u2028 \nc \u2028[d](note:d)"),
        ("a <!-- no\nno\n--> b <!--\nno --> c", "a \n\n b \n c"),
        ("`<!--` a\n-->\n<!-- b\nc", "`<!--` a\n-->\n<!-- b\nc"),
        ("[a b]([[Peas]]) and [it](((60ab6f5b)))", "[a b](note:Peas) and [it](note:60ab6f5b)"),
        ('<video src="https://x.org/v"> a <svg x="1"><path d="M6 4"/></svg> b', "<https://x.org/v> a  b"),
        ('<img width="20" src="a b.png" alt="c">', "[c](<a b.png>)"),
        ("List<String> <https://x.org> a<b `<b>` \\<br /\\>", "List<String> <https://x.org> a<b `<b>` \\<br /\\>"),
        ("{{query (and [[a]] {b})}} {{youtube https://x.org/v}}", "`{{query (and [[a]] {b})}}` <https://x.org/v>"),
        (
            "- TODO a\n  :LOGBOOK:\n  CLOCK: [2026-11-29 Sun 10:00:00]\n  :END:\n  SCHEDULED: <2026-11-30 Mon>",
            "- TODO a\n  SCHEDULED: <2026-11-30 Mon>",
        ),
        ("- ## A\n  id:: x\n  text\n- ## B\n\t- c", "- ## A\n\n  text\n- ## B\n\t- c"),
    ],
)
def test_markup_becomes_markdown(text: str, markdown: str) -> None:
    assert rewritten(text).replace("![", "[") == markdown


@pytest.mark.parametrize(
    "text",
    [
        "[see #todo](https://x.org/a_(b))",
        "[ref #x][r]",
        "[x]: https://x.org 'a #b'",
        "![a](p.png 'x (#t)')",
        '<a title="a #b">',
    ],
)
def test_no_tag_is_looked_for_in_other_markup(text: str) -> None:
    assert rewritten(text) == text


@pytest.mark.parametrize("text", ["[x]: call {}", "a < b {} > c", "[a {}]", "[a] ({})", "[r](x) {}"])
def test_tag_next_to_markup_is_a_link(text: str) -> None:
    assert rewritten(text.format("#b")) == text.format(r"[\#b](tag:b)")


@pytest.mark.parametrize("part", ["[", "<a", "<svg ", "[](", "[](()", "[a][", "[a](#b "])
def test_long_line_of_brackets_is_read_in_little_time(part: str) -> None:
    assert rewritten("#" + part * 100_000) == "#" + rewritten(part) * 100_000  # hangs if each reads the rest


@pytest.mark.parametrize("attribute", ["x", "x ", "x=", "-"])
def test_tag_with_long_attribute_is_read_in_little_time(attribute: str) -> None:
    assert rewritten(f"a <b {attribute * 200_000}>c</b>") == "a **c**"  # hangs if each letter begins an attribute


def test_tags_of_a_long_line_are_all_rewritten() -> None:
    assert rewritten("<b>a</b> " * 10_000) == "**a** " * 10_000
    assert rewritten(r"\<b> " * 10_000 + "<b>a</b>") == r"\<b> " * 10_000 + "**a**"


@pytest.mark.parametrize("sign", [">", "> ", " \t>"])
def test_long_line_of_quotes_is_read_in_little_time(sign: str) -> None:
    text = sign * 150_000 + " a"
    assert rewritten(text) == text  # hangs if each reads the rest


def test_callout_is_named_in_the_language_of_the_window() -> None:
    set_language("de")
    try:
        assert rewritten("> [!warning] Frost\n> x").startswith("> **Warnung: Frost**")
        assert rewritten("> [!TIP]\n> x").startswith("> **Tipp**")
        assert rewritten("> [!tip] Tip\n> x").startswith("> **Tipp**")
        assert rewritten("> [!own-kind]\n> x").startswith("> **Own kind**")
    finally:
        set_language("en")


def test_toggled_callout_shows_its_text() -> None:
    assert "Yes." in rewritten("> [!faq]- Fold?\n> Yes.", 1)
    assert "Yes." not in rewritten("> [!faq]+ Fold?\n> Yes.", 1)


def test_unfolded_callouts_show_their_text_until_toggled() -> None:
    for text in ("> [!faq]- Fold?\n> Yes.", "> [!faq]+ Fold?\n> Yes."):
        assert NoteMarkup(resolve, frozenset(), unfold=True).line(1, text.split("\n")[0]).startswith("> [▾]")
        assert NoteMarkup(resolve, frozenset({1}), unfold=True).line(1, text.split("\n")[0]).startswith("> [▸]")


def test_embed_is_a_box_with_link_and_text() -> None:
    box = rewritten("![[Garden#Beds]]").strip().split("\n")
    assert box[0] == "> [Garden › Beds](note:Garden#Beds)"
    assert box[2:4] == ["> ## \ue004Beds", "> Carrots and [Peas](note:Peas)."]


def test_embeds_of_a_page_are_limited() -> None:
    page = rewritten("\n".join(["![[Garden]]"] * 100))
    assert page.count("> All.") == 20
    assert page.count("note:Garden") == 100


@given(st.text(alphabet="[]|!#^()`\n %=$>-/x:a\ue000\ue001\ue002\ue003\ue004{}~*"))
def test_rewriting_any_text_closes_every_highlight(text: str) -> None:
    assert rewritten(text).count("\ue000") == rewritten(text).count("\ue001")


def built(slices: Iterable[str]) -> Page:
    steps = page_steps(slices, PageStyle(fixed_font(), fixed_font(), theme_tokens("light"), 1.0))
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


@pytest.fixture
def page(appearance, tmp_path: Path):
    """Make a page of a note."""

    def made(text: str, *, keep_breaks: bool = False) -> Page:
        file = tmp_path / "note.md"
        file.write_text(text)
        lines = FileLines(NumberedText.open(file))
        outline = Outline.of(lines, CancelToken())
        return built(markdown_slices(lines, outline, NoteMarkup(resolve, frozenset(), keep_breaks=keep_breaks)))

    return made


def test_page_with_code_in_open_table_keeps_order(page) -> None:
    table = "<table>\n<tr><td>Before\n```\ncode\n```\nAfter</td></tr>\n</table>\n"
    assert [text for text in page(table).texts if text.strip()] == ["Before", "code", "After\u2003"]
    assert "End" in page("<table>\n<table>\n</table>\nEnd").texts


def test_page_highlights_and_hides_markers(page) -> None:
    made = page("😀 a ==bright *day*== and ==see [[Note]]== end ^block-1\n\nNext[^1].\n\n[^1]: The note.\n")
    text = "\n".join(made.texts)
    assert made.texts[0] == "😀 a bright day and see Note end"
    assert not any(sign in text for sign in "\ue000\ue001\ue002\ue003=^")
    assert made.anchors == {"^block-1": 0, "footnote-1": 2}
    assert made.texts[1:3] == ("Next[1].", "[1] The note.")
    cursor = QTextCursor(made.document)
    cursor.setPosition(made.document.toPlainText().encode("utf-16-le").index("day".encode("utf-16-le")) // 2 + 1)
    assert cursor.charFormat().background().color() == theme_tokens("light").mark


def test_page_moves_inline_footnotes_to_its_end(page) -> None:
    made = page("One^[A *note* on [[Garden]].] and two^[Second [x](y.md).].\n\n```\n^[code]\n```\n\nEnd.\n")
    assert made.texts == ("One[*1] and two[*2].", "^[code]", "End.", "[*1] A note on Garden.", "[*2] Second x.")
    assert made.anchors == {"footnote-*1": 3, "footnote-*2": 4}


def test_property_below_front_matter_is_text(page) -> None:
    assert page("---\ntitle: A\n---\nAuthor:: Ada\n\nText\n").texts[-2:] == ("Author:: Ada", "Text")
    assert page("Author:: Ada\n\nText\n").texts == ("Author:: Ada", "", "Text")


def test_page_shows_front_matter_of_each_format_as_code(page) -> None:
    long = "\n".join(f"key{number}: {'x' * 300}" for number in range(60))
    for front, shown in (
        ("---\ntitle: A\n\ntags: [b]\n---", ("title: A", "tags: [b]")),
        ('---\n{"title": "A"}\n---', ('{"title": "A"}',)),
        ("+++\ntitle = 'A'\n# no heading\n+++", ("title = 'A'", "# no heading")),
        (f"---\n{long}\n---", (*(line[:200] for line in long.split("\n")[:40]), "…")),
        ("---\n---", ()),
    ):
        made = page(f"{front}\n\n# B\n\n```\ncode\n```\n")
        assert tuple(text for text in made.texts if text) == (*shown, "B", "code")
        assert [is_code(block) for block in blocks(made.document)][: len(shown)] == [True] * len(shown)


def test_page_keeps_single_line_breaks_where_asked(page) -> None:
    text = "one\n*two*  \nthree\n\n- item\n  more\n\n> quote\n> more ^id\n\na | b\n--|--\n1 | 2\n\nTitle\n===\n"
    text += "[d]: https://x.org\n[d]\n\n```\na\nb\n```\n"
    cells = ("a", "b", "1", "2", "", "Title", "d", "a", "b")
    broken = ("one\u2028two\u2028three", "item\u2028more", "quote\u2028more")
    assert page(text, keep_breaks=True).texts == (*broken, *cells)
    assert page(text).texts == ("one two\u2028three", "item more", "quote more", *cells)
    assert page("one\\\ntwo\n", keep_breaks=True).texts == ("one", "two")
    made = page("see https://x.org\n~~old~~\nme@x.org\nend\n", keep_breaks=True)
    assert made.texts == ("see https://x.org\u2028old\u2028me@x.org\u2028end",)
    looks = [made.document.find(words).charFormat() for words in ("x.org", "old", "me@x.org")]
    assert [look.anchorHref() for look in looks] == ["https://x.org", "", "mailto:me@x.org"]
    assert [look.fontStrikeOut() for look in looks] == [False, True, False]


def test_line_break_after_long_line_is_found_in_linear_time() -> None:
    markup = NoteMarkup(resolve, frozenset(), keep_breaks=True)
    began = time.process_time()
    line = f"{'word ' * 10_000}|"
    assert markup.line(1, line) == line
    assert time.process_time() - began < 2


def test_items_below_quote_in_list_are_outside_of_it(page) -> None:
    quotes = (f"{{{{embed (({BLOCK}))}}}}", "> quote", "> [!note] Title\n  > text", "#+BEGIN_QUOTE\n  a\n  #+END_QUOTE")
    for quote in quotes:
        made = page(f"- one\n- {quote}\n- after\n- ```\n  code\n  ```\n\t- inner\n")
        levels = {block.text(): (quote_level(block), block.textList() is not None) for block in blocks(made.document)}
        assert [levels[text] for text in ("one", "after", "code", "inner")] == [(0, True)] * 4, quote
        assert max(level for level, _ in levels.values()) == 1


def test_page_shows_all_of_a_note_without_front_matter(page) -> None:
    visible_texts = ("Kept heading", "text that must show", "", "after rule")
    assert page("+++\n\n# Kept heading\n\ntext that must show\n\n---\n\nafter rule\n").texts == ("+++", *visible_texts)
    prose = page("---\n\nprose\n\n# Head\n\n---\nafter\n")
    assert [text for text in prose.texts if text] == ["prose", "Head", "after"]
    assert [key for _, key in prose.headings] == ["head"]


def test_markdown_between_rules_stays_without_a_note(appearance) -> None:
    made = built(["---\nquoted\n---\n\nrest\n"])
    assert [text for text in made.texts if text] == ["quoted", "rest"]


def test_page_shows_code_in_list_items_as_written(page) -> None:
    code = "==a== [[b]] #c [^1]"
    for indent in ("- ", "1. ", "   - ", "  - [ ] x\n    "):
        opening = f"{indent}```sh\n"
        margin = " " * (len(indent.split("\n")[-1]))
        made = page(f"- first\n{opening}{margin}# {code}\n{margin}```\n\n# After ==it==\n")
        assert f"# {code}" in made.texts, indent
        assert made.texts[-1] == "After it"


def test_page_shows_indented_code_as_written(page) -> None:
    code = "a ==b== [[c]] #d"
    made = page(f"# T\n\n    {code}\n\n\t%% {code}\n\ntext\n    ==e==\n\n- f\n\n  ==g==\n\nh\n\n    {code}\n")
    assert [block.text() for block in blocks(made.document) if is_code(block)][:4] == [code, "", f"%% {code}", code]
    assert [text for text in made.texts if text in ("text e", "f", "g", "h")] == ["text e", "f", "g", "h"]


@pytest.mark.parametrize("before", ["", "text\n\n", "- item\n"])
def test_page_shows_lists_that_begin_with_headings(page, before: str) -> None:
    made = page(f"{before}- ## A\n\t- b\n- ## C\n  d **e**\n")
    listed = [block for block in blocks(made.document) if block.text() not in ("text", "item")]
    assert [block.text() for block in listed] == ["A", "b", "C", "d e"]
    assert [block.blockFormat().headingLevel() for block in listed] == [2, 0, 2, 0]


def test_page_callout_is_a_quote_with_its_title(page) -> None:
    made = page("> [!warning] Mind <b>this</b>\n> text\n\nafter\n")
    assert made.texts[:3] == ("Warning: Mind this", "text", "after")
    assert [quote_level(block) for block in blocks(made.document)][:3] == [1, 1, 0]


def _levels(made: Page) -> list[tuple[str, int]]:
    return [(block.text(), quote_level(block)) for block in blocks(made.document)]


def test_page_embed_contains_its_headings_lists_and_code(page) -> None:
    made = page("![[Code]]\n\nafter\n\n> quote\n>\n> ### Deep\n> > #### Deeper\n\n# Top\n")
    assert _levels(made) == [
        ("Code", 1), ("Intro", 1), ("Run", 1), ("[[not a link]]", 1), ("item", 1), ("after", 0),
        ("quote", 1), ("Deep", 1), ("Deeper", 2), ("Top", 0),
    ]  # fmt: skip
    margins = {block.text(): block.blockFormat().leftMargin() for block in blocks(made.document)}
    assert margins["Intro"] == margins["Run"] == margins["item"] == QUOTE_INDENT
    assert margins["[[not a link]]"] == QUOTE_INDENT + CODE_INDENT
    assert margins["Deeper"] == 2 * QUOTE_INDENT
    assert [key for _, key in made.headings] == ["run", "deep", "deeper", "top"]


@pytest.mark.parametrize(
    "text",
    [
        "> [!note] A\n> a\n\n> [!tip] B\n> b\n",
        "> a\n\n> b\n",
        "> a\nlazy\n\n> b\n",
        "![[Garden]]\n![[Garden]]\n",
        "![[Garden]]\n\n> [!tip] B\n> b\n",
        "> a\n\n![[Garden]]\n",
        "> [!faq]- A\n> hidden\n\n> [!faq]- B\n> hidden\n",
        "- item\n  > a\n\n  > b\n",
    ],
)
def test_page_separates_neighbouring_quotes(page, text: str) -> None:
    quoted = "".join("q" if level else " " for _, level in _levels(page(text)))
    assert len(quoted.split()) == 2


def test_page_code_after_quoted_code_has_its_own_margin(page) -> None:
    made = page("> ```\n> a\n> ```\n\n```\nb\n```\n")
    quoted, plain = blocks(made.document)
    assert quoted.blockFormat().bottomMargin() > 0
    assert plain.blockFormat().topMargin() > 0


def test_page_separates_neighbouring_code(page) -> None:
    made = page("```\na\n```\n\n```py\nb\n```\ntext\n```\nc\n```\n")
    assert [(block.text(), is_code(block)) for block in blocks(made.document)] == [
        ("a", True), ("", False), ("b", True), ("text", False), ("c", True)
    ]  # fmt: skip


def test_page_has_no_link_but_written_ones(page) -> None:
    made = page('[[x"><img src=//evil/a.png>|<script>]]\n\n![[http://evil/a]]\n')
    targets = set()
    for block in blocks(made.document):
        iterator = block.begin()
        while not iterator.atEnd():
            targets.add(iterator.fragment().charFormat().anchorHref())
            iterator += 1
    assert all(not target or target.startswith("note:") for target in targets)
    assert made.texts[0] == "<script>"


class Links:
    """An insight that knows the links of one garden."""

    def images_of(self, note: str) -> NoteImages:
        return NoteImages(note, Path("missing"), Settings())

    def linked_text(self, target: str, anchor: str, note: str, cancel: CancelToken | None = None) -> LinkedText | None:
        if target == "Shopping":
            return LinkedText(path="topics/shopping.md", title="Shopping", line=3, text="x")
        if anchor == "unreadable":
            raise MnemoscopeError("The index is locked.")
        if target:
            return None
        return LinkedText(path=note, title="Today", line=1, text="x", anchored=anchor == "top")


def test_anchor_in_first_line_is_found(qtbot, panel: ViewerPanel, memory: FakeMemory, show) -> None:
    memory.insight = Links()
    show("daily/2026-02-08.md")
    with qtbot.waitSignal(panel.location_chosen) as chosen:
        panel.follow_link(QUrl("#top"))
    assert chosen.args == [Location("daily/2026-02-08.md", 1)]


@pytest.mark.parametrize(
    ("anchor", "sentence"),
    [("unreadable", "The index is locked."), ("ponds", "This page has no heading or block named “ponds”.")],
)
def test_unopened_anchor_says_why(qtbot, panel: ViewerPanel, memory: FakeMemory, show, anchor, sentence) -> None:
    memory.insight = Links()
    show("daily/2026-02-08.md")
    panel.follow_link(QUrl(f"#{anchor}"))
    qtbot.waitUntil(lambda: panel.hint.isVisible() and panel.hint.findChild(QLabel).text() == sentence)


def test_followed_link_opens_note_at_its_line(qtbot, panel: ViewerPanel, memory: FakeMemory, show) -> None:
    memory.insight = Links()
    show("daily/2026-02-08.md")
    with qtbot.waitSignal(panel.location_chosen) as chosen, qtbot.waitSignal(panel.file_shown):
        panel.follow_link(QUrl("note:Shopping#Beds"))
    assert chosen.args == [Location("topics/shopping.md", 3)]
    assert panel.name == "topics/shopping.md"


def test_tag_link_requests_search_for_the_tag(qtbot, panel: ViewerPanel, show) -> None:
    show("daily/2026-02-08.md")
    with qtbot.waitSignal(panel.search_requested) as searched:
        panel.follow_link(QUrl("tag:gr%C3%BCn/beete"))
    assert searched.args == ["tag:grün/beete"]


def test_followed_link_into_open_note_scrolls(qtbot, panel: ViewerPanel, memory: FakeMemory, show) -> None:
    memory.insight = Links()
    memory.files["topics/shopping.md"] = "line\n" * 500
    show("topics/shopping.md", 3)
    for _ in range(2):
        panel.source.go_to_line(400)
        assert panel.source.top_line > 300
        panel.follow_link(QUrl("note:Shopping#Beds"))
        qtbot.waitUntil(lambda: panel.source.top_line <= 3)


def test_late_link_does_not_replace_newer_file(qtbot, panel: ViewerPanel, memory: FakeMemory, show, jobs) -> None:
    memory.insight = Links()
    show("daily/2026-02-08.md")
    chosen = []
    panel.location_chosen.connect(chosen.append)
    panel.follow_link(QUrl("note:Shopping#Beds"))
    with qtbot.waitSignal(panel.file_shown):
        panel.show_file("topics/shopping.md", 1)
    finish_jobs(jobs)
    assert chosen == []


def test_link_to_missing_note_offers_a_search(qtbot, panel: ViewerPanel, memory: FakeMemory, show) -> None:
    memory.insight = Links()
    show("daily/2026-02-08.md")
    panel.follow_link(QUrl("note:Winter%20plan"))
    qtbot.waitUntil(lambda: panel.banner.text == "No note is named “Winter plan”.")
    button = next(button for button in panel.banner.findChildren(QPushButton) if button.text() == "Search")
    with qtbot.waitSignal(panel.search_requested) as searched:
        button.click()
    assert searched.args == ["Winter plan"]


def test_folded_callout_opens_by_its_link(qtbot, panel: ViewerPanel, memory: FakeMemory) -> None:
    memory.files["fold.md"] = "# Head\n\n> [!faq]- Fold?\n> Yes.\n"
    panel.choose_rendered(True)
    with qtbot.waitSignal(panel.file_shown):
        panel.show_file("fold.md")
    assert "Yes." not in panel.rendered.toPlainText()
    panel.follow_link(QUrl("fold:3"))
    qtbot.waitUntil(lambda: "Yes." in panel.rendered.toPlainText())
