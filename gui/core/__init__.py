"""State that all parts of the window share: jobs, status feed, workspace, capabilities, window state.

In: the engine's public API.
Out: results on the GUI thread, through signals and callbacks.
"""
