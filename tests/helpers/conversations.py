"""Wait for an open session on the screen."""

from gui.conversation.panel import ConversationPanel


def settle(qtbot, panel: ConversationPanel) -> None:
    """Wait until all texts in view are laid out."""

    def laid_out() -> bool:
        panel.view.repaint()
        return all(text is not None for text in visible_pieces(panel))

    qtbot.waitUntil(laid_out)


def visible_pieces(panel: ConversationPanel) -> list:
    layout = panel.view.scroller.layout
    rows = [piece.row for piece in panel.view.scroller.visible()]
    return [layout.document_of(row) for row in rows if layout.piece_of(row) is not None]
