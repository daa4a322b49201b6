"""Charts with keyboard access and a table behind each.

In: a `Series`.
Out: bars, shares and lines in the colours of the theme.
"""
