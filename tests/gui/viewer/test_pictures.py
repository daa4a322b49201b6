"""Images of the searched folders on the page of a note."""

from pathlib import Path

import pytest
from PySide6.QtCore import QSize, QUrl
from PySide6.QtGui import QColor, QImage, QTextDocument

from gui.style.theme import theme_tokens
from gui.style.typography import fixed_font
from gui.viewer import external_programs, pictures
from gui.viewer.markdown_extensions import NoteMarkup
from gui.viewer.markdown_page import Page, PageStyle, page_steps
from gui.viewer.panel import ViewerPanel
from gui.viewer.pictures import Picture, Pictures
from tests.helpers.fake_insight import FakeInsight
from tests.helpers.fake_memory import FakeMemory

IMAGE = QTextDocument.ResourceType.ImageResource.value


@pytest.fixture
def image(tmp_path: Path, qapp) -> Path:
    """A blue image of 300 x 200 pixels."""
    made = QImage(300, 200, QImage.Format.Format_RGB32)
    made.fill(QColor("blue"))
    path = tmp_path / "x.png"
    assert made.save(str(path))
    return path


def collected(image: Path, scale: float = 1.0) -> Pictures:
    return Pictures({"x.png": image, "img/my x.png": image}.get, scale)


@pytest.mark.parametrize(
    ("text", "markdown", "size"),
    [
        ("![[x.png]]", r"![x.png](picture:0)", QSize(300, 200)),
        ("![[x.png|150]]", r"![x.png](picture:0)", QSize(150, 100)),
        ("![[x.png|A plan|60x40]]", "![A plan](picture:0)", QSize(60, 40)),
        ("Look: ![the *plan*](x.png) there", "Look: ![the plan](picture:0) there", QSize(300, 200)),
        ("| ![[x.png\\|150]] |", "| ![x.png](picture:0) |", QSize(150, 100)),
        ("| ![[x.png\\|A plan\\|60]] |", "| ![A plan](picture:0) |", QSize(60, 40)),
        ("![[x.png#outline|150]]", "![x.png#outline](picture:0)", QSize(150, 100)),
        ('![a](<img/my x.png> "Title")', "![a](picture:0)", QSize(300, 200)),
        ("[![a](x.png)](https://example.org)", "[![a](picture:0)](https://example.org)", QSize(300, 200)),
    ],
)
def test_markup_of_known_image_names_picture(image: Path, text: str, markdown: str, size: QSize) -> None:
    found = collected(image)
    assert NoteMarkup(lambda *_: None, frozenset(), found).line(1, text) == markdown
    assert found.found == {"picture:0": Picture(image, size)}


@pytest.mark.parametrize("text", ["![a](y.png)", "![a](https://example.org/x.png)", "`![a](x.png)`", "\\[a](x.png)"])
def test_markup_of_other_image_is_unchanged(image: Path, text: str) -> None:
    found = collected(image)
    assert NoteMarkup(lambda *_: None, frozenset(), found).line(1, text) == text
    assert found.found == {}


def test_large_image_is_scaled_to_limit(image: Path) -> None:
    found = collected(image)
    found.url("x.png", 3_000)
    assert found.found["picture:0"].size == QSize(800, 533)
    larger = collected(image, 2.0)
    larger.url("x.png", 3_000)
    assert larger.found["picture:0"].size == QSize(1600, 1066)


@pytest.mark.parametrize(("limit", "value"), [("MAX_BYTES", 10), ("MAX_PIXELS", 59_999), ("MAX_PICTURES", 0)])
def test_image_over_a_limit_is_not_shown(image: Path, monkeypatch: pytest.MonkeyPatch, limit: str, value: int) -> None:
    monkeypatch.setattr(pictures, limit, value)
    assert collected(image).url("x.png") == ""


def test_file_other_than_image_is_not_shown(image: Path) -> None:
    image.write_text("<svg xmlns='http://www.w3.org/2000/svg' width='10' height='10'/>")
    assert collected(image).url("x.png") == ""


def test_link_in_place_of_an_image_is_not_followed(image: Path) -> None:
    other = image.rename(image.with_name("other.png"))
    image.symlink_to(other)
    assert collected(image).url("x.png") == ""
    assert collected(other).url("x.png") == "picture:0"


def page_of(markdown: str, found: dict[str, Picture]) -> Page:
    font = fixed_font()
    steps = page_steps([markdown], PageStyle(font, font, theme_tokens("light"), 1.0), found)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


def test_page_reserves_room_within_its_width(image: Path) -> None:
    page = page_of("![a](picture:0)\n\n![gone](picture:7)\n", {"picture:0": Picture(image, QSize(300, 200))})
    assert page.texts == ("\ufffc", "[image: gone]")
    layout, block = page.document.documentLayout(), page.document.firstBlock()
    page.document.setTextWidth(1000)
    assert layout.blockBoundingRect(block).height() == pytest.approx(200, abs=30)
    page.document.setTextWidth(150)
    assert layout.blockBoundingRect(block).height() == pytest.approx(100, abs=30)
    for begin in ("> a\n> ", "> > ", "- a\n\n  ", "- a\n  - a\n\n    ", "- a\n  > a ", "| a | b |\n|---|---|\n| a | "):
        document = page_of(f"{begin}![a](picture:0)\n", {"picture:0": Picture(image, QSize(900, 600))}).document
        for width in (200, 400):
            document.setTextWidth(width)
            assert document.size().width() == width, begin


def _tops(document: QTextDocument) -> list[float]:
    layout = document.documentLayout()
    return [layout.blockBoundingRect(document.findBlockByNumber(number)).top() for number in range(3)]


def test_image_appears_without_moving_text_and_opens(
    qtbot, panel: ViewerPanel, memory: FakeMemory, image: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = memory.folder / "images"
    folder.mkdir()
    (folder / "x.png").write_bytes(image.read_bytes())
    memory.insight = FakeInsight(memory)
    memory.files["a.md"] = "# A\n\n![[x.png]]\n\nBelow ![b](https://example.org/b.png)\n"
    view = panel.rendered
    before: list[list[float]] = []
    view.rendered.connect(lambda: before.append(_tops(view.document())))
    panel.choose_rendered(True)
    with qtbot.waitSignal(panel.file_shown):
        panel.show_file("a.md")
    qtbot.waitUntil(lambda: _pixel(view.document()) == QColor("blue"))
    assert before == [_tops(view.document())]
    assert before[0][2] > before[0][1] + 200
    assert view.toPlainText().endswith("Below [image: b]")
    opened: list[Path] = []
    monkeypatch.setattr(external_programs, "open_in_reader", lambda path, _: opened.append(path) or "")
    panel.follow_link(QUrl("note:x.png"))  # as for [[x.png]]
    qtbot.waitUntil(lambda: opened == [folder / "x.png"])
    panel.follow_link(QUrl("note:y.png"))
    qtbot.waitUntil(lambda: "y.png" in panel.banner.text)


def _pixel(document: QTextDocument) -> QColor:
    """Return the colour of the first picture's pixel at 5, 5."""
    picture = document.resource(IMAGE, QUrl("picture:0"))
    return picture.toImage().pixelColor(5, 5)
