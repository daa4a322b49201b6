"""The explanation panel: why a result was found and how the search worked.

In: a `SearchExplanation`.
Out: score bars, tables and sentences.
"""
