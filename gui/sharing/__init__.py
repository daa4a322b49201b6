"""Exports, prints and copies results and sessions.

In: results, notes or sessions.
Out: files chosen by the user, PDF pages, drag data.
"""
