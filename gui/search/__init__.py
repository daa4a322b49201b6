"""The search view: filters, runner, results, saved searches.

In: the typed query and its options. Out: a `Query` to the memory, and its results as rows.
"""
