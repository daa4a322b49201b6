"""The file viewer: source or rendered page with the matches highlighted.

In: a file of the memory, read off the GUI thread.
Out: painted lines, find, links and actions.
"""
