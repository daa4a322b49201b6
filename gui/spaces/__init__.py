"""The workspaces of this computer: which there are, and from one to another."""
