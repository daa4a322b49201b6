"""Tools that give AI agents access to the memory.

In: a tool call with arguments, or a session to write down.
Out: JSON payloads of the reference's tools, prompt sections, and new session notes in the workspace.
"""
