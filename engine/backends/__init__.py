"""Backends: the built-in index, qmd, LanceDB, and the fallback that wraps the others.

In: a workspace folder and its settings (`opening.open_memory`).
Out: a `MemorySearchManager`, the same contract for every backend.
"""
