"""The database layer: `index.sqlite`, which can be rebuilt, and `user.sqlite`, which cannot.

Writes: rows in short transactions, by a single writer. Reads: snapshots, vector searches, and SQLite's errors
translated into messages for the user.
"""
