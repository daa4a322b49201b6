"""The language of the window: its own texts, Qt's texts, numbers, and the direction of lines."""

from pathlib import Path

from PySide6.QtCore import (
    QLibraryInfo,
    QLocale,
    Qt,
    QTranslator,
)
from PySide6.QtWidgets import QApplication

from engine import (
    TRIAL_LANGUAGES,
    speak,
    spoken,
    tr,
)

_RIGHT_TO_LEFT = "ar-XB"
"""The trial language for testing a mirrored window; no real translation is written from right to left."""


def apply_language(app: QApplication, tag: str) -> None:
    """Set the language of the window by its tag, such as `de`, or `system` for that of the desktop.

    Call it before any widget is created, since widgets translate their texts once.
    """
    speak(tag)
    spoken_language = spoken()
    trial = spoken_language in TRIAL_LANGUAGES
    # English keeps the desktop's own formats of numbers and paper sizes.
    if spoken_language != "en" and not trial:
        QLocale.setDefault(QLocale(spoken_language))
    app.setLayoutDirection(
        Qt.LayoutDirection.RightToLeft if spoken_language == _RIGHT_TO_LEFT else Qt.LayoutDirection.LeftToRight
    )
    translator = QTranslator(app)
    catalogues = Path(QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath))
    if not trial and translator.load(str(catalogues / f"qtbase_{spoken_language}.qm")):
        app.installTranslator(translator)
    app.installTranslator(_KeyNames(app))


class _KeyNames(QTranslator):
    """A translator that names the Return key “Enter”, as all sentences do; Qt's own catalogues don't translate it."""

    def translate(self, context: str, source: str, disambiguation: str | None = None, n: int = -1) -> str | None:
        """Return the name of the key; None for all other texts."""
        return tr("Enter") if context == "QShortcut" and source == "Return" else None

    def isEmpty(self) -> bool:
        return False
