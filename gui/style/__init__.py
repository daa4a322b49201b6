"""Theme, style sheet, fonts and sizes.

In: the settings and the desktop's preference.
Out: palettes and a style sheet.
"""
