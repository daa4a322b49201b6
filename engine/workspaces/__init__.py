"""Several workspaces: which there are, and one search through all of them."""
