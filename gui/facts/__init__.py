"""The facts view: a list, an editor, filters, undo.

In: the facts of the open memory.
Out: saved, changed and forgotten facts.
"""
