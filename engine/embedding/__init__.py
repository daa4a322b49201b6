"""Embedding providers: built-in model, OpenAI-compatible, Gemini, Voyage, GGUF.

In: texts, settings, and the user's consent for remote providers.
Out: L2-normalised float32 vectors, or errors that say how to fix the problem.
"""
