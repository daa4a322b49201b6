"""Controls that several panels use.

In: values to show.
Out: widgets with keyboard access and accessible names.
"""
