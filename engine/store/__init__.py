"""The database layer: `index.sqlite`, which can be rebuilt, and `user.sqlite`, which cannot.

In: rows to write in short transactions, by a single writer.
Out: snapshots to read, vector searches, and SQLite's errors translated into messages for the user.
"""
