"""Desktop integration: tray, autostart, single instance, notifications.

In: status of the index, and messages of later starts.
Out: a tray icon, entries in the system, and windows raised on request.
"""
