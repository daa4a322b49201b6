"""Inspection of an index: overview, folders, duplicates, map of the passages by meaning (t-SNE), health.

In: a snapshot of the index.
Out: records for display. Only repairs change the index.
"""
