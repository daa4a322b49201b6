"""Choosing from the menus of filter chips."""

from PySide6.QtWidgets import QMenu, QPushButton, QWidget


def choose_from_chip(chips: QWidget, chip: str, words: str) -> None:
    """Choose the entry with this text from the menu of the chip whose name starts with `chip`."""
    buttons = chips.findChildren(QPushButton)
    button = next(b for b in buttons if (b.accessibleName() or b.text()).startswith(chip))
    menu: QMenu = button.menu()
    menu.aboutToShow.emit()
    menus = [menu, *(action.menu() for action in menu.actions() if action.menu())]
    next(a for m in menus for a in m.actions() if a.text().split("\t")[0] == words).trigger()
