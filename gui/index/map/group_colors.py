"""The colour of each group, in the theme of a palette."""

from PySide6.QtGui import QColor, QPalette

from gui.index.map.groups import Grouping
from gui.style.theme import group_colours, tokens

_PALEST = 0.6
"""How far the oldest is from the accent's colour to the ground's; a shade further and it could not be seen."""


def colours_of(grouping: Grouping, palette: QPalette) -> tuple[QColor, ...]:
    """Different colours for different things, shades of the accent for ages: the newest strongest."""
    if grouping.ordered:
        colours, last = tokens(palette), max(1, len(grouping.names) - 1)
        return tuple(
            _between(colours.accent, colours.base, _PALEST * number / last) for number in range(len(grouping.names))
        )
    found = list(group_colours(palette)[: len(grouping.names)])
    if grouping.has_others:
        found[-1] = group_colours(palette)[-1]
    return tuple(found)


def _between(one: QColor, other: QColor, share: float) -> QColor:
    def mixed(own: int, others: int) -> int:
        return round(own + (others - own) * share)

    return QColor(mixed(one.red(), other.red()), mixed(one.green(), other.green()), mixed(one.blue(), other.blue()))
