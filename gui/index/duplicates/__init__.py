"""The duplicates page: groups of notes that share text, and two notes of a group side by side.

In: a `DuplicateReport`.
Out: a comparison by lines; no note is changed.
"""
