"""Markdown as a page of rich text."""

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QTextBoundaryFinder
from PySide6.QtGui import QGuiApplication, QImage, QPainter, QTextDocument, QTextTable

from engine import CancelToken, NumberedText
from gui.style.theme import theme_tokens
from gui.style.typography import fixed_font
from gui.viewer import markdown_parts
from gui.viewer.markdown_page import (
    Page,
    PagePainter,
    PageStyle,
    blocks,
    inline_code,
    is_code,
    page_steps,
    quote_level,
)
from gui.viewer.markdown_parts import Load, markdown_slices
from gui.viewer.outline import Outline
from gui.viewer.panel import ViewerPanel
from gui.viewer.rendered_view import RenderedView
from gui.viewer.text_lines import FileLines
from tests.helpers.fake_memory import FakeMemory

NOTE = """\
---
title: front
---
# A

- one
- two

## B *c*
```sh
# no heading
```
### D
> quoted `code`

| a | b |
|---|---|
| 1 | 2 |

## E
![photo](x.png) end
"""


@pytest.fixture
def build(appearance, tmp_path: Path):
    def built(text: str, width: int = 700) -> Page:
        path = tmp_path / "note.md"
        path.write_text(text)
        lines = FileLines(NumberedText.open(path))
        font = QGuiApplication.font()
        font.setPointSizeF(fixed_font().pointSizeF())
        style = PageStyle(font, fixed_font(), theme_tokens("light"), 1.0, width=width)
        outline = Outline.of(lines, CancelToken())
        steps = page_steps(markdown_slices(lines, outline), style)
        while True:
            try:
                next(steps)
            except StopIteration as end:
                return end.value

    return built


def test_page_has_texts_and_headings(build) -> None:
    made = build(NOTE)
    assert made.texts[:7] == ("title: front", "", "A", "one", "two", "B c", "# no heading")
    assert [key for _, key in made.headings] == ["a", "bc", "d", "e"]
    assert made.texts[-1] == "[image: photo] end"


@pytest.fixture
def slice_after(monkeypatch) -> Callable[[int], None]:
    """Return a function that sets the size of the parts in which a note is built."""
    return lambda size: monkeypatch.setattr(markdown_parts, "ENOUGH", Load(size, size, size, size, size))


def test_long_file_in_slices_gives_same_page(build, slice_after) -> None:
    whole = build(NOTE)
    slice_after(1)
    pieces = build(NOTE)
    assert (pieces.texts, pieces.headings) == (whole.texts, whole.headings)
    assert [is_code(block) for block in blocks(pieces.document)] == [is_code(block) for block in blocks(whole.document)]


@pytest.mark.parametrize("size", [1, 48 * 1024])
def test_tables_are_styled(build, slice_after, size: int) -> None:
    slice_after(size)
    made = build("# T\n\ntext\n\n```\nx\n```\n\n| bed | sown |\n|---|---|\n| 1 | 2 |\n")
    [table] = [frame for frame in made.document.rootFrame().childFrames() if isinstance(frame, QTextTable)]
    assert table.format().borderBrush().color() == theme_tokens("light").line
    first = table.cellAt(0, 0).firstCursorPosition()
    assert first.block().text() == "bed"
    assert first.block().charFormat().fontWeight() or first.charFormat().fontWeight() > 400


def test_table_after_quoted_code_has_equal_cells(build) -> None:
    page = build("# T\n\n> ```\n> c\n> ```\n>\n> | a | b |\n> |---|---|\n> | 1 | 2 |\n\nafter\n")
    [table] = [frame for frame in page.document.rootFrame().childFrames() if isinstance(frame, QTextTable)]
    cells = [table.cellAt(row, column).firstCursorPosition().block() for row in (0, 1) for column in (0, 1)]
    assert [cell.text() for cell in cells] == ["a", "b", "1", "2"]
    assert [(quote_level(cell), cell.blockFormat().leftMargin()) for cell in cells] == [(0, 0)] * 4


def table_of(build, header: str, cell: str, columns: int, width: int) -> tuple[Page, QTextTable]:
    """Return a page of this width with a table of three rows."""
    rows = ("|".join(["", *[text] * columns, ""]) for text in (header, "---", cell, cell))
    page = build("# T\n\n" + "\n".join(rows), width)
    page.document.setTextWidth(width)
    [table] = [frame for frame in page.document.rootFrame().childFrames() if isinstance(frame, QTextTable)]
    return page, table


def broken_words(table: QTextTable) -> list[str]:
    """Return the lines of a table that end within a word, where Qt breaks only words that are too long."""
    broken = []
    for row in range(table.rows()):
        for column in range(table.columns()):
            block = table.cellAt(row, column).firstCursorPosition().block()
            text, layout = block.text(), block.layout()
            finder = QTextBoundaryFinder(QTextBoundaryFinder.BoundaryType.Line, text)
            for line in map(layout.lineAt, range(layout.lineCount())):
                finder.setPosition(line.textStart() + line.textLength())
                if not finder.isAtBoundary():
                    broken.append(text[line.textStart() : finder.position()])
    return broken


