"""Inspection of an index: overview, folders, duplicates, map, health.

In: a snapshot of the index.
Out: records for display. Only repairs change the index.
"""
