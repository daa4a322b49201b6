"""Charts with keyboard access, each with a table of its values.

In: a `Series`.
Out: bars, shares and lines in the colours of the theme.
"""
