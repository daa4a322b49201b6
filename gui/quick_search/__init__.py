"""The quick search window.

In: a typed query.
Out: results in a small window; a chosen one opens in the main window.
"""
