"""Backend that stores passages in a LanceDB table, which several machines can share.

In: the files of this machine's index, and queries.
Out: rows in the table, and results from all machines under names that are unique per machine.
"""
