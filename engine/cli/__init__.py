"""The same program without a screen: `mnemoscope index | search | get | sessions | mcp …`.

Nothing here imports what the verb at hand does not need, since most of a short search is importing.
"""

from engine.cli.arguments import VERBS
from engine.cli.program import main

__all__ = ["VERBS", "main"]
