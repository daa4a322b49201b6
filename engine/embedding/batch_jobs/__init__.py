"""Batch APIs of embedding providers: cheaper, with results hours later.

In: texts with their hashes.
Out: vectors by hash. Job ids are stored, so a restart resumes jobs instead of being charged again.
"""
