"""The settings dialog: pages, rows of options, tests of choices.

In: the options declared in `engine.settings`.
Out: changes of the settings file.
"""
