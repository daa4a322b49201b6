"""Chooses what to index: the first start and the sources page.

In: folders and sessions found on this machine.
Out: a preview, then a workspace with its sources.
"""
