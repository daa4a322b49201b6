"""The command line: `mnemoscope index | search | get | sessions | mcp …`, one module per command.

In: arguments. Each command imports only what it needs, since imports take most of the time of a short search.
Out: text or JSON on standard output, one line per error, and an exit code.
"""

from engine.cli.arguments import VERBS
from engine.cli.run_command import main

__all__ = ["VERBS", "main"]
