"""The language of the window: of our own sentences, of Qt's buttons and menus, of numbers, and which way lines run."""

from pathlib import Path

from PySide6.QtCore import QLibraryInfo, QLocale, Qt, QTranslator
from PySide6.QtWidgets import QApplication

from engine import TRIAL_LANGUAGES, speak, spoken, tr

_RIGHT_TO_LEFT = "ar-XB"
"""The trial language that shows whether the window can be mirrored; no language that the program has is written so."""


def begin_speaking(app: QApplication, tag: str) -> None:
    """Set the language before any widget is created: widgets translate their texts once. `tag`: as for `speak`."""
    speak(tag)
    said = spoken()
    trial = said in TRIAL_LANGUAGES
    # English keeps the desktop's own formats of numbers and paper sizes.
    if said != "en" and not trial:
        QLocale.setDefault(QLocale(said))
    app.setLayoutDirection(Qt.LayoutDirection.RightToLeft if said == _RIGHT_TO_LEFT else Qt.LayoutDirection.LeftToRight)
    translator = QTranslator(app)
    catalogues = Path(QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath))
    if not trial and translator.load(str(catalogues / f"qtbase_{said}.qm")):
        app.installTranslator(translator)
    app.installTranslator(_KeyNames(app))


class _KeyNames(QTranslator):
    """The return key is called as in all sentences; Qt's own catalogues leave its name in English, also in menus."""

    def translate(self, context: str, source: str, disambiguation: str | None = None, n: int = -1) -> str | None:
        """None for texts that are not ours."""
        return tr("Enter") if context == "QShortcut" and source == "Return" else None

    def isEmpty(self) -> bool:
        return False
