"""Queries an index: keyword and vector candidates, absolute scores, cut-off, snippets, explanation.

In: a `SearchRequest` and a snapshot of the index.
Out: a `SearchOutcome` with results, stages and suggestions.
"""
