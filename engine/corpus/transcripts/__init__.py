"""Formats of agent transcripts, one module per format, collected in `registry`.

In: a transcript file, export or database.
Out: messages with role, time and line, and metadata of the session such as its project.
"""
