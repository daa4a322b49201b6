"""Finds notes and agent sessions on this computer, for the first start.

In: the home folder and environment variables.
Out: folders with their kind and size; no file is opened.
"""
