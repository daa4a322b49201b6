"""Brings an index up to date: reads changed files, embeds chunks, watches folders.

In: a workspace, its settings, and an open `IndexStore`.
Out: committed rows and vectors, progress updates, and a `SyncReport`.
"""
