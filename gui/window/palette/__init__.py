"""The command palette.

In: all commands, saved searches and recent folders.
Out: the command that was chosen, run where the focus was.
"""
