"""The map page: every chunk as a point, similar ones close together.

In: an `IndexMap`.
Out: a view to pan, zoom and select in.
"""
