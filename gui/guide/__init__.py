"""The built-in guide: pages of our own, to read and to search."""
