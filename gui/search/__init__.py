"""The search view: filters, runner, results, saved searches.

In: what is typed and chosen.
Out: a `Query` to the memory, and its results as rows.
"""
