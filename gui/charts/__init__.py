"""Charts in the palette's colours: each can be walked through, says what it shows, and has a table behind it."""
