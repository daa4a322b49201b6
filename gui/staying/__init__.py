"""One program for all windows: who started first, and what later starts, the tray and the desktop ask of it."""
