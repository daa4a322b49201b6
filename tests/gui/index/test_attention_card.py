"""The attention card, in columns that fold."""

from PySide6.QtWidgets import QFrame, QPushButton, QVBoxLayout

from gui.index.attention_items import Attention, AttentionCard
from gui.index.overview import TwoColumns
from gui.widgets.accessibility import stops

ROW = Attention("copies", "working", "2 near-duplicates", "", ("Compare", "duplicates"))


def test_rows_added_after_column_change_keep_tab_order(qtbot, appearance):
    """In one column the card is the first stop; in two columns it follows the left column."""
    left, button = QFrame(), QPushButton("Colour")
    QVBoxLayout(left).addWidget(button)
    card = AttentionCard(("duplicates",))
    columns = TwoColumns(QPushButton("Figures"))
    columns.set_cards(left=[left], right=[card], stacked=[card, left])
    columns.set_single(False)
    qtbot.addWidget(columns)
    columns.resize(300, 600)
    columns.show()
    columns.resize(1600, 600)
    qtbot.waitUntil(lambda: card.x() > left.x())
    for rows in ([ROW], [], [ROW]):
        card.show_rows("duplicates", rows)
        compare = card.findChildren(QPushButton)[-1]
        assert [one for one in stops(columns.widget()) if one in (button, compare)] == [button, compare]
