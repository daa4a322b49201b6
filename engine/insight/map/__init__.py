"""Lays out all chunks on a two-dimensional map by their vectors (t-SNE).

In: the vectors of one model.
Out: a point per chunk, cached in a disposable file.
"""
