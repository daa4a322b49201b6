"""The options of what is kept and what is sent, below a sentence on where texts go now."""

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QPushButton, QWidget

from engine import marked, tr
from gui.settings.model import SettingsModel
from gui.settings.options_page import OptionsPage
from gui.settings.wording import NAMES, sent_words
from gui.widgets.labels import breakable, label

_KEYS = marked("API keys are kept in the environment or in this system's keychain, never in the settings file.")


class PrivacyPage(OptionsPage):
    """Signals:
    page_wanted: name of another page.
    """

    page_wanted = Signal(str)

    def __init__(self, model: SettingsModel, parent: QWidget | None = None) -> None:
        self._sent = label("", wrap=True)
        choose = QPushButton(tr("Choose what turns text into meaning"))
        choose.setProperty("role", "link")
        choose.setAutoDefault(True)  # Enter presses the one that has the keys, on every platform
        choose.clicked.connect(lambda: self.page_wanted.emit("embedding"))
        above = (self._sent, label(tr(_KEYS), "meta", wrap=True), choose)
        super().__init__("privacy", model, above=above, parent=parent)
        model.loaded.connect(self._tell)
        self._tell()

    @Slot()
    def _tell(self) -> None:
        settings = self.model.now
        self._sent.setText(breakable(f"{tr(NAMES[settings.provider])}: {sent_words(settings)}"))
