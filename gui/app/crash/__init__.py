"""Reports crashes: exception hooks, crash dumps, the dialog.

In: uncaught exceptions and fatal signals.
Out: a report without the user's text, and the offer to restart.
"""
