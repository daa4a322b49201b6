"""The database: `index.sqlite`, which can be rebuilt, and `user.sqlite`, which cannot.

In: rows to write, in short transactions by one writer.
Out: snapshots to read, vectors to search, and SQLite's errors as sentences.
"""
