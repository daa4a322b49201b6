"""Shows the images of a note in its page. The page is made with their sizes; their pixels follow and move nothing."""

import re
import stat
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, QSize, Qt, QUrl, Signal
from PySide6.QtGui import (
    QImage,
    QImageIOHandler,
    QImageReader,
    QPixmap,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextLength,
)

from engine import CancelToken, tr, written_links
from gui.core.jobs import Jobs, JobSlot
from gui.viewer.markdown_html import escaped

MAX_BYTES = 20 * 1024 * 1024
MAX_PIXELS = 40_000_000
MAX_PICTURES = 50
"""Limits of a file, of its pixels, and of the images on one page; others are shown by their descriptions."""
_MAX_WIDTH, _MAX_HEIGHT = 800, 600
"""Largest size of an image on the page, in pixels for font scale 1."""
_SCHEME = "picture"
_FORMATS = (b"png", b"jpg", b"jpeg", b"gif", b"webp", b"bmp")
_RESOURCE = QTextDocument.ResourceType.ImageResource.value
_IMAGE_ALT = QTextFormat.Property.ImageAltText.value
_NARROW_PAGE = 200
"""Width in pixels, for font scale 1, from which images fit next to an indentation; Qt takes shares of the page only."""
_MIN_SHARE = 0.3
_CELL_SHARE = 0.8
"""Share of the width of a column that an image gets, next to the padding of the cell."""

LocateImage = Callable[[str], Path | None]
"""Returns the path of an image in the searched folders by the target of a link; called on a pool thread."""


@dataclass(frozen=True)
class Picture:
    path: Path
    size: QSize
    """Size on the page, in logical pixels, if the page is wide enough."""


class Pictures:
    """Collects the images of one page, on a pool thread, while the text of the note is rewritten."""

    def __init__(self, locate: LocateImage, scale: float = 1.0) -> None:
        """`scale`: the font scale, by which the largest size of an image grows."""
        self._locate = locate
        self._most = QSize(round(_MAX_WIDTH * scale), round(_MAX_HEIGHT * scale))
        self.found: dict[str, Picture] = {}
        """The images by their URLs on the page."""

    def url(self, target: str, width: int = 0) -> str:
        """Return the URL of an image on the page, by the target of a link; empty if it can't be shown.

        `width`: the width that the note gives, in pixels; 0 if it gives none.
        """
        if "://" in target or len(self.found) == MAX_PICTURES:
            return ""
        path = self._locate(target)
        if path is None and "#" in target:  # themes of Obsidian read how to show an image from there
            path = self._locate(target.partition("#")[0])
        size = None if path is None else _size_of(path)
        if path is None or size is None:
            return ""
        if width:
            size.scale(width, 1_000_000, Qt.AspectRatioMode.KeepAspectRatio)
        if size.width() > self._most.width() or size.height() > self._most.height():
            size.scale(self._most, Qt.AspectRatioMode.KeepAspectRatio)
        url = f"{_SCHEME}:{len(self.found)}"
        self.found[url] = Picture(path, size.expandedTo(QSize(1, 1)))
        return url


_WIDTH = re.compile(r"(?:(.*)\|)?[ \t]*(\d{1,4})(?:x\d{1,4})?[ \t]*")
"""The width of an image in Obsidian, after its description or instead of it."""


def words_and_width(description: str) -> tuple[str, int]:
    """Return the description of an image and its width, 0 for none; in a cell of a table, each `|` is written `\\|`."""
    description = description.replace("\\|", "|").removesuffix("\\")
    match = _WIDTH.fullmatch(description)
    return (match[1] or "", int(match[2])) if match else (description, 0)


_EMBED = re.compile(r"!\[\[([^\[\]|\n]{1,400})(?:\|([^\[\]\n]{0,400}))?\]\]")
_IMAGE = re.compile(
    r"!\[([^\[\]\n]{0,400})\]\((?:<([^<>\n]{1,1000})>|([^()<>\s]{1,1000}))(?:[ \t]+(?:\"[^\"\n]*\"|'[^'\n]*'))?\)"
    r"(\{:[^{}\n]{1,100}\})?"
)
"""An image of Markdown, and its size as Logseq writes it."""
_LOGSEQ_WIDTH = re.compile(r":width[ \t]+(\d{1,4})")
_IN_DESCRIPTION = re.compile(r"[\\`*\[\]<>~&|]|(?<!\w)_|_(?!\w)")
"""Markup in the description of an image: Qt repeats the image for each part. It shows none without a description."""


