"""The main window, its menu and its keyboard.

In: panels and controllers.
Out: the assembled window, with the location of the last run restored.
"""
