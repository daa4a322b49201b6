"""The sessions room: every past session in a list, and the one that is read as a conversation."""
