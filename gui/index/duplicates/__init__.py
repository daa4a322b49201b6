"""The page of notes that share text: groups of them, and two of one group side by side."""
