"""Masks secrets in text before it is stored, embedded, shown or sent.

In: any text.
Out: the same text with passwords, tokens and keys replaced; patterns are data (`service_tokens`, `*_patterns`).
"""
