"""Basics without dependencies: errors, cancellation, translation, number formats, private files, bounded JSON.

In: nothing from the program; every other package may import this one.
Out: exceptions, `CancelToken`, `tr`, and file helpers with safe modes.
"""
