"""Colours of code blocks in conversations and in rendered notes."""

import pytest
from PySide6.QtCore import QObject
from PySide6.QtGui import QGuiApplication, QTextDocument

from engine import CancelToken
from gui.conversation.display_entries import prepare
from gui.conversation.row_layout import PieceStyle, piece_steps
from gui.core.jobs import Jobs
from gui.style.theme import theme_tokens
from gui.style.typography import fixed_font
from gui.viewer.code_colours import LANGUAGES, coloured_code, lexer_of, load_lexers
from gui.viewer.markdown_page import PageStyle
from gui.viewer.markdown_parts import PageBuilder, markdown_slices
from gui.viewer.outline import page_source
from gui.viewer.text_lines import TextLines
from tests.helpers.fake_sessions import make_session

COLOURS = theme_tokens("light")


def coloured(text: str) -> dict[str, str]:
    """Colour of each part of the first message that has one of the four colours of code."""
    conversation = prepare(make_session([("assistant", (("text", text),))]), CancelToken())
    page = PageStyle(QGuiApplication.font(), fixed_font(), COLOURS, 1.0)
    steps = piece_steps(conversation, 0, PieceStyle(page, 400, 400, ()))
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return _colours_of(end.value.document)


def coloured_note(qtbot, jobs: Jobs, text: str, name: str = "note.md") -> dict[str, str]:
    """Colour of each part of a rendered note that has one of the four colours of code."""
    lines, outline = page_source(TextLines(text.split("\n")), name, CancelToken())
    slices = list(markdown_slices(lines, outline))
    parent = QObject()
    builder = PageBuilder(jobs, parent)
    with qtbot.waitSignal(builder.made) as made:
        style = PageStyle(fixed_font(), fixed_font(), COLOURS, 1.0)
        builder.start(slices, style, {})
    return _colours_of(made.args[0].document)


def _colours_of(document: QTextDocument) -> dict[str, str]:
    names = {getattr(COLOURS, name).name(): name for name in ("muted", "working", "fine", "degraded")}
    found = {}
    block = document.begin()
    while block.isValid():
        iterator = block.begin()
        while not iterator.atEnd():
            fragment = iterator.fragment()
            name = names.get(fragment.charFormat().foreground().color().name())
            if name and fragment.charFormat().hasProperty(fragment.charFormat().Property.ForegroundBrush):
                found[fragment.text()] = name
            iterator += 1
        block = block.next()
    return found


@pytest.mark.parametrize(
    ("language", "code", "colours"),
    [
        ("python", "return x  # why", {"return": "working", "# why": "muted"}),
        ("python", 'x = """one\ntwo"""', {'"""one': "fine", 'two"""': "fine"}),
        ("c", "/* one\n two */ int x;", {"/* one": "muted", " two */": "muted", "int": "working"}),
        ("diff", "-old\n+new\n same", {"-old": "degraded", "+new": "fine"}),
        ("patch", "+new", {"+new": "fine"}),
        ("sqlite", "SELECT 'it'", {"SELECT": "working", "'it'": "fine"}),
        ("Python", "pass", {"pass": "working"}),
        ("python", 'x = "😀"; pass', {'"😀"': "fine", "pass": "working"}),
        ("text", "if x", {}),
        ("", "if x", {}),
        ("unknown", "if x", {}),
    ],
)
def test_code_is_coloured_by_its_language(qtbot, jobs, appearance, language, code, colours):
    text = f"Look:\n\n```{language}\n{code}\n```\n\nif"
    assert coloured(text) == colours
    assert coloured_note(qtbot, jobs, text) == colours


def test_each_code_block_has_its_own_language(qtbot, jobs, appearance):
    text = "```python\npass\n```\n\n- item\n\n  ```js\n  const a = 1 // b\n  ```\n\n> ~~~~ c\n> int x;\n> ~~~\n> ~~~~\n"
    colours = {"pass": "working", "const": "working", "// b": "muted", "int": "working"}
    assert coloured(text) == colours
    assert coloured_note(qtbot, jobs, text) == colours


@pytest.mark.parametrize(
    "text",
    [
        "> ```js\n> const a\n\nText\n\n```python\npass\n```\n",
        "- item\n  ```js\n  const a\n\nText\n\n```python\npass\n```\n",
        "```\n~~~ js\n```\n\n```js\nconst a\n```\n\n```python\npass\n```\n",
        "````\n```c\nint x;\n```\n````\n\n```js\nconst a\n```\n\n~~~python\npass\n",
    ],
    ids=["end of a quote", "end of a list", "fence in other fence", "fence in longer fence"],
)
def test_code_ends_where_the_page_ends_it(qtbot, jobs, appearance, text):
    colours = {"const": "working", "pass": "working"}
    assert coloured(text) == colours
    assert coloured_note(qtbot, jobs, text) == colours


@pytest.mark.parametrize("words", ["{python}", "{r, echo=FALSE}", "{.python .numberLines}", "js{1,3}", "sql:a.sql x=1"])
def test_language_is_read_with_braces_or_options(qtbot, jobs, appearance, words):
    text = f"```{words}\n'it'\n```\n"
    assert coloured(text) == coloured_note(qtbot, jobs, text) == {"'it'": "fine"}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("note.org", "* Title\n#+begin_src python\nreturn x  # why\n#+end_src\n"),
        ("note.rst", "Title\n=====\n\n.. code-block:: python\n\n   return x  # why\n"),
        ("note.adoc", "= Title\n\n[source,python]\n----\nreturn x  # why\n----\n"),
        ("note.md", "1. Item\n\n   ```python\n   return x  # why\n   ```\n"),
    ],
)
def test_code_of_each_format_is_coloured(qtbot, jobs, appearance, name, text):
    assert coloured_note(qtbot, jobs, text, name) == {"return": "working", "# why": "muted"}


def test_long_code_is_coloured_across_parts(qtbot, jobs, appearance):
    lines = [f"x{number} = 1" for number in range(3_000)]
    code = "\n".join(['"""', *lines, '"""', "pass"])
    found = coloured_note(qtbot, jobs, f"```python\n{code}\n```\n")
    assert [found[each] for each in (lines[0], lines[-1], "pass")] == ["fine", "fine", "working"]


def test_too_much_code_on_a_page_is_not_coloured():
    short, long = ("python", "pass"), ("python", "pass\n" * 30_000)
    assert list(coloured_code([short, long], CancelToken())) == [short]


@pytest.mark.parametrize("language", LANGUAGES)
def test_lexers_accept_any_text(language):
    load_lexers(f"```{language}\n```")
    lexer = lexer_of(language)
    assert lexer is not None
    list(lexer.get_tokens_unprocessed("if (a[0] == 'b\\\"😀\n\t${<?% \x00--> :=\n\n#@"))
