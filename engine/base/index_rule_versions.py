"""Versions of the rules that decide the rows of an index: increasing one rebuilds every index.

They are together here so that comparing them with those of an index loads none of the rules.
"""

ANALYSER_VERSION = 13
"""Increase it when the same text would give other tokens."""
CHUNKER_VERSION = 11
"""Increase it when the same text would give other chunks."""
PACKER_VERSION = 3
"""Increase it when the same messages would give other chunks."""
TOOL_TEXTS_VERSION = 3
"""Increase it when the same tool calls or results would give another text; rebuilds only an index with these."""
TOOLS_VERSION = 3
"""Increase it when the same tool calls would give other files or commands."""
DOCUMENTS_VERSION = 8
"""Increase it when the same document would give another text."""
REDACTION_VERSION = 28
"""Increase it when more is masked, so that stored text is read and stored again."""
USAGE_VERSION = 6
"""Increase it when usage is read differently; nothing is embedded again."""
LINKS_VERSION = 9
"""Increase it when the same note would give other links."""
TAGS_VERSION = 8
"""Increase it when the same note would get other tags or dates."""
