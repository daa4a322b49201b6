"""The workspace switcher.

In: the known workspaces.
Out: the one to open, add or forget.
"""
