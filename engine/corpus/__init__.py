"""Finds and reads notes: discovery, ignore rules, front matter, titles, chunks.

In: folders and settings.
Out: files with stable names, their text as chunks with line numbers, and a reason for each skipped file.
"""
