"""Inspects an index: overview, folders, duplicates, map, health.

In: a snapshot of the index.
Out: records for display; nothing in the index changes, except for repairs.
"""
