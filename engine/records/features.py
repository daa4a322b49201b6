"""What a memory may or may not be able to do, by the names under which the window and the verbs ask for it."""

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
"""In the words of the contract (`MemorySearchManager`):

sessions: `sessions`, `read_session`, `raw_message`; alike: `search_like`, `similar_sessions`; conditions: sources,
paths and dates, as options and as operators of the query language; narrowing: `within`; ordering: ageing and variety;
completion: `query_values`; explanation: the stages and scores of `explain`; states: `explain_path`; models: what it
would take to embed, approvals, stored models; insight: the inside of the index.
"""
