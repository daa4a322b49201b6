"""Answers from the built-in index while another backend fails.

In: the chosen backend and a way to open the built-in one.
Out: one `MemorySearchManager` that switches between them and reports why.
"""