@pytest.mark.parametrize(
    ("header", "cell"),
    [
        ("number", "of the table"),
        ("HTTP", "JSON and API"),
        ("**INTERNATIONALIZATION**", "x"),
        ("`some_function_name_1`", "`other_function_name_1`"),
        ("x", "ארוכהמאודמאוד"),
        ("x", "長い文章です。"),
    ],
)
@pytest.mark.parametrize("width", [300, 700])
def test_words_of_a_wide_table_stay_whole(build, header: str, cell: str, width: int) -> None:
    page, table = table_of(build, header, cell, 20, width)
    assert page.document.size().width() > width
    assert broken_words(table) == []


def test_table_that_fits_has_the_width_of_the_page(build) -> None:
    page, table = table_of(build, "number", "a sentence of several words", 4, 700)
    assert page.document.size().width() == 700
    page, table = table_of(build, "x", "長い文章" * 12, 4, 700)  # without spaces, but Qt breaks it anywhere
    assert page.document.size().width() == 700
    assert broken_words(table) == []


def test_underscores_and_asterisks_mean_the_same(build) -> None:
    made = build("_a_ *b* __c__ **d** snake_case_x\n")
    block = made.document.firstBlock()
    found, position = [], block.begin()
    while not position.atEnd():
        ink = position.fragment().charFormat()
        found.append((position.fragment().text().strip(), ink.fontItalic(), ink.fontWeight() > 500))
        assert not ink.fontUnderline()
        position += 1
    emphasis = [("a", True, False), ("b", True, False), ("c", False, True), ("d", False, True)]
    assert [run for run in found if run[0]] == [*emphasis, ("snake_case_x", False, False)]


LOGSEQ = """\
## Usage
id:: 60a78b6b
\t- one *a*
\t  more
\t\t- nested
\t\t- ```
\t\t  code
\t\t  ```
text

### Code

    - kept

1. a
    - b
"""


def test_list_that_is_indented_below_a_heading_is_a_list(build) -> None:
    made = build(LOGSEQ)
    lists = [(block, block.textList()) for block in blocks(made.document) if not is_code(block)]
    assert [(block.text(), items.format().indent()) for block, items in lists if items] == [
        ("one a more", 1),
        ("nested", 2),
        ("a", 1),
        ("b", 2),
    ]
    assert [block.text() for block in blocks(made.document) if is_code(block)] == ["code", "- kept"]
    assert "- kept" in made.texts


def test_quote_and_code_formats_are_readable_from_blocks(build) -> None:
    made = build(NOTE)
    quoted = next(block for block in blocks(made.document) if block.text() == "quoted code")
    assert quote_level(quoted) == 1
    assert inline_code(quoted) == [(7, 11)]
    assert [block.text() for block in blocks(made.document) if is_code(block)] == ["title: front", "# no heading"]


def _bar_next_to(made: Page, text: str) -> int:
    """Return where the bar next to the paragraph with this text is painted."""
    block = next(block for block in blocks(made.document) if block.text() == text)
    rect = made.document.documentLayout().blockBoundingRect(block)
    picture = QImage(700, 600, QImage.Format.Format_RGB32)
    picture.fill(Qt.GlobalColor.white)
    painter = QPainter(picture)
    PagePainter(painter, made.document, theme_tokens("light"), scale=1.0).paint_backgrounds(block, rect, first=True)
    painter.end()
    middle = round(rect.center().y())
    return next(x for x in range(700) if picture.pixelColor(x, middle) != Qt.GlobalColor.white)


def test_bar_of_quote_in_list_is_beside_its_text(build) -> None:
    made = build("> plain\n> - first\n\ntext\n\n- one\n  - two\n\n    > quote\n    > - item\n\nend\n\n> - list\n")
    made.document.setTextWidth(700)
    bars = {text: _bar_next_to(made, text) for text in ("plain", "first", "quote", "item", "list")}
    assert bars == {"plain": 0, "first": 0, "quote": 48, "item": 48, "list": 0}


def test_box_of_code_begins_on_the_page(build) -> None:
    made = build("```\ncode\n```\n")
    made.document.setTextWidth(700)
    assert made.document.documentLayout().blockBoundingRect(made.document.begin()).top() >= 6


@pytest.mark.parametrize(
    "paragraph", ["一段很長的中文文字沒有任何空格" * 300, "👩‍👩‍👧‍👦" * 400, "e\u0301\u0323" * 1500]
)
def test_long_paragraphs_never_laid_out_without_a_width(
    qtbot, panel: ViewerPanel, show, memory: FakeMemory, monkeypatch: pytest.MonkeyPatch, paragraph: str
) -> None:
    memory.files["long.md"] = "\n\n".join([paragraph] * 60)
    missing: list[float] = []
    original = RenderedView.setDocument

    def measured(view: RenderedView, document: QTextDocument) -> None:
        missing.append(view.viewport().width() - document.textWidth())
        original(view, document)

    monkeypatch.setattr(RenderedView, "setDocument", measured)
    panel.choose_rendered(True)
    show("long.md")
    qtbot.waitUntil(lambda: panel.rendered.document().lastBlock().layout().lineCount() > 1)
    assert missing == [0]
