"""Batch APIs of embedding providers: cheaper, with results hours later.

In: texts with their hashes.
Out: vectors by hash; job ids are stored, so that a restart resumes instead of paying again.
"""
