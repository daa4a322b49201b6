"""The guide and the licences.

In: the pages in `resources/guide` and the installed packages.
Out: a window with search.
"""
