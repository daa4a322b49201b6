"""Parts of a note that Qt converts one at a time: each is small, and together they equal the whole."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from PySide6.QtGui import QTextCursor, QTextDocument, QTextTable

from engine import CancelToken, MnemoscopeError, NumberedText
from gui.style.theme import theme_tokens
from gui.style.typography import fixed_font
from gui.text.plain_text import SealedDocument
from gui.viewer import markdown_parts
from gui.viewer.markdown_extensions import SEPARATOR
from gui.viewer.markdown_page import PageStyle, blocks, is_code, page_steps, quote_level
from gui.viewer.markdown_parts import ENOUGH, MAX, Load, markdown_slices
from gui.viewer.outline import Outline
from gui.viewer.text_lines import FileLines

FEATURES = QTextDocument.MarkdownFeature.MarkdownDialectGitHub | QTextDocument.MarkdownFeature.MarkdownNoHTML
FULL_BLOCK = 16 * 1024

SIZE = 30_000
"""Minimum number of characters of a hostile note."""
HOSTILE = {
    "rows": "|a|b|c|\n|-|-|-|\n" + "|1|2|3|\n" * 20_000,
    "rows without bars": "|a|b|c|\n|-|-|-|\n" + "x\n" * 20_000,
    "rows in a quote": "> |a|b|c|\n> |-|-|-|\n" + "> |1|2|3|\n" * 20_000,
    "rows in a list": "- |a|b|c|\n  |-|-|-|\n" + "  |1|2|3|\n" * 20_000,
    "rows after code that Qt does not see": "``` `\n\n|a|b|c|\n|-|-|-|\n" + "|1|2|3|\n" * 20_000,
    "columns": "|" + "a|" * 5_000 + "\n|" + "-|" * 5_000 + "\n" + "x\n" * 5_000,
    "angle brackets": "<" * 200_000,
    "brackets": "[" * 1_000_000,
    "stars": "*" * 1_000_000,
    "backticks": "`" * 1_000_000,
    "runs of backticks": " ".join("`" * number for number in range(1, 900)),
    "links": "[a](b) " * 100_000,
    "images": "![a](b) " * 100_000,
    "open links": "[a](" * 100_000,
    "code in a line": "`a` " * 100_000,
    "emphasis": "*a* " * 100_000,
    "addresses": "http://a.b " * 50_000,
    "HTML": "<a href='" * 50_000,
    "HTML comments": "<!--" * 50_000,
    "entities": "&amp;" * 50_000,
    "escapes": "\\a" * 100_000,
    "a line of code": "```\n" + "x" * 250_000 + "\n```",
    "lines of code": "```\n" + "x = 1\n" * 60_000 + "```",
    "code without end": "```\n" + "x = 1\n" * 60_000,
    "indented code": "    x = 1\n" * 20_000,
    "bullets": "- a\n" * 60_000,
    "numbers": "1. a\n" * 60_000,
    "bullets in bullets": "".join("  " * number + "- x\n" for number in range(400)),
    "bullets on a line": "- " * 50_000 + "x",
    "quotes in quotes": "\n".join(">" * number + " x" for number in range(450)),
    "quotes": "> a\n>\n" * 30_000,
    "quotes and bullets": "> - " * 30_000 + "x",
    "a paragraph of lines": "word word\n" * 30_000,
    "lazy lines": "> a\n" + "b\n" * 60_000,
    "right to left": "\u202e\u202b" * 50_000,
    "combining marks": ("a" + "\u0301" * 500) * 300,
    "no breaks": "\u00a0" * 100_000,
    "ideographs": "字" * 100_000,
    "rules": "---\n" * 30_000,
    "line ends of old": "a\r" * 60_000,
    "separators": "a\u2028" * 60_000,
    "front matter": "---\n" + "a: b\n" * 30_000,
}
LONG_BUT_PLAIN = {
    "prose": "Some words of prose with *em* and `code`.\n\n" * 10_000,
    "bullets": "- an item\n" * 20_000,
    "lines of code": "```\n" + "x = 1\n" * 20_000 + "```\n",
    "a paragraph of lines": "word word\n" * 20_000,
    "small tables": ("|a|b|\n|-|-|\n" + "|1|2|\n" * 20 + "\ntext\n\n") * 200,
    "sections": "# Day\n\nwords\n\n- one\n- two\n\n" * 5_000,
}
PARTS = (
    "Some *words* of prose.\n",
    "- one\n- two\n",
    "1. first\n2. second\n",
    "- [ ] open\n- [x] done\n",
    "> quoted\n> on\n",
    "```\nx = 1\n\ny = 2\n```\n",
    "| a | b |\n|---|---|\n| 1 | 2 |\n",
    "# Head\n",
    "Setext\n===\n",
    "- outer\n  - inner\n\n  more\n",
)

MARKUP = ("|a|", "|-|", "\n", "- ", "> ", "1. ", "```", "*a*", "x ", "    ", "[a](b)", "# ", "<b>")

Slices = Callable[[str], list[str]]


@pytest.fixture
def slices(tmp_path: Path) -> Slices:
    def cut(text: str) -> list[str]:
        path = tmp_path / "note.md"
        path.write_text(text, encoding="utf-8", newline="")
        lines = FileLines(NumberedText.open(path))
        try:
            return list(markdown_slices(lines, Outline.of(lines, CancelToken())))
        finally:
            lines.close()

    return cut


def weight(part: str) -> tuple[int, int, int, int, int]:
    """Return the sizes of Qt's document for a part.

    These are the number of blocks, the characters of the longest, and the numbers of cells, items and formatted runs.
    """
    document = SealedDocument()
    document.setMarkdown(f"x\n\n{part}", FEATURES)
    tables = [frame for frame in document.rootFrame().childFrames() if isinstance(frame, QTextTable)]
    longest = runs = items = 0
    for block in blocks(document):
        longest = max(longest, block.length())
        items += block.textList() is not None
        iterator = block.begin()
        here = 0
        while not iterator.atEnd():
            here += 1
            iterator += 1
        runs = max(runs, here)
    return document.blockCount(), longest, sum(table.rows() * table.columns() for table in tables), items, runs


def assert_small(part: str) -> None:
    count, longest, cells, items, runs = weight(part)
    assert count <= MAX.lines + MAX.cells + 10
    assert longest <= FULL_BLOCK + 10
    assert cells <= MAX.cells * 2  # the header is one row more than was counted
    assert items <= MAX.items + 10
    assert runs <= MAX.spans + 10


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_parts_of_a_hostile_note_are_small_or_refused(qapp, slices: Slices, text: str) -> None:
    assert len(text) >= SIZE
    try:
        parts = slices(text)
    except MnemoscopeError:
        return
    for part in (*parts[:12], parts[-1]):  # they repeat one pattern
        assert_small(part)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.sampled_from(MARKUP), st.sampled_from([1, 2, 30, 900])), min_size=1, max_size=12))
@example([("> ", 1), ("    ", 1800)])  # one line; Qt takes everything after the first marker for code
def test_parts_of_any_markup_are_small_or_refused(qapp, slices: Slices, pieces: list[tuple[str, int]]) -> None:
    try:
        parts = slices("".join(piece * times for piece, times in pieces) * 3)
    except MnemoscopeError:
        return
    for part in parts:
        assert_small(part)


@pytest.mark.parametrize("text", LONG_BUT_PLAIN.values(), ids=LONG_BUT_PLAIN)
def test_long_plain_note_is_cut_and_not_refused(qapp, slices: Slices, text: str) -> None:
    parts = slices(text)
    assert len(parts) > 3
    assert max(map(len, parts)) < 2 * ENOUGH.characters


def test_parts_contain_front_matter_as_code(slices: Slices) -> None:
    assert slices("---\ntitle: A\n---\n# One") == [f"~~~~~~yaml\ntitle: A\n~~~~~~\n{SEPARATOR}\n\n# One\n"]
    assert slices("Author:: Ada\n# One") == [f"~~~~~~\nAuthor:: Ada\n~~~~~~\n{SEPARATOR}\n\n# One\n"]
    assert slices("---\n# One\n---\n# Two") == ["---\n# One\n---\n# Two\n"]


def _formats(parts: list[str]) -> list[tuple[object, ...]]:
    style = PageStyle(fixed_font(), fixed_font(), theme_tokens("light"), 1.0)
    steps = page_steps(parts, style)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            document = end.value.document
            break
    return [
        (
            block.text(),
            block.textList() is not None,
            is_code(block),
            quote_level(block),
            block.blockFormat().headingLevel(),
            QTextCursor(block).currentTable() is not None,
        )
        for block in blocks(document)
        if block.text()
    ]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(PARTS), min_size=1, max_size=8))
def test_sliced_note_renders_like_whole_note(appearance, slices: Slices, chosen: list[str]) -> None:
    text = "\n".join(chosen)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(markdown_parts, "ENOUGH", Load(1, 1, 1, 1, 1))
        parts = slices(text)
    assert _formats(parts) == _formats([text])
