"""Turns a session into a note.

In: a session.
Out: a new note after a preview, with undo.
"""
