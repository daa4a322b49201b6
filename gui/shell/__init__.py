"""The frame of the window: header, panes, views, dock.

In: the panels.
Out: a layout that adapts to the width, and the current view.
"""
