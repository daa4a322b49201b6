"""What the makers of models with open weights say about their use, which neither their files nor their servers tell."""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Traits:
    """How to use one model."""

    query: str = ""
    """Prefix of every query."""
    document: str = ""
    """Stands before every passage."""
    least_dims: int | None = None
    """Least length to which its vectors may be cut; None where they must be whole."""


_RETRIEVAL = "Represent this sentence for searching relevant passages: "
_WEB_SEARCH = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"
_KNOWN = (
    # From the models' cards on the hub; the first that fits counts.
    (r"embedding-?gemma|gemma-embedding", Traits("task: search result | query: ", "title: none | text: ", 128)),
    (r"nomic-embed-text", Traits("search_query: ", "search_document: ")),  # cut only after a layer norm: not here
    (r"qwen3-embedding", Traits(_WEB_SEARCH, "", 32)),
    (r"snowflake-arctic-embed(?:2|-[lm]-v2)", Traits("query: ")),
    (r"snowflake-arctic-embed|mxbai-embed-large|bge-(?:small|base|large)-en", Traits(_RETRIEVAL)),
    (r"\be5-(?:small|base|large)(?!.*instruct)", Traits("query: ", "passage: ")),
)


def traits_named(names: str) -> Traits:
    """By whatever names a model has; nothing but the plain text for a model that is not known."""
    plain = re.sub(r"[\s_]+", "-", names.lower())
    return next((traits for pattern, traits in _KNOWN if re.search(pattern, plain)), Traits())
