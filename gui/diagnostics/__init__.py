"""The diagnostics panel: the status record in words, and why a file is not found.

In: the status record.
Out: labelled values with a state and a remedy.
"""
