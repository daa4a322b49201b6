"""The quick search: a small window of its own, for a question in between."""
