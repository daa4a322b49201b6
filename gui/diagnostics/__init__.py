"""The diagnostics panel: shows the status of the memory in words, and explains why a file is not found.

In: the status record.
Out: labelled values with a state and a remedy.
"""
