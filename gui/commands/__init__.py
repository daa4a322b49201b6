"""Commands with their names and shortcuts.

In: the keymap and the user's own shortcuts.
Out: actions, menus and tooltips that follow the keymap.
"""
