"""The map page: every chunk is a point, and similar chunks are close together.

In: an `IndexMap`.
Out: a view to pan, zoom and select in.
"""
