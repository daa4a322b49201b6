"""The window: the Qt front end of the program.

In: what `engine/__init__.py` exports.
Out: a desktop program; `__main__` also passes commands to `engine.cli`.
"""
