"""Features that a memory may or may not support, by the names that the window and the verbs use."""

from typing import Literal

Feature = Literal[
    "sessions",
    "alike",
    "conditions",
    "narrowing",
    "ordering",
    "completion",
    "explanation",
    "states",
    "models",
    "insight",
]
"""In terms of the contract (`MemorySearchManager`):

sessions: `sessions`, `read_session`, `raw_message`; alike: `search_like`, `similar_sessions`; conditions: sources,
paths and dates, as options and as operators of the query language; narrowing: `within`; ordering: ageing and diversity;
completion: `query_values`; explanation: the stages and scores of `explain`; states: `explain_path`; models: estimates,
approvals, stored models; insight: the contents of the index.
"""
