"""Commands that several parts of the window offer: each has one name, one wording and the same keys in all of them."""

from PySide6.QtGui import QKeySequence

from gui.commands.keymap import command

LIKE = command("passage.like", "More like this", ("results", "file", "conversation"), "Alt+M")
REMEMBER = command("session.remember", "Remember…", ("sessions", "conversation"), "Alt+N")
WITHIN = command("search.within", "Search within these results", "window", "Ctrl+Shift+K")
EXPLAIN = command("result.explain", "Why this result?", "window", "Ctrl+I")
LINK = command("place.copy-link", "Copy link", ("results", "sessions", "file", "conversation"), "Alt+L")
EXPORT = command("share.export", "Export results…", "window", "Ctrl+Shift+E")
EDIT = command("file.edit", "Open in editor", ("results", "file"), "Ctrl+E")
FIND = command(
    "reading.find", "Find in the open file or session", ("file", "conversation"), QKeySequence.StandardKey.Find
)
NEXT_HIT = command("reading.next-hit", "Next hit", ("file", "conversation"), "F3")
PREVIOUS_HIT = command("reading.previous-hit", "Previous hit", ("file", "conversation"), "Shift+F3")
CHUNKS = command("reading.chunks", "Show or hide chunks", ("file", "conversation"), "Alt+C")
NEXT_CHUNK = command("reading.next-chunk", "Next chunk", ("file", "conversation"), "Alt+Down")
PREVIOUS_CHUNK = command("reading.previous-chunk", "Chunk before", ("file", "conversation"), "Alt+Up")
PALETTE = "help.palette"
COPY_TABLE = command("index.copy-table", "Copy table", "index", QKeySequence.StandardKey.Copy)
