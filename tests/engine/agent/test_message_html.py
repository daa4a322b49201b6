"""Messages as HTML in an exported session."""

import re
import time
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.agent.message_html import message_html

_SAFE = {
    *("p", "pre", "code", "h3", "h4", "h5", "h6", "hr", "blockquote", "ul", "ol", "li", "table", "tr", "th", "td"),
    *("strong", "em", "s", "a"),
}


class _Elements(HTMLParser):
    """Checks that elements are closed in order, and are none that loads or runs anything."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.inside: list[str] = []
        self.text: list[str] = []
        self.feed(page)
        self.close()
        assert self.inside == []

    def handle_starttag(self, tag, attrs):
        assert tag in _SAFE
        assert all(name in ("href", "rel", "start") for name, _ in attrs)
        assert all(re.match("https?://|mailto:", value) for name, value in attrs if name == "href")
        self.inside.append(tag)

    def handle_endtag(self, tag):
        assert self.inside.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("Hi <b>there</b>\nyou", "<p>Hi &lt;b&gt;there&lt;/b&gt;\nyou</p>"),
        ("# Plan #\n## Next", "<h3>Plan</h3><h4>Next</h4>"),
        ("Try:\n\n    if a:\n        b()  ", "<p>Try:</p><p>    if a:\n        b()</p>"),
        ("#hashtag", "<p>#hashtag</p>"),
        ("a\n\n---\nb", "<p>a</p><hr /><p>b</p>"),
        (
            "**Sew** it *twice*, ~~once~~ _now_",
            "<p><strong>Sew</strong> it <em>twice</em>, <s>once</s> <em>now</em></p>",
        ),
        ("2 * 3 * 4 and snake_case_name", "<p>2 * 3 * 4 and snake_case_name</p>"),
        ("`a<b` **`c`**", "<p><code>a&lt;b</code> <strong><code>c</code></strong></p>"),
        ("```py\nif a < b:\n\tpass\n```\nDone", "<pre>if a &lt; b:\n\tpass</pre><p>Done</p>"),
        ("~~~\nopen", "<pre>open</pre>"),
        ("Do:\n- one\n- two\n  more", "<p>Do:</p><ul><li>one</li><li>two\nmore</li></ul>"),
        ("3. c\n4. d", '<ol start="3"><li>c</li><li>d</li></ol>'),
        ("- a\n  - b\n    1. c\n- d", "<ul><li>a<ul><li>b<ol><li>c</li></ol></li></ul></li><li>d</li></ul>"),
        ("1. run\n   ```\n   ls\n   ```\n2. rest", "<ol><li>run<pre>ls</pre></li><li>rest</li></ol>"),
        ("> said\n> - x\n\nafter", "<blockquote><p>said</p><ul><li>x</li></ul></blockquote><p>after</p>"),
        (
            "| a | b |\n|---|:-:|\n| `x` | 1 \\| 2 | 3 |\n| y |\nend",
            "<table><tr><th>a</th><th>b</th></tr><tr><td><code>x</code></td><td>1 | 2</td></tr>"
            "<tr><td>y</td></tr></table><p>end</p>",
        ),
        ("a | b\nno table", "<p>a | b\nno table</p>"),
        ("[go](https://a.example/?q=1&r=2)", '<p><a href="https://a.example/?q=1&amp;r=2" rel="noreferrer">go</a></p>'),
        ("![x](https://a.example/p.png)", '<p><a href="https://a.example/p.png" rel="noreferrer">x</a></p>'),
        (
            "See https://a.example/b.",
            '<p>See <a href="https://a.example/b" rel="noreferrer">https://a.example/b</a>.</p>',
        ),
        ("[run](javascript:alert(1)) [f](file:///etc)", "<p>[run](javascript:alert(1)) [f](file:///etc)</p>"),
        ('[x](https://a.example/"onclick="y)', None),
    ],
)
def test_markdown_becomes_elements(text, html):
    made = message_html(text)
    _Elements(made)
    if html is not None:
        assert re.sub(r"\n(?=<|$)", "", made) == html


def test_very_long_message_is_only_escaped():
    assert message_html("**a** <b>" * 40_000) == f"<p>{'**a** &lt;b&gt;' * 40_000}</p>"


@given(
    st.lists(
        st.sampled_from([*"-*+>#`~_|[]()!<&\n\n\n 1.a", "```", "| - |", "**", "https://a.b/c", "](", "\t"]), max_size=60
    )
)
def test_any_markdown_is_well_formed_and_keeps_its_letters(pieces):
    text = "".join(pieces)
    shown = "".join(_Elements(message_html(text)).text)
    if "```" not in text and "~~~" not in text and "|" not in text and "[" not in text:
        assert shown.count("a") == text.count("a")


@pytest.mark.parametrize(
    ("start", "piece", "end"),
    [
        *(("", piece, "") for piece in ("**a ", "*a ", "_a ", "[a](", "`a ", "> ", "- a\n", "  " * 40 + "- a\n", "|a")),
        *(("", piece, "") for piece in ("https://", "#", "-|", "\t", "a|b\n", "1. a\n\n")),
        *((start, " ", "x") for start in ("# a", "- ", "-", "a|b\n", "a|b\n|", "[a](", "**")),
        ("# a", " #", "x"),
        ("a|b\n" + " " * 19_000 + "x\n", "a|b\n" + " " * 19_000 + "x\n", ""),
        ("|".join("a" * 5_000) + "\n" + "-|" * 5_000 + "\n", "|\n", ""),
    ],
)
def test_repeated_marks_take_time_and_room_in_proportion(start, piece, end):
    text = start + piece * ((200_000 - len(start)) // len(piece)) + end
    began = time.process_time()
    made = message_html(text)
    assert time.process_time() - began < 5  # a tenth of that is usual
    assert len(made) < 20 * len(text)
    assert _Elements(made)
