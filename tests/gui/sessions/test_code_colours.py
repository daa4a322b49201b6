"""Colours of code blocks in a conversation."""

import pytest
from PySide6.QtGui import QGuiApplication, QTextDocument

from engine import CancelToken
from gui.conversation.display_entries import LANGUAGES, lexer_of, load_lexers, prepare
from gui.conversation.row_layout import PieceStyle, piece_steps
from gui.style.theme import theme_tokens
from gui.style.typography import fixed_font
from gui.viewer.markdown_page import PageStyle
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
def test_code_is_coloured_by_its_language(appearance, language, code, colours):
    assert coloured(f"Look:\n\n```{language}\n{code}\n```\n\nif") == colours


def test_each_code_block_has_its_own_language(appearance):
    text = "```python\npass\n```\n\n- item\n\n  ```js\n  const a = 1 // b\n  ```\n"
    assert coloured(text) == {"pass": "working", "const": "working", "// b": "muted"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_lexers_accept_any_text(language):
    load_lexers(f"```{language}\n```")
    lexer = lexer_of(language)
    assert lexer is not None
    list(lexer.get_tokens_unprocessed("if (a[0] == 'b\\\"😀\n\t${<?% \x00--> :=\n\n#@"))
