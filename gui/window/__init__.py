"""The main window, its menu and its keyboard.

In: panels and controllers.
Out: the assembled window; it restores the last session.
"""
