"""What this program is, where it keeps what, and whose work is in it."""
