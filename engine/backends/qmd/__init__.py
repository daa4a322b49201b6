"""Backend that uses the command `qmd` for indexing and search.

In: collections of notes, exported sessions, and queries.
Out: results with stable file names, and errors of the command as sentences.
"""
