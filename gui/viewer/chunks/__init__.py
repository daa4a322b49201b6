"""Shows the chunks of the open file.

In: the chunk rows that the index has of the file.
Out: borders in the margin, and a card with the details of one chunk.
"""
