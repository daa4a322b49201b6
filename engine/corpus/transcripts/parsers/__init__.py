"""Parsers of agents' transcripts, one module per file format; `transcripts.agents` declares which agents store it.

In: the lines of a transcript, a document, or a database.
Out: messages and metadata of the session.
"""
