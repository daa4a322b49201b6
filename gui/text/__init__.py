"""Text in Qt: escaped, formatted in the language of the window, and painted in the right direction.

In: other people's text, numbers, times, records of the engine.
Out: labels, tooltips and painted lines that show them as they are. The layer below all commands and controls.
"""
