"""Starts and ends the program: options, locale, demo, screenshots.

In: command-line arguments.
Out: an application with its main window, and an exit code.
"""
