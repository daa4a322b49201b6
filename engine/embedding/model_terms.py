"""Usage rules of models with open weights, as published by their makers but missing from their files and servers."""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Traits:
    """Usage rules of one model."""

    query: str = ""
    """Prefix of every query."""
    document: str = ""
    """Prefix of every passage."""
    least_dims: int | None = None
    """Minimum length to which vectors may be cut; None if they must not be cut."""


_RETRIEVAL = "Represent this sentence for searching relevant passages: "
_WEB_SEARCH = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"
_KNOWN = (
    # From the models' cards on the hub; the first match counts.
    (r"embedding-?gemma|gemma-embedding", Traits("task: search result | query: ", "title: none | text: ", 128)),
    (r"nomic-embed-text", Traits("search_query: ", "search_document: ")),  # cutting needs a layer norm first
    (r"qwen3-embedding", Traits(_WEB_SEARCH, "", 32)),
    (r"snowflake-arctic-embed(?:2|-[lm]-v2)", Traits("query: ")),
    (r"snowflake-arctic-embed|mxbai-embed-large|bge-(?:small|base|large)-en", Traits(_RETRIEVAL)),
    (r"\be5-(?:small|base|large)(?!.*instruct)", Traits("query: ", "passage: ")),
)


def traits_named(names: str) -> Traits:
    """Find the traits by all names of a model; unknown models get plain text."""
    plain = re.sub(r"[\s_]+", "-", names.lower())
    return next((traits for pattern, traits in _KNOWN if re.search(pattern, plain)), Traits())
