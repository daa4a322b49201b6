"""The conversation view of one session.

In: the messages of a session, prepared off the GUI thread.
Out: painted rows with selection, search hits and links; signals for actions.
"""
