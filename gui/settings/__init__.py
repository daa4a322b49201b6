"""The settings dialog: pages, option rows, checks.

In: the options declared in `engine.settings`.
Out: changes of the settings file.
"""
