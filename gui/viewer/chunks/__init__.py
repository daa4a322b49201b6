"""The chunks of the file that is shown: a margin with their borders, and a card with the row of one of them."""
