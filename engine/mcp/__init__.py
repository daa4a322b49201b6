"""MCP server on standard input and output.

In: JSON-RPC messages of a client.
Out: the tools, resources and prompts of `engine.agent`.
"""
