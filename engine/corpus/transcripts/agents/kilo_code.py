"""Declares Kilo Code before version 7, which stores its tasks as Roo Code does.

Checked against claude-code-history-viewer of August 2026. Version 7 is another program (`kilo`).
"""

from engine.corpus.transcripts.agents.cline import extension_agent

AGENT = extension_agent("kilo-code", "Kilo Code", "kilocode.kilo-code")