class ImageMarkup:
    """Rewrites the images of Markdown, so that those that can be shown name the pictures of the page."""

    def __init__(self, pictures: Pictures | None) -> None:
        """`pictures`: collects the images; without it, none is shown."""
        self._pictures = pictures

    def rewrite(self, text: str) -> str:
        """Return the text with its images of Markdown and its embedded ones of Obsidian rewritten."""
        text = _EMBED.sub(lambda match: self.image(match[0], match[1], match[2] or ""), text)
        return _IMAGE.sub(self._markdown_image, text)

    def _markdown_image(self, match: re.Match[str]) -> str:
        size = match[4] or ""
        width = _LOGSEQ_WIDTH.search(size)
        description = f"{match[1]}|{width[1]}" if width else match[1]
        return self.image(match[0].removesuffix(size), match[2] or match[3], description)

    def image(self, markup: str, target: str, description: str) -> str:
        """Return Markdown for an image of the searched folders; the unchanged `markup` if it can't be shown."""
        words, width = words_and_width(description)
        target = target.strip().removesuffix("\\")  # before the | in a cell of a table
        url = "" if self._pictures is None else self._pictures.url(target, width)
        if not url and markup.startswith("![[") and not written_links(markup):
            return f"*{escaped(words or target.partition('#')[0])}*"  # a video or audio file
        alt = " ".join(_IN_DESCRIPTION.sub(" ", words or target.rpartition("/")[2]).split()) or "…"
        if not url and markup.startswith(("![[", f"![{alt}](")):
            return markup
        return f"![{alt}]({url or f'<{target}>'})"


def reserve(document: QTextDocument, pictures: Mapping[str, Picture]) -> None:
    """Give the document a transparent image in the size of each picture."""
    for url, picture in pictures.items():
        blank = QPixmap(picture.size)
        blank.fill(Qt.GlobalColor.transparent)
        document.addResource(_RESOURCE, QUrl(url), blank)


def place_images(
    runs: Sequence[tuple[int, int, QTextCharFormat]],
    cursor: QTextCursor,
    pictures: Mapping[str, Picture],
    indent: float,
) -> None:
    """Limit the width of the known images to the page, and replace the others by their descriptions.

    `runs`: position, length and format of each run of text in a block. Displaying a note must not load anything else.
    `indent`: indentation of the block, in pixels for font scale 1.
    """
    images = [found for found in runs if found[2].isImageFormat()]
    share = max(_MIN_SHARE, 1 - indent / _NARROW_PAGE)
    for position, length, look in reversed(images):
        cursor.setPosition(position)
        cursor.setPosition(position + length, QTextCursor.MoveMode.KeepAnchor)
        image = look.toImageFormat()
        if image.name() in pictures:
            table = cursor.currentTable()
            percent = 100 * (share if table is None else _CELL_SHARE / table.columns())
            image.setMaximumWidth(QTextLength(QTextLength.Type.PercentageLength, percent))
            cursor.setCharFormat(image)
            continue
        name = look.property(_IMAGE_ALT) or image.name().rsplit("/", 1)[-1]
        plain = QTextCharFormat()
        plain.setFontItalic(True)
        cursor.insertText(tr("[image: {name}]", name=name), plain)


class PictureLoader(QObject):
    """Decodes the images of one page after each other, in the background.

    Signals: loaded: another image is in the document.
    """

    loaded = Signal()

    def __init__(self, jobs: Jobs, parent: QObject) -> None:
        super().__init__(parent)
        self._job = JobSlot(self, jobs)
        self._document: QTextDocument | None = None
        self._due: list[tuple[str, Picture]] = []
        self._ratio = 1.0

    def start(self, document: QTextDocument, pictures: Mapping[str, Picture], ratio: float) -> None:
        """Load the images into a document that has room for them; `ratio`: device pixels per logical pixel."""
        self.stop()
        self._document, self._ratio = document, ratio
        self._due = list(pictures.items())[::-1]
        self._load_next()

    def stop(self) -> None:
        self._job.cancel()
        self._document, self._due = None, []

    def _load_next(self) -> None:
        if not self._due:
            return
        url, picture = self._due.pop()
        ratio = self._ratio

        def work(_token: CancelToken) -> QImage:
            return _decode(picture, ratio)

        def show(image: QImage) -> None:
            if self._document is not None and not image.isNull():
                self._document.addResource(_RESOURCE, QUrl(url), QPixmap.fromImage(image))
                self.loaded.emit()
            self._load_next()

        self._job.read(work, show)


def _size_of(path: Path) -> QSize | None:
    """Return the displayed size of an image; None if it is too large or can't be read. On a pool thread."""
    reader = _reader(path)
    if reader is None:
        return None
    return reader.size().transposed() if _is_turned(reader) else reader.size()


def _decode(picture: Picture, ratio: float) -> QImage:
    """Decode an image in the size in which the page shows it; a null image if it can't be read. On a pool thread."""
    reader = _reader(picture.path)  # perhaps another file since its size was read
    if reader is None:
        return QImage()
    reader.setAutoTransform(True)
    size = picture.size * ratio
    reader.setScaledSize(size.transposed() if _is_turned(reader) else size)
    image = reader.read()
    image.setDevicePixelRatio(ratio)
    return image


def _reader(path: Path) -> QImageReader | None:
    """Return a reader for an image within the limits; None for other files.

    It may be another file than was located: opening a pipe would stop all threads, as it holds Python's lock.
    """
    try:
        status = path.lstat()
        if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_BYTES:
            return None
    except OSError:
        return None
    kind = QImageReader.imageFormat(str(path))
    reader = QImageReader(str(path), kind)
    size = reader.size()
    fits = kind.data() in _FORMATS and not size.isEmpty() and size.width() * size.height() <= MAX_PIXELS
    return reader if fits else None


def _is_turned(reader: QImageReader) -> bool:
    """Return whether width and height are exchanged when the image is shown, as in photos taken upright."""
    return bool(reader.transformation().value & QImageIOHandler.Transformation.TransformationRotate90.value)
