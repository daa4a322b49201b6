"""Search across several workspaces.

In: the open memory and the other workspaces of this machine.
Out: one merged answer; files of other workspaces are named `///name/path`.
"""
