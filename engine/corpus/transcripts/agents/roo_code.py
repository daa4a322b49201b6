"""Declares Roo Code, which stores its tasks as Cline does."""

from engine.corpus.transcripts.agents.cline import extension_agent

AGENT = extension_agent("roo-code", "Roo Code", "rooveterinaryinc.roo-cline")
