"""Passages in a LanceDB table, for a memory that several machines share."""
