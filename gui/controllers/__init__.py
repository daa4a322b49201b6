"""Controllers that connect panels with each other and with the workspace.

In: signals of panels.
Out: changes of the workspace, other panels, dialogs and notices.
"""
