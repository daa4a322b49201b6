"""The sessions view: a list with filters.

In: summaries of all sessions.
Out: a filtered list; the selected session opens in `gui.conversation`.
"""
